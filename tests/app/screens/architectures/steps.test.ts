import assert from "node:assert/strict";
import { test } from "node:test";

import { filledAfter, lastRead, orderOf, type Masks } from "../../../../app/screens/architectures/steps";

const masks: Masks = {
  name: "BERT", tokens: ["[CLS]", "it", "[MASK]", "[MASK]", "[SEP]"], places: [2, 3], steps: [
    { position: 3, word: ".", probability: 0.9, weights: [[0, 0.5, 0.5, 0, 0], [1, 0, 0, 0, 0]] },
    { position: 2, word: "rained", probability: 0.2, weights: [[0.2, 0.2, 0.2, 0.2, 0.2]] },
  ],
};

test("masks are filled in the order of the steps", () => {
  assert.deepEqual(filledAfter(masks, 0), masks.tokens);
  assert.deepEqual(filledAfter(masks, 1), ["[CLS]", "it", "[MASK]", ".", "[SEP]"]);
  assert.deepEqual(filledAfter(masks, 9), ["[CLS]", "it", "rained", ".", "[SEP]"]);
  assert.equal(masks.tokens[3], "[MASK]");
});

test("each filled place has its number", () => {
  assert.deepEqual([...orderOf(masks, 2)], [[3, 1], [2, 2]]);
  assert.equal(orderOf(masks, 0).size, 0);
});

test("what a mask looked at is the mean over the layers", () => {
  assert.deepEqual(lastRead(masks.steps[0]), [0.5, 0.25, 0.25, 0, 0]);
});
