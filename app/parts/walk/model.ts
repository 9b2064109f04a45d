// The numbers of the drawing, as the server sends them.

import { legible, shorten } from "../browser/text";
import { asFlags, asFloats, type Message } from "../canvas/shared/transport";

export interface Word {
  text: string;
  /** Rows of its first and last piece. */
  first: number;
  last: number;
}

export interface Column {
  kind: "token" | "segment" | "position" | "input" | "attention" | "neurons" | "layer";
  /** -1 before the first layer. */
  layer: number;
  /** The mean of a band that gets the strongest colour. */
  scale: number;
  num_dims: number;
}

export interface Words {
  /** At a mask, after the last token, or tokens of the text that were replaced. */
  kind: "masked" | "next" | "replaced";
  row: number;
  original: string | null;
  words: string[];
  /** null for NaN. */
  probabilities: (number | null)[];
}

export interface Step {
  part: string;
  title: string;
  text: string;
  /** The text in parts, those that are special words with what they mean. */
  explained?: [string, string][];
}

export interface GlanceHeader {
  tokens: string[];
  /** In the input, of each row. */
  positions: number[];
  /** Of each row: 0 and 1 for the texts, -1 for special tokens. */
  text_ids: number[];
  num_tokens: number;
  words: Word[];
  num_layers: number;
  num_heads: number;
  /** Cells on a side of a head's picture. */
  size: number;
  columns: Column[];
  predictions: Words[];
  pair: { kind: "nsp" | "sop"; probability: number | null } | null;
  /** Words of the text that are hidden. */
  num_hidden: number;
  /** What parts are called: kinds of columns, "feed_forward", and "block" for a whole layer. */
  parts: Partial<Record<string, string>>;
  /** What the checkpoint or the text lacks, and why. */
  absent: Partial<Record<"segment" | "position" | "words" | "pair", string>>;
  /** Layers with weights that are not numbers. */
  broken: number[];
  kinds: { a: string; b: string; special: string };
  accent: string;
  steps: Step[];
  step: number;
  /** What a click on a part opens: the title of its page; "hide": what one on a word does. No part in an HTML file. */
  pages: Partial<Record<string, string>>;
}

/** A line from the row of a key to the row of a query. */
export interface Link {
  query: number;
  key: number;
  weight: number;
}

/** A probability with two decimals. */
export function exactPercent(probability: number | null): string {
  return probability === null ? "NaN" : `${(100 * probability).toFixed(2)}%`;
}

/** Whether a column is of embeddings that the architecture lacks. */
export function isAbsent({ absent }: GlanceHeader, kind: Column["kind"]): boolean {
  return (kind === "segment" || kind === "position") && absent[kind] !== undefined;
}

export const NUM_BANDS = 16;
const MISSING = -128;
const MOST_LINKS = 3; // from a token, in the ground of the drawing
const FEWEST = 0.08; // smallest weight there, in texts of up to
const USUAL = 62; // tokens, and less in longer ones, over which attention is spread

export class GlanceModel {
  header!: GlanceHeader;
  /** Where the visitor's eye is: a row. */
  followed = 0;
  /** The row around which others are folded where not all can be read. */
  centre = 0;
  step = 0;
  /** Strongest links of each layer, as the mean of the heads. */
  links: Link[][] = [];
  /** The weight of each code. */
  table = new Float32Array();
  private bands = new Int8Array();
  private heads = new Uint8Array();
  private means = new Uint8Array();
  private gaps = new Uint8Array();
  private colours: Uint8Array = new Uint8Array();
  private names: string[] = [];

  receive({ header, blocks }: Message<GlanceHeader>): void {
    const text = (of: GlanceHeader) => of?.words.map((word) => `${word.text} ${word.last}`).join("\u0000");
    const isSame = text(header) === text(this.header);
    this.header = header;
    const [bands, heads, means, table, colours, gaps] = blocks;
    this.bands = new Int8Array(bands.buffer, bands.byteOffset, bands.byteLength);
    this.heads = heads;
    this.means = means;
    this.gaps = asFlags(gaps, 0, means.length);
    this.table = asFloats(table);
    this.colours = colours;
    this.names = header.tokens.map((token) => legible(token.slice(0, 200)));
    if (!isSame) this.followed = this.centre = header.predictions[0]?.row ?? this.usualRow();
    this.links = Array.from({ length: header.num_layers }, (_, layer) => this.strongest(layer));
  }

  get size(): number {
    return this.header.tokens.length;
  }

  // The smallest weight that is drawn, less in long texts.
  least(usual: number): number {
    return usual * Math.min(1, USUAL / this.header.num_tokens);
  }

  name(row: number, most = 40): string {
    return shorten(this.names[row], most);
  }

  // Tokens between a row and a later one, or the end.
  foldedBetween(row: number, next: number | undefined): number {
    const { positions, num_tokens: total } = this.header;
    return (next === undefined ? total : positions[next]) - positions[row] - 1;
  }

  // Attention of a layer, the mean of its heads; NaN where a head's is.
  mean(layer: number, query: number, key: number): number {
    const at = (layer * this.size + query) * this.size + key;
    return this.gaps[at] ? NaN : this.table[this.means[at]];
  }

  // Whether tokens are folded: what they read and who reads them is not sent.
  get isFolded(): boolean {
    return this.size < this.header.num_tokens;
  }

  // Whether each head's weights are sent, not only its picture.
  get hasHeads(): boolean {
    return this.header.size === this.size;
  }

  // Attention of one head; null where its picture is smaller than the input.
  weight(layer: number, head: number, query: number, key: number): number | null {
    const { size, num_heads: heads } = this.header;
    if (!this.hasHeads) return null;
    return this.table[this.heads[((layer * heads + head) * size + query) * size + key]];
  }

  // Links of one query row to those that are drawn, the strongest first and NaN last.
  from(layer: number, query: number, head: number | null, most: number): Link[] {
    const weights = Float64Array.from({ length: this.size }, (_, key) =>
      (head === null ? null : this.weight(layer, head, query, key)) ?? this.mean(layer, query, key));
    const rank = (key: number) => (Number.isNaN(weights[key]) ? -1 : weights[key]);
    const keys = Array.from(weights.keys()).sort((a, b) => rank(b) - rank(a));
    return keys.slice(0, most).map((key) => ({ query, key, weight: weights[key] }));
  }

  // Colours of a head's picture as [row, column] codes 0 to 255.
  codes(layer: number, head: number): Uint8Array {
    const { size, num_heads: heads } = this.header;
    const start = (layer * heads + head) * size * size;
    return this.heads.subarray(start, start + size * size);
  }

  // A cell of a vector, -1 to 1 of its column's scale; NaN where it is not a number.
  band(column: number, row: number, band: number): number {
    const code = this.bands[(column * this.size + row) * NUM_BANDS + band];
    return code === MISSING ? NaN : code / 127;
  }

  // [red, green, blue] of a cell.
  colour(value: number, isDark: boolean): ArrayLike<number> {
    const at = (isDark ? 255 : 0) + Math.round((value + 1) * 127);
    return this.colours.subarray(at * 3, at * 3 + 3);
  }

  private usualRow(): number {
    const words = this.header.text_ids.map((text, row) => (text >= 0 ? row : -1)).filter((row) => row >= 0);
    return words[Math.floor(words.length / 2)] ?? 0;
  }

  private strongest(layer: number): Link[] {
    // Nor below half as much again as if attention were even.
    const least = Math.max(this.least(FEWEST), 1.5 / this.header.num_tokens);
    const links: Link[] = [];
    for (let query = 0; query < this.size; query++) {
      links.push(...this.from(layer, query, null, MOST_LINKS).filter(({ weight }) => weight >= least));
    }
    return links;
  }
}
