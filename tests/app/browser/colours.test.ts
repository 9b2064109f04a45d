import assert from "node:assert/strict";
import { test } from "node:test";

import { hexRgb, inkOver } from "../../../app/browser/colours";

test("ink is black on light colours and white on dark ones", () => {
  assert.deepEqual(["#ffffff", "#ffff00", "#88bbee"].map((hex) => inkOver(hexRgb(hex))), ["#111", "#111", "#111"]);
  assert.deepEqual(["#000000", "#0000ff", "#d6285a"].map((hex) => inkOver(hexRgb(hex))), ["#fff", "#fff", "#fff"]);
});

test("ink has a contrast of 4.3 at least, 4.5 over the kinds of tokens", () => {
  const steps = [0, 51, 102, 153, 204, 255];
  for (const red of steps) for (const green of steps) for (const blue of steps) {
    const rgb = [red, green, blue];
    assert.ok(contrast(rgb, hexRgb(whole(inkOver(rgb)))) > 4.3, String(rgb));
  }
  for (const hex of ["#3457D5", "#D98200", "#7A8194"]) {
    assert.ok(contrast(hexRgb(hex), hexRgb(whole(inkOver(hexRgb(hex))))) > 4.5, hex);
  }
});

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
