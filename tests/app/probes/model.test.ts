import assert from "node:assert/strict";
import { test } from "node:test";

import { centres, describe, isIn, levels, type Edge } from "../../../app/probes/model";

test("an arc stands above those that it spans", () => {
  assert.deepEqual(levels([[0, 3], [0, 1], [1, 2], [2, 3]]), [2, 1, 1, 1]);
  assert.deepEqual(levels([[0, 4], [1, 4], [2, 4], [3, 4]]), [4, 3, 2, 1]);
  assert.deepEqual(levels([]), []);
});

test("arcs that cross do not share a line", () => {
  const edges: Edge[] = [[0, 2], [1, 3], [2, 4], [1, 2]];
  const found = levels(edges);
  for (const [i, [a, b]] of edges.entries()) {
    for (const [j, [c, d]] of edges.entries()) {
      if (i < j && c < b && a < d) assert.notEqual(found[i], found[j]);
    }
  }
});

test("words do not touch", () => {
  const widths = [10, 80, 5, 30];
  const { middles, width } = centres(widths, 12);
  for (let place = 1; place < widths.length; place += 1) {
    const gap = middles[place] - widths[place] / 2 - (middles[place - 1] + widths[place - 1] / 2);
    assert.equal(gap, 12);
  }
  assert.equal(width, middles[3] + 15 + 12);
  assert.equal(middles[0], 17);
});

test("an edge is right where the file has it, or has no tree", () => {
  assert.ok(isIn([1, 2], null));
  assert.ok(isIn([1, 2], [[0, 1], [1, 2]]));
  assert.ok(!isIn([1, 2], [[0, 1], [1, 3]]));
});

test("a screen reader hears the tree and the depths", () => {
  const common = { layer: 3, words: ["a", "b"], colors: { right: "", wrong: "", gold: "" }, gold: null };
  assert.match(describe({ ...common, kind: "tree", edges: [[0, 1]] }), /layer 3: a–b$/);
  assert.match(describe({ ...common, kind: "depth", depths: [0.25, 1.96] }), /a 0\.3, b 2\.0$/);
  assert.match(describe({ ...common, kind: "labels", labels: ["X", "Y"], chances: [1, 1] }), /layer 3/);
});
