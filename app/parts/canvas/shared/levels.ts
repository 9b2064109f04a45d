// Word pieces or whole words as the units of a view.

export interface TokenHeader {
  tokens: string[];
  /** Of each token: 0 and 1 for the texts, -1 for special tokens. */
  text_ids: number[];
  kinds: { a: string; b: string; special: string };
  is_pair: boolean;
}

export interface WordHeader extends TokenHeader {
  segment_ids: number[];
  /** First token of each word. */
  starts: number[];
  words: string[];
}

export interface Units {
  /** First token of each unit; it reaches to the start of the next. */
  starts: number[];
  names: string[];
  textIds: number[];
  segmentIds: number[];
  size: number;
}

export function unitsOf(header: WordHeader, byWord: boolean): Units {
  const starts = byWord ? header.starts : header.tokens.map((_, place) => place);
  const pick = (list: number[]) => starts.map((start) => list[start]);
  return {
    starts,
    names: byWord ? header.words : header.tokens,
    textIds: pick(header.text_ids),
    segmentIds: pick(header.segment_ids),
    size: starts.length,
  };
}

// Attention between words: the sum over the attended pieces, the mean over the attending ones
// (Clark et al. 2019, section 4.1). `read(at)` gives the weight at row * size + column; a NaN makes
// the whole row of its word NaN.
export function mergeToWords(read: (at: number) => number, size: number, starts: number[]): Float32Array<ArrayBuffer> {
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

// Whether two inputs have the same tokens.
export function sameTokens(a: TokenHeader | undefined, b: TokenHeader): boolean {
  return a !== undefined && a.tokens.join("\u0000") === b.tokens.join("\u0000");
}
