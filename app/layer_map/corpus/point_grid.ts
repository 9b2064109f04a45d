// Finds points by place: a grid of cells over the unit square.

import type { Place } from "./window";

const CELLS = 256; // on a side

export class PointGrid {
  private readonly starts = new Uint32Array(CELLS * CELLS + 1);
  private readonly order: Uint32Array;

  // x and y of N points one after the other, uint16 over the unit square.
  constructor(private readonly places: Uint16Array) {
    const num = places.length / 2;
    this.order = new Uint32Array(num);
    for (let i = 0; i < num; i++) this.starts[this.cellOf(i) + 1]++;
    for (let cell = 0; cell < CELLS * CELLS; cell++) this.starts[cell + 1] += this.starts[cell];
    const next = this.starts.slice(0, -1);
    for (let i = 0; i < num; i++) this.order[next[this.cellOf(i)]++] = i;
  }

  place(i: number): Place {
    return [this.places[2 * i] / 65535, this.places[2 * i + 1] / 65535];
  }

  // The point nearest to a place and within `reach`, or -1.
  nearest([x, y]: Place, reach: number): number {
    let [best, least] = [-1, reach * reach];
    this.visit([x - reach, y - reach], [x + reach, y + reach], (i) => {
      const [px, py] = this.place(i);
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance <= least) [best, least] = [i, distance];
    });
    return best;
  }

  // The points inside a polygon, in order.
  inside(polygon: Place[]): number[] {
    if (polygon.length < 3) return [];
    const xs = polygon.map(([x]) => x);
    const ys = polygon.map(([, y]) => y);
    const found: number[] = [];
    this.visit([Math.min(...xs), Math.min(...ys)], [Math.max(...xs), Math.max(...ys)], (i) => {
      if (isInside(this.place(i), polygon)) found.push(i);
    });
    return found.sort((a, b) => a - b);
  }

  private cellOf(i: number): number {
    return (this.places[2 * i] >> 8) * CELLS + (this.places[2 * i + 1] >> 8);
  }

  private visit(low: Place, high: Place, see: (i: number) => void): void {
    const cell = (value: number) => Math.min(CELLS - 1, Math.max(0, Math.floor((value * 65535) / 256)));
    for (let column = cell(low[0]); column <= cell(high[0]); column++) {
      const row = column * CELLS;
      const end = this.starts[row + cell(high[1]) + 1];
      for (let k = this.starts[row + cell(low[1])]; k < end; k++) see(this.order[k]);
    }
  }
}

// Whether a place is inside a polygon, by the even-odd rule.
export function isInside([x, y]: Place, polygon: Place[]): boolean {
  let inside = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [[xi, yi], [xj, yj]] = [polygon[i], polygon[j]];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}
