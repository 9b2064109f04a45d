// Smaller images of a map.

// Levels at half the side: the largest of each 2 x 2; a NaN stays.
export function halve(levels: Float32Array<ArrayBuffer>, side: number): [Float32Array<ArrayBuffer>, number] {
  const half = Math.ceil(side / 2);
  const out = new Float32Array(half * half);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const [level, at] = [levels[y * side + x], (y >> 1) * half + (x >> 1)];
      if (!(level <= out[at])) out[at] = Number.isNaN(out[at]) ? NaN : level;
    }
  }
  return [out, half];
}
