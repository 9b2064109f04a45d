import assert from "node:assert/strict";
import { test } from "node:test";

import { between, layoutOf, partAt, type Layout, type Span } from "../../../../app/parts/walk/layout";
import type { Column, GlanceHeader } from "../../../../app/parts/walk/model";

function headerOf(layers: number, heads: number, tokens: number, masks = 1): GlanceHeader {
  const inputs: Column[] = (["token", "segment", "position", "input"] as const).map((kind) => ({ kind, layer: -1, scale: 1, num_dims: 64 }));
  const states: Column[] = Array.from({ length: 2 * layers }, (_, k) => (
    { kind: k % 2 ? "layer" : "attention", layer: Math.floor(k / 2), scale: 1, num_dims: 64 }));
  const masked = Array.from({ length: masks }, (_, k) => (
    { kind: "masked" as const, row: Math.min(tokens - 1, k + 1), original: "x", words: ["a", "b", "c", "d", "e"], probabilities: [0.5, 0.2, 0.1, 0.1, 0.05] }));
  return {
    tokens: Array.from({ length: tokens }, (_, k) => `t${k}`), positions: Array.from({ length: tokens }, (_, k) => k),
    text_ids: Array.from({ length: tokens }, () => 0), num_tokens: tokens, words: [], num_layers: layers, num_heads: heads,
    size: Math.min(48, tokens), columns: [...inputs, ...states], predictions: masked, pair: { kind: "nsp", probability: 0.9 },
    num_hidden: 1, parts: {}, absent: {}, broken: [], kinds: { a: "#00f", b: "#f80", special: "#888" }, accent: "#c27",
    steps: [{ part: "all", title: "", text: "" }], step: 0, pages: {},
  };
}

const STEPS = ["gap", "pieces", "input", "attention", "heads", "feed_forward", "layers", "words", "pair", "all"];
const SHAPES = [1, 6, 24].flatMap((layers) => [3, 25, 128].flatMap((tokens) => [340, 500, 740, 1400].flatMap((width) => STEPS.map((step) => (
  { layers, tokens, width, step })))));
const end = ({ x, width }: Span) => x + width;

test("nothing overlaps and all stands inside at every step, for 1 to 24 layers, 3 to 128 tokens, any width", () => {
  for (const { layers, tokens, width, step } of SHAPES) {
    const name = `${layers} ${tokens} ${width} ${step}`;
    const layout = layoutOf(headerOf(layers, 12, tokens), width, step, 2);
    const { text, pieces, readers, strips, answers } = layout;
    const spans = [text, pieces, readers, ...strips, ...layout.columns, answers].filter((span) => span.width > 0).sort((a, b) => a.x - b.x);
    spans.slice(1).forEach((span, k) => assert.ok(span.x >= end(spans[k]), `${name}: ${JSON.stringify([spans[k], span])}`));
    assert.ok(spans[0].x >= 0 && end(answers) <= width && answers.width >= 90, name);
    layout.layers.filter((place) => place.width).forEach(({ x, width: wide, heads: [left, , across] }) => {
      assert.ok(left >= x - 1 && left + across <= x + wide + 1, name);
    });
    const shown = layout.rows.filter(({ height }) => height);
    shown.slice(1).forEach((row, k) => assert.ok(row.y - row.height / 2 >= shown[k].y + shown[k].height / 2 - 1e-9, name));
    assert.ok(shown[shown.length - 1].y + shown[0].height / 2 <= layout.height, name);
  }
});

test("the part of a step is open, and the others are strips that name the step that opens them", () => {
  const folded = (step: string) => layoutOf(headerOf(6, 8, 25), 900, step, 2).strips.filter(({ width }) => width).map((strip) => strip.step);
  assert.deepEqual(folded("gap"), ["input", "attention", "layers"]);
  assert.deepEqual(folded("input"), ["pieces", "attention", "layers"]);
  assert.deepEqual(folded("heads"), ["pieces", "input", "layers"]);
  assert.deepEqual(folded("words"), ["pieces", "input", "attention", "layers"]);
  assert.deepEqual(folded("all"), []);
});

test("rows that cannot be read are folded, not the first, the predictions and those around the centre", () => {
  const header = headerOf(6, 8, 128);
  for (const centre of [0, 64, 127]) {
    const { rows, rowHeight } = layoutOf(header, 900, "attention", centre);
    const shown = rows.flatMap(({ height }, row) => (height ? [row] : []));
    assert.ok(rowHeight >= 17 && shown.length > 20);
    for (const row of [0, 1, centre]) assert.ok(shown.includes(row));
  }
  assert.ok(layoutOf(header, 900, "all", 0).rows.every(({ height }) => height > 0));
});

test("a layout on the way to another has its numbers between theirs", () => {
  const [from, to] = ["gap", "all"].map((step) => layoutOf(headerOf(2, 4, 25), 900, step, 2));
  assert.deepEqual(between(from, to, 1), to);
  assert.equal(between(from, to, 0.5).answers.x, (from.answers.x + to.answers.x) / 2);
});

test("the answers stand apart, in order and inside, however many masks there are", () => {
  for (const masks of [0, 1, 2, 7, 20]) {
    const layout: Layout = layoutOf(headerOf(4, 4, 30, masks), 940, "all", 1);
    layout.boxes.slice(1).forEach((box, k) => assert.ok(box.y >= layout.boxes[k].y + layout.boxes[k].height));
    const last = layout.boxes[layout.boxes.length - 1];
    assert.ok(last.y + last.height <= layout.height);
  }
});

test("a reason is in lines that fit, and its frame has room for them", () => {
  const why = "This checkpoint has no next-sentence head, so that no answer about the pair can be drawn.";
  for (const masks of [0, 2]) {
    const { boxes, answers } = layoutOf({ ...headerOf(6, 8, 26, masks), absent: { pair: why, words: why } }, 916, "all", 1);
    assert.equal(boxes[0].reason.join(" "), why);
    assert.ok(boxes[0].reason.every((line) => 5.4 * line.length <= answers.width));
    assert.ok(boxes[0].height >= 14 * boxes[0].reason.length && boxes[1].y >= boxes[0].y + boxes[0].height);
    assert.deepEqual(boxes[1].reason, masks ? [] : boxes[0].reason);
  }
});

test("each part is found where it is drawn", () => {
  const header = headerOf(4, 4, 25);
  const layout = layoutOf(header, 940, "all", 1);
  const { rows, layers, columns, pieces, answers, boxes } = layout;
  const { y } = rows[3];
  assert.deepEqual(partAt(layout, header, 10, y), { kind: "pieces", row: 3 });
  assert.deepEqual(partAt(layout, header, pieces.x + 20, y), { kind: "pieces", row: 3 });
  assert.deepEqual(partAt(layout, header, columns[2].x + 3, y), { kind: "input", row: 3, column: 2 });
  assert.deepEqual(partAt(layout, header, layers[1].lines.x + 8, y), { kind: "attention", layer: 1, row: 3 });
  assert.deepEqual(partAt(layout, header, columns[6].x + 2, y), { kind: "feed_forward", layer: 1, row: 3, column: 6 });
  assert.deepEqual(partAt(layout, header, columns[7].x - 3, y), { kind: "feed_forward", layer: 1, row: 3 });
  assert.deepEqual(partAt(layout, header, columns[7].x + 3, y), { kind: "layers", layer: 1, row: 3, column: 7 });
  const [left, upper] = layers[2].heads;
  assert.deepEqual(partAt(layout, header, left + layers[2].head + 3, upper + layers[2].head + 3), { kind: "attention", layer: 2, row: null, head: 3 });
  assert.deepEqual(partAt(layout, header, answers.x + 5, boxes[0].y + 5), { kind: "pair", row: 0, index: 0 });
  assert.deepEqual(partAt(layout, header, answers.x + 5, boxes[1].y + 5), { kind: "words", row: 1, index: 0 });
  assert.equal(partAt(layout, header, answers.x + 5, layout.height + 50), null);
  const gap = layoutOf(header, 940, "gap", 1);
  assert.deepEqual(partAt(gap, header, gap.strips[3].x + 9, y), { kind: "layers", row: null, isFolded: true });
});
