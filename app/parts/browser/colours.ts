// Colours as numbers, and the ink that is legible over them.

import { context2d, element } from "./elements";

const EQUAL_CONTRAST = 0.179; // luminance over which black and white have the same contrast, 4.58

// Black or white, whichever contrasts more with a colour [red, green, blue], 0 to 255.
export function inkOver(rgb: Iterable<number>): string {
  const [r, g, b] = Array.from(rgb, (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > EQUAL_CONTRAST ? "#000" : "#fff";
}

// [red, green, blue] of #rrggbb.
export function hexRgb(hex: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

// [red, green, blue] of any CSS colour, as a canvas reads it.
export function rgbOf(colour: string): number[] {
  const found = known.get(colour) ?? readRgb(colour);
  known.set(colour, found);
  return found;
}

const known = new Map<string, number[]>();

function readRgb(colour: string): number[] {
  const context = context2d(element("canvas", { width: 1, height: 1 }));
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data.subarray(0, 3)];
}

// When the system turns dark or light.
export function onSchemeChange(changed: () => void): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}
