import assert from "node:assert/strict";
import { test } from "node:test";

import { cone, direction, edges, ink, reads, sees, touched, type Net } from "../../../../app/screens/architectures/model";

const causal: Net = { side: "left", reader: 1, weights: [
  [[1, 0, 0], [0.4, 0.6, 0], [0.2, 0.01, 0.79]],
  [[1, 0, 0], [0.5, 0.5, 0], [0.1, 0.1, 0.8]],
] };
const both: Net = { side: "both", reader: 0, weights: [[[0.5, 0.5], [0.3, 0.7]]] };

test("a guess depends on what its paths reach", () => {
  assert.deepEqual(cone(causal, 2, 1), [[true, true, false], [true, true, false], [false, true, false]]);
  assert.deepEqual(cone(causal, 1, 0), [[true, false, false], [true, false, false], [false, false, false]]);
  assert.deepEqual(cone(both, 1, 0), [[true, true], [true, false]]);
});

test("a reader beyond the rows that are drawn sees none of them", () => {
  assert.ok(cone(both, 1, 2).flat().every((seen) => !seen));
});

test("small weights are not drawn, the largest last", () => {
  const found = edges(causal, 1);
  assert.ok(found.every(({ weight }) => weight >= 0.03));
  assert.equal(found.length, 11);
  assert.equal(found.at(-1)?.weight, 1);
  assert.equal(edges(causal, 0.1).length, 12); // 0.01 is a tenth of the largest there
});

test("what a token reads is in order, without nothing", () => {
  assert.deepEqual(reads(causal, 0, 1, 4), [{ key: 1, weight: 0.6 }, { key: 0, weight: 0.4 }]);
  assert.deepEqual(reads(causal, 0, 2, 1), [{ key: 2, weight: 0.79 }]);
});

test("a token looks left, right or at itself", () => {
  assert.equal(direction({ key: 0, query: 2 }), "left");
  assert.equal(direction({ key: 2, query: 0 }), "right");
  assert.equal(direction({ key: 1, query: 1 }), "itself");
});

test("ink grows with the weight and ends at 1", () => {
  assert.equal(ink(0.5, 0.5), 1);
  assert.equal(ink(0.7, 0.5), 1);
  assert.ok(ink(0.05, 0.5) < ink(0.1, 0.5));
});

test("both ends of each weight are touched", () => {
  const path: Net = { side: "both", reader: 0, weights: [[[0, 0], [0.3, 0]], [[0, 0.4], [0, 0]]] };
  assert.deepEqual(touched(path), [[true, false], [false, true], [true, false]]);
});

test("one token is no tokens", () => {
  assert.equal(sees(1, 0), "The guess sees 1 token to the left and 0 to the right.");
  assert.equal(sees(2, 1), "The guess sees 2 tokens to the left and 1 to the right.");
});
