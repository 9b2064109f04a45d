// What the drawing is sent, and what it makes of it.

import { fromBase64 } from "../../parts/browser/data_blocks";
import { range } from "../../parts/browser/text";

export interface Net {
  /** Which side its tokens attend to. */
  side: "both" | "left" | "right";
  /** [layer][query][key]; rows that are drawn only. */
  weights: number[][][];
  /** The row whose last vector answers. */
  reader: number;
}

export interface Panel {
  name: string;
  /** Who sees whom, in a line. */
  rule: string;
  /** What the network is. */
  note: string;
  tokens: string[];
  /** Tokens above and below those that are drawn. */
  before: number;
  after: number;
  /** The row that is guessed; the number of tokens for the one after the text. */
  place: number;
  /** The first row that was not read. */
  unread: number;
  nets: Net[];
  best: [word: string, probability: number][];
  /** What stands at the place; null where it is not known. */
  token: string | null;
  probability: number | null;
  rank: number | null;
  /** In place of a guess, such as the share that comes back. */
  result: string;
}

export interface Drawing {
  panels: Panel[];
  /** The largest weight has this share of ink. */
  most: number;
}

/** The drawing as it is sent: its weights in units of UNIT, uint16 in base64. */
export interface SentDrawing extends Omit<Drawing, "panels"> {
  panels: (Omit<Panel, "nets"> & { nets: (Omit<Net, "weights"> & { layers: number; weights: string })[] })[];
}

const UNIT = 1e-4;

export function received({ panels, most }: SentDrawing): Drawing {
  return { most, panels: panels.map((panel) => ({
    ...panel, nets: panel.nets.map((net) => ({ ...net, weights: decoded(net.weights, net.layers, panel.tokens.length) })),
  })) };
}

function decoded(weights: string, layers: number, size: number): number[][][] {
  const flat = Array.from(new Uint16Array(fromBase64(weights).buffer), (value) => value * UNIT);
  return range(layers).map((layer) => range(size).map((query) => {
    const start = (layer * size + query) * size;
    return flat.slice(start, start + size);
  }));
}

export interface Spot {
  net: number;
  /** 0: the input; L: the last layer's output. */
  level: number;
  row: number;
}

export interface Edge {
  layer: number;
  key: number;
  query: number;
  weight: number;
}

/** Weights below this share of the largest are not drawn. */
export const LEAST = 0.03;

// What a spot can depend on, [level][row]: by weights above 0 and residual connections.
export function cone(net: Net, level: number, row: number): boolean[][] {
  const seen = nowhere(net);
  const size = seen[0].length;
  if (row >= size) return seen;
  seen[level][row] = true;
  for (let layer = level - 1; layer >= 0; layer--) {
    for (let query = 0; query < size; query++) {
      if (!seen[layer + 1][query]) continue;
      seen[layer][query] = true;
      net.weights[layer][query].forEach((weight, key) => { if (weight > 0) seen[layer][key] = true; });
    }
  }
  return seen;
}

// The weights that are drawn, the small ones first.
export function edges(net: Net, most: number): Edge[] {
  return weightsOf(net).filter(({ weight }) => weight >= LEAST * most).sort((a, b) => a.weight - b.weight);
}

// The ends of all weights above 0, [level][row].
export function touched(net: Net): boolean[][] {
  const found = nowhere(net);
  for (const { layer, key, query, weight } of weightsOf(net)) if (weight > 0) found[layer][key] = found[layer + 1][query] = true;
  return found;
}

function weightsOf({ weights }: Net): Edge[] {
  return weights.flatMap((rows, layer) => rows.flatMap((row, query) => row.map((weight, key) => ({ layer, key, query, weight }))));
}

// No vector, [level][row].
function nowhere({ weights }: Net): boolean[][] {
  return Array.from({ length: weights.length + 1 }, () => new Array<boolean>(weights[0]?.length ?? 0).fill(false));
}

// What a token reads most in a layer.
export function reads(net: Net, layer: number, query: number, count: number): { key: number; weight: number }[] {
  return net.weights[layer][query]
    .map((weight, key) => ({ key, weight }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, count);
}

// Which way a token looks.
export function direction(edge: { key: number; query: number }): "left" | "right" | "itself" {
  if (edge.key === edge.query) return "itself";
  return edge.key < edge.query ? "left" : "right";
}

// How dark an edge is, 0 to 1: weights of a tenth of the largest are still seen.
export function ink(weight: number, most: number): number {
  return Math.min(1, Math.sqrt(weight / most));
}

// On how many tokens a guess can depend, in words.
export function sees(left: number, right: number): string {
  return `The guess sees ${left} ${left === 1 ? "token" : "tokens"} to the left and ${right} to the right.`;
}
