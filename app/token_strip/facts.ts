// What the strip knows of its tokens, in words.

/** A value for each token, but where another text stands. */
export interface StripData {
  tokens: string[];
  ids: number[];
  segments: number[];
  positions: number[];
  /** 0 and 1 for the texts, -1 for special tokens. */
  texts: number[];
  /** Number of the word; -1 for special tokens. */
  words: number[];
  /** First character and the one behind the last, in the token's text. */
  starts: number[];
  ends: number[];
  /** Position of the chosen token; -1 for none. */
  selected: number;
  /** Positions that are shown crossed. */
  marked: number[];
  /** Of text A, text B and special tokens. */
  colors: [string, string, string];
}

export function colorOf({ texts, colors }: StripData, token: number): string {
  return texts[token] < 0 ? colors[2] : colors[texts[token]];
}

export function details({ ids, segments, positions, texts, starts, ends, marked }: StripData, token: number): string {
  const place = texts[token] < 0 ? "added"
    : `characters ${starts[token]} to ${ends[token]} of sentence ${"AB"[texts[token]]}`;
  const crossed = marked.includes(token) ? " · crossed out" : "";
  return `id ${ids[token]} · position ${positions[token]} · segment ${segments[token]} · ${place}${crossed}`;
}

// Whether a token is in one word with the token before it.
export function joins({ words }: StripData, token: number): boolean {
  return token > 0 && words[token] >= 0 && words[token] === words[token - 1];
}

// The kinds of tokens that are there: colour and name of each.
export function legendEntries({ texts, segments, colors }: StripData): [color: string, name: string][] {
  const second = texts.indexOf(1);
  const entries: [string, string][] = [[colors[0], second < 0 ? "the sentence, segment 0" : "sentence A, segment 0"]];
  // RoBERTa and DistilBERT have no second segment.
  if (second >= 0) entries.push([colors[1], `sentence B, segment ${segments[second]}`]);
  if (texts.includes(-1)) entries.push([colors[2], "added special tokens"]);
  return entries;
}

export function countText({ tokens, words }: StripData): string {
  const numWords = new Set(words.filter((word) => word >= 0)).size;
  return `${tokens.length} tokens, ${numWords} words; pieces in one box are one word`;
}
