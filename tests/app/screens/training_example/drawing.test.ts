import assert from "node:assert/strict";
import { test } from "node:test";

import type { Mounted } from "../../../../app/parts/browser/component";
import drawing from "../../../../app/screens/training_example/drawing";
import type { Example } from "../../../../app/screens/training_example/model";
import { type FakeElement, openPage } from "../../../support/fake_dom";

const sentence = (text: string, document: number, part: "A" | "B" | "") => ({ text, document, part, num_tokens: 3, num_kept: part === "B" ? 2 : 3 });
const EXAMPLE: Example = {
  sentences: [sentence("one", 0, "A"), sentence("two", 0, ""), sentence("three", 1, "B"), sentence("four", 2, "")],
  is_random: true, is_lone: false, tokens: ["[CLS]", "a", "b", "[SEP]", "c", "[SEP]"], segment_ids: [0, 0, 0, 0, 1, 1],
  text_ids: [-1, 0, 0, -1, 1, -1], input_tokens: ["[CLS]", "[MASK]", "b", "[SEP]", "x", "[SEP]"],
  guesses: [
    { position: 1, token: "a", became: "mask", best: [["a", 0.5], ["o", 0.25]], probability: 0.5, loss: 0.693 },
    { position: 4, token: "c", became: "random", best: [["x", 0.9]], probability: 0.01, loss: 4.605 },
  ],
  pair_logits: [-1.5, 2], pair_probabilities: [0.03, 0.97], mlm_loss: 2.6, nsp_loss: 0.03, mask: "[MASK]",
  colors: { a: "#a", b: "#b", special: "#s", accent: "#c" },
};

function drawn(changes: Partial<Example> = {}): FakeElement {
  const page = openPage();
  drawing({ data: { ...EXAMPLE, ...changes }, parentElement: page } as unknown as Mounted<Example>);
  return page;
}

const texts = (page: FakeElement, name: string) => page.querySelectorAll(`.${name}`).map((node) => node.textContent);

test("the sentences of the document stand apart from those of others, with what was cut", () => {
  assert.deepEqual(texts(drawn(), "sentences"), ["Aonetwo", "Bthree (1 pieces cut off)four"]);
  assert.deepEqual(texts(drawn({ sentences: EXAMPLE.sentences.slice(0, 2) }), "sentences"), ["Aonetwo"]);
});

test("each chosen place has its fate, its guesses and its cost, and the others none", () => {
  const page = drawn();
  assert.deepEqual(texts(page, "fate"), ["[MASK]", "random"]);
  assert.deepEqual(texts(page, "reads"), EXAMPLE.input_tokens);
  assert.deepEqual(texts(page, "right"), ["a 50%", "B is random97%logit 2.00"]);
  assert.equal(texts(page, "guesses").filter(Boolean).length, 2);
  const bars = page.querySelectorAll(".cost").map((cost) => cost.querySelector("i")?.style);
  assert.deepEqual(bars, [undefined, "height: 10px", undefined, undefined, "height: 64px", undefined]);
});

test("the answer to the pair is marked, or it is said that there is no head", () => {
  const answers = (page: FakeElement) => page.querySelectorAll(".answer").map((node) => node.className);
  assert.deepEqual(answers(drawn()), ["answer ", "answer right"]);
  assert.deepEqual(answers(drawn({ is_random: false })), ["answer right", "answer "]);
  const without = drawn({ pair_logits: null, pair_probabilities: null, nsp_loss: null });
  assert.ok(texts(without, "coin").includes("This checkpoint has no next-sentence head."));
});
