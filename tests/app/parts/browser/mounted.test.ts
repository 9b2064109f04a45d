import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import type { Mounted } from "../../../../app/parts/browser/component";
import mounted from "../../../../app/parts/browser/mounted";

const made: string[] = [];
Object.assign(globalThis, { CSSStyleSheet: class { replaceSync(css: string): void { made.push(css); } } });

function deflated(kind: number, text: string): Uint8Array {
  return Uint8Array.from([kind, ...deflateSync(text)]);
}

// A component whose calls and closes are kept, and what calls it for a place.
function opened(css = "") {
  const done: unknown[] = [];
  const adopted: unknown[] = [];
  const component = mounted(({ data }) => {
    done.push(data);
    return () => done.push(`closed ${data}`);
  }, css);
  const parentElement = { getRootNode: () => ({ adoptedStyleSheets: adopted }) } as unknown as HTMLElement;
  const call = (data: unknown) => component({ data, parentElement } as Mounted<unknown>);
  return { done, adopted, call };
}

async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((next) => setTimeout(next, 1));
}

test("a place gets the styles of its component once, before it is drawn", () => {
  const { adopted, call } = opened(".a { color: red }");
  call(1);
  call(2);
  assert.deepEqual([adopted.length, made.at(-1)], [1, ".a { color: red }"]);
  const plain = opened();
  plain.call(1);
  assert.equal(plain.adopted.length, 0);
});

test("what is short is drawn at once, also bytes that are no deflated data", () => {
  const { done, call } = opened();
  const message = Uint8Array.from([4, 0, 0, 0]);
  call({ a: 1 });
  call(message);
  assert.deepEqual(done, [{ a: 1 }, message]);
});

test("JSON and bytes are drawn as they were before they were deflated", async () => {
  const { done, call } = opened();
  call(deflated(1, '{"token":"\u00fc"}'));
  await until(() => done.length === 1);
  call(deflated(2, "bytes"));
  await until(() => done.length === 2);
  assert.deepEqual(done, [{ token: "\u00fc" }, new TextEncoder().encode("bytes")]);
});

test("of data that comes in a row the last is drawn, and only the last call closes", async () => {
  const { done, call } = opened();
  const first = call(deflated(1, '"first"'));
  const second = call("second");
  await new Promise((next) => setTimeout(next, 20));
  first();
  assert.deepEqual(done, ["second"]);
  second();
  assert.deepEqual(done, ["second", "closed second"]);
});

test("what is closed while its data is restored is never drawn; what stood there closes", async () => {
  const { done, call } = opened();
  call("shown");
  call(deflated(1, '"late"'))();
  await new Promise((next) => setTimeout(next, 20));
  assert.deepEqual(done, ["shown", "closed shown"]);
});
