// Pieces or whole words as the units of a view.

// The units of an input: { names, starts, textIds, segmentIds, size }; a unit reaches from its
// start to the start of the next one.

import { element } from "./elements.js";

export function unitsOf(header, byWord) {
  const starts = byWord ? header.starts : header.tokens.map((_, place) => place);
  const pick = (list) => starts.map((start) => list[start]);
  return {
    byWord, starts,
    names: byWord ? header.words : header.tokens,
    textIds: pick(header.text_ids),
    segmentIds: pick(header.segment_ids),
    size: starts.length,
  };
}

// Attention between words: the sum over the pieces that are looked at, the mean over those that
// look (Clark et al. 2019, section 4.1). `read(at)` gives the weight at row * size + column; what
// is not a number (NaN) makes the word that looks none.
export function mergeToWords(read, size, starts) {
  const count = starts.length;
  const wordOf = new Uint16Array(size);
  starts.forEach((start, word) => wordOf.fill(word, start));
  const out = new Float32Array(count * count);
  for (let row = 0, at = 0; row < size; row++) {
    const first = wordOf[row] * count;
    for (let column = 0; column < size; column++, at++) out[first + wordOf[column]] += read(at);
  }
  starts.forEach((start, word) => {
    const pieces = (starts[word + 1] ?? size) - start;
    if (pieces > 1) for (let k = word * count; k < (word + 1) * count; k++) out[k] /= pieces;
  });
  return out;
}

// The mark of a unit's kind: of which sentence it is, or added by BERT.
export function kindColour(header, textId) {
  return textId === -1 ? header.kinds.special : textId === 1 ? header.kinds.b : header.kinds.a;
}

// The legend of those marks.
export function kindKeys(header) {
  const kinds = [["a", header.is_pair ? "sentence A" : "text"], ["b", "sentence B"], ["special", "added special tokens"]];
  return kinds.filter(([kind]) => kind !== "b" || header.is_pair).map(([kind, words]) => {
    const square = element("b");
    square.style.background = header.kinds[kind];
    return element("span", { className: "key" }, square, words);
  });
}
