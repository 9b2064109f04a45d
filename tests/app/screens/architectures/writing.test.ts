import assert from "node:assert/strict";
import { test } from "node:test";

import type { Writing } from "../../../../app/screens/architectures/steps";
import writing from "../../../../app/screens/architectures/writing";
import type { Mounted } from "../../../../app/parts/browser/component";
import { openPage } from "../../../support/fake_dom";

const BOTH: Writing = {
  next: { name: "one by one", before: ["the"], written: [
    { token: "cat", probability: 0.25, best: [["cat", 0.25], ["dog", 0.2]] }, { token: "sat", probability: 0.81, best: [["sat", 0.81]] }] },
  masks: { name: "masks", tokens: ["the", "[MASK]", "[MASK]"], places: [1, 2], steps: [
    { position: 2, word: "sat", probability: 0.64, weights: [[0.5, 0.25, 0.25], [0.1, 0.5, 0.4]] },
    { position: 1, word: "cat", probability: 0.36, weights: [[0.2, 0.3, 0.5]] }] },
};

// The chips of both writers, after `back` steps back from the end.
function chips(back: number): [string, unknown, unknown][][] {
  const page = openPage();
  writing({ data: BOTH, parentElement: page } as unknown as Mounted<Writing>);
  const [step] = page.all((node) => node.ariaLabel === "Step back");
  for (let k = 0; k < back; k++) (step.onclick as () => void)();
  return page.querySelectorAll(".chips").map((row) => row.querySelectorAll(".chip").map((chip) => [chip.textContent, chip.className, chip.title]));
}

test("each token that was written has its own probability, and the newest is marked", () => {
  const [next, masks] = chips(0);
  assert.deepEqual(next, [["the", "chip before", "the"], ["cat", "chip written", "cat 25%"], ["sat", "chip new written", "sat 81%"]]);
  assert.deepEqual(masks, [["the", "chip before", "the"], ["cat2", "chip new written", "cat 36%"], ["sat1", "chip written", "sat 64%"]]);
});

test("a step back opens the mask that was filled last", () => {
  const [next, masks] = chips(1);
  assert.deepEqual(next.map(([, kind]) => kind), ["chip before", "chip new written"]);
  assert.deepEqual(masks, [["the", "chip before", "the"], ["[MASK]", "chip open", "[MASK]"], ["sat1", "chip new written", "sat 64%"]]);
  assert.deepEqual(chips(9)[1].map(([text]) => text), ["the", "[MASK]", "[MASK]"]);
});
