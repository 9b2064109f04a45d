import assert from "node:assert/strict";
import { test } from "node:test";

import type { Mounted } from "../../../../app/parts/browser/component";
import type { Bytes } from "../../../../app/parts/browser/data_blocks";
import { unpack } from "../../../../app/parts/canvas/shared/transport";
import { alone } from "../../../../app/parts/html_file/alone";
import { openPage } from "../../../support/fake_dom";
import { packed } from "../../../support/messages";

interface Header {
  layer: number;
  heads?: number[];
  revision?: number;
}

test("a file shows its first message, the one of a chosen layer, and keeps a picked head when colours change", () => {
  const root = openPage();
  const held = [0, 2].map((layer) => packed({ layer }, []));
  const base64 = (bytes: Bytes) => btoa(String.fromCharCode(...bytes));
  const schemes: (() => void)[] = [];
  Object.assign(globalThis.document, { getElementById: (id: string) => ({ textContent: base64(held[Number(id)]) }) });
  Object.assign(globalThis, { matchMedia: () => ({ addEventListener: (_: string, changed: () => void) => schemes.push(changed) }) });
  Object.assign(globalThis.window, { matchMedia: globalThis.matchMedia });
  const shown: Header[] = [];
  let last!: Mounted<Bytes>;
  const show = alone((mounted) => { last = mounted; shown.push(unpack<Header>(mounted.data).header); });
  show({ attachShadow: () => root } as unknown as Element, "", ["0", "1"]);
  last.setStateValue("selection", { layer: 2, heads: [3], revision: 5 });
  last.setStateValue("selection", { layer: 1, heads: [3], revision: 6 }); // not in the file
  last.setStateValue("look", { layer: 0 });
  last.setTriggerValue("picked", { layer: 2, heads: [1] });
  schemes.forEach((changed) => changed());
  const facts = shown.map(({ layer, heads, revision }) => [layer, heads, revision]);
  assert.deepEqual(facts.slice(0, 2), [[0, undefined, undefined], [2, [3], 5]]);
  assert.deepEqual(facts.slice(2), schemes.map(() => [2, [1], 5]));
  assert.ok(schemes.length > 0);
});
