import assert from "node:assert/strict";
import { test } from "node:test";

import { blocksOf, maskOf } from "../../../../app/screens/what_if/blocks";

test("a mask without holes has no blocks, one of holes alone has one", () => {
  assert.deepEqual(blocksOf(new Uint8Array(9).fill(1), 3), []);
  assert.deepEqual(blocksOf(new Uint8Array(9), 3), [[0, 2, 0, 2]]);
});

test("rows that allow the same are joined", () => {
  const allowed = Uint8Array.of(
    1, 0, 0, 1,
    1, 0, 0, 1,
    1, 1, 1, 1,
    0, 1, 0, 1,
  );
  assert.deepEqual(blocksOf(allowed, 4), [[0, 1, 1, 2], [3, 3, 0, 0], [3, 3, 2, 2]]);
});

test("blocks give the mask back, whatever it is", () => {
  for (let mask = 0; mask < 512; mask++) {
    const allowed = Uint8Array.from({ length: 9 }, (_, at) => (mask >> at) & 1);
    assert.deepEqual(maskOf(blocksOf(allowed, 3), 3), allowed);
  }
});
