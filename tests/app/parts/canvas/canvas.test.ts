import assert from "node:assert/strict";
import { test } from "node:test";

import { fitCanvas, fitText, missingBoxes, paintMissing, stride } from "../../../../app/parts/canvas/shared/canvas";
import { Recorder } from "../../../support/fake_dom";

test("ticks stand 1, 2, 5, 10, 20 ... apart, each with the room that a label needs", () => {
  assert.deepEqual([30, 15, 10, 4, 2, 1, 0.5].map((step) => stride(step, 12)), [1, 1, 2, 5, 10, 20, 50]);
  for (let step = 0.05; step < 40; step += 0.05) assert.ok(stride(step, 12) * step >= 12 - 1e-9, String(step));
});

test("a text is cut to its room", () => {
  const context = { measureText: (text: string) => ({ width: 10 * text.length }) as TextMetrics };
  assert.equal(fitText(context, "attention", 90), "attention");
  assert.equal(fitText(context, "attention", 89), "attenti\u2026");
  assert.equal(fitText(context, "attention", 40), "att\u2026");
  assert.equal(fitText(context, "attention", 5), "\u2026");
  assert.equal(fitText(context, "e\u0301e\u0301e\u0301", 30), "e\u0301\u2026");
});

test("a canvas has its size in CSS pixels at every density", () => {
  const drawn = { setTransform: () => {}, clearRect: () => {} };
  const canvas = { width: 300, height: 150, style: {}, getContext: () => drawn } as unknown as HTMLCanvasElement;
  const sizes: unknown[] = [];
  for (const [devicePixelRatio, width] of [[1, 400], [2, 200]]) { // as many pixels
    Object.assign(globalThis, { window: { devicePixelRatio } });
    fitCanvas(canvas, width, 100);
    sizes.push([canvas.width, canvas.style.width]);
  }
  Reflect.deleteProperty(globalThis, "window");
  assert.deepEqual(sizes, [[400, "400px"], [400, "200px"]]);
});

test("missing cells are joined to few boxes that hold all of them and no other", () => {
  assert.deepEqual(missingBoxes(4, (row) => row === 1 || row === 2), [[0, 1, 4, 2]]);
  assert.deepEqual(missingBoxes(3, () => false), []);
  const isMissing = (row: number, column: number) => (row * 5 + column * 3) % 7 < 3;
  const seen = new Set<number>();
  for (const [left, top, width, height] of missingBoxes(9, isMissing)) {
    for (let row = top; row < top + height; row++) {
      for (let column = left; column < left + width; column++) {
        assert.ok(isMissing(row, column) && !seen.has(row * 9 + column));
        seen.add(row * 9 + column);
      }
    }
  }
  const cells = Array.from({ length: 81 }, (_, at) => isMissing(Math.floor(at / 9), at % 9));
  assert.equal(seen.size, cells.filter(Boolean).length);
});

test("missing cells are one red box with stripes across all of it, and none beyond", () => {
  for (const [x, y, width, height] of [[0, 0, 20, 20], [3, 4, 12, 30], [101.5, 7, 40, 4]]) {
    const context = Recorder.make();
    paintMissing(context, [x, y, width, height]);
    const [box] = context.of("fillRect");
    assert.deepEqual([box.args, box.fillStyle], [[x, y, width, height], "rgb(214,40,90)"]);
    const points = [...context.of("moveTo"), ...context.of("lineTo")].map(({ args }) => args as [number, number]);
    for (const [left, top] of points) {
      assert.ok(left >= x && left <= x + width && top >= y && top <= y + height, String([left, top]));
    }
    // Each stripe has one sum of both coordinates: every multiple of 5 between the corners' sums.
    const sums = context.of("moveTo").map(({ args }) => (args[0] as number) + (args[1] as number));
    const least = Math.ceil((x + y + 1) / 5) * 5;
    const expected = Array.from({ length: 40 }, (_, k) => least + 5 * k).filter((sum) => sum < x + y + width + height);
    assert.deepEqual(sums, expected);
  }
});
