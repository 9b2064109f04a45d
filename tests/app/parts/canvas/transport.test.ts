// test_typescript.py reads the messages that transport.py writes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { asFlags, asFloats, changeHeader, encoder, isDeflated, quickEncoder, unpack } from "../../../../app/parts/canvas/shared/transport";

const TABLE = Float32Array.from({ length: 256 }, (_, code) => (code / 255) ** 2);

function packed(header: object, ...blocks: Uint8Array[]): Uint8Array<ArrayBuffer> {
  let start = 0;
  const places = blocks.map((block) => [(start += block.length) - block.length, block.length]);
  const text = JSON.stringify({ ...header, blocks: places });
  const head = new TextEncoder().encode(text.padEnd(Math.ceil(text.length / 4) * 4));
  const out = new Uint8Array(4 + head.length + start);
  new DataView(out.buffer).setUint32(0, head.length, true);
  out.set(head, 4);
  blocks.forEach((block, k) => out.set(block, 4 + head.length + places[k][0]));
  return out;
}

test("a message is a header and blocks", () => {
  const floats = Float32Array.of(1, NaN, -2.5);
  const bytes = packed({ layer: 3 }, new Uint8Array(floats.buffer), Uint8Array.of(7, 8, 9, 0));
  const { header, blocks } = unpack<{ layer: number }>(bytes);
  assert.equal(header.layer, 3);
  assert.deepEqual(asFloats(blocks[0]), floats);
  assert.deepEqual([...blocks[1]], [7, 8, 9, 0]);
  assert.equal(isDeflated({ header, blocks }), false);
});

test("a message that does not start on four bytes is read too", () => {
  const floats = Float32Array.of(0.5, 2);
  const bytes = packed({}, new Uint8Array(floats.buffer));
  const shifted = new Uint8Array(bytes.length + 1).subarray(1);
  shifted.set(bytes);
  assert.deepEqual(asFloats(unpack(shifted).blocks[0]), floats);
});

test("a changed header leaves the blocks and their alignment", () => {
  const floats = Float32Array.of(0.25, 4);
  const changed = changeHeader(packed({ heads: [1], layer: 2 }, new Uint8Array(floats.buffer)), { heads: [], note: "\u00e9" });
  const { header, blocks } = unpack<{ heads: number[]; layer: number; note: string }>(changed);
  assert.deepEqual([header.heads, header.layer, header.note], [[], 2, "\u00e9"]);
  assert.deepEqual(asFloats(blocks[0]), floats);
});

test("flags are read from packed bits, from any place on", () => {
  const bits = Uint8Array.of(0b10110000, 0b00000001);
  assert.deepEqual([...asFlags(bits, 0, 4)], [1, 0, 1, 1]);
  assert.deepEqual([...asFlags(bits, 3, 3)], [1, 0, 0]);
  assert.deepEqual([...asFlags(bits, 14, 2)], [0, 1]);
});

test("a weight gets the code whose weight is nearest", () => {
  const encode = encoder(TABLE);
  TABLE.forEach((weight, code) => assert.equal(encode(weight), code));
  for (let weight = 0; weight <= 1; weight += 0.001) {
    const nearest = Math.min(...TABLE.map((other) => Math.abs(other - weight)));
    assert.ok(Math.abs(TABLE[encode(weight)] - weight) <= nearest + 1e-7, String(weight));
  }
});

test("the quick encoder is at most one code off, and no weight is above 1", () => {
  const [encode, quick] = [encoder(TABLE), quickEncoder(TABLE)];
  for (let weight = 0; weight <= 1; weight += 0.0003) assert.ok(Math.abs(encode(weight) - quick(weight)) <= 1, String(weight));
  assert.equal(quick(1.0001), 255);
});
