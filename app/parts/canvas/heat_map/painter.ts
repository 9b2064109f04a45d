// Draws the heat map: cells as pixels of an image that is scaled, names along two sides.

import { inkOver } from "../../browser/colours";
import { context2d, pixels } from "../../browser/elements";
import { legible } from "../../browser/text";
import { paintCells, turnedText } from "../saving/pictures";
import { missingBoxes, NOT_A_NUMBER, paintMissing, stride, type Box, type Painting } from "../shared/canvas";
import { kindColour } from "../shared/legend";
import { Painter } from "../shared/painter";
import type { Cell, MapModel } from "./model";
import { halve } from "./pyramid";

const LABEL = 12; // pixels of a name's line
const MIN_TOP = 0.05; // least weight at the end of the colour scale: specks are not blown up
const NUMBERED = 30; // pixels of a cell from which on its number is written into it

export class MapPainter extends Painter {
  /** Of the canvas, which is square. */
  width = 0;
  /** Weight at the end of the colour scale. */
  scaleTop = 1;
  private side = 0; // of the map
  private margin = 0; // for the names, on the left and on top
  private images: HTMLCanvasElement[] = [];
  private missing: Box[] = [];

  constructor(private readonly model: MapModel) {
    super();
  }

  // ---- images ----

  // Makes the image of the whole map in its present order, one pixel for each cell.
  makeImages(): void {
    const { size, weights, rows, columns } = this.model;
    let most = 0;
    for (const weight of weights) if (weight > most) most = weight;
    this.scaleTop = Math.max(MIN_TOP, most);
    const levels = new Float32Array(size * size);
    for (let y = 0, at = 0; y < size; y++) {
      const first = rows[y] * size;
      for (let x = 0; x < size; x++, at++) levels[at] = Math.sqrt(weights[first + columns[x]] / this.scaleTop);
    }
    this.images = [this.toImage(levels, size)];
    this.missing = levels.some(Number.isNaN) ? missingBoxes(size, (row, column) => Number.isNaN(levels[row * size + column])) : [];
    // Smaller ones for when a cell is less than a pixel: the largest of 2 x 2, so that lines stay.
    for (let [small, side] = [levels, size]; side > 64; ) {
      [small, side] = halve(small, side);
      this.images.push(this.toImage(small, side));
    }
  }

  private toImage(levels: Float32Array, side: number): HTMLCanvasElement {
    return pixels(side, side, (at) => (Number.isNaN(levels[at]) ? NOT_A_NUMBER : this.colour(levels[at])));
  }

  // level: 0 to 1, the root of a weight over the end of the scale.
  colour(level: number): Uint8Array {
    const code = Math.max(0, Math.min(255, Math.round(level * 255)));
    return this.model.colours.subarray(code * 3, code * 3 + 3);
  }

  // ---- places ----

  // Sets the sizes for the room there is; `canvas` measures the names.
  layout(room: number, canvas: HTMLCanvasElement): void {
    const { size } = this.model;
    this.margin = this.nameRoom(Math.min(124, Math.max(74, room * 0.2)), context2d(canvas));
    const side = Math.min(room - this.margin - 6, Math.max(200, Math.min(640, size * (size <= 14 ? 38 : 30))));
    this.side = Math.max(120, Math.floor(side));
    this.width = this.margin + this.side + 4;
  }

  get cell(): number {
    return this.side / this.model.window.span;
  }

  // A point of the canvas in cells; null outside of the map.
  hit(x: number, y: number): { x: number; y: number } | null {
    const { window } = this.model;
    const place = { x: (x - this.margin) / this.cell + window.left, y: (y - this.margin) / this.cell + window.top };
    return window.contains(place.x, place.y) ? place : null;
  }

  // Pixels for names and their marks, on both sides: as the longest needs, at most `most`.
  private nameRoom(most: number, context: CanvasRenderingContext2D): number {
    this.font(context, 12.5, 600);
    let longest = 0;
    for (const name of this.model.units.names) {
      longest = Math.max(longest, context.measureText(legible(name.slice(0, 60))).width);
      if (longest > most) return most;
    }
    return Math.min(most, Math.max(48, Math.ceil(longest) + 40));
  }

  // Where the shown row or column k begins, in pixels of the canvas.
  private x(k: number): number {
    return this.margin + (k - this.model.window.left) * this.cell;
  }

  private y(k: number): number {
    return this.margin + (k - this.model.window.top) * this.cell;
  }

  private get end(): number {
    return this.margin + this.side;
  }

  // Shown rows or columns inside the window, from `start`.
  private seen(start: number): number[] {
    const last = Math.min(this.model.size - 1, Math.ceil(start + this.model.window.span) - 1);
    return Array.from({ length: last - Math.floor(start) + 1 }, (_, k) => Math.floor(start) + k);
  }

  // ---- painting ----

  drawOn(context: Painting, density: number): void {
    const { left, top, span } = this.model.window;
    const { margin, side, cell } = this;
    context.globalAlpha = 1;
    const level = Math.min(this.images.length - 1, Math.max(0, Math.ceil(-Math.log2(cell * density))));
    const from = [left, top, span, span].map((at) => at / 2 ** level) as Box;
    paintCells(context, this.images[level], from, [margin, margin, side, side]);
    this.paintMissing(context);
    context.textBaseline = "middle";
    this.paintGaps(context);
    this.paintNumbers(context);
    this.paintMark(context);
    this.paintNames(context, true);
    this.paintNames(context, false);
  }

  // Over the cells that are not numbers, as far as they are seen.
  private paintMissing(context: Painting): void {
    const clip = (at: number) => Math.max(this.margin, Math.min(this.end, at));
    for (const [left, top, width, height] of this.missing) {
      const [x1, x2, y1, y2] = [this.x(left), this.x(left + width), this.y(top), this.y(top + height)].map(clip);
      if (x2 > x1 && y2 > y1) paintMissing(context, [x1, y1, x2 - x1, y2 - y1]);
    }
  }

  // Lines between cells that are large enough to bear them.
  private paintGaps(context: Painting): void {
    if (this.cell < 9) return;
    const { window } = this.model;
    this.fill(context, this.theme.background);
    for (const k of this.seen(window.left)) {
      if (this.x(k) > this.margin) context.fillRect(this.x(k) - 0.5, this.margin, 1, this.side);
    }
    for (const k of this.seen(window.top)) {
      if (this.y(k) > this.margin && this.y(k) < this.end) context.fillRect(this.margin, this.y(k) - 0.5, this.side, 1);
    }
  }

  private paintNumbers(context: Painting): void {
    if (this.cell < NUMBERED) return;
    const { window } = this.model;
    this.font(context, Math.min(13, this.cell / 2.9));
    for (const row of this.seen(window.top)) {
      for (const column of this.seen(window.left)) {
        const [x, y] = [this.x(column) + this.cell / 2, this.y(row) + this.cell / 2];
        if (this.isInside(x, y)) this.paintNumber(context, this.model.weightAt({ row, column }), x, y);
      }
    }
  }

  private paintNumber(context: Painting, weight: number, x: number, y: number): void {
    const isMissing = Number.isNaN(weight);
    if (isMissing) { // a plain ground under the word, in place of stripes
      this.fill(context, `rgb(${NOT_A_NUMBER.join(",")})`);
      context.fillRect(x - this.cell * 0.36, y - this.cell * 0.22, this.cell * 0.72, this.cell * 0.44);
    }
    this.fill(context, inkOver(isMissing ? NOT_A_NUMBER : this.colour(Math.sqrt(weight / this.scaleTop))), weight < 0.005 ? 0.5 : 1);
    this.write(context, isMissing ? "NaN" : weight.toFixed(this.cell > 60 ? 4 : 2), x, y + 0.5, "center");
  }

  private isInside(x: number, y: number): boolean {
    const { margin, end } = this;
    return x >= margin + 6 && x <= end - 6 && y >= margin + 6 && y <= end - 6;
  }

  // Frames around the row and the column that are marked, and around their cell.
  private paintMark(context: Painting): void {
    const { marked, place } = this.model;
    if (!place) return;
    const clip = (from: number, to: number) => [Math.max(this.margin, from), Math.min(this.end, to)];
    const [x1, x2] = clip(this.x(place.column), this.x(place.column + 1));
    const [y1, y2] = clip(this.y(place.row), this.y(place.row + 1));
    const alpha = marked ? 1 : 0.55;
    if (y2 > y1) this.frame(context, [this.margin, y1, this.side, y2 - y1], 1, alpha);
    if (x2 > x1) this.frame(context, [x1, this.margin, x2 - x1, this.side], 1, alpha);
    if (x2 > x1 && y2 > y1) this.frame(context, [x1, y1, x2 - x1, y2 - y1], 2);
  }

  private frame(context: Painting, [x, y, width, height]: Box, line: number, alpha = 1): void {
    for (const [colour, extra] of [[this.theme.background, 2], [this.model.header.accent, 0]] as const) {
      this.stroke(context, colour, line + extra, alpha, () => context.roundRect(x, y, width, height, 0));
    }
  }

  // Names of the rows on the left, of the columns turned on top. As many as fit; the marked and
  // the pointed one always.
  private paintNames(context: Painting, ofRows: boolean): void {
    const { model } = this;
    const order = ofRows ? model.rows : model.columns;
    const start = (k: number) => (ofRows ? this.y(k) : this.x(k));
    const every = stride(this.cell, LABEL + 0.5);
    const first = [model.marked, model.pointed].filter((place): place is Cell => place !== null)
      .map((place) => (ofRows ? place.row : place.column));
    const taken: number[] = [];
    const named = (k: number, isFirst: boolean) => {
      const at = start(k + 0.5);
      if (at < this.margin - 0.5 || at > this.end + 0.5) return;
      if (taken.some((other) => Math.abs(other - at) < LABEL)) return;
      taken.push(at);
      this.paintName(context, ofRows, order[k], at, isFirst);
    };
    first.forEach((k) => named(k, true));
    const visible = this.seen(ofRows ? model.window.top : model.window.left);
    visible.filter((k) => k % every === 0).forEach((k) => named(k, false));
    for (const k of visible) {
      const from = Math.max(this.margin, start(k));
      const to = Math.min(this.end, start(k + 1));
      if (to <= from) continue;
      this.fill(context, kindColour(model.header, model.units.textIds[order[k]]));
      const gap = this.cell >= 5 ? 0.5 : 0;
      if (ofRows) context.fillRect(this.margin - 6, from + gap, 4, to - from - 2 * gap);
      else context.fillRect(from + gap, this.margin - 6, to - from - 2 * gap, 4);
    }
  }

  private paintName(context: Painting, ofRows: boolean, unit: number, at: number, isFirst: boolean): void {
    this.font(context, this.cell >= 18 ? 12.5 : 11, isFirst ? 600 : 400);
    this.fill(context, this.theme.text);
    const number = String(this.model.units.starts[unit]);
    const room = this.margin - 16;
    const text = this.labels.fit(context, this.model.units.names[unit], room - (isFirst ? context.measureText(` ${number}`).width : 0));
    if (!ofRows) {
      context.textAlign = "left";
      return turnedText(context, text, at + 0.5, this.margin - 10, -90);
    }
    this.write(context, text, this.margin - 10, at + 0.5, "right");
    if (!isFirst) return;
    this.fill(context, this.theme.text, 0.7);
    this.write(context, number, 2, at + 0.5);
  }
}
