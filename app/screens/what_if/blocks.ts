// A mask of which tokens may attend to which, as the rectangles that are not allowed.

/** First and last row, first and last column. */
export type Block = [top: number, bottom: number, left: number, right: number];

// As bertcore.interventions.blocks_of gives them; allowed: size x size, 1 or 0.
export function blocksOf(allowed: Uint8Array, size: number): Block[] {
  const blocks: Block[] = [];
  const rowOf = (row: number) => allowed.subarray(row * size, (row + 1) * size);
  let start = 0;
  for (let row = 1; row <= size; row++) {
    if (row < size && rowOf(row).every((value, column) => value === rowOf(start)[column])) continue;
    let first = -1;
    for (let column = 0; column <= size; column++) {
      const isBlocked = column < size && !allowed[start * size + column];
      if (isBlocked && first < 0) first = column;
      if (!isBlocked && first >= 0) {
        blocks.push([start, row - 1, first, column - 1]);
        first = -1;
      }
    }
    start = row;
  }
  return blocks;
}

// The mask of some blocks; the inverse of `blocksOf`.
export function maskOf(blocks: Block[], size: number): Uint8Array {
  const allowed = new Uint8Array(size * size).fill(1);
  for (const [top, bottom, left, right] of blocks) {
    for (let row = top; row <= bottom; row++) allowed.fill(0, row * size + left, row * size + right + 1);
  }
  return allowed;
}
