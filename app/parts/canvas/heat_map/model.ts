// What the heat map knows: the weights in the chosen order, what is seen of them and what is marked.

import { range } from "../../browser/text";
import { mergeToWords, unitsOf, type Units, type WordHeader } from "../shared/levels";
import { asFloats, type Message } from "../shared/transport";
import { orderColumns, orderRows, type ColumnOrder, type RowOrder } from "./order";
import { MapWindow } from "./window";

export interface MapHeader extends WordHeader {
  look: { rows: RowOrder; columns: ColumnOrder; words: boolean; seen: string };
  title: string;
  /** What a number is, and what the row's token does before the column's; weights if not said. */
  unit?: string;
  verb?: string;
  /** Whose mean the weights are; no heads for all. */
  layers: number[];
  heads: number[];
  num_layers: number;
  num_heads: number;
  missing: string;
  revision: number;
  accent: string;
  alone?: number[];
}

/** A cell, in the shown order. */
export interface Cell {
  row: number;
  column: number;
}

export class MapModel {
  header!: MapHeader;
  /** 256 x red, green, blue. */
  colours = new Uint8Array();
  layers = new Set<number>();
  heads = new Set<number>();
  byWord = false;
  rowsBy: RowOrder = "text";
  columnsBy: ColumnOrder = "text";
  units!: Units;
  weights = new Float32Array();
  /** The unit of each row and column as shown. */
  rows = new Uint16Array();
  columns = new Uint16Array();
  window = new MapWindow(0);
  marked: Cell | null = null;
  pointed: Cell | null = null;
  private received = new Float32Array();

  get size(): number {
    return this.units.size;
  }

  // The cell that words and frames are about.
  get place(): Cell | null {
    return this.marked ?? this.pointed;
  }

  receive({ header, blocks }: Message<MapHeader>): void {
    this.header = header;
    this.received = asFloats(blocks[0]);
    this.colours = blocks[1];
  }

  // Shows the layers and heads of the message as chosen.
  adoptSelection(): void {
    const { layers, heads, num_heads: count } = this.header;
    this.layers = new Set(layers);
    this.heads = new Set(heads.length ? heads : range(count));
  }

  // Sets the units, word pieces or words, and the weights between them.
  refreshUnits(): void {
    this.units = unitsOf(this.header, this.byWord);
    this.weights = this.byWord ? mergeToWords((at) => this.received[at], this.header.tokens.length, this.units.starts) : this.received;
  }

  openWindow(seen: string): void {
    this.window = new MapWindow(this.size);
    this.window.open(seen);
  }

  // To sort by a row or a column, one must be marked.
  markIfNeeded(): void {
    if ((this.rowsBy === "chosen" || this.columnsBy === "chosen") && !this.marked) this.marked = { row: 0, column: 0 };
  }

  // Orders rows and columns; the marked cell stays that of the same units.
  sort(): void {
    const { size, marked } = this;
    const isPlaced = this.rows.length === size; // else nothing is sorted yet
    const before = marked && isPlaced ? { row: this.rows[marked.row], column: this.columns[marked.column] } : marked;
    this.columns = orderColumns(this.weights, size, this.columnsBy, before?.row ?? null) as Uint16Array<ArrayBuffer>;
    this.rows = orderRows(this.weights, size, this.rowsBy, before?.column ?? null) as Uint16Array<ArrayBuffer>;
    if (before) this.marked = { row: this.rows.indexOf(before.row), column: this.columns.indexOf(before.column) };
  }

  get verb(): string {
    return ` ${this.header.verb ?? "attends to"} `;
  }

  weightAt({ row, column }: Cell): number {
    return this.weights[this.rows[row] * this.size + this.columns[column]];
  }

  // The names of a cell's query and key.
  namesAt({ row, column }: Cell): [string, string] {
    return [this.units.names[this.rows[row]], this.units.names[this.columns[column]]];
  }
}
