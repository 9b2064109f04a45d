// Which part of the map is seen: a square window, moved and scaled in units of cells.

const CLOSEST = 4; // cells on a side when fully zoomed in

export class MapWindow {
  constructor(size) {
    this.size = size;
    this.reset();
  }

  reset() {
    this.left = this.top = 0;
    this.span = this.size; // cells on a side
  }

  // What is seen, as a short text: first row, first column, cells on a side. Empty for the whole map.
  written() {
    return this.isWhole ? "" : [this.top, this.left, this.span].map((at) => String(Math.round(at * 10) / 10)).join("-");
  }

  // See what such a text says, as far as the map reaches.
  open(written) {
    if (!written) return;
    const [top, left, span] = written.split("-").map(Number);
    this.span = Math.max(Math.min(CLOSEST, this.size), Math.min(this.size, span));
    Object.assign(this, { top, left });
    this.stayInside();
  }

  get isWhole() {
    return this.span >= this.size;
  }

  // Change the scale; the cell at (x, y), in cells, stays where it is.
  zoom(factor, x = this.left + this.span / 2, y = this.top + this.span / 2) {
    const span = Math.max(Math.min(CLOSEST, this.size), Math.min(this.size, this.span / factor));
    this.left = x - ((x - this.left) * span) / this.span;
    this.top = y - ((y - this.top) * span) / this.span;
    this.span = span;
    this.stayInside();
  }

  pan(x, y) {
    this.left += x;
    this.top += y;
    this.stayInside();
  }

  // Bring a cell into the window, with a little of what is around it.
  show(row, column) {
    const edge = Math.min(1, this.span / 8);
    this.left = Math.min(column - edge, Math.max(this.left, column + 1 + edge - this.span));
    this.top = Math.min(row - edge, Math.max(this.top, row + 1 + edge - this.span));
    this.stayInside();
  }

  stayInside() {
    const most = this.size - this.span;
    this.left = Math.max(0, Math.min(most, this.left));
    this.top = Math.max(0, Math.min(most, this.top));
  }
}
