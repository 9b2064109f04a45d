// Colours, sizes and shapes for every canvas.

import { context2d } from "../../browser/elements";
import { legible, letters } from "../../browser/text";

/** What our views use of a canvas context; SvgContext has the same. */
export type Painting = Pick<CanvasRenderingContext2D,
  | "beginPath" | "bezierCurveTo" | "direction" | "fill" | "fillRect" | "fillStyle" | "fillText" | "font" | "globalAlpha"
  | "lineCap" | "lineJoin" | "lineTo" | "lineWidth" | "measureText" | "moveTo" | "roundRect" | "stroke"
  | "strokeStyle" | "strokeText" | "textAlign" | "textBaseline">;

/** [left, top, width, height] */
export type Box = [number, number, number, number];

export interface Theme {
  text: string;
  background: string;
  secondary: string;
  primary: string;
  border: string;
  font: string;
}

export const NOT_A_NUMBER = [214, 40, 90]; // red, for weights that a damaged checkpoint gives
const STRIPES = 5; // pixels between the light stripes over it

// The theme that Streamlit sets on the component.
export function readTheme(node: Element): Theme {
  const style = getComputedStyle(node);
  const read = (name: string, other: string) => style.getPropertyValue(name).trim() || other;
  return {
    text: read("--st-text-color", "#222"),
    background: read("--st-background-color", "#fff"),
    secondary: read("--st-secondary-background-color", "#f0f2f6"),
    primary: read("--st-primary-color", "#3366cc"),
    border: read("--st-border-color", "#ccc"),
    font: read("--st-font", "sans-serif"),
  };
}

// Sizes a canvas in CSS pixels at the screen's density; returns its context, scaled and cleared.
export function fitCanvas(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  // Also if the pixels are as many: the density may be another.
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = context2d(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// A text cut to a width in the context's font.
export function fitText(context: Pick<Painting, "measureText">, text: string, room: number): string {
  const parts = letters(text, 80);
  const start = parts.join("");
  if (start.length === text.length && context.measureText(text).width <= room) return text;
  let [low, high] = [0, parts.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${parts.slice(0, middle).join("")}\u2026`).width <= room) low = middle;
    else high = middle - 1;
  }
  return `${parts.slice(0, low).join("")}\u2026`;
}

// Names as they are drawn: legible and cut to their room. Measuring is slow, so they are kept.
export class FittedNames {
  private kept = new Map<string, string>();

  forget(): void {
    this.kept = new Map();
  }

  fit(context: Pick<Painting, "measureText" | "font">, name: string, room: number): string {
    const start = name.slice(0, 400);
    const key = `${room} ${context.font} ${start}`;
    const text = this.kept.get(key) ?? fitText(context, legible(start), room);
    this.kept.set(key, text);
    return text;
  }
}

// The distance between labelled ticks, one of 1, 2, 5, 10, 20 ...: a tick takes `step` pixels and a
// label needs `room`.
export function stride(step: number, room: number): number {
  const needed = Math.max(1, Math.ceil(room / step));
  const power = 10 ** Math.floor(Math.log10(needed));
  return [1, 2, 5, 10].map((times) => times * power).find((every) => every >= needed) ?? needed;
}

// Red with light stripes: a box that holds values that are not numbers (NaN).
export function paintMissing(context: Painting, [x, y, width, height]: Box): void {
  context.fillStyle = `rgb(${NOT_A_NUMBER.join(",")})`;
  context.fillRect(x, y, width, height);
  context.strokeStyle = "#fff";
  context.lineWidth = 1.2;
  context.beginPath();
  for (let sum = Math.ceil((x + y + 1) / STRIPES) * STRIPES; sum < x + y + width + height; sum += STRIPES) {
    const [from, to] = [Math.max(x, sum - y - height), Math.min(x + width, sum - y)];
    context.moveTo(from, sum - from);
    context.lineTo(to, sum - to);
  }
  context.stroke();
}

// The cells of a square for which `isMissing(row, column)`, as few boxes in cells as whole rows
// allow: one NaN makes the whole row of a softmax NaN.
export function missingBoxes(size: number, isMissing: (row: number, column: number) => boolean): Box[] {
  const boxes: Box[] = [];
  let open = new Map<string, Box>(); // boxes that reach into the row above, by place and width
  for (let row = 0; row < size; row++) {
    const here = new Map<string, Box>();
    for (let column = 0; column < size; column++) {
      if (!isMissing(row, column)) continue;
      const left = column;
      while (column < size && isMissing(row, column)) column++;
      const name = `${left} ${column}`;
      const box: Box = open.get(name) ?? [left, row, column - left, 0];
      if (!box[3]) boxes.push(box);
      box[3] += 1;
      here.set(name, box);
    }
    open = here;
  }
  return boxes;
}
