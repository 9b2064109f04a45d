// The arithmetic of the network on typed arrays: float32 numbers, sums in float64.

export type Floats = Float32Array<ArrayBuffer>;

/** x W' + b: rows of `input` [T, I], `weight` [O, I], `bias` [O]; returns [T, O]. */
export function linear(input: Floats, weight: Floats, bias: Floats | null, width: number): Floats {
  const rows = input.length / width;
  const outputs = weight.length / width;
  const out = new Float32Array(rows * outputs);
  // Blocks of four rows and four outputs: each number that is read from memory is used four times.
  let row = 0;
  for (; row + 4 <= rows; row += 4) {
    const [a, b, c, d] = [row * width, (row + 1) * width, (row + 2) * width, (row + 3) * width];
    let o = 0;
    for (; o + 4 <= outputs; o += 4) {
      const [p, q, r, s] = [o * width, (o + 1) * width, (o + 2) * width, (o + 3) * width];
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
      let at = row * outputs + o;
      out[at] = ap; out[at + 1] = aq; out[at + 2] = ar; out[at + 3] = as;
      at += outputs;
      out[at] = bp; out[at + 1] = bq; out[at + 2] = br; out[at + 3] = bs;
      at += outputs;
      out[at] = cp; out[at + 1] = cq; out[at + 2] = cr; out[at + 3] = cs;
      at += outputs;
      out[at] = dp; out[at + 1] = dq; out[at + 2] = dr; out[at + 3] = ds;
    }
    for (let last = row; last < row + 4; last++) dots(input, weight, out, width, outputs, last, o);
  }
  for (; row < rows; row++) dots(input, weight, out, width, outputs, row, 0);
  if (bias) for (let at = 0; at < out.length; at++) out[at] += bias[at % outputs];
  return out;
}

// One row with the outputs from `first` on.
function dots(input: Floats, weight: Floats, out: Floats, width: number, outputs: number, row: number, first: number): void {
  const start = row * width;
  for (let o = first; o < outputs; o++) {
    const from = o * width;
    let even = 0;
    let odd = 0;
    for (let k = 0; k + 1 < width; k += 2) {
      even += input[start + k] * weight[from + k];
      odd += input[start + k + 1] * weight[from + k + 1];
    }
    if (width % 2) even += input[start + width - 1] * weight[from + width - 1];
    out[row * outputs + o] = even + odd;
  }
}

export function add(first: Floats, second: Floats): Floats {
  return first.map((value, k) => value + second[k]);
}

/** Each row with mean 0 and variance 1, times `weight`, plus `bias`. */
export function layerNorm(input: Floats, weight: Floats, bias: Floats, epsilon: number): Floats {
  const width = weight.length;
  const out = new Float32Array(input.length);
  for (let start = 0; start < input.length; start += width) {
    let sum = 0;
    for (let k = 0; k < width; k++) sum += input[start + k];
    const mean = sum / width;
    let squares = 0;
    for (let k = 0; k < width; k++) squares += (input[start + k] - mean) ** 2;
    const scale = 1 / Math.sqrt(squares / width + epsilon);
    for (let k = 0; k < width; k++) out[start + k] = (input[start + k] - mean) * scale * weight[k] + bias[k];
  }
  return out;
}

/** x times the probability that a normal variable is below x. */
export function gelu(values: Floats): Floats {
  return values.map((x) => 0.5 * x * (1 + erf(x * Math.SQRT1_2)));
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

/** The softmax of each row of `width` numbers, in place. */
export function softmax(values: Floats, width: number): Floats {
  for (let start = 0; start < values.length; start += width) {
    let most = -Infinity;
    for (let k = 0; k < width; k++) most = Math.max(most, values[start + k]);
    let sum = 0;
    for (let k = 0; k < width; k++) sum += (values[start + k] = Math.exp(values[start + k] - most));
    for (let k = 0; k < width; k++) values[start + k] /= sum;
  }
  return values;
}
