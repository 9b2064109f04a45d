// Measures of each head on one input, as bertcore/analysis/heads/measures.py defines them.

import { range } from "../browser/text";
import type { Result } from "./reader";

type Values = (number | null)[];

/** Each measure of all heads, layer by layer; null where no token has one. */
export function measureHeads({ encoding, attentions, numHeads, numTokens: length, isMark }: Result): Record<string, Values> {
  const { text_ids: texts, input_ids: ids } = encoding;
  const first = texts.indexOf(-1);
  const isSeparator = texts.map((text, k) => text < 0 && k !== first);
  const kinds: Record<string, (from: number, to: number) => boolean> = {
    to_previous: (from, to) => to === from - 1,
    to_next: (from, to) => to === from + 1,
    to_self: (from, to) => to === from,
    to_first: (_, to) => to === first,
    to_separator: (_, to) => isSeparator[to],
    to_same_word: (from, to) => texts[from] >= 0 && texts[to] >= 0 && from !== to && ids[from] === ids[to],
    to_punctuation: (_, to) => texts[to] >= 0 && isMark[to],
    a_to_b: (from, to) => texts[from] === 0 && texts[to] === 1,
    b_to_a: (from, to) => texts[from] === 1 && texts[to] === 0,
  };
  // The cells of each kind once, not for each head.
  const cells = Object.entries(kinds).map(([name, holds]) => {
    const rows = range(length).map((from) => range(length).filter((to) => holds(from, to)));
    return { name, rows, count: rows.filter((row) => row.length).length };
  });
  const measured: Record<string, Values> = {};
  const put = (name: string, value: number) =>
    (measured[name] ??= []).push(Number.isFinite(value) ? Number(value.toFixed(5)) : null);
  for (const weights of attentions) {
    for (let head = 0; head < numHeads; head++) {
      const start = head * length * length;
      for (const { name, rows, count } of cells) {
        let sum = 0;
        rows.forEach((row, from) => { for (const to of row) sum += weights[start + from * length + to]; });
        put(name, sum / count);
      }
      const entropies = range(length).map((from) => {
        let entropy = 0;
        for (let to = 0; to < length; to++) {
          const weight = weights[start + from * length + to];
          if (weight > 0) entropy -= weight * Math.log(weight);
        }
        return entropy;
      });
      const entropy = entropies.reduce((sum, one) => sum + one, 0) / length;
      put("evenness", length > 1 ? entropy / Math.log(length) : NaN);
      put("entropy", entropy);
      put("entropy_first", first === 0 ? entropies[0] : NaN);
      let distance = 0;
      for (let from = 0; from < length; from++) {
        for (let to = 0; to < length; to++) distance += weights[start + from * length + to] * Math.abs(from - to);
      }
      put("distance", distance / length);
    }
  }
  return measured;
}
