// What the network of a live file computes of texts, for tests/support/live_network.py.

import { HeadMeasures } from "../../app/live/measures";
import type { Floats } from "../../app/live/network/arithmetic";
import { Reader } from "../../app/live/reader";
import type { Bytes } from "../../app/parts/browser/data_blocks";

type Case = [string, string | null];

// The token at place 1 is hidden, if it is one of a text.
export async function compute(weights: Bytes, cases: Case[], isFast: boolean): Promise<{ read: string; arrays: Blob }> {
  const reader = await Reader.open(weights, true, isFast);
  if (reader.opened.isFast !== isFast) throw new Error("the other form would compute");
  const arrays: Floats[] = [];
  let measures: HeadMeasures; // of an input that is computed once, though it is asked about twice
  let seen: Floats[];
  reader.viewer = {
    start(encoding, isMark) { [measures, seen] = [new HeadMeasures(encoding, isMark), []]; },
    layer(attention) {
      measures.add(attention);
      seen.push(attention.slice());
    },
  };
  const read = cases.map(([first, second], number) => {
    const result = reader.read({ number, first, second, hidden: [1], hiddenIn: [first, second] });
    const { encoding, guesses, next } = result;
    const { hiddenStates } = reader.trace(encoding);
    arrays.push(...hiddenStates.map((array) => array.slice()));
    arrays.push(...seen);
    seen.forEach((weights, layer) => { // which are computed again when they are asked for
      const again = reader.attention(encoding, layer);
      if (weights.some((weight, k) => weight !== again[k])) throw new Error("another attention");
    });
    const swapped = reader.swapped(result);
    return { encoding, guesses, next, swapped, measures: measures.found };
  });
  return { read: JSON.stringify(read), arrays: new Blob(arrays) };
}
