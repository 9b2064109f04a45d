import assert from "node:assert/strict";
import { test } from "node:test";

import { NeuronControls } from "../../../../app/parts/canvas/neurons/controls";
import { NeuronModel, type NeuronHeader } from "../../../../app/parts/canvas/neurons/model";
import neurons from "../../../../app/parts/canvas/neurons/neurons";
import { NeuronPainter } from "../../../../app/parts/canvas/neurons/painter";
import { NeuronWords } from "../../../../app/parts/canvas/neurons/words";
import { Tooltip } from "../../../../app/parts/canvas/shared/tooltip";
import type { Mounted } from "../../../../app/parts/browser/component";
import type { Bytes } from "../../../../app/parts/browser/data_blocks";
import { fake, openPage, Recorder } from "../../../support/fake_dom";
import { packed } from "../../../support/messages";

const HEADER: NeuronHeader = {
  look: { order: "weight", query: null }, layer: 0, head: 0, num_layers: 1, num_heads: 1, width: 2, revision: 0,
  accent: "", light: ["#0000ff", "#ffffff", "#ff0000"], dark: ["#000000", "#808080", "#ffffff"],
  tokens: ["a", "b", "c"], text_ids: [0, 0, 0], kinds: { a: "", b: "", special: "" }, is_pair: false,
};

// Queries and keys [3, 2], scores and weights [3, 3].
function blocksOf(weights: number[], queries = [1, 2, 0, 0, 3, -4], masked: number[] = []): Bytes[] {
  const blocks = [queries, [1, 1, -1, 0.5, 0, 2], [0, 1, 2, 3, 4, 5, 6, 7, -8], weights]
    .map((values) => new Uint8Array(Float32Array.from(values).buffer));
  return [...blocks, Uint8Array.from(masked)];
}

function neuronModel(weights: number[], queries?: number[], masked?: number[]): NeuronModel {
  const blocks = blocksOf(weights, queries, masked);
  const model = new NeuronModel();
  model.receive({ header: { ...HEADER, blocks: [] }, blocks });
  return model;
}

const WEIGHTS = [0.2, 0.5, 0.3, 0.4, 0.2, 0.4, 0, 0, 1];

test("a product is that of one dimension of the query and of a key", () => {
  const model = neuronModel(WEIGHTS);
  model.openQuery(2);
  assert.deepEqual([model.product(0, 0), model.product(0, 1), model.product(1, 0), model.product(2, 1)], [3, -4, -3, -8]);
  assert.deepEqual(model.strongest(0, 2), [1, 0]);
  assert.deepEqual([model.score(1), model.weight(2)], [7, 1]);
});

test("keys are ordered by their weight, equal ones as in the text", () => {
  const model = neuronModel(WEIGHTS);
  model.openQuery(1);
  model.arrange();
  assert.deepEqual([model.order, [...model.rowOf]], [[0, 2, 1], [0, 2, 1]]);
  model.orderBy = "text";
  model.arrange();
  assert.deepEqual(model.order, [0, 1, 2]);
});

test("scales end at the largest numbers, and never at 0", () => {
  const model = neuronModel(WEIGHTS);
  assert.equal(model.vectorTop, 4);
  model.openQuery(2);
  model.arrange();
  assert.deepEqual([model.productTop, model.scoreTop], [8, 8]);
  model.openQuery(1); // a query of zeros
  model.arrange();
  assert.equal(model.productTop, 1);
});

test("masked keys are those of the query; without a mask there are none", () => {
  const model = neuronModel([1, 0, 0, 0.5, 0.5, 0, 0.2, 0.3, 0.5], undefined, [0, 1, 1, 0, 0, 1, 0, 0, 0]);
  const masked = (query: number) => { model.openQuery(query); return [0, 1, 2].map((key) => model.isMasked(key)); };
  assert.deepEqual([0, 1, 2].map(masked), [[false, true, true], [false, false, true], [false, false, false]]);
  assert.ok(!neuronModel(WEIGHTS).isMasked(0));
});

test("a query outside of the text is the nearest one inside", () => {
  const model = neuronModel(WEIGHTS);
  assert.deepEqual([-4, 1.4, 99].map((wanted) => { model.openQuery(wanted); return model.query; }), [0, 1, 2]);
});

test("NaN is found, ranks first and is no end of a scale", () => {
  const model = neuronModel([0.2, 0.5, NaN, ...WEIGHTS.slice(3)], [NaN, 2, 0, 0, 3, -4]);
  assert.ok(model.hasNaN);
  assert.ok(!neuronModel(WEIGHTS).hasNaN);
  model.openQuery(0);
  model.arrange();
  assert.deepEqual(model.order, [2, 1, 0]);
  assert.deepEqual([model.vectorTop, model.productTop], [4, 4]);
});

test("the tooltip has the numbers of the pointed dimension, of this query and this key", () => {
  const root = openPage();
  const model = neuronModel(WEIGHTS, [1, 2, 5, 6, 3, -4]);
  const words = new NeuronWords(model, new Tooltip(root as unknown as HTMLElement));
  const said = () => { words.showTip({ clientX: 0, clientY: 0 } as MouseEvent); return root.textContent; };
  model.openQuery(2);
  model.pointed = { key: 2, dimension: 1 };
  assert.equal(said(), "c attends to cdimension 1: -4.000 \u00d7 2.000 = -8.000score -8.000, weight 1.000000");
  model.pointed = { key: 1, dimension: 0 };
  assert.match(said(), /^c attends to bdimension 0: 3\.000 \u00d7 -1\.000 = -3\.000score 7\.000/);
  model.openQuery(1);
  model.pointed = { key: 0, dimension: 0 };
  assert.match(said(), /^b attends to adimension 0: 5\.000 \u00d7 1\.000 = 5\.000score 3\.000/);
  model.openQuery(0);
  model.pointed = { key: 1, dimension: null };
  assert.equal(said(), "a attends to bscore 1.000, weight 0.500000");
});

test("the sentence below has the score of the shown key and its largest products", () => {
  const words = new NeuronWords(neuronModel(WEIGHTS), new Tooltip(openPage() as unknown as HTMLElement));
  words.say();
  words.liveRegion.cancel();
  const text = fake(words.line).textContent;
  assert.match(text, /^\u201ca\u201d attends to \u201ca\u201d: the products sum to 0\.0000, divided by \u221a2/);
  assert.match(text, /weight 0\.200000\. Largest products: dimensions 1 \(2\.000\), 0 \(1\.000\)\.$/);
});

function painted(model: NeuronModel): Recorder {
  const painter = new NeuronPainter(model);
  painter.readColours({} as Element);
  painter.layout(700);
  const context = Recorder.make();
  painter.drawOn(context);
  return context;
}

test("the row that is pointed at and the marked one are highlighted, and no other", () => {
  openPage();
  const model = neuronModel(WEIGHTS);
  model.orderBy = "text";
  model.arrange();
  model.marked = 1;
  const highlighted = () => painted(model).of("fillRect").filter(({ globalAlpha }) => globalAlpha < 0.2)
    .map(({ args, globalAlpha }) => [args[1], globalAlpha]);
  assert.deepEqual(highlighted(), [[114, 0.16]]); // rows of 22 below 92
  model.pointed = { key: 2, dimension: null };
  assert.deepEqual(highlighted(), [[114, 0.16], [136, 0.08]]);
  model.pointed = { key: 1, dimension: 0 };
  assert.deepEqual(highlighted(), [[114, 0.16]]);
});

test("rows that are scrolled go under the head, over its whole width", () => {
  openPage();
  const model = neuronModel(WEIGHTS);
  model.arrange();
  const painter = new NeuronPainter(model);
  painter.readColours({} as Element);
  painter.layout(700);
  const names = (scrolled: number) => {
    const context = Recorder.make();
    painter.scrolled = scrolled;
    painter.drawOn(context);
    const covered = context.of("fillRect").filter(({ fillStyle }) => fillStyle === painter.theme.background).map(({ args }) => args);
    assert.deepEqual(covered, [[0, 0, 700, 92]]);
    return context.of("fillText").filter(({ args }) => ["a", "b", "c"].includes(args[0] as string) && args[1] === 14).map(({ args }) => args[2]);
  };
  assert.deepEqual(names(0), [103.5, 125.5, 147.5]);
  assert.deepEqual(names(22), [103.5, 125.5]);
});

test("a point of the window is a key and, within the strip, a dimension", () => {
  openPage();
  const model = neuronModel(WEIGHTS);
  model.orderBy = "text";
  model.arrange();
  const painter = new NeuronPainter(model);
  painter.layout(700); // names of 150, a strip of 280 with two dimensions
  const hits = [[160, 91], [160, 92], [149, 113], [290, 114], [430, 157], [160, 158]].map(([x, y]) => painter.hit(x, y));
  assert.deepEqual(hits, [null, { key: 0, dimension: 0 }, { key: 0, dimension: null }, { key: 1, dimension: 1 }, { key: 2, dimension: null }, null]);
  painter.scrolled = 22;
  assert.deepEqual(painter.hit(160, 92), { key: 1, dimension: 0 });
});

test("the legend runs from the lowest value at the left to the highest at the right", () => {
  openPage();
  const model = neuronModel(WEIGHTS);
  model.arrange();
  const painter = new NeuronPainter(model);
  painter.readColours({} as Element);
  const nothing = { choose: () => {}, setQuery: () => {}, setOrder: () => {} };
  const controls = new NeuronControls(model, painter, nothing);
  controls.refreshKeys();
  const bars = fake(controls.keys).all((node) => node.tag === "canvas");
  assert.deepEqual(bars.map((bar) => bar.ariaLabel), ["Colours of q, k from -4 to 4", "Colours of q \u00d7 k from -4 to 4"]);
  for (const [bar, end] of [[bars[0], 4], [bars[1], 4]] as const) {
    const context = bar.getContext();
    const cells = context.of("fillRect");
    assert.deepEqual([cells[0].fillStyle, cells[cells.length - 1].fillStyle], ["rgb(0,0,255)", "rgb(255,0,0)"]);
    const ticks = context.of("fillText").map(({ args }) => args.slice(0, 2));
    assert.deepEqual(ticks, [[`\u2212${end}`, 20], ["0", 63.5], [String(end), 107]]);
  }
});

test("a score is a bar from the middle of its column, a weight one from the left, each with its number", () => {
  openPage();
  const model = neuronModel(WEIGHTS);
  model.openQuery(2);
  model.orderBy = "text";
  model.arrange();
  const context = painted(model); // columns: names to 150, strip to 430, score to 532, weight from 542
  const bars = context.of("fillRect").map(({ args }) => args as number[]).filter(([, y]) => [98, 120, 142].includes(y));
  assert.deepEqual(bars.map(([x, , width]) => [x, width].map(Math.round)), [[463, 17], [463, 20], [440, 23]]); // 6, 7, -8
  const weights = context.of("fillRect").map(({ args }) => args as number[]).filter(([x]) => x === 542).map(([, , width]) => width);
  assert.deepEqual(weights, [0.7, 0.7, 84]);
  const numbers = context.of("fillText").map(({ args }) => args).filter(([, x]) => x === 532 || x === 672).map(([text]) => text);
  assert.deepEqual(numbers.slice(0, 6), ["6.00", "0%", "7.00", "0%", "-8.00", "100%"]);
});

test("a strip has a cell for each dimension, side by side", () => {
  openPage();
  const model = neuronModel(WEIGHTS);
  model.arrange();
  const cells = painted(model).of("fillRect").map(({ args }) => args as number[]).filter(([, , , height]) => height === 15).slice(0, 2);
  assert.deepEqual(cells.map(([x, , width]) => [x, Number(width.toFixed(1))]), [[150, 139.4], [290, 139.4]]);
});

test("keys move the marked key and the query, and stop at the ends of the text", (t) => {
  const page = openPage();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  Object.assign(globalThis.window, { setTimeout });
  const states: unknown[] = [];
  const mounted = { data: packed({ ...HEADER, look: { order: "text", query: 0 } }, blocksOf(WEIGHTS)), parentElement: page,
    setStateValue: (_: string, value: unknown) => states.push(value), setTriggerValue: () => {} };
  neurons(mounted as unknown as Mounted<Bytes>);
  const [scroller] = page.querySelectorAll(".scroller");
  const press = (...keys: string[]) => {
    for (const key of keys) (scroller.onkeydown as (event: unknown) => void)({ key, preventDefault: () => {} });
    t.mock.timers.tick(1000);
    return page.querySelectorAll(".sum").map((line) => line.querySelectorAll("bdi").map((name) => name.textContent.slice(1, -1)).join(" to ")).join();
  };
  const said = [[], ["ArrowDown"], ["End"], ["ArrowDown"], ["Home"], ["ArrowUp"], ["ArrowRight"], ["ArrowRight", "ArrowRight"], ["ArrowLeft"], ["Enter"]];
  assert.deepEqual(said.map((keys) => press(...keys)),
    ["a to a", "a to b", "a to c", "a to c", "a to a", "a to a", "b to a", "c to a", "b to a", "a to a"]);
  assert.deepEqual(states, [1, 2, 1, 0].map((query) => ({ order: "text", query })));
});
