// What the overview knows: the heads as thumbnails with their measures, and how they are sorted.

import type { Bytes } from "../../browser/data_blocks";
import { percent, range, said } from "../../browser/text";
import { missingBoxes, type Box } from "../shared/canvas";
import { asFlags, asFloats, encoder, type Message } from "../shared/transport";
import { orderHeads, passes, rangeOf, type Order, type Values } from "./order";

export interface OverviewHeader {
  num_layers: number;
  num_heads: number;
  num_tokens: number;
  /** Cells on a side of a thumbnail. */
  size: number;
  layer: number;
  /** Empty for all. */
  heads: number[];
  look: OverviewOptions;
  names: Record<string, { label: string; unit: string; habit: boolean }>;
  measures: Record<string, Values>;
  broken: number[];
  missing: string;
  alone?: number[];
}

export interface OverviewOptions {
  /** Empty for none. */
  measure: string;
  order: Order;
  lowest: boolean;
  limit: number | null;
}

/** A head, or a whole layer. */
export interface Place {
  layer: number;
  head: number | null;
}

export class OverviewModel {
  header!: OverviewHeader;
  options: OverviewOptions = { measure: "", order: "place", lowest: false, limit: null };
  /** Heads in the shown order, layer * heads + head of each. */
  sequence: number[] = [];
  /** What the other views show; no heads for all. */
  selected: { layer: number; heads: number[] } = { layer: 0, heads: [] };
  pointed: Place | null = null;
  /** 256 x red, green, blue. */
  colours = new Uint8Array();
  /** The weight of each code. */
  table = new Float32Array();
  /** Of heads with weights that are not numbers: a flag for each cell. */
  gaps = new Map<number, Bytes>();
  codes = new Uint8Array();

  receive({ header, blocks }: Message<OverviewHeader>): void {
    this.header = header;
    [this.codes, this.colours] = blocks;
    this.table = asFloats(blocks[2]);
    const cells = header.size ** 2;
    this.gaps = new Map(header.broken.map((head, k) => [head, asFlags(blocks[3], k * cells, cells)]));
    this.selected = { layer: header.layer, heads: header.heads };
  }

  // ---- measures ----

  // Measures of which at least one head has a value.
  get knownMeasures(): string[] {
    return Object.keys(this.header.measures).filter((name) => rangeOf(this.header.measures[name]));
  }

  sort(): void {
    const { header: { num_layers: layers, num_heads: heads, measures }, options } = this;
    if (!this.knownMeasures.includes(options.measure)) Object.assign(options, { measure: "", limit: null });
    if (!options.measure) options.order = "place";
    const values = options.measure ? measures[options.measure] : null;
    this.sequence = orderHeads(values, layers, heads, options.order, options.lowest);
  }

  // The value of one head; null if it has none.
  value(head: number, name = this.options.measure): number | null {
    return name ? this.header.measures[name][head] : null;
  }

  // The mean over a layer's heads where no head is named.
  valueAt({ layer, head }: Place, name: string): number | null {
    const { num_heads: heads } = this.header;
    if (head !== null) return this.value(layer * heads + head, name);
    const known = this.header.measures[name].slice(layer * heads, (layer + 1) * heads).filter((value) => value !== null);
    return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
  }

  // Fractions in percent, others with their unit; isShort: without a unit, for a thumbnail.
  format(value: number | null, name = this.options.measure, isShort = false): string {
    if (value === null) return "\u2013";
    const { unit } = this.header.names[name];
    if (unit === "fraction") return isShort ? `${Math.round(value * 100)}%` : percent(value);
    const digits = value >= 99.5 ? value.toFixed(0) : value >= 9.95 ? value.toFixed(1) : value.toFixed(2);
    return isShort || !unit ? digits : `${digits} ${said(unit)}`;
  }

  // ---- heads ----

  // What the detail shows while nothing is pointed at.
  get opened(): Place {
    return { layer: this.selected.layer, head: this.selected.heads[0] ?? null };
  }

  isLeftOut(head: number): boolean {
    return Boolean(this.options.measure) && !passes(this.value(head), this.options.limit, this.options.lowest);
  }

  isOpen(number: number): boolean {
    const { layer, head } = this.placeOf(number);
    return layer === this.selected.layer && (!this.selected.heads.length || this.selected.heads.includes(head));
  }

  isPointed(number: number): boolean {
    const { layer, head } = this.placeOf(number);
    return layer === this.pointed?.layer && (this.pointed.head === null || head === this.pointed.head);
  }

  // Of layer * heads + head.
  placeOf(number: number): { layer: number; head: number } {
    const { num_heads: heads } = this.header;
    return { layer: Math.floor(number / heads), head: number % heads };
  }

  // The head at the k-th place of the sequence; null beyond its end.
  placeAt(k: number): Place | null {
    return k in this.sequence ? this.placeOf(this.sequence[k]) : null;
  }

  // ---- thumbnails ----

  // The codes of one head, or of the mean of a layer's heads.
  codesOf({ layer, head }: Place): Uint8Array {
    const { size, num_heads: heads } = this.header;
    const map = (h: number) => this.codes.subarray((layer * heads + h) * size * size, (layer * heads + h + 1) * size * size);
    if (head !== null) return map(head);
    const encode = encoder(this.table);
    const maps = range(heads).map(map);
    return maps[0].map((_, at) => encode(maps.reduce((sum, codes) => sum + this.table[codes[at]], 0) / heads));
  }

  // Boxes of cells that are not numbers: of one head, or of any of a layer's.
  missingOf({ layer, head }: Place): Box[] {
    const { size, num_heads: heads } = this.header;
    const gaps = (head === null ? range(heads) : [head]).map((h) => this.gaps.get(layer * heads + h)).filter((flags) => flags !== undefined);
    return gaps.length ? missingBoxes(size, (row, column) => gaps.some((flags) => flags[row * size + column])) : [];
  }
}
