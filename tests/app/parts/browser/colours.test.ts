import assert from "node:assert/strict";
import { test } from "node:test";

import { hexRgb, inkOver } from "../../../../app/parts/browser/colours";

test("ink is black on light colours and white on dark ones", () => {
  assert.deepEqual(["#ffffff", "#ffff00", "#88bbee"].map((hex) => inkOver(hexRgb(hex))), ["#000", "#000", "#000"]);
  assert.deepEqual(["#000000", "#0000ff", "#d6285a"].map((hex) => inkOver(hexRgb(hex))), ["#fff", "#fff", "#fff"]);
});

// Those of app/plots/theme.py: Cividis, and the ones around zero on light and on dark ground.
const SCALES = [
  ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"],
  ["#b35806", "#f1a340", "#f4f4f2", "#7fa7d8", "#1f4e9e"],
  ["#f6b35c", "#a85a14", "#1e2534", "#3563b0", "#9cc0f0"],
  ["#000000", "#ffffff"],
];

test("ink has a contrast of 4.5 at least, whatever it is on", () => {
  const steps = Array.from({ length: 16 }, (_, k) => 17 * k);
  const colours = [
    ...steps.flatMap((red) => steps.flatMap((green) => steps.map((blue) => [red, green, blue]))),
    ...SCALES.flatMap((stops) => Array.from({ length: 256 }, (_, k) => between(stops.map(hexRgb), k / 255))),
  ];
  for (const rgb of colours) assert.ok(contrast(rgb, hexRgb(whole(inkOver(rgb)))) >= 4.5, String(rgb));
});

// The colour of a scale at a place from 0 to 1.
function between(stops: number[][], place: number): number[] {
  const at = place * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  return stops[low].map((c, k) => Math.round(c + (at - low) * (stops[low + 1][k] - c)));
}

// #rrggbb of #rgb.
function whole(hex: string): string {
  return `#${[...hex.slice(1)].map((digit) => digit + digit).join("")}`;
}

// The contrast ratio of two colours by WCAG 2.
function contrast(one: number[], two: number[]): number {
  const [darker, lighter] = [one, two].map(luminance).sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(rgb: number[]): number {
  const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
