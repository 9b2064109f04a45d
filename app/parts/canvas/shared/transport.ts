// Reads the messages that transport.py writes: a JSON header and blocks of bytes.

import { inflate, type Bytes } from "../../browser/data_blocks";

export interface BlockList {
  /** Start and length in bytes of each block; a third number 1 where the block is deflated. */
  blocks: number[][];
}

export interface Message<Header> {
  header: Header & BlockList;
  blocks: Bytes[];
}

export function unpack<Header>(bytes: Bytes): Message<Header> {
  // A copy where the message does not start on 4 bytes: Float32Array needs it.
  const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength);
  const length = view.getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + length))) as Header & BlockList;
  const start = 4 + length;
  const blocks = header.blocks.map(([from, size]) => whole.subarray(start + from, start + from + size));
  return { header, blocks };
}

// The same message with other values of some header fields; `change` of transport.py.
export function changeHeader(bytes: Bytes, values: Record<string, unknown>): Bytes {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = { ...JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))), ...values };
  const blocks = bytes.subarray(4 + length);
  const { message, start } = withHeader(header, blocks.length);
  message.set(blocks, start);
  return message;
}

// A message with a header, and where its blocks of `size` bytes begin, which are still zeros.
export function withHeader(header: object, size: number): { message: Bytes; start: number } {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = 4 + Math.ceil(text.length / 4) * 4;
  const message = new Uint8Array(start + size).fill(32, 4, start);
  new DataView(message.buffer).setUint32(0, start - 4, true);
  message.set(text, 4);
  return { message, start };
}

export function isDeflated<Header>({ header }: Message<Header>): boolean {
  return header.blocks.some(([, , deflated]) => deflated);
}

// The message with its deflated blocks inflated.
export async function inflateBlocks<Header>({ header, blocks }: Message<Header>): Promise<Message<Header>> {
  const whole = await Promise.all(blocks.map((block, k) => (header.blocks[k][2] ? inflate(block) : block)));
  return { header, blocks: whole };
}

export function asFloats(block: Bytes): Float32Array<ArrayBuffer> {
  return new Float32Array(block.buffer, block.byteOffset, block.byteLength / 4);
}

// Numbers in float16.
export function asHalves(block: Bytes, out = new Float32Array(block.byteLength >> 1)): Float32Array<ArrayBuffer> {
  const codes = new Uint16Array(block.buffer, block.byteOffset, block.byteLength >> 1);
  halves ??= Float32Array.from({ length: 1 << 16 }, (_, code) => halfOf(code));
  for (let k = 0; k < codes.length; k++) out[k] = halves[codes[k]];
  return out;
}

let halves: Float32Array | null = null; // the number of each code, once it is needed

function halfOf(code: number): number {
  const [sign, exponent, fraction] = [code >> 15 ? -1 : 1, (code >> 10) & 31, code & 1023];
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

// Flags that NumPy packed into bits: `number` of them from `first` on, one byte each.
export function asFlags(block: Bytes, first: number, number: number): Bytes {
  return Uint8Array.from({ length: number }, (_, k) => (block[(first + k) >> 3] >> (7 - ((first + k) & 7))) & 1);
}

// Returns the function from a weight to the code whose decoded weight is nearest.
export function encoder(table: Float32Array): (weight: number) => number {
  const middles = table.slice(1).map((weight, k) => (weight + table[k]) / 2);
  return (weight) => {
    let [low, high] = [0, 255];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (weight < middles[middle]) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}

// As encoder(), by a table over the root of the weight: at most one code off, for drawing.
export function quickEncoder(table: Float32Array): (weight: number) => number {
  const encode = encoder(table);
  const known = Uint8Array.from({ length: 4096 }, (_, k) => encode((k / 4095) ** 2));
  return (weight) => known[Math.round(4095 * Math.sqrt(Math.min(1, weight)))];
}
