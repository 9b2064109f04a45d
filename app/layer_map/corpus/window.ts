// What is seen of the map: a unit square, moved and scaled into the canvas.

export type Place = [number, number];

const MARGIN = 0.94; // of the shorter side, for the whole map
const NEAREST = 400;

export class MapWindow {
  private x = 0.5;
  private y = 0.5;
  private zoom = 1;
  width = 1;
  height = 1;

  get isWhole(): boolean {
    return this.zoom === 1;
  }

  /** Pixels of a unit of the map. */
  get unit(): number {
    return Math.min(this.width, this.height) * MARGIN * this.zoom;
  }

  get magnification(): number {
    return this.zoom;
  }

  resize(width: number, height: number): void {
    [this.width, this.height] = [width, height];
  }

  showAll(): void {
    [this.x, this.y, this.zoom] = [0.5, 0.5, 1];
  }

  toPixels([x, y]: Place): Place {
    return [this.width / 2 + (x - this.x) * this.unit, this.height / 2 - (y - this.y) * this.unit];
  }

  toMap([left, top]: Place): Place {
    return [this.x + (left - this.width / 2) / this.unit, this.y - (top - this.height / 2) / this.unit];
  }

  // The whole map stays where it is: there is nothing beside it.
  panBy(left: number, top: number): void {
    if (this.isWhole) return;
    this.x = Math.min(1, Math.max(0, this.x - left / this.unit));
    this.y = Math.min(1, Math.max(0, this.y + top / this.unit));
  }

  // Zooms by a factor about a place in pixels, which stays where it is.
  zoomBy(factor: number, about: Place = [this.width / 2, this.height / 2]): void {
    const held = this.toMap(about);
    this.zoom = Math.min(NEAREST, Math.max(1, this.zoom * factor));
    if (this.zoom === 1) return this.showAll();
    const now = this.toMap(about);
    this.x = Math.min(1, Math.max(0, this.x + held[0] - now[0]));
    this.y = Math.min(1, Math.max(0, this.y + held[1] - now[1]));
  }

  // What a vertex shader needs: clip = place * scale + shift.
  clip(): { scale: Place; shift: Place } {
    const scale: Place = [(2 * this.unit) / this.width, (2 * this.unit) / this.height];
    return { scale, shift: [-this.x * scale[0], -this.y * scale[1]] };
  }
}
