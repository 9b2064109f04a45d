import assert from "node:assert/strict";
import { test } from "node:test";

import { placesOfWords, shownAtDoor } from "../../../app/live/door";
import type { Result } from "../../../app/live/reader";

// "Yes, straws [MASK]." beside "It did.", with "straws" in two pieces.
const TOKENS = ["[CLS]", "yes", ",", "straw", "##s", "[MASK]", ".", "[SEP]", "it", "did", ".", "[SEP]"];
const typed = {
  tokens: TOKENS, text_ids: [-1, 0, 0, 0, 0, 0, 0, -1, 1, 1, 1, -1], word_ids: [-1, 0, 1, 2, 2, 3, 4, -1, 5, 6, 7, -1],
  offsets: [[0, 0], [0, 3], [3, 4], [5, 10], [10, 11], [12, 18], [18, 19], [0, 0], [0, 2], [3, 6], [6, 7], [0, 0]],
} as unknown as Result["typed"];
const texts: Result["texts"] = ["Yes, straws [MASK].", "It did."];
const guess = (place: number) =>
  ({ place, original: TOKENS[place], words: ["was", "it", "did"], probabilities: [0.5, 0.25, 0.125], own: 0.004, lens: [] });
const at = (...hidden: number[]) => shownAtDoor({ texts, typed, hidden, guesses: [...new Set([5, ...hidden])].sort((a, b) => a - b).map(guess) });

test("the parts are the texts, whose words a click hides", () => {
  const { parts, hidden } = at();
  assert.equal(parts.map(([text]) => text).join(""), texts.join("\n"));
  assert.deepEqual(parts.filter(([, word]) => word >= 0), [["Yes", 1], ["straws", 3], ["It", 8], ["did", 9]]);
  assert.deepEqual(hidden, []);
});

test("a word in pieces is hidden whole and is one gap", () => {
  assert.deepEqual(placesOfWords({ texts, typed }, [3, 9]), [3, 4, 9]);
  const { hidden, gaps } = at(3, 4);
  assert.deepEqual(hidden, [3]);
  assert.deepEqual(gaps.map(({ name }) => name), ["Gap 1", "Gap 2"]);
  assert.deepEqual(gaps.map(({ told }) => told), ["BERT reads “straws” as 2 pieces. These are guesses for the first.", ""]);
});

test("a hidden word has its rank among the guesses, or its probability", () => {
  assert.equal(at(9).gaps[1].told, "“did” is hidden. It is the third guess.");
  assert.equal(at(1).gaps[0].told, "“Yes” is hidden. BERT gives it 0.4%.");
  const nothing = shownAtDoor({ texts, typed, hidden: [], guesses: [] });
  assert.deepEqual([nothing.gaps, nothing.notes.length], [[], 1]);
});
