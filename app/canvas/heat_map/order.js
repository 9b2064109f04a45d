// In which order rows and columns stand: a list of units for each.

export const ROW_ORDERS = [
  ["text", "as in the text"],
  ["chosen", "by the marked column"],
  ["entropy", "the most focused first"],
];
export const COLUMN_ORDERS = [
  ["text", "as in the text"],
  ["chosen", "by the marked row"],
  ["received", "the most looked at first"],
];

// `by` is one of the names above; `chosen` the unit of the other axis that is marked, or null.
export function orderRows(weights, size, by, chosen) {
  if (by === "entropy") return ascending(size, (row) => entropyOf(weights, size, row));
  if (by === "chosen" && chosen !== null) return ascending(size, (row) => -weights[row * size + chosen]);
  return ascending(size, (row) => row);
}

export function orderColumns(weights, size, by, chosen) {
  if (by === "received") {
    const sums = new Float64Array(size);
    for (let at = 0; at < size * size; at++) sums[at % size] += weights[at];
    return ascending(size, (column) => -sums[column]);
  }
  if (by === "chosen" && chosen !== null) return ascending(size, (column) => -weights[chosen * size + column]);
  return ascending(size, (column) => column);
}

// Equal ones and those that are not a number keep the order of the text, the latter at the end.
function ascending(size, value) {
  const values = Float64Array.from({ length: size }, (_, k) => value(k));
  const last = (k) => (Number.isNaN(values[k]) ? 1 : 0);
  return Uint16Array.from({ length: size }, (_, k) => k)
    .sort((a, b) => last(a) - last(b) || (last(a) ? 0 : values[a] - values[b]) || a - b);
}

// In nats: 0 is one unit only, ln(size) all alike.
function entropyOf(weights, size, row) {
  let sum = 0;
  for (let at = row * size; at < (row + 1) * size; at++) {
    if (!(weights[at] <= 0)) sum -= weights[at] * Math.log(weights[at]);
  }
  return sum;
}
