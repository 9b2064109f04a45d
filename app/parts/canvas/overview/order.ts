// The order of the heads, and which of them pass the visitor's limit.

export const ORDERS = [
  ["place", "layer by layer, as in BERT"],
  ["layer", "sorted within each layer"],
  ["all", "sorted over all layers"],
] as const;

export type Order = (typeof ORDERS)[number][0];

/** Of one measure for each head, null where it is not defined. */
export type Values = (number | null)[];

// The heads (layer * heads + head) in the order in which they are drawn, row by row.
export function orderHeads(values: Values | null, layers: number, heads: number, order: Order, lowestFirst: boolean): number[] {
  const natural = Array.from({ length: layers * heads }, (_, k) => k);
  if (order === "place" || !values) return natural;
  const sign = lowestFirst ? 1 : -1;
  const compare = (a: number, b: number) => {
    const [first, second] = [values[a], values[b]];
    if (first === null || second === null) return Number(first === null) - Number(second === null) || a - b;
    return sign * (first - second) || a - b;
  };
  if (order === "all") return natural.sort(compare);
  return Array.from({ length: layers }, (_, layer) =>
    natural.slice(layer * heads, (layer + 1) * heads).sort(compare)).flat();
}

// Whether a value is at least the limit, or at most the limit where the lowest come first.
export function passes(value: number | null, limit: number | null, lowestFirst: boolean): boolean {
  if (limit === null) return true;
  if (value === null) return false;
  return lowestFirst ? value <= limit : value >= limit;
}

// The least and the largest value; null if no head has one.
export function rangeOf(values: Values): [number, number] | null {
  const known = values.filter((value) => value !== null);
  return known.length ? [Math.min(...known), Math.max(...known)] : null;
}
