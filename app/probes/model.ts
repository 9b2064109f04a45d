// What the drawing of a sentence is sent, and where its arcs and words stand.

/** Two places of words, the lower first. */
export type Edge = [number, number];

interface Common {
  layer: number;
  words: string[];
  colors: { right: string; wrong: string; gold: string };
}

export interface Labels extends Common {
  kind: "labels";
  labels: string[];
  chances: number[];
  /** Of the file; null of a text that is not in it. */
  gold: string[] | null;
}

export interface Tree extends Common {
  kind: "tree";
  edges: Edge[];
  gold: Edge[] | null;
}

export interface Depth extends Common {
  kind: "depth";
  depths: number[];
  gold: number[] | null;
}

export type Drawing = Labels | Tree | Depth;

// The height of each arc, from 1: above those that it spans, and apart from those that it crosses.
export function levels(edges: Edge[]): number[] {
  const found = edges.map(() => 0);
  const order = edges.map((_, place) => place).sort((a, b) => span(edges[a]) - span(edges[b]));
  for (const [rank, place] of order.entries()) {
    const [first, last] = edges[place];
    const taken = new Set<number>();
    let lowest = 1;
    for (const other of order.slice(0, rank)) {
      const [from, to] = edges[other];
      if (from >= last || first >= to) continue;
      taken.add(found[other]);
      if (first <= from && to <= last) lowest = Math.max(lowest, found[other] + 1);
    }
    while (taken.has(lowest)) lowest += 1;
    found[place] = lowest;
  }
  return found;
}

function span([first, last]: Edge): number {
  return last - first;
}

// The middle of each word in pixels, with a gap between each two; and the width of all.
export function centres(widths: number[], gap: number): { middles: number[]; width: number } {
  let right = gap;
  const middles = widths.map((width) => {
    const middle = right + width / 2;
    right += width + gap;
    return middle;
  });
  return { middles, width: right };
}

// Whether the other tree has an edge; true where there is no other.
export function isIn([first, last]: Edge, other: Edge[] | null): boolean {
  return !other || other.some(([from, to]) => from === first && to === last);
}

// What a screen reader says of the drawing.
export function describe(data: Drawing): string {
  if (data.kind === "depth") {
    return `Depths at layer ${data.layer}: ${data.words.map((word, place) => `${word} ${data.depths[place].toFixed(1)}`).join(", ")}`;
  }
  if (data.kind === "labels") return `Labels at layer ${data.layer}`;
  const pairs = data.edges.map(([first, last]) => `${data.words[first]}\u2013${data.words[last]}`);
  return `Predicted tree at layer ${data.layer}: ${pairs.join(", ")}`;
}
