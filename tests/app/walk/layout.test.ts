import assert from "node:assert/strict";
import { test } from "node:test";

import { layoutOf, linesOf, partAt, wrapped, type Layout } from "../../../app/walk/layout";
import type { Column, GlanceHeader } from "../../../app/walk/model";

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

const SHAPES = [2, 4, 6, 12, 24].flatMap((layers) => [3, 25, 128].flatMap((tokens) => [500, 740, 940, 1400].map((width) => (
  { layers, tokens, width }))));

test("nothing overlaps and all stands inside, for 2 to 24 layers, 3 to 128 tokens, any width", () => {
  for (const { layers, tokens, width } of SHAPES) {
    const header = headerOf(layers, 12, tokens);
    const layout = layoutOf(header, width, 560);
    const spans = layout.columns.filter((span) => span.width > 0);
    spans.slice(1).forEach((span, k) => assert.ok(span.x >= spans[k].x + spans[k].width, `${layers} ${tokens} ${width}`));
    const end = spans[spans.length - 1];
    assert.ok(end.x + end.width <= layout.answers.x);
    assert.ok(layout.answers.x + layout.answers.width <= width);
    layout.layers.forEach(({ lines, heads: [left, , wide] }, k) => {
      assert.ok(lines.width > 2, `${layers} ${width}: ${lines.width}`);
      assert.ok(left >= layout.layers[k].x - 1 && left + wide <= layout.layers[k].x + layout.layers[k].width + 1);
    });
    assert.ok(layout.top + tokens * layout.rowHeight <= layout.height);
  }
});

test("the answers stand apart, in order and inside, however many masks there are", () => {
  for (const masks of [0, 1, 2, 7, 20]) {
    const layout: Layout = layoutOf(headerOf(4, 4, 30, masks), 940, 560);
    layout.boxes.slice(1).forEach((box, k) => assert.ok(box.y >= layout.boxes[k].y + layout.boxes[k].height));
    const last = layout.boxes[layout.boxes.length - 1];
    assert.ok(last.y + last.height <= layout.height);
  }
});

test("a reason is in lines that fit, and its frame has room for them", () => {
  const letters = (text: string) => text.length;
  assert.deepEqual(wrapped("one two three", letters, 7), ["one two", "three"]);
  assert.deepEqual(wrapped("incomprehensible a", letters, 7), ["incomprehensible", "a"]);
  const why = "This checkpoint has no next-sentence head, so that no answer about the pair can be drawn.";
  for (const masks of [0, 2]) {
    const header = { ...headerOf(6, 8, 26, masks), absent: { pair: why, words: why } };
    const { boxes, answers } = layoutOf(header, 916, 560);
    assert.ok(linesOf(boxes[0]) >= wrapped(why, (text) => 5.4 * text.length, answers.width - 8).length);
    assert.ok(boxes[1].y >= boxes[0].y + boxes[0].height);
    if (!masks) assert.equal(linesOf(boxes[1]), linesOf(boxes[0]));
  }
});

test("each part is found where it is drawn", () => {
  const header = headerOf(4, 4, 25);
  const layout = layoutOf(header, 940, 560);
  const { top, rowHeight, layers, columns, pieces, answers, boxes } = layout;
  const y = top + 3.5 * rowHeight;
  assert.deepEqual(partAt(layout, header, 10, y), { kind: "text", row: 3 });
  assert.deepEqual(partAt(layout, header, pieces.x + 20, y), { kind: "token", row: 3 });
  assert.deepEqual(partAt(layout, header, columns[2].x + 3, y), { kind: "input", row: 3, column: 2 });
  assert.deepEqual(partAt(layout, header, layers[1].lines.x + 8, y), { kind: "attention", layer: 1, row: 3, head: null });
  assert.deepEqual(partAt(layout, header, columns[6].x + 2, y), { kind: "norm", layer: 1, row: 3, column: 6 });
  assert.deepEqual(partAt(layout, header, columns[7].x - 3, y), { kind: "feed_forward", layer: 1, row: 3 });
  assert.deepEqual(partAt(layout, header, columns[7].x + 3, y), { kind: "layer", layer: 1, row: 3, column: 7 });
  const [left, upper] = layers[2].heads;
  assert.deepEqual(partAt(layout, header, left + layers[2].head + 3, upper + layers[2].head + 3),
    { kind: "attention", layer: 2, row: null, head: 3 });
  assert.deepEqual(partAt(layout, header, answers.x + 5, boxes[0].y + 5), { kind: "pair", row: 0, index: 0 });
  assert.deepEqual(partAt(layout, header, answers.x + 5, boxes[1].y + 5), { kind: "words", row: 1, index: 0 });
  assert.equal(partAt(layout, header, answers.x + 5, layout.height + 50), null);
});
