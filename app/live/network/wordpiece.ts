// WordPiece as bertcore.model.tokenizer does it: normalised text, words, and the longest pieces of each from the left.

import type { Characters } from "./characters";

export interface TokenizerSettings {
  vocab: string[];
  do_lower_case: boolean;
  strip_accents: boolean;
  tokenize_chinese_chars: boolean;
  /** Tokens that are kept whole where they are typed. */
  added: AddedToken[];
  ids: { unk: number; cls: number; sep: number; mask: number };
  /** [PAD] and its kin. */
  special_ids: number[];
  max_word_length: number;
  max_length: number;
}

interface AddedToken {
  content: string;
  id: number;
  single_word: boolean;
  lstrip: boolean;
  rstrip: boolean;
}

/** A character of the normalised text, with its place in the typed one, in characters. */
interface Placed {
  text: string;
  start: number;
  end: number;
}

export interface Piece {
  id: number;
  start: number;
  end: number;
  /** Number of its word in the text. */
  word: number;
  /** Longer candidates that are not in the vocabulary, in the order of trying. */
  tried: string[];
}

/** The input of the network; the fields of bertcore's Encoding. */
export interface Encoding {
  input_ids: number[];
  tokens: string[];
  segment_ids: number[];
  /** 0 in text A, 1 in text B, -1 for [CLS] and [SEP]. */
  text_ids: number[];
  word_ids: number[];
  offsets: [number, number][];
  tried: string[][];
  /** Tokens that were cut off. */
  num_cut: number;
}

const PREFIX = "##";

export class WordPiece {
  readonly idOf: ReadonlyMap<string, number>;

  constructor(readonly settings: TokenizerSettings, private readonly characters: Characters) {
    this.idOf = new Map(settings.vocab.map((piece, id) => [piece, id]));
  }

  // Adds [CLS] and [SEP]; the longer text is cut first. `second` null: one text.
  encode(first: string, second: string | null = null): Encoding {
    const { ids, vocab, max_length } = this.settings;
    const parts = [first, ...(second === null ? [] : [second])].map((text) => this.split(text));
    const kept = longestFirst(parts.map((part) => part.length), max_length - parts.length - 1);
    const encoding: Encoding = {
      input_ids: [], tokens: [], segment_ids: [], text_ids: [], word_ids: [], offsets: [], tried: [],
      num_cut: parts.reduce((sum, part, k) => sum + part.length - kept[k], 0),
    };
    const add = (id: number, segment: number, text: number, word: number, piece?: Piece) => {
      encoding.input_ids.push(id);
      encoding.tokens.push(vocab[id]);
      encoding.segment_ids.push(segment);
      encoding.text_ids.push(text);
      encoding.word_ids.push(word);
      encoding.offsets.push(piece ? [piece.start, piece.end] : [0, 0]);
      encoding.tried.push(piece?.tried ?? []);
    };
    add(ids.cls, 0, -1, -1);
    let firstWord = 0;
    parts.forEach((pieces, text) => {
      const own = pieces.slice(0, kept[text]);
      for (const piece of own) add(piece.id, text, text, firstWord + piece.word, piece);
      firstWord += own.length ? own[own.length - 1].word + 1 : 0;
      add(ids.sep, text, -1, -1);
    });
    return encoding;
  }

  // The pieces of a text, without [CLS] and [SEP].
  split(text: string): Piece[] {
    const pieces: Piece[] = [];
    const letters = [...text];
    let word = 0;
    for (const part of this.atAdded(letters)) {
      if (part.added) {
        pieces.push({ id: part.added.id, start: part.start, end: part.end, word: word++, tried: [] });
        continue;
      }
      const placed = letters.slice(part.start, part.end)
        .map((letter, k) => ({ text: letter, start: part.start + k, end: part.start + k + 1 }));
      for (const characters of this.words(this.normalize(placed))) pieces.push(...this.match(characters, word++));
    }
    return pieces;
  }

  // ---- tokens that are kept whole ----

  private atAdded(letters: string[]): { start: number; end: number; added: AddedToken | null }[] {
    const parts: { start: number; end: number; added: AddedToken | null }[] = [];
    const byLength = [...this.settings.added].map((token) => ({ token, spelt: [...token.content] }))
      .sort((a, b) => b.spelt.length - a.spelt.length);
    let last = 0;
    for (let at = 0; at < letters.length;) {
      const found = byLength.find(({ spelt }) => spelt.every((letter, k) => letters[at + k] === letter));
      const next = at + (found?.spelt.length ?? 1);
      const isWithin = found?.token.single_word && (isOfWord(letters[at - 1]) || isOfWord(letters[next]));
      if (found && !isWithin) {
        let [start, end] = [at, next];
        while (found.token.lstrip && start > last && /\s/u.test(letters[start - 1])) start--;
        while (found.token.rstrip && end < letters.length && /\s/u.test(letters[end])) end++;
        parts.push({ start: last, end: start, added: null }, { start, end, added: found.token });
        last = end;
      }
      at = Math.max(next, last);
    }
    parts.push({ start: last, end: letters.length, added: null });
    return parts.filter(({ start, end }) => start < end);
  }

  // ---- normalisation, in the library's order ----

  private normalize(letters: Placed[]): Placed[] {
    const { characters, settings } = this;
    let now = letters.filter(({ text }) => !characters.is(text, "removed"))
      .map((letter) => (characters.is(letter.text, "whitespace") ? { ...letter, text: " " } : letter));
    if (settings.tokenize_chinese_chars) {
      now = now.flatMap((letter) => (characters.is(letter.text, "chinese")
        ? [{ ...letter, text: " " }, letter, { ...letter, text: " " }] : [letter]));
    }
    if (settings.strip_accents) now = this.stripAccents(now);
    if (settings.do_lower_case) {
      now = now.flatMap((letter) => [...characters.lower(letter.text)].map((text) => ({ ...letter, text })));
    }
    return now;
  }

  // Places stay in order where sorting the accents moves a part past another character's.
  private stripAccents(letters: Placed[]): Placed[] {
    const { characters } = this;
    const parts = letters.flatMap(({ text }) => characters.decompose(text)
      .map((part, k) => ({ part, rank: characters.rank(part), isFirst: k === 0 })));
    const stripped: Placed[] = [];
    let [place, next] = [letters[0], 0];
    for (let start = 0; start < parts.length;) {
      let end = start + 1;
      while (end < parts.length && (parts[end].rank === 0) === (parts[start].rank === 0)) end++;
      const run = parts.slice(start, end);
      if (parts[start].rank) run.sort((a, b) => a.rank - b.rank);
      for (const { part, isFirst } of run) {
        if (isFirst) place = letters[next++];
        if (!characters.is(part, "accent")) stripped.push({ ...place, text: part });
      }
      start = end;
    }
    return stripped;
  }

  // Words: what stands between spaces, with each punctuation mark alone.
  private words(letters: Placed[]): Placed[][] {
    const words: Placed[][] = [];
    let isOpen = false;
    for (const letter of letters) {
      const isMark = this.characters.is(letter.text, "punctuation");
      const isSpace = this.characters.is(letter.text, "whitespace");
      if (isOpen && !isMark && !isSpace) words[words.length - 1].push(letter);
      else if (!isSpace) words.push([letter]);
      isOpen = !isMark && !isSpace;
    }
    return words;
  }

  // ---- pieces ----

  private match(letters: Placed[], word: number): Piece[] {
    const whole = { start: letters[0].start, end: letters[letters.length - 1].end, word };
    const unknown = (tried: string[]) => [{ ...whole, id: this.settings.ids.unk, tried }];
    if (letters.length > this.settings.max_word_length) return unknown([]);
    const pieces: Piece[] = [];
    for (let start = 0; start < letters.length;) {
      const tried: string[] = [];
      let end = letters.length;
      for (; end > start; end--) {
        const candidate = (start ? PREFIX : "") + letters.slice(start, end).map(({ text }) => text).join("");
        const id = this.idOf.get(candidate);
        if (id !== undefined) {
          pieces.push({ id, start: letters[start].start, end: letters[end - 1].end, word, tried });
          break;
        }
        tried.push(candidate);
      }
      if (end === start) return unknown(tried);
      start = end;
    }
    return pieces;
  }
}

function isOfWord(letter: string | undefined): boolean {
  return letter !== undefined && /[\p{Alphabetic}\p{M}\p{Nd}\p{Nl}\p{Pc}\u200c\u200d]/u.test(letter);
}

// How many tokens of each text are kept; the odd one of equal texts stays in text B.
export function longestFirst(lengths: number[], room: number): number[] {
  const [first, second] = lengths;
  if (lengths.reduce((sum, length) => sum + length, 0) <= room) return lengths;
  if (lengths.length === 1) return [room];
  const half = Math.floor(room / 2);
  if (first > second) return second <= half ? [room - second, second] : [room - half, half];
  return first <= half ? [first, room - first] : [half, room - half];
}
