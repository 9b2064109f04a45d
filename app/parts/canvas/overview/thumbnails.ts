// Thumbnails of heads as canvases.

import { pixels } from "../../browser/elements";
import { range } from "../../browser/text";
import { paintMissing, type Painting } from "../shared/canvas";
import type { OverviewModel, Place } from "./model";

export class Thumbnails {
  private shades: Uint8Array[] = []; // of each code
  /** Of all heads; the next message's are drawn on the same ones. */
  private canvases: HTMLCanvasElement[] = [];
  private drawnPixels: number | null = null;

  constructor(private readonly model: OverviewModel) {}

  // Called after each message.
  forget(): void {
    this.shades = range(256).map((code) => this.model.colours.subarray(code * 3, code * 3 + 3));
    this.drawnPixels = null;
  }

  // All heads in their natural order, at most `wide` pixels wide.
  all(wide: number): HTMLCanvasElement[] {
    if (this.drawnPixels !== wide) {
      const { num_layers: layers, num_heads: heads } = this.model.header;
      this.canvases = range(layers * heads).map((k) => this.one(this.model.placeOf(k), wide, this.canvases[k]));
      this.drawnPixels = wide;
    }
    return this.canvases;
  }

  // A canvas of a pixel for each cell, at most `wide` pixels wide. Where a pixel holds several cells it is
  // the largest, so that narrow lines stay.
  one(place: Place, wide: number, canvas?: HTMLCanvasElement): HTMLCanvasElement {
    const { size } = this.model.header;
    const codes = this.model.codesOf(place);
    const side = Math.min(size, wide);
    const starts = Array.from({ length: side + 1 }, (_, p) => Math.floor((p * size) / side));
    return pixels(side, side, (pixel) => {
      const x = pixel % side;
      const y = Math.floor(pixel / side);
      let most = 0;
      for (let row = starts[y]; row < starts[y + 1]; row++) {
        for (let at = row * size + starts[x]; at < row * size + starts[x + 1]; at++) {
          if (codes[at] > most) most = codes[at];
        }
      }
      return this.shades[most];
    }, canvas);
  }

  // Stripes over the cells that are not numbers, on a thumbnail at (x, y).
  paintMissing(context: Painting, place: Place, [x, y, side]: [number, number, number]): void {
    const cell = side / this.model.header.size;
    for (const [left, top, width, height] of this.model.missingOf(place)) {
      paintMissing(context, [x + left * cell, y + top * cell, width * cell, height * cell]);
    }
  }
}
