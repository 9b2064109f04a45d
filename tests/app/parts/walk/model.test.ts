import assert from "node:assert/strict";
import { test } from "node:test";

import { exactPercent, GlanceModel, type GlanceHeader } from "../../../../app/parts/walk/model";

const TABLE = Float32Array.from({ length: 256 }, (_, code) => code / 255);

// One layer of one head: the attention of each query row, as codes; null for NaN.
function modelOf(rows: (number | null)[][], numTokens = rows.length, size = rows.length): GlanceModel {
  const codes = rows.flat();
  const gaps = new Uint8Array(Math.ceil(codes.length / 8));
  codes.forEach((code, at) => { if (code === null) gaps[at >> 3] |= 128 >> (at & 7); });
  const header: GlanceHeader = {
    tokens: rows.map((_, row) => `t${row}`), positions: rows.map((_, row) => row), text_ids: rows.map(() => 0),
    num_tokens: numTokens, words: [], num_layers: 1, num_heads: 1, size, columns: [], predictions: [], pair: null,
    num_hidden: 0, parts: {}, absent: {}, broken: [], kinds: { a: "", b: "", special: "" }, accent: "", steps: [], step: 0,
    pages: {},
  };
  const model = new GlanceModel();
  const means = Uint8Array.from(codes, (code) => code ?? 0);
  const blocks = [new Uint8Array(), means, means, new Uint8Array(TABLE.buffer), new Uint8Array(), gaps];
  model.receive({ header: { ...header, blocks: [] }, blocks });
  return model;
}

test("a weight that is no number is NaN, comes last and is in no line", () => {
  const model = modelOf([[255, 0, 0], [null, 51, 204], [null, null, null]]);
  assert.ok(Number.isNaN(model.mean(0, 1, 0)));
  assert.deepEqual(model.from(0, 1, null, 3).map(({ key }) => key), [2, 1, 0]);
  assert.ok(Number.isNaN(model.from(0, 2, null, 3)[0].weight));
  assert.deepEqual(model.links[0].map(({ query, key }) => [query, key]), [[0, 0], [1, 2]]);
});

test("folded tokens, and heads whose weights are not sent, are known", () => {
  const rows = [[255, 0], [128, 127]];
  assert.deepEqual([modelOf(rows).isFolded, modelOf(rows).hasHeads], [false, true]);
  const long = modelOf(rows, 130, 1);
  assert.deepEqual([long.isFolded, long.hasHeads], [true, false]);
  assert.equal(long.weight(0, 0, 0, 0), null);
});

test("a probability that is no number is NaN in words", () => {
  assert.equal(exactPercent(0.12345), "12.35%");
  assert.equal(exactPercent(null), "NaN");
});
