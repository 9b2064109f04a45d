// Draws the heat map: cells as pixels of an image that is scaled, names along two sides.

import { NOT_A_NUMBER, fitCanvas, fitText, inkOver, missingBoxes, paintMissing, readTheme, stride, turnedText } from "../shared/canvas.js";
import { element, legible } from "../shared/elements.js";
import { kindColour } from "../shared/levels.js";
import { paintCells } from "../shared/pictures.js";

const LABEL = 12; // pixels of a name's line
const MIN_TOP = 0.05; // least weight at the end of the colour scale: specks are not blown up
export const MAP_TICKS = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1];
const NUMBERED = 30; // pixels of a cell from which on its number is written into it

export class AttentionMapPainter {
  // The image of the whole map in its present order, one pixel for each cell.
  makeImages() {
    const { size } = this.units;
    let most = 0;
    for (const weight of this.weights) if (weight > most) most = weight;
    this.scaleTop = Math.max(MIN_TOP, most);
    const levels = new Float32Array(size * size);
    for (let y = 0, at = 0; y < size; y++) {
      const first = this.rows[y] * size;
      for (let x = 0; x < size; x++, at++) levels[at] = Math.sqrt(this.weights[first + this.columns[x]] / this.scaleTop);
    }
    this.images = [this.toImage(levels, size)];
    this.missing = levels.some(Number.isNaN) ? missingBoxes(size, (row, column) => Number.isNaN(levels[row * size + column])) : [];
    // Smaller ones for when a cell is less than a pixel: the largest of 2 x 2, so that lines stay.
    for (let [small, side] = [levels, size]; side > 64; ) {
      [small, side] = halve(small, side);
      this.images.push(this.toImage(small, side));
    }
  }

  toImage(levels, side) {
    const canvas = element("canvas", { width: side, height: side });
    const image = new ImageData(side, side);
    for (let at = 0; at < levels.length; at++) {
      const known = levels[at] === levels[at];
      image.data.set(known ? this.colour(levels[at]) : NOT_A_NUMBER, at * 4);
      image.data[at * 4 + 3] = 255;
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
  }

  colour(level) {
    const code = Math.max(0, Math.min(255, Math.round(level * 255)));
    return this.colours.subarray(code * 3, code * 3 + 3);
  }

  layout() {
    if (!this.header || !this.root.clientWidth) return;
    const { size } = this.units;
    const room = this.root.clientWidth;
    this.margin = this.nameRoom(Math.min(124, Math.max(74, room * 0.2)));
    const side = Math.min(room - this.margin - 6, Math.max(200, Math.min(640, size * (size <= 14 ? 38 : 30))));
    this.side = Math.max(120, Math.floor(side));
    this.width = this.margin + this.side + 4;
    this.height = this.margin + this.side + 4;
    this.draw();
  }

  // Pixels for names and their marks, on both sides: as the longest needs, at most `most`.
  nameRoom(most) {
    const context = this.canvas.getContext("2d");
    context.font = `600 12.5px ${this.theme.font}`;
    let longest = 0;
    for (const name of this.units.names) {
      longest = Math.max(longest, context.measureText(legible(name.slice(0, 60))).width);
      if (longest > most) return most;
    }
    return Math.min(most, Math.max(48, Math.ceil(longest) + 40));
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      if (!this.side) return;
      this.theme = readTheme(this.root);
      this.drawOn(fitCanvas(this.canvas, this.width, this.height), window.devicePixelRatio || 1);
    });
  }

  get cell() {
    return this.side / this.window.span;
  }

  // Where display row or column k begins, in pixels of the canvas.
  x(k) {
    return this.margin + (k - this.window.left) * this.cell;
  }

  y(k) {
    return this.margin + (k - this.window.top) * this.cell;
  }

  // Display rows or columns that are seen, from start.
  seen(start) {
    const last = Math.min(this.units.size - 1, Math.ceil(start + this.window.span) - 1);
    return Array.from({ length: last - Math.floor(start) + 1 }, (_, k) => Math.floor(start) + k);
  }

  drawOn(context, density) {
    const { left, top, span } = this.window;
    const { margin, side, cell } = this;
    const level = Math.min(this.images.length - 1, Math.max(0, Math.ceil(-Math.log2(cell * density))));
    const image = this.images[level];
    const from = [left, top, span, span].map((at) => at / 2 ** level);
    paintCells(context, image, from, [margin, margin, side, side]);
    this.paintMissing(context);
    context.textBaseline = "middle";
    this.paintGaps(context);
    this.paintNumbers(context);
    this.paintMark(context);
    this.paintNames(context, true);
    this.paintNames(context, false);
  }

  // Over the cells that are not numbers, as far as they are seen.
  paintMissing(context) {
    const end = this.margin + this.side;
    const clip = (at) => Math.max(this.margin, Math.min(end, at));
    for (const [left, top, width, height] of this.missing) {
      const [x1, x2, y1, y2] = [this.x(left), this.x(left + width), this.y(top), this.y(top + height)].map(clip);
      if (x2 > x1 && y2 > y1) paintMissing(context, x1, y1, x2 - x1, y2 - y1);
    }
  }

  // Lines between cells that are large enough to bear them.
  paintGaps(context) {
    if (this.cell < 9) return;
    context.fillStyle = this.theme.background;
    const end = this.margin + this.side;
    for (const k of this.seen(this.window.left)) {
      if (this.x(k) > this.margin) context.fillRect(this.x(k) - 0.5, this.margin, 1, this.side);
    }
    for (const k of this.seen(this.window.top)) {
      if (this.y(k) > this.margin && this.y(k) < end) context.fillRect(this.margin, this.y(k) - 0.5, this.side, 1);
    }
  }

  paintNumbers(context) {
    if (this.cell < NUMBERED) return;
    const { size } = this.units;
    context.textAlign = "center";
    context.font = `${Math.min(13, this.cell / 2.9)}px ${this.theme.font}`;
    for (const row of this.seen(this.window.top)) {
      for (const column of this.seen(this.window.left)) {
        const [x, y] = [this.x(column) + this.cell / 2, this.y(row) + this.cell / 2];
        if (!this.isInside(x, y)) continue;
        const weight = this.weights[this.rows[row] * size + this.columns[column]];
        const known = weight === weight;
        context.fillStyle = inkOver(known ? this.colour(Math.sqrt(weight / this.scaleTop)) : NOT_A_NUMBER);
        context.globalAlpha = weight < 0.005 ? 0.5 : 1;
        if (!known) { // a plain ground under the word, in place of stripes
          const ink = context.fillStyle;
          context.fillStyle = `rgb(${NOT_A_NUMBER.join(",")})`;
          context.fillRect(x - this.cell * 0.36, y - this.cell * 0.22, this.cell * 0.72, this.cell * 0.44);
          context.fillStyle = ink;
        }
        context.fillText(known ? weight.toFixed(this.cell > 60 ? 4 : 2) : "NaN", x, y + 0.5);
      }
    }
    context.globalAlpha = 1;
  }

  isInside(x, y) {
    const end = this.margin + this.side;
    return x >= this.margin + 6 && x <= end - 6 && y >= this.margin + 6 && y <= end - 6;
  }

  // Frames around the row and the column that are marked, and around their cell.
  paintMark(context) {
    const place = this.marked ?? this.pointed;
    if (!place) return;
    const end = this.margin + this.side;
    const clip = (from, to) => [Math.max(this.margin, from), Math.min(end, to)];
    const [x1, x2] = clip(this.x(place.column), this.x(place.column + 1));
    const [y1, y2] = clip(this.y(place.row), this.y(place.row + 1));
    const frame = (x, y, width, height, line) => {
      if (width <= 0 || height <= 0) return;
      for (const [colour, extra] of [[this.theme.background, 2], [this.header.accent, 0]]) {
        context.fillStyle = colour;
        const thick = line + extra;
        context.fillRect(x - thick / 2, y - thick / 2, width + thick, thick);
        context.fillRect(x - thick / 2, y + height - thick / 2, width + thick, thick);
        context.fillRect(x - thick / 2, y - thick / 2, thick, height + thick);
        context.fillRect(x + width - thick / 2, y - thick / 2, thick, height + thick);
      }
    };
    context.globalAlpha = this.marked ? 1 : 0.55;
    if (y2 > y1) frame(this.margin, y1, this.side, y2 - y1, 1);
    if (x2 > x1) frame(x1, this.margin, x2 - x1, this.side, 1);
    context.globalAlpha = 1;
    if (x2 > x1 && y2 > y1) frame(x1, y1, x2 - x1, y2 - y1, 2);
  }

  // Names of the rows on the left, of the columns turned on top. As many as fit; the marked and
  // the pointed one always, on the page's ground.
  paintNames(context, ofRows) {
    const start = ofRows ? this.window.top : this.window.left;
    const order = ofRows ? this.rows : this.columns;
    const middle = (k) => (ofRows ? this.y(k + 0.5) : this.x(k + 0.5));
    const end = this.margin + this.side;
    const every = stride(this.cell, LABEL + 0.5);
    const first = [this.marked, this.pointed].filter(Boolean).map((place) => (ofRows ? place.row : place.column));
    const taken = [];
    const named = (k, isFirst) => {
      const at = middle(k);
      if (at < this.margin - 0.5 || at > end + 0.5) return;
      if (taken.some((other) => Math.abs(other - at) < LABEL)) return;
      taken.push(at);
      this.paintName(context, ofRows, order[k], at, isFirst);
    };
    first.forEach((k) => named(k, true));
    const visible = this.seen(start);
    visible.filter((k) => k % every === 0).forEach((k) => named(k, false));
    for (const k of visible) {
      const from = Math.max(this.margin, ofRows ? this.y(k) : this.x(k));
      const to = Math.min(end, ofRows ? this.y(k + 1) : this.x(k + 1));
      if (to <= from) continue;
      context.fillStyle = kindColour(this.header, this.units.textIds[order[k]]);
      const gap = this.cell >= 5 ? 0.5 : 0;
      if (ofRows) context.fillRect(this.margin - 6, from + gap, 4, to - from - 2 * gap);
      else context.fillRect(from + gap, this.margin - 6, to - from - 2 * gap, 4);
    }
  }

  paintName(context, ofRows, unit, at, isFirst) {
    const size = this.cell >= 18 ? 12.5 : 11;
    context.font = `${isFirst ? 600 : 400} ${size}px ${this.theme.font}`;
    context.fillStyle = this.theme.text;
    const number = String(this.units.starts[unit]);
    const room = this.margin - 16;
    const text = this.name(context, unit, room - (isFirst ? context.measureText(` ${number}`).width : 0), isFirst);
    if (ofRows) {
      context.textAlign = "right";
      context.fillText(text, this.margin - 10, at + 0.5);
      if (isFirst) {
        context.globalAlpha = 0.7;
        context.textAlign = "left";
        context.fillText(number, 2, at + 0.5);
        context.globalAlpha = 1;
      }
    } else {
      context.textAlign = "left";
      turnedText(context, text, at + 0.5, this.margin - 10, -90);
    }
  }

  name(context, unit, room, isFirst) {
    const key = `${unit} ${Math.round(room)} ${context.font} ${isFirst}`;
    let text = this.names.get(key);
    if (text === undefined) {
      text = fitText(context, legible(this.units.names[unit].slice(0, 400)), room);
      this.names.set(key, text);
    }
    return text;
  }
}

// The largest of each 2 x 2; what is not a number stays to be seen.
function halve(levels, side) {
  const half = Math.ceil(side / 2);
  const out = new Float32Array(half * half);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const [level, at] = [levels[y * side + x], (y >> 1) * half + (x >> 1)];
      if (!(level <= out[at])) out[at] = Number.isNaN(out[at]) ? NaN : level;
    }
  }
  return [out, half];
}
