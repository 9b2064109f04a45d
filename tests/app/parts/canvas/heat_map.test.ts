import assert from "node:assert/strict";
import { test } from "node:test";

import { MapModel, type MapHeader } from "../../../../app/parts/canvas/heat_map/model";
import { orderColumns, orderRows } from "../../../../app/parts/canvas/heat_map/order";
import { halve } from "../../../../app/parts/canvas/heat_map/pyramid";
import { MapWindow } from "../../../../app/parts/canvas/heat_map/window";

const WEIGHTS = Float32Array.of(
  0.2, 0.3, 0.5,
  0, 1, 0,
  0.4, 0.3, 0.3,
);

test("rows are ordered by the entropy of their attention, or by a column", () => {
  assert.deepEqual([...orderRows(WEIGHTS, 3, "text", null)], [0, 1, 2]);
  assert.deepEqual([...orderRows(WEIGHTS, 3, "entropy", null)], [1, 0, 2]);
  assert.deepEqual([...orderRows(WEIGHTS, 3, "chosen", 0)], [2, 0, 1]);
  assert.deepEqual([...orderRows(WEIGHTS, 3, "chosen", null)], [0, 1, 2]);
});

test("columns are ordered by what they receive, or by a row; equal ones as in the text", () => {
  assert.deepEqual([...orderColumns(WEIGHTS, 3, "received", null)], [1, 2, 0]);
  assert.deepEqual([...orderColumns(WEIGHTS, 3, "chosen", 0)], [2, 1, 0]);
  assert.deepEqual([...orderColumns(WEIGHTS, 3, "chosen", 2)], [0, 1, 2]);
});

test("what is not a number comes last", () => {
  const weights = Float32Array.of(NaN, NaN, NaN, 0, 0.9, 0.1, 0.3, 0.3, 0.4);
  assert.deepEqual([...orderRows(weights, 3, "entropy", null)], [1, 2, 0]);
  assert.deepEqual([...orderRows(weights, 3, "chosen", 1)], [1, 2, 0]);
  assert.deepEqual([...orderColumns(weights, 3, "received", null)], [0, 1, 2]);
});

test("a smaller image keeps the largest of each 2 x 2, and NaN", () => {
  const levels = Float32Array.of(
    0.1, 0.9, 0.2,
    0.3, 0.2, NaN,
    0.5, 0, 0.7,
  );
  const [small, side] = halve(levels, 3);
  assert.equal(side, 2);
  assert.deepEqual(small, Float32Array.of(0.9, NaN, 0.5, 0.7));
});

test("zooming keeps the point under the pointer", () => {
  const window = new MapWindow(100);
  window.zoom(2, 30, 60);
  assert.deepEqual([window.left, window.top, window.span], [15, 30, 50]);
  window.zoom(1.25, 30, 60);
  assert.ok(Math.abs((30 - window.left) / window.span - 0.3) < 1e-12);
  assert.ok(Math.abs((60 - window.top) / window.span - 0.6) < 1e-12);
});

test("the window stays inside of the map and between 4 cells and all", () => {
  const window = new MapWindow(20);
  window.zoom(1000, 20, 0);
  assert.deepEqual([window.left, window.top, window.span], [16, 0, 4]);
  window.pan(-100, 100);
  assert.deepEqual([window.left, window.top], [0, 16]);
  window.zoom(0.001);
  assert.ok(window.isWhole);
  assert.deepEqual([window.left, window.top, window.span], [0, 0, 20]);
  const tiny = new MapWindow(2);
  tiny.zoom(8);
  assert.equal(tiny.span, 2);
});

test("a cell is brought into the window with a little of what is around it", () => {
  const window = new MapWindow(100);
  window.open("0-0-10");
  window.show(50, 3);
  assert.deepEqual([window.top, window.left], [42, 0]);
  window.show(45, 3);
  assert.deepEqual([window.top, window.left], [42, 0]);
  window.show(10, 99);
  assert.deepEqual([window.top, window.left], [9, 90]);
});

test("the window is written into the address and read from it, as far as the map reaches", () => {
  const window = new MapWindow(60);
  assert.equal(window.written(), "");
  window.open("12-4.5-20");
  assert.deepEqual([window.top, window.left, window.span, window.written()], [12, 4.5, 20, "12-4.5-20"]);
  const small = new MapWindow(10);
  small.open("12-4.5-8");
  assert.deepEqual([small.top, small.left, small.span], [2, 2, 8]);
  small.open("0-0-500");
  assert.ok(small.isWhole);
});

function mapModel(): MapModel {
  const header: MapHeader = {
    look: { rows: "text", columns: "text", words: false, seen: "" },
    title: "", layers: [0], heads: [], num_layers: 1, num_heads: 4, missing: "", revision: 0, accent: "#000",
    tokens: ["a", "b", "c"], text_ids: [0, 0, 0], segment_ids: [0, 0, 0], starts: [0, 1, 2], words: ["a", "b", "c"],
    kinds: { a: "", b: "", special: "" }, is_pair: false,
  };
  const model = new MapModel();
  model.receive({ header: { ...header, blocks: [] }, blocks: [new Uint8Array(WEIGHTS.slice().buffer), new Uint8Array(768)] });
  model.adoptSelection();
  model.refreshUnits();
  model.openWindow("");
  model.sort();
  return model;
}

test("no heads in a message stand for all", () => {
  assert.deepEqual([...mapModel().heads], [0, 1, 2, 3]);
});

test("the marked cell stays that of the same tokens when rows are sorted", () => {
  const model = mapModel();
  model.marked = { row: 2, column: 0 };
  model.rowsBy = "entropy";
  model.columnsBy = "received";
  model.sort();
  assert.deepEqual([[...model.rows], [...model.columns]], [[1, 0, 2], [1, 2, 0]]);
  assert.deepEqual(model.marked, { row: 2, column: 2 });
  assert.deepEqual(model.namesAt(model.marked), ["c", "a"]);
  assert.equal(model.weightAt(model.marked), Math.fround(0.4));
});

test("a cell is in the window from its first row and column on, and before the next window's", () => {
  const window = new MapWindow(20);
  window.open("2-5-4"); // rows 2 to 5, columns 5 to 8
  const inside = ([x, y]: number[]) => window.contains(x, y);
  assert.ok([[5, 2], [8.9, 2], [5, 5.9], [7, 4]].every(inside));
  assert.deepEqual([[4.9, 2], [9, 2], [5, 1.9], [5, 6], [2, 5], [12, 12]].map(inside), Array(6).fill(false));
});
