// Which head stands where, and which ones the visitor's limit leaves out.

export const ORDERS = [
  ["place", "layer by layer, as in BERT"],
  ["layer", "sorted within each layer"],
  ["all", "sorted over all layers"],
];

// The heads in the order in which they are drawn, row by row: layer * heads + head of each.
// values: of one measure for each head (null: it has none), or null for no measure.
export function orderHeads(values, layers, heads, order, lowestFirst) {
  const natural = Array.from({ length: layers * heads }, (_, k) => k);
  if (order === "place" || !values) return natural;
  const sign = lowestFirst ? 1 : -1;
  const compare = (a, b) => {
    if (values[a] === null || values[b] === null) return (values[a] === null) - (values[b] === null) || a - b;
    return sign * (values[a] - values[b]) || a - b;
  };
  if (order === "all") return natural.sort(compare);
  return Array.from({ length: layers }, (_, layer) =>
    natural.slice(layer * heads, (layer + 1) * heads).sort(compare)).flat();
}

// Whether a head passes the limit: at least it, or at most it where the lowest are looked for.
export function passes(value, limit, lowestFirst) {
  if (limit === null) return true;
  if (value === null) return false;
  return lowestFirst ? value <= limit : value >= limit;
}

// The least and the largest value; null if no head has one.
export function rangeOf(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? [Math.min(...known), Math.max(...known)] : null;
}
