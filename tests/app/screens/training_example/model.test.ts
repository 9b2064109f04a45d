import assert from "node:assert/strict";
import { test } from "node:test";

import { barHeight, coin, kindOf, perLine, type Example, type Guess } from "../../../../app/screens/training_example/model";

const guess = (loss: number): Guess => ({ position: 0, token: "a", became: "mask", best: [], probability: 0.5, loss });

const example = {
  tokens: ["[CLS]", "a", "b", "[SEP]", "c", "[SEP]"], text_ids: [-1, 0, 0, -1, 1, -1], is_random: true, is_lone: false,
} as unknown as Example;

test("tokens are of A, of B or added", () => {
  assert.deepEqual(example.tokens.map((_, place) => kindOf(example, place)), ["special", "a", "a", "special", "b", "special"]);
});

test("lines are as many as needed, and of like length", () => {
  assert.equal(perLine(20, 1000, 50), 20);
  assert.equal(perLine(21, 1000, 50), 11);
  assert.equal(perLine(128, 740, 74), 10);
  assert.equal(perLine(9, 10, 74), 3);
});

test("a bar is full at the largest loss, which is at least 3 nats", () => {
  assert.equal(barHeight(3, [guess(3), guess(1)]), 1);
  assert.equal(barHeight(1.5, [guess(1.5)]), 0.5);
  assert.equal(barHeight(5, [guess(10), guess(5)]), 0.5);
});

test("the coin is told in words", () => {
  assert.match(coin(example), /from another document/);
  assert.match(coin({ ...example, is_lone: true }), /One sentence is left/);
  assert.match(coin({ ...example, is_random: false }), /what follows A/);
});
