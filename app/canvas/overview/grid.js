// Draws the heads as small pictures in a grid, with their numbers.

import { missingBoxes, paintMissing, stride } from "../shared/canvas.js";
import { element } from "../shared/elements.js";
import { paintCells } from "../shared/pictures.js";
import { encoder } from "../shared/transport.js";

const GAP = 3;
export const LEFT = 30; // room for the layers' numbers
export const TOP = 20; // room for the heads' numbers
const MAX_GRID = 340; // pixels of the grid's height before it scrolls, without captions
const CAPTION = 12; // pixels of a line of text under a thumbnail
const AIR = 3; // pixels around these lines
const READABLE = 24; // pixels of a thumbnail that has room for its number
const DIMMED = 0.16;

export class OverviewGrid {
  // The size of a thumbnail and the number of columns, for the room there is.
  measureGrid(room) {
    const { num_layers: layers, num_heads: heads } = this.header;
    const sorted = this.order === "all";
    const most = this.measure ? 52 : 56;
    const fits = Math.min((MAX_GRID - TOP) / layers, (room - LEFT) / heads, most);
    const least = this.measure ? READABLE + GAP : 15;
    this.cell = Math.max(12, Math.floor(Math.min((room - LEFT) / heads, Math.max(fits, least))) - GAP);
    if (sorted) this.cell = Math.max(this.cell, 30);
    this.captions = !this.measure || (this.cell < READABLE && !sorted) ? 0 : sorted ? 2 : 1;
    this.across = this.cell + GAP;
    this.down = this.cell + GAP + (this.captions ? CAPTION * this.captions + AIR * this.captions : 0);
    this.columns = sorted ? Math.max(1, Math.min(heads, Math.floor((room - LEFT) / this.across))) : heads;
    this.rows = Math.ceil(this.sequence.length / this.columns);
    this.width = LEFT + this.columns * this.across;
    this.height = TOP + this.rows * this.down;
  }

  // One head, or the mean of a layer's heads (head null), as codes.
  codesOf(layer, head) {
    const { size, num_heads: heads } = this.header;
    const map = (h) => this.codes.subarray((layer * heads + h) * size * size, (layer * heads + h + 1) * size * size);
    if (head !== null) return map(head);
    const encode = encoder(this.table);
    const maps = Array.from({ length: heads }, (_, h) => map(h));
    return maps[0].map((_, at) => encode(maps.reduce((sum, m) => sum + this.table[m[at]], 0) / heads));
  }

  // Boxes of cells that are not numbers: of one head, or of any of a layer's (head null).
  missingOf(layer, head) {
    const { size, num_heads: heads } = this.header;
    const own = (head === null ? Array.from({ length: heads }, (_, h) => h) : [head])
      .map((h) => this.gaps.get(layer * heads + h)).filter(Boolean);
    return own.length ? missingBoxes(size, (row, column) => own.some((flags) => flags[row * size + column])) : [];
  }

  paintMissingOf(context, layer, head, [x, y, side]) {
    const cell = side / this.header.size;
    for (const [left, top, width, height] of this.missingOf(layer, head)) {
      paintMissing(context, x + left * cell, y + top * cell, width * cell, height * cell);
    }
  }

  // Codes as a canvas of a pixel for each cell, at most `pixels` wide. Where a pixel holds several
  // cells it is the largest, so that narrow lines stay.
  thumbnail(codes, pixels) {
    const { size } = this.header;
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
    const canvas = element("canvas", { width: side, height: side });
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
  }

  thumbnails(pixels) {
    if (this.drawn?.pixels !== pixels) {
      const { num_layers: layers, num_heads: heads } = this.header;
      const made = Array.from({ length: layers * heads }, (_, k) =>
        this.thumbnail(this.codesOf(Math.floor(k / heads), k % heads), pixels));
      this.drawn = { pixels, made };
    }
    return this.drawn.made;
  }

  // Top left corner of the k-th place.
  corner(k) {
    return [LEFT + (k % this.columns) * this.across, TOP + Math.floor(k / this.columns) * this.down];
  }

  drawOn(context, density) {
    const pictures = this.thumbnails(Math.max(1, Math.round(this.cell * density)));
    context.textBaseline = "middle";
    this.sequence.forEach((head, k) => {
      const [x, y] = this.corner(k);
      context.globalAlpha = this.isOut(head) ? DIMMED : 1;
      const { width } = pictures[head];
      paintCells(context, pictures[head], [0, 0, width, width], [x, y, this.cell, this.cell]);
      const heads = this.header.num_heads;
      this.paintMissingOf(context, Math.floor(head / heads), head % heads, [x, y, this.cell]);
      this.paintCaptions(context, head, x, y);
    });
    context.globalAlpha = 1;
    this.paintNumbers(context);
    this.sequence.forEach((head, k) => {
      if (this.isOpen(head)) this.ring(context, k, this.theme.primary, 2.5);
    });
    if (this.pointed) {
      this.sequence.forEach((head, k) => {
        if (this.isPointed(head)) this.ring(context, k, this.theme.text, 1.5);
      });
    }
  }

  // The value, and in front of it the name where the place does not tell it.
  paintCaptions(context, head, x, y) {
    if (!this.captions) return;
    const { num_heads: heads } = this.header;
    const lines = [this.format(this.value(head), true)];
    if (this.captions === 2) lines.unshift(`${Math.floor(head / heads)}\u00b7${head % heads}`);
    context.textAlign = "center";
    context.fillStyle = this.theme.text;
    context.font = `10px ${this.theme.font}`;
    lines.forEach((text, line) => {
      context.globalAlpha = (this.isOut(head) ? 0.55 : 1) * (line < lines.length - 1 ? 0.75 : 1);
      context.fillText(text, x + this.cell / 2, y + this.cell + AIR + CAPTION * (line + 0.5));
    });
  }

  // The heads' numbers on top (only where columns are heads) and the layers' on the left.
  paintNumbers(context) {
    const { num_heads: heads, num_layers: layers } = this.header;
    context.font = `11.5px ${this.theme.font}`;
    context.fillStyle = this.theme.text;
    context.textAlign = "left";
    if (this.order === "all") return context.fillText("layer \u00b7 head", LEFT, TOP / 2);
    const place = this.pointed ?? this.opened();
    if (this.order === "place") {
      context.textAlign = "center";
      for (let head = 0; head < heads; head += stride(this.across, heads > 10 ? 17 : 11)) {
        context.globalAlpha = place.head === head ? 1 : 0.7;
        context.fillText(head, this.corner(head)[0] + this.cell / 2, TOP / 2);
      }
    } else context.fillText(this.lowest ? "lowest first" : "highest first", LEFT, TOP / 2);
    context.textAlign = "right";
    for (let layer = 0; layer < layers; layer += stride(this.down, 13)) {
      context.globalAlpha = place.layer === layer ? 1 : 0.7;
      context.fillText(layer, LEFT - 8, this.corner(layer * heads)[1] + this.cell / 2);
    }
    context.globalAlpha = 1;
    return undefined;
  }

  ring(context, k, colour, width) {
    const [x, y] = this.corner(k);
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.roundRect(x - 1, y - 1, this.cell + 2, this.cell + 2, 2);
    context.stroke();
  }
}
