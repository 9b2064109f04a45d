import assert from "node:assert/strict";
import { test } from "node:test";

import { MOST_CHARACTERS, readState, START, writeState, type State } from "../../../app/live/state";

const USUAL: State = { ...START, first: "The river.", second: null };

test("no more of an address is read than a visitor could have chosen", () => {
  const many = Array.from({ length: 100_000 }, (_, k) => k % 10).join(".");
  const long = "q".repeat(1_000_000);
  const state = readState(`#a=${long}&b=${long}&hidden=${many}&heads=${many}&lesson_done=${long}`, USUAL);
  assert.equal(state.first.length, MOST_CHARACTERS);
  assert.equal(state.second?.length, MOST_CHARACTERS);
  assert.ok((state.hidden?.length ?? 0) <= 512 && state.heads.length <= 512 && state.done.length <= 512);
});

test("a hostile address is read as text, or not at all", () => {
  for (const text of ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "%00", "a\u0301\u0301", "{{x}}"]) {
    const state = readState(`#a=${encodeURIComponent(text)}&layer=1e9&token=-1&view=__proto__&lesson_language=__proto__`, USUAL);
    assert.equal(state.first, text);
    assert.deepEqual([state.layer, state.token, state.view], [0, null, "lines"]);
    assert.equal(readState(writeState(state), USUAL).first, text);
  }
  assert.equal(readState("#a=%ED%A0%80%FF", USUAL).first.isWellFormed(), true);
  assert.equal(readState("#%a=1&&&=", USUAL), USUAL);
});
