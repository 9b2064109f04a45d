// Orders of the rows and columns: a list of units for each.

export const ROW_ORDERS = [
  ["text", "as in the text"],
  ["chosen", "by the marked column"],
  ["entropy", "the most focused first"],
] as const;
export const COLUMN_ORDERS = [
  ["text", "as in the text"],
  ["chosen", "by the marked row"],
  ["received", "the most attended to first"],
] as const;

export type RowOrder = (typeof ROW_ORDERS)[number][0];
export type ColumnOrder = (typeof COLUMN_ORDERS)[number][0];

// `chosen`: the marked column, or null.
export function orderRows(weights: Float32Array, size: number, by: RowOrder, chosen: number | null): Uint16Array {
  if (by === "entropy") return ascending(size, (row) => entropyOf(weights, size, row));
  if (by === "chosen" && chosen !== null) return ascending(size, (row) => -weights[row * size + chosen]);
  return ascending(size, (row) => row);
}

// `chosen`: the marked row, or null.
export function orderColumns(weights: Float32Array, size: number, by: ColumnOrder, chosen: number | null): Uint16Array {
  if (by === "received") {
    const sums = new Float64Array(size);
    for (let at = 0; at < size * size; at++) sums[at % size] += weights[at];
    return ascending(size, (column) => -sums[column]);
  }
  if (by === "chosen" && chosen !== null) return ascending(size, (column) => -weights[chosen * size + column]);
  return ascending(size, (column) => column);
}

// Equal values keep the order of the text; NaN comes last.
function ascending(size: number, value: (k: number) => number): Uint16Array {
  const values = Float64Array.from({ length: size }, (_, k) => value(k));
  const last = (k: number) => (Number.isNaN(values[k]) ? 1 : 0);
  return Uint16Array.from({ length: size }, (_, k) => k)
    .sort((a, b) => last(a) - last(b) || (last(a) ? 0 : values[a] - values[b]) || a - b);
}

// In nats: 0 for attention to one unit only, ln(size) for uniform attention.
function entropyOf(weights: Float32Array, size: number, row: number): number {
  let sum = 0;
  for (let at = row * size; at < (row + 1) * size; at++) {
    if (!(weights[at] <= 0)) sum -= weights[at] * Math.log(weights[at]);
  }
  return sum;
}
