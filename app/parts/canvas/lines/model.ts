// What the lines view knows: the weights of a layer, the visitor's choices, and what follows from both.

import type { Bytes } from "../../browser/data_blocks";
import { mergeToWords, unitsOf, type Units, type WordHeader } from "../shared/levels";
import { asFlags, asFloats, quickEncoder, type Message } from "../shared/transport";
import { isInFocus, TokenChoice, type Focus, type Place, type Side } from "./choice";
import { sortedLines, type Lines } from "./strongest";

export const MAX_LINES = 20000; // strongest first; the foot says so when there are more

export interface LinesHeader extends WordHeader {
  look: { special: boolean; words: boolean; mean: boolean; filter: string; threshold: number | null; chosen: string };
  layer: number;
  num_layers: number;
  heads: number[];
  sent: number[];
  broken: number[];
  missing: string;
  /** Checksum of the layer's weights. */
  weights: number;
  revision: number;
  colours: string[];
  mean_colour: string;
  alone?: number[];
}

interface HeadWeights {
  codes: Uint8Array;
  /** Weights between words, sums of decoded ones. */
  values?: Float32Array;
  /** Flags of weights that are not numbers. */
  gaps: Uint8Array | null;
}

/** What flows between a unit and all units in focus. */
export interface Target {
  index: number;
  /** Over the units in focus, the mean of the heads. */
  sum: number;
  /** Of the attending unit's attention; for several attending units their mean. */
  fraction: number;
  /** That of each head. */
  fractions: number[];
}

export interface Targets {
  /** The side on which the listed units stand. */
  other: Side;
  /** Number of units that are summed over. */
  number: number;
  /** Whether fractions are means over several attending units. */
  averages: boolean;
  /** The strongest first. */
  ranked: Target[];
}

/** Index of the map, row and column. */
export type Line = [map: number, row: number, column: number];

export class LinesModel {
  header!: LinesHeader;
  units!: Units;
  lines: Lines = sortedLines([], 0, 0, [], []);
  readonly choice = new TokenChoice();
  pointed: Place | null = null;
  hideSpecial = false;
  byWord = false;
  mean = false;
  /** Whether the rows of a long text are squeezed into one window. */
  isSqueezed = false;
  filter = "all";
  threshold = 0.1;
  /** Whether the visitor has set the threshold; else each token's strongest line is shown too. */
  hasOwnThreshold = false;
  layer = 0;
  /** Heads that the visitor wants to see. */
  shown = new Set<number>();
  /** Those of them that have arrived, in order. */
  heads: number[] = [];
  averaged = false;
  mapColours: string[] = [];
  /** For each row whether it holds a weight that is not a number; empty if none does. */
  broken: boolean[] = [];
  table = new Float32Array(256);
  private received = new Map<number, HeadWeights>();
  private maps = new Map<number, HeadWeights>();

  get size(): number {
    return this.units.size;
  }

  // ---- messages ----

  // Keeps the heads of a message; `isSameLayer`: those of earlier messages still count.
  receive({ header, blocks }: Message<LinesHeader>, isSameLayer: boolean): void {
    this.header = header;
    this.table = asFloats(blocks[1]);
    if (!isSameLayer) this.received = new Map();
    this.keepHeads(header, blocks[0], blocks[2]);
  }

  private keepHeads({ sent, broken, tokens }: LinesHeader, codes: Bytes, bits: Bytes): void {
    const cells = tokens.length ** 2;
    sent.forEach((head, k) => {
      const number = broken.indexOf(head);
      this.received.set(head, {
        codes: codes.subarray(k * cells, (k + 1) * cells),
        gaps: number < 0 ? null : asFlags(bits, number * cells, cells),
      });
    });
  }

  // Sets the units, word pieces or words, and the maps of the heads between them.
  refreshUnits(): void {
    const { header, received, table } = this;
    this.units = unitsOf(header, this.byWord);
    this.maps = received;
    if (!this.byWord) return;
    this.maps = new Map();
    const encode = quickEncoder(table);
    for (const [head, { codes, gaps }] of received) {
      const read = gaps ? (at: number) => (gaps[at] ? NaN : table[codes[at]]) : (at: number) => table[codes[at]];
      const values = mergeToWords(read, header.tokens.length, this.units.starts).map((weight) => Math.min(1, weight));
      this.maps.set(head, {
        values, codes: Uint8Array.from(values, (weight) => encode(weight || 0)),
        gaps: gaps && Uint8Array.from(values, (weight) => Number(Number.isNaN(weight))),
      });
    }
  }

  // Shown heads that have not arrived yet.
  awaited(): number[] {
    return [...this.shown].filter((head) => !this.received.has(head)).sort((a, b) => a - b);
  }

  // ---- the lines ----

  takesPart(side: Side, unit: number): boolean {
    if (this.hideSpecial && this.units.textIds[unit] === -1) return false;
    if (this.filter === "all") return true;
    const wanted = Number(this.filter[side === "left" ? 0 : 2]);
    return this.units.segmentIds[unit] === wanted;
  }

  // Finds the lines that the visitor's choices leave.
  select(): void {
    this.heads = [...this.shown].filter((head) => this.maps.has(head)).sort((a, b) => a - b);
    this.averaged = this.mean && this.heads.length > 1;
    const maps = this.averaged ? [this.meanCodes()] : this.heads.map((head) => this.map(head).codes);
    this.mapColours = this.averaged ? [this.header.mean_colour] : this.heads.map((head) => this.header.colours[head]);
    const anyGaps = this.heads.some((head) => this.map(head).gaps);
    this.broken = anyGaps ? this.units.names.map((_, row) => this.isBroken(row)) : [];
    const rows = this.units.names.map((_, unit) => this.takesPart("left", unit));
    const columns = this.units.names.map((_, unit) => this.takesPart("right", unit));
    const lowest = Math.max(1, this.table.findIndex((weight) => weight >= this.threshold));
    this.lines = sortedLines(maps, this.size, lowest, rows, columns, !this.hasOwnThreshold);
  }

  private map(head: number): HeadWeights {
    const weights = this.maps.get(head);
    if (!weights) throw new Error(`head ${head} of layer ${this.header.layer} has not arrived`);
    return weights;
  }

  private meanCodes(): Uint8Array {
    const { table } = this;
    const encode = quickEncoder(table);
    const maps = this.heads.map((head) => this.map(head));
    return Uint8Array.from({ length: this.size ** 2 }, (_, at) => {
      if (maps.some(({ gaps }) => gaps?.[at])) return 0;
      return encode(maps.reduce((sum, { codes }) => sum + table[codes[at]], 0) / maps.length);
    });
  }

  private isBroken(row: number): boolean {
    return this.heads.some((head) => this.map(head).gaps?.subarray(row * this.size, (row + 1) * this.size).includes(1));
  }

  // NaN where the checkpoint gave no number.
  weight(head: number, row: number, column: number): number {
    const { values, codes, gaps } = this.map(head);
    const at = row * this.size + column;
    if (values) return values[at];
    return gaps?.[at] ? NaN : this.table[codes[at]];
  }

  // Of a line's map: one head, or the mean of the shown ones.
  mapWeight(map: number, row: number, column: number): number {
    if (!this.averaged) return this.weight(this.heads[map], row, column);
    return this.heads.reduce((sum, head) => sum + this.weight(head, row, column), 0) / this.heads.length;
  }

  // The drawn lines, the strongest first.
  drawnLines(most: number): Line[] {
    const { map, row, column, total } = this.lines;
    const focus = this.focus();
    const first = focus ? 0 : Math.max(0, total - MAX_LINES);
    const out: Line[] = [];
    for (let k = total - 1; k >= first && out.length < most; k--) {
      if (!focus || isInFocus(focus, row[k], column[k])) out.push([map[k], row[k], column[k]]);
    }
    return out;
  }

  // ---- focus ----

  // The chosen units, else the pointed one; null for everything.
  focus(): Focus | null {
    if (this.choice.size) return this.choice;
    if (!this.pointed) return null;
    const { side, index } = this.pointed;
    return { left: new Set(side === "left" ? [index] : []), right: new Set(side === "right" ? [index] : []) };
  }

  forgetFocus(): void {
    this.choice.clear();
    this.pointed = null;
  }

  // The units on the other side, the strongest first; with units in focus on both sides, those on the
  // left and what each gives to those on the right.
  targets(focus: Focus): Targets {
    const both = focus.left.size > 0 && focus.right.size > 0;
    const side: Side = focus.left.size > 0 && !both ? "left" : "right";
    const other: Side = side === "left" ? "right" : "left";
    const summed = [...focus[side]].filter((unit) => this.takesPart(side, unit));
    const listed = both ? [...focus.left] : this.units.names.map((_, unit) => unit);
    if (!summed.length || !this.heads.length) return { other, number: 0, averages: false, ranked: [] };
    const divisor = side === "left" ? summed.length : 1; // attention to several units adds up
    const targets = listed.filter((unit) => this.takesPart(other, unit)).map((index) => {
      const weights = this.heads.map((head) => summed.reduce((sum, unit) =>
        sum + (side === "left" ? this.weight(head, unit, index) : this.weight(head, index, unit)), 0));
      const sum = weights.reduce((a, b) => a + b, 0) / weights.length;
      return { index, sum, fraction: sum / divisor, fractions: weights.map((weight) => weight / divisor) };
    });
    const rank = ({ sum }: Target) => (Number.isNaN(sum) ? -1 : sum);
    return { other, number: summed.length, averages: divisor > 1, ranked: targets.sort((a, b) => rank(b) - rank(a)) };
  }
}
