import assert from "node:assert/strict";
import { test } from "node:test";

import { nextToken } from "../../../../app/parts/token_strip/arrow_keys";
import component from "../../../../app/parts/token_strip/token_strip";
import type { Mounted } from "../../../../app/parts/browser/component";
import { openPage } from "../../../support/fake_dom";
import { colorOf, countText, details, joins, legendEntries, type StripData } from "../../../../app/parts/token_strip/facts";

const PAIR: StripData = {
  tokens: ["[CLS]", "riv", "##er", "[SEP]", "bank", "[SEP]"],
  ids: [101, 7, 8, 102, 9, 102],
  segments: [0, 0, 0, 0, 1, 1],
  positions: [0, 1, 2, 3, 4, 5],
  texts: [-1, 0, 0, -1, 1, -1],
  words: [-1, 0, 0, -1, 1, -1],
  starts: [0, 0, 3, 0, 0, 0],
  ends: [0, 3, 5, 0, 4, 0],
  selected: 1,
  marked: [],
  colors: ["#a", "#b", "#s"],
};

test("a token is told by its id, position, segment and characters", () => {
  assert.equal(details(PAIR, 2), "id 8 \u00b7 position 2 \u00b7 segment 0 \u00b7 characters 3 to 5 of sentence A");
  assert.equal(details(PAIR, 4), "id 9 \u00b7 position 4 \u00b7 segment 1 \u00b7 characters 0 to 4 of sentence B");
  assert.match(details({ ...PAIR, marked: [4] }, 4), /crossed out$/);
  assert.equal(details(PAIR, 5), "id 102 \u00b7 position 5 \u00b7 segment 1 \u00b7 added");
});

test("the pieces of a word are joined, special tokens are not", () => {
  assert.deepEqual(PAIR.tokens.map((_, token) => joins(PAIR, token)), [false, false, true, false, false, false]);
});

test("a token has the colour of its text, and the legend names those that are there", () => {
  assert.deepEqual(PAIR.tokens.map((_, token) => colorOf(PAIR, token)), ["#s", "#a", "#a", "#s", "#b", "#s"]);
  assert.deepEqual(legendEntries(PAIR),
    [["#a", "sentence A, segment 0"], ["#b", "sentence B, segment 1"], ["#s", "added special tokens"]]);
  assert.deepEqual(legendEntries({ ...PAIR, texts: [0, 0, 0, 0, 0, 0] }), [["#a", "the sentence, segment 0"]]);
});

test("the second sentence is in segment 0 where a family has one segment only", () => {
  assert.deepEqual(legendEntries({ ...PAIR, segments: [0, 0, 0, 0, 0, 0] })[1], ["#b", "sentence B, segment 0"]);
});

test("tokens and words are counted", () => {
  assert.equal(countText(PAIR), "6 tokens, each above its id; pieces in one box are one word");
});

// Rows of 3, 2 and 3 tokens; those of the second are wider.
const CORNERS = [[0, 0], [30, 0], [60, 0], [0, 20], [50, 20.5], [0, 40], [30, 40], [60, 40]].map(([left, top]) => ({ left, top }));
const to = (key: string, now: number) => nextToken(key, now, CORNERS.length, (token) => CORNERS[token]);

test("left and right lead to the neighbours, Home and End to the ends", () => {
  assert.deepEqual([to("ArrowRight", 2), to("ArrowLeft", 3), to("Home", 6), to("End", 1)], [3, 2, 0, 7]);
  assert.deepEqual([to("ArrowLeft", 0), to("ArrowRight", 7)], [undefined, undefined]);
});

test("up and down lead to the nearest token of the next row, though its top differs a little", () => {
  assert.deepEqual([to("ArrowDown", 0), to("ArrowDown", 2), to("ArrowDown", 4), to("ArrowUp", 7)], [3, 4, 7, 4]);
  assert.deepEqual([to("ArrowUp", 1), to("ArrowDown", 6)], [undefined, undefined]);
});

test("other keys lead nowhere", () => {
  for (const key of ["a", "Tab", "Enter", "PageDown"]) assert.equal(to(key, 1), undefined);
});

test("the strip has a box for each word, with its pieces, and reports the token that is clicked", () => {
  const page = openPage();
  const picked: unknown[] = [];
  const colors = ["#aa0000", "#00bb00", "#0000cc"];
  const mounted = { data: { ...PAIR, colors, marked: [4] }, parentElement: page,
    setTriggerValue: (name: string, value: unknown) => picked.push([name, value]) };
  component(mounted as unknown as Mounted<StripData>);
  const boxes = page.all((node) => String(node.className).split(" ")[0] === "word");
  assert.deepEqual(boxes.map((box) => box.children.length), [1, 2, 1, 1, 1]);
  assert.deepEqual(boxes.map((box) => /--tone: (#\w+);/.exec(String(box.style))?.[1]), ["#0000cc", "#aa0000", "#0000cc", "#00bb00", "#0000cc"]);
  assert.deepEqual(boxes.map((box) => box.className), ["word special", "word", "word special", "word", "word special"]);
  const buttons = page.querySelectorAll("button");
  assert.deepEqual(buttons.map((button) => button.textContent), ["[CLS]101", "riv7", "##er8", "[SEP]102", "bank9", "[SEP]102"]);
  assert.deepEqual(buttons.map((button) => button.tabIndex), [-1, 0, -1, -1, -1, -1]);
  assert.deepEqual(buttons.map((button) => button.className), ["", "", "", "", "marked", ""]);
  (buttons[2].onclick as () => void)();
  assert.deepEqual(picked, [["picked", 2]]);
});
