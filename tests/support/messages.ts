// Messages to a view as Python packs them: a JSON header with the places of the blocks, then the
// blocks, each on 4 bytes.

import type { Bytes } from "../../app/parts/browser/data_blocks";

const padded = (length: number): number => Math.ceil(length / 4) * 4;

// `deflated`: which blocks are deflated already.
export function packed(header: object, blocks: Uint8Array[], deflated: number[] = []): Bytes {
  let at = 0;
  const places = blocks.map((block, k) => {
    const place = [at, block.length, Number(deflated.includes(k))];
    at += padded(block.length);
    return place;
  });
  const text = new TextEncoder().encode(JSON.stringify({ ...header, blocks: places }));
  const start = 4 + padded(text.length);
  const out = new Uint8Array(start + at).fill(32, 4, start);
  new DataView(out.buffer).setUint32(0, start - 4, true);
  out.set(text, 4);
  blocks.forEach((block, k) => out.set(block, start + places[k][0]));
  return out;
}
