import assert from "node:assert/strict";
import { test } from "node:test";

import { kindColour } from "../../../../app/parts/canvas/shared/legend";
import { mergeToWords, sameTokens, unitsOf, type WordHeader } from "../../../../app/parts/canvas/shared/levels";

const HEADER: WordHeader = {
  tokens: ["[CLS]", "em", "##bed", "it", "[SEP]"],
  text_ids: [-1, 0, 0, 0, -1],
  segment_ids: [0, 0, 0, 0, 0],
  kinds: { a: "#00f", b: "#0f0", special: "#888" },
  is_pair: false,
  starts: [0, 1, 3, 4],
  words: ["[CLS]", "embed", "it", "[SEP]"],
};

test("units are word pieces, or words named as they stand in the text", () => {
  const pieces = unitsOf(HEADER, false);
  assert.deepEqual([pieces.size, pieces.starts, pieces.names], [5, [0, 1, 2, 3, 4], HEADER.tokens]);
  const words = unitsOf(HEADER, true);
  assert.deepEqual([words.size, words.names, words.textIds], [4, HEADER.words, [-1, 0, 0, -1]]);
});

test("attention between words: the sum over the attended pieces, the mean over the attending ones", () => {
  const weights = [
    [0.1, 0.2, 0.3, 0.4],
    [0.4, 0.1, 0.1, 0.4],
    [0, 0.5, 0.5, 0],
    [0.25, 0.25, 0.25, 0.25],
  ].flat();
  const merged = [...mergeToWords((at) => weights[at], 4, [0, 1, 3])].map((weight) => Number(weight.toFixed(6)));
  assert.deepEqual(merged, [0.1, 0.5, 0.4, 0.2, 0.6, 0.2, 0.25, 0.5, 0.25]);
});

test("a weight that is no number makes those of its words none, and no others", () => {
  const merged = mergeToWords((at) => (at === 4 ? NaN : 0.5), 3, [0, 1]); // of the second piece to itself
  assert.deepEqual([...merged].map(Number.isNaN), [false, false, false, true]);
});

test("two inputs are the same if their tokens are, one by one", () => {
  assert.ok(sameTokens(HEADER, { ...HEADER, tokens: [...HEADER.tokens] }));
  assert.ok(!sameTokens(undefined, HEADER));
  assert.ok(!sameTokens({ ...HEADER, tokens: ["a b"] }, { ...HEADER, tokens: ["a", "b"] }));
});

test("a unit has the colour of its text, or of special tokens", () => {
  assert.deepEqual([-1, 0, 1].map((text) => kindColour(HEADER, text)), ["#888", "#00f", "#0f0"]);
});
