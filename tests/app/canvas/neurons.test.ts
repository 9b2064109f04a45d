import assert from "node:assert/strict";
import { test } from "node:test";

import { NeuronModel, type NeuronHeader } from "../../../app/canvas/neurons/model";

const HEADER: NeuronHeader = {
  look: { order: "weight", query: null }, layer: 0, head: 0, num_layers: 1, num_heads: 1, width: 2, revision: 0,
  accent: "", light: [], dark: [],
  tokens: ["a", "b", "c"], text_ids: [0, 0, 0], kinds: { a: "", b: "", special: "" }, is_pair: false,
};

// Queries and keys [3, 2], scores and weights [3, 3].
function neuronModel(weights: number[], queries = [1, 2, 0, 0, 3, -4], masked: number[] = []): NeuronModel {
  const blocks = [queries, [1, 1, -1, 0.5, 0, 2], [0, 1, 2, 3, 4, 5, 6, 7, -8], weights]
    .map((values) => new Uint8Array(Float32Array.from(values).buffer));
  blocks.push(Uint8Array.from(masked));
  const model = new NeuronModel();
  model.receive({ header: { ...HEADER, blocks: [] }, blocks });
  return model;
}

const WEIGHTS = [0.2, 0.5, 0.3, 0.4, 0.2, 0.4, 0, 0, 1];

test("a product is that of one dimension of the query and of a key", () => {
  const model = neuronModel(WEIGHTS);
  model.openQuery(2);
  assert.deepEqual([model.product(0, 0), model.product(0, 1), model.product(1, 0), model.product(2, 1)], [3, -4, -3, -8]);
  assert.deepEqual(model.strongest(0, 2), [1, 0]);
  assert.deepEqual([model.score(1), model.weight(2)], [7, 1]);
});

test("keys are ordered by their weight, equal ones as in the text", () => {
  const model = neuronModel(WEIGHTS);
  model.openQuery(1);
  model.arrange();
  assert.deepEqual([model.order, [...model.rowOf]], [[0, 2, 1], [0, 2, 1]]);
  model.orderBy = "text";
  model.arrange();
  assert.deepEqual(model.order, [0, 1, 2]);
});

test("scales end at the largest numbers, and never at 0", () => {
  const model = neuronModel(WEIGHTS);
  assert.equal(model.vectorTop, 4);
  model.openQuery(2);
  model.arrange();
  assert.deepEqual([model.productTop, model.scoreTop], [8, 8]);
  model.openQuery(1); // a query of zeros
  model.arrange();
  assert.equal(model.productTop, 1);
});

test("masked keys are those of the query; without a mask there are none", () => {
  const model = neuronModel([1, 0, 0, 0.5, 0.5, 0, 0.2, 0.3, 0.5], undefined, [0, 1, 1, 0, 0, 1, 0, 0, 0]);
  const masked = (query: number) => { model.openQuery(query); return [0, 1, 2].map((key) => model.isMasked(key)); };
  assert.deepEqual([0, 1, 2].map(masked), [[false, true, true], [false, false, true], [false, false, false]]);
  assert.ok(!neuronModel(WEIGHTS).isMasked(0));
});

test("a query outside of the text is the nearest one inside", () => {
  const model = neuronModel(WEIGHTS);
  assert.deepEqual([-4, 1.4, 99].map((wanted) => { model.openQuery(wanted); return model.query; }), [0, 1, 2]);
});

test("NaN is found, ranks first and is no end of a scale", () => {
  const model = neuronModel([0.2, 0.5, NaN, ...WEIGHTS.slice(3)], [NaN, 2, 0, 0, 3, -4]);
  assert.ok(model.hasNaN);
  assert.ok(!neuronModel(WEIGHTS).hasNaN);
  model.openQuery(0);
  model.arrange();
  assert.deepEqual(model.order, [2, 1, 0]);
  assert.deepEqual([model.vectorTop, model.productTop], [4, 4]);
});
