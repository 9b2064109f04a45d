import assert from "node:assert/strict";
import { test } from "node:test";

import { typedNumber } from "../../../app/live/typed_number";
import cases from "../../bertcore/lessons/typed_numbers.json";

test("a number is read as it is meant, as in Python", () => {
  for (const [typed, language, number] of cases as [string, string, number | null][])
    assert.equal(typedNumber(typed, language), number, typed);
});

test("percent is what a question asks for", () => {
  assert.equal(typedNumber("79,5 %", "en", true), 79.5);
});
