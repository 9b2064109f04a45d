import assert from "node:assert/strict";
import { test } from "node:test";

import type { Mounted } from "../../../../app/parts/browser/component";
import type { Bytes } from "../../../../app/parts/browser/data_blocks";
import overview from "../../../../app/parts/canvas/overview/overview";
import { GridPainter } from "../../../../app/parts/canvas/overview/grid";
import { OverviewModel, type OverviewHeader, type OverviewOptions } from "../../../../app/parts/canvas/overview/model";
import { orderHeads, passes, rangeOf } from "../../../../app/parts/canvas/overview/order";
import { Thumbnails } from "../../../../app/parts/canvas/overview/thumbnails";
import { openPage, Recorder } from "../../../support/fake_dom";
import { packed } from "../../../support/messages";

const VALUES = [0.3, null, 0.1, 0.2, 0.3, 0.9];

test("heads are ordered by place, within their layer, or over all; those without a value come last", () => {
  assert.deepEqual(orderHeads(VALUES, 2, 3, "place", false), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(orderHeads(VALUES, 2, 3, "layer", false), [0, 2, 1, 5, 4, 3]);
  assert.deepEqual(orderHeads(VALUES, 2, 3, "all", false), [5, 0, 4, 3, 2, 1]);
  assert.deepEqual(orderHeads(VALUES, 2, 3, "all", true), [2, 3, 0, 4, 5, 1]);
  assert.deepEqual(orderHeads(null, 2, 2, "all", false), [0, 1, 2, 3]);
});

test("a limit lets the highest pass, or the lowest; a head without a value passes none", () => {
  assert.deepEqual([0.4, 0.5, null].map((value) => passes(value, 0.5, false)), [false, true, false]);
  assert.deepEqual([0.5, 0.6, null].map((value) => passes(value, 0.5, true)), [true, false, false]);
  assert.ok(passes(null, null, false));
});

test("the range is that of the heads that have a value", () => {
  assert.deepEqual(rangeOf(VALUES), [0.1, 0.9]);
  assert.equal(rangeOf([null, null]), null);
});

// Two layers of two heads; thumbnails of 2 x 2 cells.
function message(header: Partial<OverviewHeader> = {}): { header: OverviewHeader; blocks: Bytes[] } {
  const table = Float32Array.from({ length: 256 }, (_, code) => code / 255);
  const full: OverviewHeader = {
    num_layers: 2, num_heads: 2, num_tokens: 2, size: 2, layer: 1, heads: [],
    look: { measure: "", order: "place", lowest: false, limit: null },
    names: { previous: { label: "previous token", unit: "fraction", habit: true }, entropy: { label: "entropy", unit: "nats", habit: false },
      none: { label: "none", unit: "", habit: false } },
    measures: { previous: [0.1, 0.9, 0.2, null], entropy: [0.5, 12.345, 100, 1], none: [null, null, null, null] },
    broken: [], missing: "", ...header,
  };
  const codes = Uint8Array.of(0, 255, 255, 0, 100, 0, 0, 100, 200, 0, 0, 0, 100, 0, 0, 0);
  const colours = Uint8Array.from({ length: 768 }, (_, k) => (k % 3 === 0 ? Math.floor(k / 3) : 0)); // a code's red
  return { header: full, blocks: [codes, colours, new Uint8Array(table.buffer), Uint8Array.of(0b00100000)] };
}

function overviewModel(options: Partial<OverviewOptions> = {}, changes: Partial<OverviewHeader> = {}): OverviewModel {
  const { header, blocks } = message(changes);
  const model = new OverviewModel();
  model.receive({ header: { ...header, blocks: [] }, blocks });
  model.options = { ...header.look, ...options };
  model.sort();
  return model;
}

test("a measure that no head has is not offered, and not kept", () => {
  const model = overviewModel({ measure: "none", order: "all", limit: 0.5 });
  assert.deepEqual(model.knownMeasures, ["previous", "entropy"]);
  assert.deepEqual(model.options, { measure: "", order: "place", lowest: false, limit: null });
});

test("fractions are percentages, other measures have their unit", () => {
  const model = overviewModel({ measure: "previous" });
  assert.deepEqual([model.format(0.1234), model.format(0.1234, "previous", true), model.format(null)], ["12.3%", "12%", "\u2013"]);
  assert.deepEqual([0.5, 12.345, 100].map((value) => model.format(value, "entropy")), ["0.50 nats", "12.3 nats", "100 nats"]);
  assert.equal(model.format(0.5, "entropy", true), "0.50");
});

test("a layer's value is the mean of its heads that have one", () => {
  const model = overviewModel();
  assert.equal(model.valueAt({ layer: 0, head: null }, "previous"), 0.5);
  assert.equal(model.valueAt({ layer: 1, head: null }, "previous"), 0.2);
  assert.equal(model.valueAt({ layer: 0, head: null }, "none"), null);
  assert.equal(model.valueAt({ layer: 1, head: 1 }, "previous"), null);
});

test("places follow the order, and heads beyond the limit are left out", () => {
  const model = overviewModel({ measure: "previous", order: "all", limit: 0.15 });
  assert.deepEqual(model.sequence, [1, 2, 0, 3]);
  assert.deepEqual([model.placeAt(0), model.placeAt(1), model.placeAt(4)], [{ layer: 0, head: 1 }, { layer: 1, head: 0 }, null]);
  assert.deepEqual([0, 1, 2, 3].map((head) => model.isLeftOut(head)), [true, false, false, true]);
});

test("the open heads are those of the message; no heads stand for the layer", () => {
  const model = overviewModel();
  assert.deepEqual([0, 1, 2, 3].map((head) => model.isOpen(head)), [false, false, true, true]);
  const one = overviewModel({}, { heads: [1] });
  assert.deepEqual([0, 1, 2, 3].map((head) => one.isOpen(head)), [false, false, false, true]);
  assert.deepEqual(one.opened, { layer: 1, head: 1 });
});

test("a layer's thumbnail is the mean of its heads", () => {
  const model = overviewModel();
  assert.deepEqual([...model.codesOf({ layer: 1, head: 0 })], [200, 0, 0, 0]);
  assert.deepEqual([...model.codesOf({ layer: 1, head: null })], [150, 0, 0, 0]);
});

test("cells that are not numbers are boxes of their head, and of its layer", () => {
  const model = overviewModel({}, { broken: [2] });
  assert.deepEqual(model.missingOf({ layer: 1, head: 0 }), [[0, 1, 1, 1]]);
  assert.deepEqual(model.missingOf({ layer: 1, head: null }), [[0, 1, 1, 1]]);
  assert.deepEqual(model.missingOf({ layer: 0, head: null }), []);
});

test("a thumbnail has a pixel for each cell, or the largest of the cells that it holds", () => {
  openPage();
  const model = overviewModel();
  const thumbnails = new Thumbnails(model);
  thumbnails.forget();
  const reds = (pixels: number) => {
    const canvas = thumbnails.one({ layer: 0, head: 0 }, pixels);
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    return [canvas.width, canvas.height, ...Array.from({ length: data.length / 4 }, (_, k) => data[4 * k])];
  };
  assert.deepEqual(reds(9), [2, 2, 0, 255, 255, 0]); // the codes as they are
  assert.deepEqual(reds(1), [1, 1, 255]);
  assert.equal(thumbnails.all(9).length, 4);
});

// The view of a message in a page, and the grid that takes keys.
interface Shown {
  press(...keys: string[]): void;
  /** To a point of the grid; what is then said of the head. */
  move(x: number, y: number): string;
  picked: unknown[];
}

function shown(header: Partial<OverviewHeader> = {}): Shown {
  const page = openPage();
  const picked: unknown[] = [];
  const full = message(header);
  const mounted = { data: packed(full.header, full.blocks), parentElement: page, setStateValue: () => {},
    setTriggerValue: (_: string, value: unknown) => picked.push(value) };
  overview(mounted as unknown as Mounted<Bytes>);
  const [grid] = page.all((node) => node.className === "grid");
  const press = (...keys: string[]) => {
    for (const key of keys) (grid.onkeydown as (event: unknown) => void)({ key, preventDefault: () => {} });
  };
  const move = (clientX: number, clientY: number) => {
    (grid.onpointermove as (event: unknown) => void)({ clientX, clientY });
    return page.querySelectorAll("h2").map((title) => title.textContent).join();
  };
  return { press, move, picked };
}

test("keys reach every head: the first, the last, and those between, and stop at the ends", () => {
  const ways: [string[], object][] = [
    [["End"], { layer: 1, heads: [1] }],
    [["Home"], { layer: 0, heads: [0] }],
    [["Home", "ArrowRight"], { layer: 0, heads: [1] }],
    [["Home", "ArrowDown"], { layer: 1, heads: [0] }],
    [["Home", "ArrowDown", "ArrowRight"], { layer: 1, heads: [1] }],
    [["Home", "ArrowLeft"], { layer: 0, heads: [0] }],
    [["End", "ArrowRight"], { layer: 1, heads: [1] }],
    [["End", "ArrowUp"], { layer: 0, heads: [1] }],
  ];
  for (const [keys, expected] of ways) {
    const { press, picked } = shown();
    press(...keys, "Enter");
    assert.deepEqual(picked, [expected], keys.join(" "));
  }
});

test("the head under the pointer is described, and the open one elsewhere", () => {
  const { move } = shown({ heads: [0] });
  assert.equal(move(40, 30), "Layer 0, head 0click to open");
  assert.equal(move(95, 30), "Layer 0, head 1click to open"); // of the same layer
  assert.equal(move(95, 85), "Layer 1, head 1click to open");
  assert.equal(move(40, 85), "Layer 1, head 0open below");
  assert.equal(move(10, 30), "Layer 0, mean of its headsclick to open");
  assert.equal(move(700, 30), "Layer 1, head 0open below");
});

function drawnGrid(options: Partial<OverviewOptions> = {}): [GridPainter, Recorder, OverviewModel] {
  openPage();
  const model = overviewModel(options);
  const thumbnails = new Thumbnails(model);
  thumbnails.forget();
  const painter = new GridPainter(model, thumbnails);
  painter.theme = { text: "#t", background: "#b", secondary: "#s", primary: "#p", border: "#o", font: "f" };
  painter.layout(400);
  const context = Recorder.make();
  painter.drawOn(context, 1);
  return [painter, context, model];
}

const written = (context: Recorder) => context.of("fillText").map(({ args }) => args[0]);

test("heads and layers are numbered where they have rows and columns", () => {
  assert.deepEqual(written(drawnGrid()[1]), ["0", "1", "0", "1"]);
  assert.deepEqual(written(drawnGrid({ measure: "previous", order: "layer" })[1]), ["90%", "10%", "20%", "\u2013", "highest first", "0", "1"]);
  const sorted = written(drawnGrid({ measure: "previous", order: "all", lowest: true })[1]);
  assert.deepEqual(sorted, ["0\u00b70", "10%", "1\u00b70", "20%", "0\u00b71", "90%", "1\u00b71", "\u2013", "layer \u00b7 head"]);
});

test("thumbnails stand in rows of layers, the open heads in a ring, and a head is hit where it is drawn", () => {
  const [painter, context, model] = drawnGrid();
  const places = context.of("drawImage").map(({ args }) => args.slice(5));
  assert.deepEqual(places, [[30, 20, 53, 53], [86, 20, 53, 53], [30, 76, 53, 53], [86, 76, 53, 53]]);
  assert.deepEqual(context.of("roundRect").map(({ args }) => args), [[29, 75, 55, 55, 2], [85, 75, 55, 55, 2]]);
  model.sequence.forEach((head, k) => {
    const [x, y] = places[k] as [number, number];
    assert.deepEqual(painter.hit(x + 1, y + 1), { layer: Math.floor(head / 2), head: head % 2 });
  });
  assert.deepEqual([painter.hit(5, 80), painter.hit(5, 19), painter.hit(200, 30), painter.hit(40, 133)],
    [{ layer: 1, head: null }, null, null, null]);
});

test("a long grid is scrolled as little as it takes to show a head", () => {
  const [painter] = drawnGrid();
  assert.deepEqual([painter.scrolledTo(0, 60, 60), painter.scrolledTo(2, 0, 60), painter.scrolledTo(2, 0, 400)], [0, 72, 0]);
});
