// Writes NumPy's NPZ: a zip archive (stored, not compressed) of one .npy file for each array.
// Source: NumPy enhancement proposal 1 (.npy, version 1.0) and PKWARE's APPNOTE 6.3, 4.3 (zip).

import type { Bytes } from "../../browser/data_blocks";

export interface NamedArray {
  shape: number[];
  values: Float32Array | Int32Array | string[];
}

export function npz(arrays: Record<string, NamedArray>): Blob {
  const files = Object.entries(arrays).map(([name, array]) => {
    const bytes = npy(array);
    return { name: new TextEncoder().encode(`${name}.npy`), bytes, crc: crc32(bytes) };
  });
  const parts: Bytes[] = [];
  const directory: Bytes[] = [];
  let at = 0;
  for (const { name, bytes, crc } of files) {
    // Version, flags, method, time, date, checksum, both sizes, length of the name, no extra field.
    const common: Field[] = [[2, 20], [2, 0x800], [2, 0], [2, 0], [2, 0x21], [4, crc], [4, bytes.length], [4, bytes.length],
      [2, name.length], [2, 0]];
    const header = littleEndian([[4, 0x04034b50], ...common]);
    directory.push(littleEndian([[4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]]), name);
    parts.push(header, name, bytes);
    at += header.length + name.length + bytes.length;
  }
  const length = directory.reduce((sum, part) => sum + part.length, 0);
  const end = littleEndian([[4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length],
    [4, length], [4, at], [2, 0]]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}

function npy({ shape, values }: NamedArray): Bytes {
  const [kind, data] = Array.isArray(values) ? unicode(values)
    : [values instanceof Float32Array ? "<f4" : "<i4", new Uint8Array(values.buffer, values.byteOffset, values.byteLength)];
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const text = `{'descr': '${kind}', 'fortran_order': False, 'shape': (${sizes}), }`;
  // Magic, version, length and header together fill a multiple of 64 bytes.
  const header = text.padEnd(Math.ceil((10 + text.length + 1) / 64) * 64 - 11, " ") + "\n";
  const out = new Uint8Array(10 + header.length + data.length);
  out.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  out.set(new TextEncoder().encode(header), 10);
  out.set(data, 10 + header.length);
  return out;
}

// Strings in NumPy's format: four bytes a character, padded to the longest.
function unicode(strings: string[]): [string, Uint8Array] {
  const characters = strings.map((text) => Array.from(text.toWellFormed(), (character) => character.codePointAt(0) ?? 0));
  const width = Math.max(1, ...characters.map((codes) => codes.length));
  const out = new Uint32Array(strings.length * width);
  characters.forEach((codes, row) => out.set(codes, row * width));
  return [`<U${width}`, new Uint8Array(out.buffer)];
}

/** [bytes, value] */
type Field = [number, number];

function littleEndian(fields: Field[]): Bytes {
  const out: number[] = [];
  for (const [width, number] of fields) {
    for (let byte = 0; byte < width; byte++) out.push((number >>> (8 * byte)) & 255);
  }
  return new Uint8Array(out);
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ byte) & 255];
  return (crc ^ 0xffffffff) >>> 0;
}
