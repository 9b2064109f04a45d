// Reads a message of transport.py: { header, blocks: [Uint8Array] }.


export function unpack(bytes) {
  // A copy where the message does not start on 4 bytes: Float32Array needs it.
  const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength);
  const length = view.getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + length)));
  const start = 4 + length;
  const blocks = header.blocks.map(([from, size]) => whole.subarray(start + from, start + from + size));
  return { header, blocks };
}

// The same message with its deflated blocks as they were.
export async function inflate({ header, blocks }) {
  const whole = await Promise.all(blocks.map(async (block, k) => {
    if (!header.blocks[k][2]) return block;
    const stream = new Blob([block]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }));
  return { header, blocks: whole };
}

export function asFloats(block) {
  return new Float32Array(block.buffer, block.byteOffset, block.byteLength / 4);
}

// Flags that transport.py wrote as bits: `number` of them from the `first` on, one byte for each.
export function asFlags(block, first, number) {
  return Uint8Array.from({ length: number }, (_, k) => (block[(first + k) >> 3] >> (7 - ((first + k) & 7))) & 1);
}

// The code whose weight is nearest, for weights that were computed here (means).
export function encoder(table) {
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
