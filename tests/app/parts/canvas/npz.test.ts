// test_typescript.py reads such an archive with NumPy.

import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";

import { npz } from "../../../../app/parts/canvas/saving/npz";

const bytesOf = async (blob: Blob) => new DataView(await blob.arrayBuffer());

test("an archive names its files, with the size and the checksum of each", async () => {
  const view = await bytesOf(npz({ weights: { shape: [2, 2], values: Float32Array.of(1, 0.5, 0.25, 0) } }));
  assert.equal(view.getUint32(0, true), 0x04034b50);
  const [checksum, size, nameLength] = [view.getUint32(14, true), view.getUint32(18, true), view.getUint16(26, true)];
  const text = (from: number, length: number) => String.fromCharCode(...new Uint8Array(view.buffer, from, length));
  assert.equal(text(30, nameLength), "weights.npy");
  const file = new Uint8Array(view.buffer, 30 + nameLength, size);
  assert.equal(crc32(file), checksum);
  assert.equal(size % 64, 16); // a header of a multiple of 64 bytes and four float32
  assert.match(text(30 + nameLength + 10, 60), /'descr': '<f4', 'fortran_order': False, 'shape': \(2, 2\)/);
  assert.equal(view.getUint32(view.byteLength - 22, true), 0x06054b50);
  assert.equal(view.getUint16(view.byteLength - 12, true), 1);
});

test("an archive without arrays is a zip file too", async () => {
  const view = await bytesOf(npz({}));
  assert.equal(view.byteLength, 22);
  assert.equal(view.getUint32(0, true), 0x06054b50);
});

test("equal arrays give equal bytes, whenever they are written", async () => {
  const arrays = { names: { shape: [2], values: ["river", "\u{1f30a}"] }, rows: { shape: [1], values: Int32Array.of(-7) } };
  assert.deepEqual(await npz(arrays).arrayBuffer(), await npz(arrays).arrayBuffer());
});
