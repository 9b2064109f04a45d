import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import type { Mounted } from "../../../../app/parts/browser/component";
import type { Bytes } from "../../../../app/parts/browser/data_blocks";
import { mounting, stateEvents, type MountedView } from "../../../../app/parts/canvas/shared/mount";
import { unpack, type Message } from "../../../../app/parts/canvas/shared/transport";
import { packed } from "../../../support/messages";

interface Header {
  layer: number;
}

// An element as far as mounting() uses one.
class Root {
  readonly attributes = new Map<string, string>();
  setAttribute(name: string, value: string): void { this.attributes.set(name, value); }
  removeAttribute(name: string): void { this.attributes.delete(name); }
}

class View implements MountedView<Header, { selection(value: unknown): void }> {
  static made: View[] = [];
  readonly root = new Root() as unknown as HTMLElement;
  events: { selection(value: unknown): void } = { selection: () => {} };
  readonly layers: number[] = [];
  isClosed = false;

  constructor() { View.made.push(this); }
  update({ header }: Message<Header>): void { this.layers.push(header.layer); }
  close(): void { this.isClosed = true; }
  get isBusy(): boolean { return (this.root as unknown as Root).attributes.get("aria-busy") === "true"; }
}

const component = mounting<Header, View["events"]>(View, stateEvents);

function message(layer: number, isDeflated = false): Bytes {
  const block = isDeflated ? deflateSync(new Uint8Array(4)) : new Uint8Array(4);
  const out = packed({ layer }, [block], isDeflated ? [0] : []);
  assert.equal(unpack<Header>(out).header.layer, layer);
  return out;
}

function mounted(place: object, data: Bytes, states: unknown[] = []): Mounted<Bytes> {
  return {
    data, parentElement: place as HTMLElement,
    setStateValue: (name, value) => states.push([name, value]), setTriggerValue: () => assert.fail("nothing is triggered"),
  };
}

const soon = () => new Promise((next) => setTimeout(next, 1));

function show(place: object, data: Bytes): [View, () => void] {
  const before = View.made.length;
  const at = mounted(place, data);
  const close = component(at);
  return [View.made.length > before ? View.made[View.made.length - 1] : View.made[before - 1], close];
}

// Resolves when a message that was sent after all others is inflated.
async function inflated(): Promise<void> {
  const [view] = show({}, message(0, true));
  while (view.isBusy) await soon();
}

test("a place keeps its view, which shows each message", () => {
  const place = {};
  const [view] = show(place, message(1));
  assert.equal(show(place, message(2))[0], view);
  assert.deepEqual(view.layers, [1, 2]);
});

test("a view is busy until a deflated message is there", async () => {
  const [view] = show({}, message(3, true));
  assert.deepEqual([view.isBusy, view.layers], [true, []]);
  while (view.isBusy) await soon();
  assert.deepEqual([view.isBusy, view.layers], [false, [3]]);
});

test("a message that comes while an earlier one is inflated is the one that is shown", async () => {
  const place = {};
  const [view] = show(place, message(4, true));
  show(place, message(5));
  await inflated();
  assert.deepEqual([view.layers, view.isBusy], [[5], false]);
});

test("a view that went shows nothing any more, and its place gets a new one", async () => {
  const place = {};
  const [view, close] = show(place, message(6, true));
  close();
  await inflated();
  assert.deepEqual([view.isClosed, view.layers], [true, []]);
  assert.notEqual(show(place, message(7))[0], view);
});

test("the cleanup of a first call that another one followed leaves the view", () => {
  const place = {};
  const [view, closeFirst] = show(place, message(9));
  const [, close] = show(place, message(10));
  closeFirst();
  assert.equal(view.isClosed, false);
  assert.equal(show(place, message(11))[0], view);
  close();
  assert.equal(view.isClosed, false);
});

test("what was chosen and the options become state of the component", () => {
  const states: unknown[] = [];
  const at = mounted({}, message(8), states);
  component(at);
  View.made[View.made.length - 1].events.selection({ layer: 2 });
  stateEvents(at).options({ words: true });
  assert.deepEqual(states, [["selection", { layer: 2 }], ["look", { words: true }]]);
});
