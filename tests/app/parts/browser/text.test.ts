import assert from "node:assert/strict";
import { test } from "node:test";

import { decimal, exact, legible, letters, percent, range, shorten } from "../../../../app/parts/browser/text";

test("a fraction has one decimal, a whole percent none; what is almost none or all is never called so", () => {
  assert.deepEqual([0.0123, 0.0994, 0.9942, 0.0846, 0.9154].map(percent), ["1.2%", "9.9%", "99.4%", "8.5%", "91.5%"]);
  assert.deepEqual([0, 1, 0.02, Math.fround(0.3), 0.5].map(percent), ["0%", "100%", "2%", "30%", "50%"]);
  assert.deepEqual([1e-12, 0.0004, 0.99957, 1 - 1e-12].map(percent), ["<0.1%", "<0.1%", ">99.9%", ">99.9%"]);
  assert.equal(percent(NaN), "NaN");
});

test("a number has the digits that float32 holds, and none where it is not finite", () => {
  assert.equal(exact(Math.fround(0.1)), 0.1);
  assert.equal(exact(1 / 3), 0.3333333);
  assert.deepEqual([NaN, Infinity, -Infinity].map(exact), [null, null, null]);
});

test("letters are graphemes: no letter is cut from its accents, no family is parted", () => {
  assert.deepEqual(letters("e\u0301te\u0301", 2), ["e\u0301", "t"]);
  const family = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}";
  assert.deepEqual(letters(`${family}ab`, 2), [family, "a"]);
  assert.deepEqual(letters("", 3), []);
});

test("a text is shortened to a number of letters and ends with an ellipsis only if it was", () => {
  assert.equal(shorten("attention", 20), "attention");
  assert.equal(shorten("attention", 9), "attention");
  assert.equal(shorten("attention", 3), "att\u2026");
  assert.equal(shorten("a\u0301b\u0301c", 2), "a\u0301b\u0301\u2026");
  assert.equal(shorten("x".repeat(100_000), 40), `${"x".repeat(40)}\u2026`);
});

test("what cannot be seen is named", () => {
  assert.equal(legible("river"), "river");
  assert.equal(legible(""), "(empty)");
  assert.equal(legible("a\u0000b"), "a\u2039U+0000\u203ab");
  assert.equal(legible("\u202eabc"), "\u2039U+202E\u203aabc");
  assert.equal(legible("\u200b"), "\u2039U+200B\u203a");
  assert.equal(legible("\u3164"), "\u2039U+3164\u203a");
});

test("a stack of accents and a half of a surrogate pair do no harm", () => {
  assert.equal(legible(`z${"\u0301".repeat(50)}`), `z${"\u0301".repeat(3)}`);
  assert.equal(legible("\ud800"), "\ufffd");
});

test("a range counts from 0", () => {
  assert.deepEqual(range(3), [0, 1, 2]);
  assert.deepEqual(range(0), []);
});

test("what rounds to zero has no sign, and the decimals stay", () => {
  assert.deepEqual([-0.001, 0.001, -0.25, -0, 1].map((value) => decimal(value, 2)), ["0.00", "0.00", "-0.25", "0.00", "1.00"]);
});
