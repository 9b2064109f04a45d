import assert from "node:assert/strict";
import { test } from "node:test";

import { below, carriesLoss, fateName, fatesOf, firstShown, groupAt, writesAll, type Fate, type Shown } from "../../../../app/screens/objectives/model";

const read = (text: string, fate: Fate = "", target = "") => ({ text, fate, target });
const shown = (changes: Partial<Shown>): Shown => ({
  name: "a", title: "A", origin: "", group: "Hide pieces", error: "", original: [], reads: [], decoder_reads: [], writes: [],
  verdict: "", order: [], direction: "", answers: [], ...changes,
});

test("the legend has each fate that is drawn, in one order", () => {
  const masked = shown({ reads: [read("b", "random", "a"), read("[MASK]", "mask", "c")] });
  assert.deepEqual(fatesOf([masked]), ["mask", "random"]);
  const fakes = shown({ reads: [read("b", "replaced"), read("c", "lucky")] });
  assert.deepEqual(fatesOf([fakes]), ["kept", "replaced"]);
  assert.deepEqual(fatesOf([masked, fakes]), ["mask", "kept", "random"]);
  assert.equal(fateName("mask", "<mask>", []), "<mask>");
  assert.equal(fateName("random", "", [masked, fakes]), "random or made up");
  assert.equal(fateName("kept", "", [fakes]), "guessed right");
  assert.equal(fateName("kept", "", [masked]), "kept");
});

test("a group is named where it begins", () => {
  const all = [shown({}), shown({}), shown({ group: "Rebuild" })];
  assert.deepEqual(all.map((_, place) => groupAt(all, place)), ["Hide pieces", "", "Rebuild"]);
});

test("what must come out is written where it is not read", () => {
  const one = shown({ reads: [read("[MASK]", "mask", "the"), read("a", "kept", "a"), read("b"), read("c", "", "original")] });
  assert.deepEqual([0, 1, 2, 3].map((place) => below(one, place)), ["the", "", "", ""]);
  assert.deepEqual([0, 1, 2, 3].map((place) => carriesLoss(one, place)), [true, true, false, true]);
  assert.equal(below(shown({ reads: [read("a", "predicted", "a")], order: [2] }), 0), "2.");
});

test("a pair carries its loss at the first token", () => {
  const pair = shown({ reads: [read("[CLS]"), read("a")], verdict: "in order" });
  assert.deepEqual([0, 1].map((place) => carriesLoss(pair, place)), [true, false]);
});

test("a long row begins shortly before its first change", () => {
  const long = (at: number) => shown({ reads: Array.from({ length: 100 }, (_, i) => read(`${i}`, i === at ? "mask" : "")) });
  assert.equal(firstShown(long(2), 48), 0);
  assert.equal(firstShown(long(60), 48), 52);
  assert.equal(firstShown(long(30), 48), 26);
  assert.equal(firstShown(long(-1), 48), 0);
  assert.equal(firstShown(shown({ reads: [read("a"), read("b", "mask")] }), 48), 0);
});

test("the whole text is told from a part of it", () => {
  assert.equal(writesAll(shown({ original: ["a", "b"], writes: ["a", "b"] })), true);
  assert.equal(writesAll(shown({ original: ["a", "b"], writes: ["b"] })), false);
  assert.equal(writesAll(shown({})), false);
});
