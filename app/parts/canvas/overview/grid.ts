// Draws the heads as thumbnails in a grid, with their numbers.

import { paintCells } from "../saving/pictures";
import { stride, type Painting } from "../shared/canvas";
import { Painter } from "../shared/painter";
import type { OverviewModel, Place } from "./model";
import type { Thumbnails } from "./thumbnails";

const GAP = 3;
const LEFT = 30; // room for the layers' numbers
const TOP = 20; // room for the heads' numbers
const MAX_GRID = 340; // pixels of the grid's height before it scrolls, without captions
const CAPTION = 12; // pixels of a line of text under a thumbnail
const AIR = 3; // pixels around these lines
const READABLE = 24; // pixels of a thumbnail that has room for its number
const DIMMED = 0.16;

export class GridPainter extends Painter {
  width = 0;
  height = 0;
  columns = 1;
  private rows = 0;
  private cell = 0; // side of a thumbnail
  private across = 0; // from one thumbnail to the next
  private down = 0;
  private captions = 0; // lines of text under a thumbnail

  constructor(private readonly model: OverviewModel, private readonly thumbnails: Thumbnails) {
    super();
  }

  // ---- places ----

  // Sets the size of a thumbnail and the number of columns, for the room there is.
  layout(room: number): void {
    const { header: { num_layers: layers, num_heads: heads }, options: { measure, order } } = this.model;
    const isSorted = order === "all";
    const most = measure ? 52 : 56;
    const fits = Math.min((MAX_GRID - TOP) / layers, (room - LEFT) / heads, most);
    const least = measure ? READABLE + GAP : 15;
    this.cell = Math.max(12, Math.floor(Math.min((room - LEFT) / heads, Math.max(fits, least))) - GAP);
    if (isSorted) this.cell = Math.max(this.cell, 30);
    this.captions = !measure || (this.cell < READABLE && !isSorted) ? 0 : isSorted ? 2 : 1;
    this.across = this.cell + GAP;
    this.down = this.cell + GAP + (this.captions ? CAPTION * this.captions + AIR * this.captions : 0);
    this.columns = isSorted ? Math.max(1, Math.min(heads, Math.floor((room - LEFT) / this.across))) : heads;
    this.rows = Math.ceil(this.model.sequence.length / this.columns);
    this.width = LEFT + this.columns * this.across;
    this.height = TOP + this.rows * this.down;
  }

  hit(x: number, y: number): Place | null {
    const column = Math.floor((x - LEFT) / this.across);
    const row = Math.floor((y - TOP) / this.down);
    if (row < 0 || row >= this.rows || column >= this.columns) return null;
    // The numbers on the left stand for whole layers, where rows are layers.
    if (column < 0) return this.model.options.order === "all" ? null : { layer: row, head: null };
    return this.model.placeAt(row * this.columns + column);
  }

  // How far a window of some height must be scrolled to show the k-th thumbnail.
  scrolledTo(k: number, scrollTop: number, height: number): number {
    const y = this.corner(k)[1];
    if (y + this.down > scrollTop + height) return y + this.down - height;
    return y - TOP < scrollTop ? y - TOP : scrollTop;
  }

  // Top left corner of the k-th place.
  private corner(k: number): [number, number] {
    return [LEFT + (k % this.columns) * this.across, TOP + Math.floor(k / this.columns) * this.down];
  }

  // ---- painting ----

  drawOn(context: Painting, density: number): void {
    const { model } = this;
    const pictures = this.thumbnails.all(Math.max(1, Math.round(this.cell * density)));
    context.textBaseline = "middle";
    model.sequence.forEach((head, k) => {
      const [x, y] = this.corner(k);
      context.globalAlpha = model.isLeftOut(head) ? DIMMED : 1;
      const { width } = pictures[head];
      paintCells(context, pictures[head], [0, 0, width, width], [x, y, this.cell, this.cell]);
      this.thumbnails.paintMissing(context, model.placeOf(head), [x, y, this.cell]);
      this.paintCaptions(context, head, x, y);
    });
    this.paintNumbers(context);
    const ring = (k: number, colour: string, width: number) => this.stroke(context, colour, width, 1, () => {
      const [x, y] = this.corner(k);
      context.roundRect(x - 1, y - 1, this.cell + 2, this.cell + 2, 2);
    });
    model.sequence.forEach((head, k) => model.isOpen(head) && ring(k, this.theme.primary, 2.5));
    model.sequence.forEach((head, k) => model.isPointed(head) && ring(k, this.theme.text, 1.5));
  }

  // The value, below the name where the place does not tell it.
  private paintCaptions(context: Painting, head: number, x: number, y: number): void {
    if (!this.captions) return;
    const { model } = this;
    const place = model.placeOf(head);
    const lines = [model.format(model.value(head), model.options.measure, true)];
    if (this.captions === 2) lines.unshift(`${place.layer}\u00b7${place.head}`);
    this.font(context, 10);
    lines.forEach((text, line) => {
      this.fill(context, this.theme.text, (model.isLeftOut(head) ? 0.55 : 1) * (line < lines.length - 1 ? 0.75 : 1));
      this.write(context, text, x + this.cell / 2, y + this.cell + AIR + CAPTION * (line + 0.5), "center");
    });
  }

  // The heads' numbers on top (only where columns are heads) and the layers' on the left.
  private paintNumbers(context: Painting): void {
    const { header: { num_heads: heads, num_layers: layers }, options } = this.model;
    this.font(context, 11.5);
    this.fill(context, this.theme.text);
    if (options.order === "all") return this.write(context, "layer \u00b7 head", LEFT, TOP / 2);
    const place = this.model.pointed ?? this.model.opened;
    if (options.order === "place") {
      for (let head = 0; head < heads; head += stride(this.across, heads > 10 ? 17 : 11)) {
        this.fill(context, this.theme.text, place.head === head ? 1 : 0.7);
        this.write(context, String(head), this.corner(head)[0] + this.cell / 2, TOP / 2, "center");
      }
    } else this.write(context, options.lowest ? "lowest first" : "highest first", LEFT, TOP / 2);
    for (let layer = 0; layer < layers; layer += stride(this.down, 13)) {
      this.fill(context, this.theme.text, place.layer === layer ? 1 : 0.7);
      this.write(context, String(layer), LEFT - 8, this.corner(layer * heads)[1] + this.cell / 2, "right");
    }
  }
}
