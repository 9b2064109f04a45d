// What the strip knows of its tokens, in words.

import { said } from "../browser/text";

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
  const place = texts[token] < 0 ? said("added")
    : said("characters {start} to {end} of sentence {text}", { start: starts[token], end: ends[token], text: "AB"[texts[token]] });
  const crossed = marked.includes(token) ? ` · ${said("crossed out")}` : "";
  const known = { id: ids[token], position: positions[token], segment: segments[token] };
  return `${said("id {id} · position {position} · segment {segment}", known)} · ${place}${crossed}`;
}

// Whether a token is in one word with the token before it.
export function joins({ words }: StripData, token: number): boolean {
  return token > 0 && words[token] >= 0 && words[token] === words[token - 1];
}

// The kinds of tokens that are there: colour and name of each.
export function legendEntries({ texts, segments, colors }: StripData): [color: string, name: string][] {
  const second = texts.indexOf(1);
  const entries: [string, string][] = [[colors[0], said(second < 0 ? "the sentence, segment 0" : "sentence A, segment 0")]];
  // RoBERTa and DistilBERT have no second segment.
  if (second >= 0) entries.push([colors[1], said("sentence B, segment {segment}", { segment: segments[second] })]);
  if (texts.includes(-1)) entries.push([colors[2], said("added special tokens")]);
  return entries;
}

export function countText({ tokens }: StripData): string {
  return said("{tokens} tokens, each above its id; pieces in one box are one word", { tokens: tokens.length });
}
