// What every canvas of ours needs: colours, size, names that fit, and what is not a number.

import { letters } from "./elements.js";

export const NOT_A_NUMBER = [214, 40, 90]; // red, for weights that a damaged checkpoint gives
const STRIPES = 5; // pixels between the light stripes over it

// The theme as Streamlit set it on the component, for the canvas.
export function readTheme(node) {
  const style = getComputedStyle(node);
  const read = (name, other) => style.getPropertyValue(name).trim() || other;
  return {
    text: read("--st-text-color", "#222"),
    background: read("--st-background-color", "#fff"),
    secondary: read("--st-secondary-background-color", "#f0f2f6"),
    primary: read("--st-primary-color", "#3366cc"),
    border: read("--st-border-color", "#ccc"),
    font: read("--st-font", "sans-serif"),
  };
}

// Size a canvas in CSS pixels at the screen's density; returns its context, scaled.
export function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// A text cut to a width, in the context's font.
export function fitText(context, text, room) {
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

// A text turned around its start; angle in degrees, clockwise. SvgContext has a method for it.
export function turnedText(context, text, x, y, angle) {
  if (context.turnedText) return context.turnedText(text, x, y, angle);
  context.save();
  context.translate(x, y);
  context.rotate((angle * Math.PI) / 180);
  context.fillText(text, 0, 0);
  return context.restore();
}

// Black or white, whichever is read better on a colour given as [red, green, blue], 0 to 255.
export function inkOver(rgb) {
  const [r, g, b] = Array.from(rgb, (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.35 ? "#111" : "#fff";
}

// Thins a list of marks along an axis: every how many-th has room, one of 1, 2, 5, 10, 20 ...
export function stride(step, room) {
  const needed = Math.max(1, Math.ceil(room / step));
  const power = 10 ** Math.floor(Math.log10(needed));
  return [1, 2, 5, 10].map((times) => times * power).find((every) => every >= needed);
}

// Red with light stripes: what is in this box is not a number (NaN).
export function paintMissing(context, x, y, width, height) {
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

// The parts of a square of `size` cells where `isMissing(row, column)`, as few boxes
// [left, top, width, height] in cells as whole rows allow: a softmax loses rows.
export function missingBoxes(size, isMissing) {
  const boxes = [];
  let open = new Map(); // boxes that the row above has, by their place and width
  for (let row = 0; row < size; row++) {
    const here = new Map();
    for (let column = 0; column < size; column++) {
      if (!isMissing(row, column)) continue;
      const left = column;
      while (column < size && isMissing(row, column)) column++;
      const name = `${left} ${column}`;
      const box = open.get(name) ?? [left, row, column - left, 0];
      if (!box[3]) boxes.push(box);
      box[3] += 1;
      here.set(name, box);
    }
    open = here;
  }
  return boxes;
}
