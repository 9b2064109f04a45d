// The arithmetic of the network on typed arrays of float32 numbers.

export type Floats = Float32Array<ArrayBuffer>;

/** Rows of numbers in an array, from its start: `count` of `width` numbers each, `stride` apart. */
export interface Rows {
  values: Floats;
  count: number;
  width: number;
  stride: number;
}

/** What holds the arrays and multiplies them: the browser's own numbers, or WebAssembly (simd.ts). */
export interface Machine {
  /** A new array of zeros. */
  floats(length: number): Floats;
  /** The sum of products of each row of `first` with each of `second`: out[r][c]. */
  product(first: Rows, second: Rows, out: Rows): void;
}

export const plainMachine: Machine = { floats: (length) => new Float32Array(length), product: plainProduct };

/** Counts the bytes of the arrays that are asked of it, without making them. */
export class Ledger implements Machine {
  bytes = 0;

  floats(length: number): Floats {
    this.bytes += 16 * Math.ceil(length / 4); // each starts at a whole vector
    return new Float32Array();
  }

  product(): void { throw new Error("a ledger computes nothing"); }
}

export function rowsOf(values: Floats, width: number): Rows {
  return { values, width, count: values.length / width, stride: width };
}

export function plainProduct(first: Rows, second: Rows, out: Rows): void {
  const { values: input, width } = first;
  const { values: weight } = second;
  const { values: sums } = out;
  // Blocks of four rows and four outputs: each number that is read from memory is used four times.
  let row = 0;
  for (; row + 4 <= first.count; row += 4) {
    const [a, b, c, d] = [0, 1, 2, 3].map((k) => (row + k) * first.stride);
    let column = 0;
    for (; column + 4 <= second.count; column += 4) {
      const [p, q, r, s] = [0, 1, 2, 3].map((k) => (column + k) * second.stride);
      let ap = 0, aq = 0, ar = 0, as = 0, bp = 0, bq = 0, br = 0, bs = 0;
      let cp = 0, cq = 0, cr = 0, cs = 0, dp = 0, dq = 0, dr = 0, ds = 0;
      for (let k = 0; k < width; k++) {
        const wp = weight[p + k], wq = weight[q + k], wr = weight[r + k], ws = weight[s + k];
        const xa = input[a + k], xb = input[b + k], xc = input[c + k], xd = input[d + k];
        ap += xa * wp; aq += xa * wq; ar += xa * wr; as += xa * ws;
        bp += xb * wp; bq += xb * wq; br += xb * wr; bs += xb * ws;
        cp += xc * wp; cq += xc * wq; cr += xc * wr; cs += xc * ws;
        dp += xd * wp; dq += xd * wq; dr += xd * wr; ds += xd * ws;
      }
      let at = row * out.stride + column;
      sums[at] = ap; sums[at + 1] = aq; sums[at + 2] = ar; sums[at + 3] = as;
      at += out.stride;
      sums[at] = bp; sums[at + 1] = bq; sums[at + 2] = br; sums[at + 3] = bs;
      at += out.stride;
      sums[at] = cp; sums[at + 1] = cq; sums[at + 2] = cr; sums[at + 3] = cs;
      at += out.stride;
      sums[at] = dp; sums[at + 1] = dq; sums[at + 2] = dr; sums[at + 3] = ds;
    }
    for (let last = row; last < row + 4; last++) dots(first, second, out, last, column);
  }
  for (; row < first.count; row++) dots(first, second, out, row, 0);
}

// The products of one row with those of `second` from `from` on.
function dots(first: Rows, second: Rows, out: Rows, row: number, from: number): void {
  const { values: input, width } = first;
  const { values: weight } = second;
  const at = row * first.stride;
  for (let column = from; column < second.count; column++) {
    const other = column * second.stride;
    let even = 0;
    let odd = 0;
    for (let k = 0; k + 1 < width; k += 2) {
      even += input[at + k] * weight[other + k];
      odd += input[at + k + 1] * weight[other + k + 1];
    }
    if (width % 2) even += input[at + width - 1] * weight[other + width - 1];
    out.values[row * out.stride + column] = even + odd;
  }
}

/** Adds `bias` to each row, in place. */
export function addBias(values: Floats, bias: Floats): void {
  for (let start = 0; start < values.length; start += bias.length) {
    for (let k = 0; k < bias.length; k++) values[start + k] += bias[k];
  }
}

/** Adds `second` to `first`, in place. */
export function add(first: Floats, second: Floats): void {
  for (let k = 0; k < first.length; k++) first[k] += second[k];
}

/** Each row with mean 0 and variance 1, times `weight`, plus `bias`, in place. */
export function layerNorm(values: Floats, weight: Floats, bias: Floats, epsilon: number): void {
  const width = weight.length;
  for (let start = 0; start < values.length; start += width) {
    let sum = 0;
    for (let k = 0; k < width; k++) sum += values[start + k];
    const mean = sum / width;
    let squares = 0;
    for (let k = 0; k < width; k++) squares += (values[start + k] - mean) ** 2;
    const scale = 1 / Math.sqrt(squares / width + epsilon);
    for (let k = 0; k < width; k++) values[start + k] = (values[start + k] - mean) * scale * weight[k] + bias[k];
  }
}

/** x times the probability that a normal variable is below x, in place. */
export function gelu(values: Floats): void {
  for (let k = 0; k < values.length; k++) values[k] *= 0.5 * (1 + erf(values[k] * Math.SQRT1_2));
}

// Relative error below 1.2e-7 (Press et al., Numerical Recipes, section 6.2: a Chebyshev fit of erfc).
export function erf(x: number): number {
  const z = Math.abs(x);
  const t = 1 / (1 + 0.5 * z);
  const fit = -1.26551223 + t * (1.00002368 + t * (0.37409196 + t * (0.09678418 + t * (-0.18628806 +
    t * (0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277))))))));
  const tail = t * Math.exp(-z * z + fit);
  return x >= 0 ? 1 - tail : tail - 1;
}

/** The softmax of each row of `width` numbers times `scale`, in place. */
export function softmax(values: Floats, width: number, scale = 1): void {
  for (let start = 0; start < values.length; start += width) {
    let most = -Infinity;
    for (let k = start; k < start + width; k++) if (values[k] > most) most = values[k];
    let sum = 0;
    for (let k = start; k < start + width; k++) sum += (values[k] = Math.exp(scale * (values[k] - most)));
    for (let k = start; k < start + width; k++) values[k] /= sum;
  }
}
