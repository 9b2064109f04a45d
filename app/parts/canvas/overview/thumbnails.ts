// Thumbnails of heads as canvases.

import { context2d, element } from "../../browser/elements";
import { range } from "../../browser/text";
import { paintMissing, type Painting } from "../shared/canvas";
import type { OverviewModel, Place } from "./model";

export class Thumbnails {
  private packed = new Uint32Array();
  /** Of all heads; the next message's are drawn on the same ones. */
  private canvases: HTMLCanvasElement[] = [];
  private drawnPixels: number | null = null;

  constructor(private readonly model: OverviewModel) {}

  // Called after each message.
  forget(): void {
    // The colours as pixels of an ImageData, little-endian: alpha, blue, green, red.
    this.packed = Uint32Array.from({ length: 256 }, (_, code) => {
      const [red, green, blue] = this.model.colours.subarray(code * 3, code * 3 + 3);
      return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    });
    this.drawnPixels = null;
  }

  // All heads in their natural order, at most `pixels` wide.
  all(pixels: number): HTMLCanvasElement[] {
    if (this.drawnPixels !== pixels) {
      const { num_layers: layers, num_heads: heads } = this.model.header;
      this.canvases = range(layers * heads).map((k) => this.one(this.model.placeOf(k), pixels, this.canvases[k]));
      this.drawnPixels = pixels;
    }
    return this.canvases;
  }

  // A canvas of a pixel for each cell, at most `pixels` wide. Where a pixel holds several cells it is
  // the largest, so that narrow lines stay.
  one(place: Place, pixels: number, canvas = element("canvas")): HTMLCanvasElement {
    const { size } = this.model.header;
    const codes = this.model.codesOf(place);
    const side = Math.min(size, pixels);
    const image = new ImageData(side, side);
    const colours = new Uint32Array(image.data.buffer);
    const starts = Array.from({ length: side + 1 }, (_, p) => Math.floor((p * size) / side));
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        let most = 0;
        for (let row = starts[y]; row < starts[y + 1]; row++) {
          for (let at = row * size + starts[x]; at < row * size + starts[x + 1]; at++) {
            if (codes[at] > most) most = codes[at];
          }
        }
        colours[y * side + x] = this.packed[most];
      }
    }
    if (canvas.width !== side) canvas.width = side;
    if (canvas.height !== side) canvas.height = side;
    context2d(canvas).putImageData(image, 0, 0);
    return canvas;
  }

  // Stripes over the cells that are not numbers, on a thumbnail at (x, y).
  paintMissing(context: Painting, place: Place, [x, y, side]: [number, number, number]): void {
    const cell = side / this.model.header.size;
    for (const [left, top, width, height] of this.model.missingOf(place)) {
      paintMissing(context, [x + left * cell, y + top * cell, width * cell, height * cell]);
    }
  }
}
