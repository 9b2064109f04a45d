// Measures of each head on one input, as bertcore/analysis/heads/measures.py defines them.

import type { Values } from "../parts/canvas/overview/order";
import type { Floats } from "./network/arithmetic";
import type { Encoding } from "./network/wordpiece";

interface Kind {
  name: string;
  /** Its cells, and how many rows have one. */
  places: number[];
  count: number;
}

/** Each measure of all heads of one input, which are told layer by layer. */
export class HeadMeasures {
  /** By name, layer by layer; null where no token has one. */
  readonly found: Record<string, Values> = {};
  private readonly kinds: Kind[];
  private readonly length: number;
  private readonly first: number;

  /** @param isMark Which tokens are punctuation. */
  constructor(encoding: Encoding, isMark: boolean[]) {
    this.kinds = kindsOf(encoding, isMark);
    this.length = encoding.tokens.length;
    this.first = encoding.text_ids.indexOf(-1);
  }

  /** @param attention [H, T, T] */
  add(attention: Floats): void {
    const { kinds, length, first } = this;
    const put = (name: string, value: number) =>
      (this.found[name] ??= []).push(Number.isFinite(value) ? Number(value.toFixed(5)) : null);
    for (let start = 0; start < attention.length; start += length ** 2) {
      const weights = attention.subarray(start, start + length ** 2);
      for (const { name, places, count } of kinds) {
        let sum = 0;
        for (const place of places) sum += weights[place];
        put(name, sum / count);
      }
      let [entropy, entropyFirst, distance] = [0, NaN, 0];
      for (let from = 0, place = 0; from < length; from++) {
        let own = 0;
        for (let to = 0; to < length; to++, place++) {
          const weight = weights[place];
          if (weight > 0) own -= weight * Math.log(weight);
          distance += weight * Math.abs(from - to);
        }
        entropy += own;
        if (from === first) entropyFirst = own;
      }
      entropy /= length;
      put("evenness", length > 1 ? entropy / Math.log(length) : NaN);
      put("entropy", entropy);
      put("entropy_first", first === 0 ? entropyFirst : NaN);
      put("distance", distance / length);
    }
  }
}

function kindsOf({ text_ids: texts, input_ids: ids }: Encoding, isMark: boolean[]): Kind[] {
  const { length } = texts;
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
  return Object.entries(kinds).map(([name, holds]) => {
    const places: number[] = [];
    let count = 0; // rows that have one
    for (let from = 0; from < length; from++) {
      const before = places.length;
      for (let to = 0; to < length; to++) if (holds(from, to)) places.push(from * length + to);
      if (places.length > before) count++;
    }
    return { name, places, count };
  });
}
