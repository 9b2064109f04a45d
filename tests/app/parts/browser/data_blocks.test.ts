import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import { inflate } from "../../../../app/parts/browser/data_blocks";

test("what zlib deflated is inflated", async () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, k) => (k * k) & 255);
  assert.deepEqual(await inflate(new Uint8Array(deflateSync(bytes))), bytes);
  assert.deepEqual(await inflate(new Uint8Array(deflateSync(new Uint8Array()))), new Uint8Array());
});

test("bytes that are not in the zlib format are an error", async () => {
  await assert.rejects(inflate(Uint8Array.of(1, 2, 3, 4)));
});
