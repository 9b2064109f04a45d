import assert from "node:assert/strict";
import { test } from "node:test";

import { isInFocus, TokenChoice } from "../../../../app/parts/canvas/lines/choice";
import { LinesControls, type LinesActions } from "../../../../app/parts/canvas/lines/controls";
import { LinesFiles } from "../../../../app/parts/canvas/lines/files";
import { LinesModel, type LinesHeader } from "../../../../app/parts/canvas/lines/model";
import { isLong, LinesPainter } from "../../../../app/parts/canvas/lines/painter";
import { Panel } from "../../../../app/parts/canvas/lines/panel";
import { sortedLines } from "../../../../app/parts/canvas/lines/strongest";
import { openPage, fake } from "../../../support/fake_dom";

const TABLE = Float32Array.from({ length: 256 }, (_, code) => code / 255);
const codes = (...weights: number[]) => Uint8Array.from(weights, (weight) => Math.round(weight * 255));
const HEADER: LinesHeader = {
  look: { special: false, words: false, mean: false, filter: "all", threshold: null, chosen: "" },
  layer: 1, num_layers: 2, heads: [], sent: [0, 1], broken: [], missing: "", weights: 1, revision: 0,
  colours: ["#f00", "#0f0"], mean_colour: "#888",
  tokens: ["[CLS]", "riv", "##er"], text_ids: [-1, 0, 0], segment_ids: [0, 0, 0], starts: [0, 1], words: ["[CLS]", "river"],
  kinds: { a: "", b: "", special: "" }, is_pair: false,
};
const HEADS = [
  codes(0.2, 0.4, 0.4, 0, 1, 0, 0.6, 0.2, 0.2),
  codes(0.8, 0.2, 0, 0.4, 0.2, 0.4, 0.2, 0.2, 0.6),
];

function linesModel(header: Partial<LinesHeader> = {}, choose: (model: LinesModel) => void = () => {}): LinesModel {
  const model = new LinesModel();
  const bits = Uint8Array.of(0b00010000, 0); // a gap in row 1, column 0
  const blocks = [Uint8Array.from([...HEADS[0], ...HEADS[1]]), new Uint8Array(TABLE.slice().buffer), bits];
  model.receive({ header: { ...HEADER, ...header, blocks: [] }, blocks }, false);
  model.shown = new Set([0, 1]);
  choose(model);
  model.refreshUnits();
  model.select();
  return model;
}

const rounded = (number: number) => Number(number.toFixed(3));

test("lines are sorted by weight, the strongest last, without those below the threshold", () => {
  const all = [true, true];
  const lines = sortedLines([Uint8Array.of(9, 200, 3, 9), Uint8Array.of(0, 10, 255, 2)], 2, 9, all, all);
  assert.equal(lines.total, 5);
  assert.deepEqual([...lines.code], [9, 9, 10, 200, 255]);
  assert.deepEqual([...lines.map], [0, 0, 1, 0, 1]);
  assert.deepEqual([...lines.row], [0, 1, 0, 0, 1]);
  assert.deepEqual([...lines.column], [0, 1, 1, 1, 0]);
});

test("lines stand between rows and columns that take part", () => {
  const lines = sortedLines([Uint8Array.of(9, 200, 3, 9)], 2, 1, [true, false], [false, true]);
  assert.deepEqual([lines.total, lines.row[0], lines.column[0]], [1, 0, 1]);
});

test("the strongest line of each row is shown beside those that are strong enough", () => {
  const lines = sortedLines([Uint8Array.of(9, 200, 3, 3)], 2, 100, [true, true], [true, true], true);
  assert.deepEqual([[...lines.row], [...lines.column]], [[1, 0], [0, 1]]);
});

test("a token is chosen alone, let go, added and taken away", () => {
  const choice = new TokenChoice();
  choice.pickAlone({ side: "left", index: 2 });
  choice.toggle({ side: "right", index: 5 });
  assert.deepEqual([choice.size, choice.first], [2, { side: "left", index: 2 }]);
  choice.toggle({ side: "left", index: 2 });
  assert.deepEqual(choice.first, { side: "right", index: 5 });
  choice.pickAlone({ side: "right", index: 5 });
  assert.deepEqual([choice.size, choice.first], [0, null]);
});

test("the choice is written as first tokens and read where they start a unit", () => {
  const choice = new TokenChoice();
  choice.read("l0.3r4", [0, 3, 4]);
  assert.deepEqual([[...choice.left], [...choice.right]], [[0, 1], [2]]);
  assert.equal(choice.written([0, 3, 4]), "l0.3r4");
  choice.read("l1.3r99nonsense", [0, 3, 4]);
  assert.deepEqual([[...choice.left], [...choice.right]], [[1], []]);
  for (let unit = 0; unit < 300; unit++) choice.add({ side: "right", index: unit });
  assert.equal(choice.written(Array.from({ length: 300 }, (_, k) => k)).split("r")[1].split(".").length, 100);
});

test("an empty side of the focus means all of it", () => {
  const focus = { left: new Set([1]), right: new Set<number>() };
  assert.deepEqual([isInFocus(focus, 1, 7), isInFocus(focus, 2, 7)], [true, false]);
  assert.ok(isInFocus({ left: new Set(), right: new Set() }, 0, 0));
});

test("what a token attends to: the mean of the heads, the strongest first", () => {
  const model = linesModel();
  const { other, ranked, averages } = model.targets({ left: new Set([0]), right: new Set() });
  assert.deepEqual([other, averages], ["right", false]);
  assert.deepEqual(ranked.map(({ index, fraction }) => [index, rounded(fraction)]), [[0, 0.5], [1, 0.3], [2, 0.2]]);
  assert.deepEqual(ranked[0].fractions.map(rounded), [0.2, 0.8]);
});

test("several attending tokens: the sum, and as fraction their mean", () => {
  const { ranked, number, averages } = linesModel().targets({ left: new Set([0, 1]), right: new Set() });
  assert.deepEqual([number, averages], [2, true]);
  assert.deepEqual(ranked.map(({ index, sum, fraction }) => [index, rounded(sum), rounded(fraction)]),
    [[1, 0.9, 0.45], [0, 0.7, 0.35], [2, 0.4, 0.2]]);
});

test("attention to several tokens adds up", () => {
  const { other, ranked } = linesModel().targets({ left: new Set(), right: new Set([0, 1]) });
  assert.equal(other, "left");
  assert.deepEqual(ranked.map(({ index, fraction }) => [index, rounded(fraction)]), [[0, 0.8], [1, 0.8], [2, 0.6]]);
});

test("words: attended pieces are summed, attending ones averaged", () => {
  const model = linesModel({}, (made) => { made.byWord = true; });
  assert.deepEqual(model.units.names, ["[CLS]", "river"]);
  assert.deepEqual([model.weight(0, 0, 1), model.weight(0, 1, 0), model.weight(0, 1, 1)].map(rounded), [0.8, 0.3, 0.7]);
});

test("the mean of heads is one map in its own colour", () => {
  const model = linesModel({}, (made) => { made.mean = true; });
  assert.ok(model.averaged);
  assert.deepEqual(model.mapColours, ["#888"]);
  assert.equal(rounded(model.mapWeight(0, 0, 0)), 0.5);
});

test("hidden special tokens take no part", () => {
  const model = linesModel({}, (made) => { made.hideSpecial = true; });
  assert.ok(model.drawnLines(Infinity).every(([, row, column]) => row > 0 && column > 0));
  assert.deepEqual(model.targets({ left: new Set([0]), right: new Set() }).ranked, []);
});

test("the drawn lines come strongest first and not below the threshold", () => {
  const model = linesModel({}, (made) => { Object.assign(made, { threshold: 0.5, hasOwnThreshold: true }); });
  const weights = model.drawnLines(Infinity).map(([map, row, column]) => rounded(model.mapWeight(map, row, column)));
  assert.deepEqual(weights, [1, 0.8, 0.6, 0.6]);
  assert.equal(model.drawnLines(2).length, 2);
});

test("a weight that is no number is NaN, marks its row, and is in no line", () => {
  const model = linesModel({ broken: [1] });
  assert.ok(Number.isNaN(model.weight(1, 1, 0)));
  assert.deepEqual(model.broken, [false, true, false]);
  const { ranked } = model.targets({ left: new Set([1]), right: new Set() });
  assert.ok(Number.isNaN(ranked[2].fraction)); // last
});

test("a head that was requested and has not arrived is awaited", () => {
  const model = linesModel({}, (made) => made.shown.add(5).add(3));
  assert.deepEqual([model.awaited(), model.heads], [[3, 5], [0, 1]]);
  assert.throws(() => model.weight(5, 0, 0), /head 5 of layer 1 has not arrived/);
});

function painterOf(size: number, fit: boolean): LinesPainter {
  const painter = new LinesPainter({ size } as LinesModel);
  painter.setRows(fit);
  painter.setWidth(500); // a column of 150 on each side
  return painter;
}

test("rows have their height, and a long text is squeezed into the window if that is asked", () => {
  assert.deepEqual([3, 24, 25, 33].map((size) => painterOf(size, false).rowHeight), [26, 26, 22, 19]);
  assert.deepEqual([33, 35].map(isLong), [false, true]);
  const squeezed = painterOf(100, true);
  assert.deepEqual([squeezed.rowHeight, squeezed.height, squeezed.contentHeight], [6.48, 660, 660]);
  assert.equal(painterOf(1000, true).rowHeight, 1.2);
  assert.equal(painterOf(100, false).contentHeight, 1912);
});

test("every token can be pointed at, on its own side, and nothing above, below or between", () => {
  const painter = painterOf(3, false);
  const rows = [5.9, 6, 31.9, 32, 83.9, 84].map((y) => painter.hit(10, y)?.index ?? null);
  assert.deepEqual(rows, [null, 0, 0, 1, 2, null]);
  const sides = [0, 156, 157, 343, 344, 499].map((x) => painter.hit(x, 6)?.side ?? null);
  assert.deepEqual(sides, ["left", "left", null, null, "right", "right"]);
});

test("the panel names what is chosen, in the order of the text", () => {
  openPage();
  const model = linesModel({}, (made) => made.choice.add({ side: "left", index: 2 }));
  const panel = new Panel(model);
  const texts = () => { panel.refresh(); return [0, 1].map((k) => fake(fake(panel.root).children[k]).textContent); };
  assert.deepEqual(texts(), ["\u201c##er\u201d attends to", "Layer 1, mean of 2 heads, token 2 (kept: Esc lets go)"]);
  model.choice.add({ side: "left", index: 0 });
  const [title, note] = texts();
  assert.equal(title, "2 tokens together attend to");
  assert.match(note, /tokens 0, 2 \(kept/);
  model.choice.add({ side: "right", index: 1 });
  assert.equal(texts()[0], "2 tokens together attend to \u201criv\u201d");
  const names = fake(panel.root).all((node) => node.className === "name").map((node) => node.textContent);
  assert.equal(names.length, 2);
  panel.liveRegion.cancel();
});

// What the panel says below its rows.
function totalsOf(model: LinesModel): string[] {
  openPage();
  const panel = new Panel(model);
  panel.refresh();
  panel.liveRegion.cancel();
  return fake(panel.root).children.slice(2).map(fake).filter((node) => !String(node.className).match(/^target$/)).map((node) => node.textContent);
}

test("the panel sums what it does not list, and what both sides share, and says nothing else", () => {
  const long = { tokens: Array.from({ length: 3 }, (_, k) => String(k)) };
  assert.deepEqual(totalsOf(linesModel(long, (made) => made.choice.add({ side: "left", index: 0 }))), []);
  const attended = totalsOf(linesModel({}, (made) => made.choice.add({ side: "right", index: 0 })));
  assert.deepEqual(attended, ["Each number is a fraction of the attending token's attention; these do not add up to 100%."]);
  const both = linesModel({}, (made) => { made.choice.add({ side: "left", index: 0 }); made.choice.add({ side: "right", index: 0 }); });
  assert.deepEqual(totalsOf(both), ["Together 0.500 of 1 (each token gives 1 in all): 50%."]);
  const many = { ranked: Array.from({ length: 11 }, (_, index) => ({ index: 0, fractions: [0.1, 0.1], sum: 0.1, fraction: 0.01 * index })),
    number: 1, averages: false, other: "right" };
  const model = linesModel({}, (made) => made.choice.add({ side: "left", index: 0 }));
  model.targets = () => many as unknown as ReturnType<LinesModel["targets"]>;
  assert.deepEqual(totalsOf(model), ["3 others27%"]);
});

test("files and their captions name the heads that are drawn", () => {
  const words = (model: LinesModel) => new LinesFiles(model, {} as LinesPainter, {} as Panel, () => {}).facts().what;
  assert.equal(words(linesModel()), "Attention of layer 1, heads 0, 1");
  assert.equal(words(linesModel({}, (made) => { made.mean = true; })), "Attention of layer 1, mean of heads 0, 1");
  assert.equal(words(linesModel({}, (made) => { made.shown = new Set([1]); })), "Attention of layer 1, head 1");
});

test("a click shows or hides a head, Shift shows it alone, a double click too, and all when it is alone", () => {
  openPage();
  const model = linesModel();
  const asked: number[][] = [];
  const controls = new LinesControls(model, { setHeads: (heads) => asked.push(heads) } as Partial<LinesActions> as LinesActions);
  controls.refresh();
  const [first, second] = controls.rows.flatMap((row) => fake(row).all((node) => node.className === "head"));
  const click = (button: typeof first, shiftKey = false) => (button.onclick as (event: unknown) => void)({ shiftKey });
  const twice = (button: typeof first) => (button.ondblclick as () => void)();
  click(first);
  click(second, true);
  twice(second);
  model.shown = new Set([1]);
  click(second); // the last one stays
  click(first);
  twice(second);
  twice(first);
  assert.deepEqual(asked, [[1], [1], [1], [1, 0], [0, 1], [0]]);
});
