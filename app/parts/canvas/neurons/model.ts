// What the neuron view knows: queries, keys, scores and weights of one head, and the chosen query.

import { range } from "../../browser/text";
import type { TokenHeader } from "../shared/levels";
import { asFloats, type Message } from "../shared/transport";

export type KeyOrder = "weight" | "text";

export interface NeuronHeader extends TokenHeader {
  look: { order: KeyOrder; query: number | null };
  layer: number;
  head: number;
  num_layers: number;
  num_heads: number;
  /** K, the dimensions of a head. */
  width: number;
  revision: number;
  accent: string;
  /** Colours of a diverging scale, #rrggbb. */
  light: string[];
  dark: string[];
  alone?: number[];
}

export class NeuronModel {
  header!: NeuronHeader;
  /** [T, K] */
  queries = new Float32Array();
  keys = new Float32Array();
  /** [T, T] */
  scores = new Float32Array();
  weights = new Float32Array();
  /** Where 1, the key may not be attended to; empty: nothing is masked. */
  masked = new Uint8Array();
  layer = 0;
  head = 0;
  /** The attending token. */
  query = 0;
  orderBy: KeyOrder = "weight";
  /** The keys in the shown order, and the row of each. */
  order: number[] = [];
  rowOf = new Int32Array();
  marked = 0;
  pointed: { key: number; dimension: number | null } | null = null;
  /** Ends of the scales: the largest absolute values. */
  vectorTop = 1;
  productTop = 1;
  scoreTop = 1;

  receive({ header, blocks }: Message<NeuronHeader>): void {
    this.header = header;
    [this.queries, this.keys, this.scores, this.weights] = blocks.slice(0, 4).map(asFloats);
    this.masked = blocks[4];
    // One scale for all queries and keys of the head, so that tokens can be compared.
    this.vectorTop = largest([this.queries, this.keys]) || 1;
  }

  get size(): number {
    return this.header.tokens.length;
  }

  // The key whose vector is shown in full.
  get shownKey(): number {
    return this.pointed?.key ?? this.marked;
  }

  get hasNaN(): boolean {
    return [this.queries, this.keys, this.scores, this.weights].some((list) => list.some(Number.isNaN));
  }

  openQuery(wanted: number): void {
    this.query = Math.max(0, Math.min(this.size - 1, Math.round(wanted)));
    this.pointed = null;
  }

  product(key: number, dimension: number): number {
    const { width } = this.header;
    return Math.fround(this.queries[this.query * width + dimension] * this.keys[key * width + dimension]);
  }

  score(key: number): number { return this.scores[this.query * this.size + key]; }
  weight(key: number): number { return this.weights[this.query * this.size + key]; }
  isMasked(key: number): boolean { return this.masked[this.query * this.size + key] === 1; }

  // The dimensions with the largest products.
  strongest(key: number, most: number): number[] {
    const size = (k: number) => Math.abs(this.product(key, k));
    return range(this.header.width).sort((a, b) => size(b) - size(a) || a - b).slice(0, most);
  }

  // Orders the keys and sets the ends of the scales, for the present query.
  arrange(): void {
    const places = range(this.size);
    const rank = (key: number) => (Number.isNaN(this.weight(key)) ? Infinity : this.weight(key));
    this.order = this.orderBy === "text" ? places : places.sort((a, b) => rank(b) - rank(a) || a - b);
    this.rowOf = new Int32Array(this.size);
    this.order.forEach((key, row) => { this.rowOf[key] = row; });
    let [most, mostScore] = [0, 0];
    for (let key = 0; key < this.size; key++) {
      mostScore = larger(mostScore, this.score(key));
      for (let k = 0; k < this.header.width; k++) most = larger(most, this.product(key, k));
    }
    [this.productTop, this.scoreTop] = [most || 1, mostScore || 1];
  }
}

function largest(lists: Float32Array[]): number {
  let most = 0;
  for (const list of lists) for (const value of list) most = larger(most, value);
  return most;
}

function larger(most: number, value: number): number {
  const size = Math.abs(value);
  return size > most && size < Infinity ? size : most;
}
