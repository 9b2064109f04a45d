// What the drawing is sent, and the numbers that it reads off it.

import { legible, shorten } from "../../parts/browser/text";
import { asHalves, type Message } from "../../parts/canvas/shared/transport";

export interface Said {
  words: string[];
  probabilities: number[];
}

export interface Source {
  token: string;
  position: number;
  weight: number;
  score: number;
  /** Numbers of vectors. */
  key: number;
  value: number;
  /** Of the word's logit; null without a word. */
  share: number | null;
}

export interface Card {
  neuron: number;
  activation: number;
  share: number | null;
  /** Towards which it pushes. */
  words: string[];
}

/** A word of the decoder, or an answer of the head that judges pairs. */
export interface Entry {
  word: string;
  product?: number;
  bias?: number;
  logit: number;
  probability: number;
}

export interface Row {
  kind: "vector" | "neurons" | "logits" | "pair";
  /** Of the stage that begins here; "" in its other rows. */
  title: string;
  note: string;
  label?: string;
  /** Number of its vector. */
  vector?: number;
  scale?: string;
  norm?: number;
  cosine?: number | null;
  said?: Said | null;
  share?: number | null;
  share_of?: string;
  /** Where a residual connection leaves ("from") or arrives ("to"). */
  residual?: string;
  head?: number;
  query?: number;
  mix?: number;
  sources?: Source[];
  cards?: Card[];
  entries?: Entry[];
}

export interface Colors {
  a: string;
  b: string;
  special: string;
  accent: string;
}

export interface SheetHeader {
  kind: "sheet";
  name: string;
  rows: Row[];
  /** Of the vectors. */
  widths: number[];
  word: string | null;
  /** The word whose logit is taken off that of `word`. */
  against: string | null;
  colors: Colors;
}

export interface AllHeader {
  kind: "all";
  name: string;
  stages: string[];
  tokens: string[];
  positions: number[];
  text_ids: number[];
  firing: number[];
  selected: number;
  colors: Colors;
}

export type Header = SheetHeader | AllHeader;

export const MOST_CELLS = 64; // of a strip
const FULL_COLOUR = 0.98; // quantile of the cells that gets the strongest colour: BERT has outlying dimensions

/** A cell of a strip: the mean of dimensions `first` to `last`. */
export interface Cell {
  first: number;
  last: number;
  mean: number;
}

// A vector as cells of like width.
export function cellsOf(vector: Float32Array, most = MOST_CELLS): Cell[] {
  const count = Math.min(most, vector.length);
  return Array.from({ length: count }, (_, cell) => {
    const first = Math.floor((cell * vector.length) / count);
    const end = Math.floor(((cell + 1) * vector.length) / count);
    let sum = 0;
    for (let dim = first; dim < end; dim++) sum += vector[dim];
    return { first, last: end - 1, mean: sum / (end - first) };
  });
}

// The neurons as cells: of each group the activation that is furthest from zero, which a mean would hide.
export function peaksOf(activations: Float32Array, most = 2 * MOST_CELLS): Cell[] {
  return cellsOf(activations, most).map(({ first, last }) => {
    let peak = activations[first];
    for (let at = first; at <= last; at++) if (Math.abs(activations[at]) > Math.abs(peak)) peak = activations[at];
    return { first, last, mean: peak };
  });
}

// The value that gets the strongest colour.
export function fullColour(strips: Cell[][]): number {
  const sizes = strips.flat().map(({ mean }) => Math.abs(mean)).sort((a, b) => a - b);
  return sizes[Math.floor(FULL_COLOUR * (sizes.length - 1))] || 1;
}

// The step of a colour scale, 0 to 254, of a value; 127 is zero.
export function step(value: number, full: number): number {
  return Math.round((Math.max(-1, Math.min(1, value / full)) + 1) * 127);
}

export class SheetModel {
  readonly vectors: Float32Array[];
  private readonly full = new Map<string, number>();

  constructor(readonly header: SheetHeader, blocks: Message<SheetHeader>["blocks"]) {
    const flat = asHalves(blocks[0]);
    let start = 0;
    this.vectors = header.widths.map((width) => flat.subarray(start, (start += width)));
    const strips = new Map<string, Cell[][]>();
    for (const row of header.rows) {
      if (row.vector === undefined || !row.scale) continue;
      const cells = row.kind === "neurons" ? peaksOf(this.vectors[row.vector]) : cellsOf(this.vectors[row.vector]);
      strips.set(row.scale, [...(strips.get(row.scale) ?? []), cells]);
    }
    for (const [scale, cells] of strips) this.full.set(scale, fullColour(cells));
  }

  fullOf(scale: string): number {
    return this.full.get(scale) ?? 1;
  }

  // The largest share of a row, which gets the longest bar.
  get largestShare(): number {
    return Math.max(1e-9, ...this.header.rows.map(({ share }) => Math.abs(share ?? 0)));
  }

  // From which row to which a residual connection leads.
  get residuals(): [from: number, to: number][] {
    const found: [number, number][] = [];
    let from = -1;
    this.header.rows.forEach(({ residual }, at) => {
      const ways = (residual ?? "").split(" ");
      if (ways.includes("to") && from >= 0) found.push([from, at]);
      if (ways.includes("from")) from = at;
    });
    return found;
  }
}

// What the shares are of: a word's logit, or how far it is above another's.
export function sharesOf({ word, against }: Pick<SheetHeader, "word" | "against">): string {
  const quoted = (one: string) => `\u201c${shorten(legible(one), 12)}\u201d`;
  if (word === null) return "";
  return against === null ? `share of ${quoted(word)}` : `share of ${quoted(word)} \u2212\u00a0${quoted(against)}`;
}

// A number with its sign, as shares are written.
export function signed(value: number, digits = 2): string {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return `${value < 0 ? "\u2212" : "+"}${text}`;
}

// A number of a vector: three digits that count.
export function short(value: number): string {
  const size = Math.abs(value);
  const text = size >= 100 ? size.toFixed(0) : size >= 10 ? size.toFixed(1) : size.toFixed(2);
  return value < 0 && Number(text) !== 0 ? `\u2212${text}` : text;
}
