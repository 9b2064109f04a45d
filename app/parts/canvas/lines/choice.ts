// The chosen tokens: the attending ones on the left, the attended ones on the right.

export type Side = "left" | "right";

export interface Place {
  side: Side;
  /** Of the unit, a word piece or a word. */
  index: number;
}

/** The units that the view is about; an empty side means all of them. */
export type Focus = Readonly<Record<Side, ReadonlySet<number>>>;

export class TokenChoice implements Focus {
  left = new Set<number>();
  right = new Set<number>();

  get size(): number {
    return this.left.size + this.right.size;
  }

  get first(): Place | null {
    const side: Side = this.left.size ? "left" : "right";
    const [index] = this[side];
    return index === undefined ? null : { side, index };
  }

  clear(): void {
    this.left = new Set();
    this.right = new Set();
  }

  add({ side, index }: Place): void {
    this[side].add(index);
  }

  // Adds a unit to the chosen ones, or takes it away.
  toggle({ side, index }: Place): void {
    if (!this[side].delete(index)) this[side].add(index);
  }

  // Chooses a unit alone; if it was chosen alone, nothing is chosen.
  pickAlone(place: Place): void {
    const wasAlone = this.size === 1 && this[place.side].has(place.index);
    this.clear();
    if (!wasAlone) this.add(place);
  }

  // For the address: first tokens of the units, "l2.5r7"; at most a hundred on a side.
  written(starts: number[]): string {
    return (["left", "right"] as const).map((side) => {
      const places = [...this[side]].slice(0, 100).map((unit) => starts[unit]);
      return places.length ? side[0] + places.join(".") : "";
    }).join("");
  }

  // Reads what `written` gives; tokens that start no unit are left out.
  read(written: string, starts: number[]): void {
    this.clear();
    for (const [, letter, places] of written.matchAll(/([lr])([\d.]+)/g)) {
      const units = places.split(".").map((place) => starts.indexOf(Number(place)));
      this[letter === "l" ? "left" : "right"] = new Set(units.filter((unit) => unit >= 0));
    }
  }
}

export function isInFocus(focus: Focus, row: number, column: number): boolean {
  return (!focus.left.size || focus.left.has(row)) && (!focus.right.size || focus.right.has(column));
}
