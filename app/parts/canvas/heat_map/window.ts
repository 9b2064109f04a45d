// The part of the map that is seen: a square window, moved and scaled in units of cells.

const CLOSEST = 4; // cells on a side when fully zoomed in

export class MapWindow {
  left = 0;
  top = 0;
  /** Cells on a side. */
  span: number;

  constructor(private readonly size: number) {
    this.span = size;
  }

  reset(): void {
    this.left = this.top = 0;
    this.span = this.size;
  }

  get isWhole(): boolean {
    return this.span >= this.size;
  }

  contains(x: number, y: number): boolean {
    return x >= this.left && y >= this.top && x < this.left + this.span && y < this.top + this.span;
  }

  // For the address: first row, first column, cells on a side. Empty for the whole map.
  written(): string {
    return this.isWhole ? "" : [this.top, this.left, this.span].map((at) => String(Math.round(at * 10) / 10)).join("-");
  }

  // Reads what `written` gives, as far as the map reaches.
  open(written: string): void {
    if (!written) return;
    const [top, left, span] = written.split("-").map(Number);
    this.span = this.limited(span);
    Object.assign(this, { top, left });
    this.stayInside();
  }

  // Changes the scale; the point (x, y), in cells, stays where it is.
  zoom(factor: number, x = this.left + this.span / 2, y = this.top + this.span / 2): void {
    const span = this.limited(this.span / factor);
    this.left = x - ((x - this.left) * span) / this.span;
    this.top = y - ((y - this.top) * span) / this.span;
    this.span = span;
    this.stayInside();
  }

  pan(x: number, y: number): void {
    this.left += x;
    this.top += y;
    this.stayInside();
  }

  // Brings a cell into the window, with a little of what is around it.
  show(row: number, column: number): void {
    const edge = Math.min(1, this.span / 8);
    this.left = Math.min(column - edge, Math.max(this.left, column + 1 + edge - this.span));
    this.top = Math.min(row - edge, Math.max(this.top, row + 1 + edge - this.span));
    this.stayInside();
  }

  private limited(span: number): number {
    return Math.max(Math.min(CLOSEST, this.size), Math.min(this.size, span));
  }

  private stayInside(): void {
    const most = this.size - this.span;
    this.left = Math.max(0, Math.min(most, this.left));
    this.top = Math.max(0, Math.min(most, this.top));
  }
}
