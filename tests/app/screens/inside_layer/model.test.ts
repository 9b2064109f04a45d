import assert from "node:assert/strict";
import { test } from "node:test";

import {
  cellsOf, fullColour, peaksOf, sharesOf, SheetModel, short, signed, step, type Row, type SheetHeader,
} from "../../../../app/screens/inside_layer/model";

const vector = (...numbers: number[]) => Float32Array.from(numbers);

test("cells are the means of neighbouring dimensions and cover each once", () => {
  assert.deepEqual(cellsOf(vector(1, 3, 5, 7), 2), [{ first: 0, last: 1, mean: 2 }, { first: 2, last: 3, mean: 6 }]);
  const uneven = cellsOf(new Float32Array(100), 64);
  assert.equal(uneven.length, 64);
  assert.deepEqual([uneven[0].first, uneven[63].last], [0, 99]);
  uneven.slice(1).forEach(({ first }, at) => assert.equal(first, uneven[at].last + 1));
  assert.equal(cellsOf(vector(4), 64).length, 1);
});

test("a lone neuron that fires is seen among many that do not", () => {
  const active = new Float32Array(1024).fill(-0.1);
  active[515] = 2;
  const peak = peaksOf(active).find(({ first, last }) => first <= 515 && 515 <= last);
  assert.equal(peak?.mean, 2);
});

test("the strongest colour is no outlier's", () => {
  const cells = cellsOf(Float32Array.from({ length: 64 }, (_, at) => (at === 7 ? 90 : 1)));
  assert.equal(fullColour([cells]), 1);
  assert.equal(fullColour([]), 1);
  assert.equal(fullColour([cellsOf(vector(0, 0))]), 1);
});

test("steps of the colour scale", () => {
  assert.deepEqual([step(0, 2), step(2, 2), step(-9, 2)], [127, 254, 0]);
});

test("numbers as they are written", () => {
  assert.deepEqual([signed(1.234), signed(-0.5), signed(-0.001)], ["+1.23", "\u22120.50", "0.00"]);
  assert.deepEqual([short(123.4), short(12.34), short(-0.126), short(-0.001)], ["123", "12.3", "\u22120.13", "0.00"]);
});

const row = (values: Partial<Row>): Row => ({ kind: "vector", title: "", note: "", ...values });

function sheet(rows: Row[], widths: number[], numbers: Float32Array): SheetModel {
  const header: SheetHeader = { kind: "sheet", name: "", rows, widths, word: null, against: null, colors: { a: "", b: "", special: "", accent: "" } };
  const halves = Uint16Array.from(numbers, (number) => {
    const exponent = Math.floor(Math.log2(number));
    return ((exponent + 15) << 10) | ((number / 2 ** exponent - 1) * 1024);
  });
  return new SheetModel(header, [new Uint8Array(halves.buffer)]);
}

test("vectors of different widths are cut from one block, and share the colours of their kind", () => {
  const model = sheet(
    [row({ vector: 0, scale: "state" }), row({ vector: 1, scale: "write" }), row({ vector: 2, scale: "state" })],
    [2, 3, 1], vector(1, 2, 30, 30, 30, 4),
  );
  assert.deepEqual(model.vectors.map((one) => [...one]), [[1, 2], [30, 30, 30], [4]]);
  assert.equal(model.fullOf("write"), 30);
  assert.equal(model.fullOf("state"), 2);
});

test("shares are of a word's logit, or of the difference of two", () => {
  assert.equal(sharesOf({ word: "bank", against: null }), "share of \u201cbank\u201d");
  assert.equal(sharesOf({ word: "bank", against: "river" }), "share of \u201cbank\u201d \u2212\u00a0\u201criver\u201d");
  assert.equal(sharesOf({ word: null, against: null }), "");
});

test("residual connections lead from a state to its sum", () => {
  const rows = ["from", "", "to", "from", "to"].map((residual) => row({ residual }));
  assert.deepEqual(sheet(rows, [], vector()).residuals, [[0, 2], [3, 4]]);
  const modern = ["from", "", "to from", "", "to"].map((residual) => row({ residual }));
  assert.deepEqual(sheet(modern, [], vector()).residuals, [[0, 2], [2, 4]]);
});
