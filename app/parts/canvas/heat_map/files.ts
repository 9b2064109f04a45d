// The heat map as a table and as files: all rows and columns in the shown order, the picture as seen.

import { exact, range } from "../../browser/text";
import type { Saved } from "../saving/buttons";
import type { NamedArray } from "../saving/npz";
import type { Picture } from "../saving/pictures";
import type { CaptionedSheet, Sheet } from "../shared/data_table";
import type { MapModel } from "./model";
import { orderColumns } from "./order";
import type { MapPainter } from "./painter";

const WHOLE_TABLE = 24; // units up to which the table has every cell
const STRONGEST = 5; // else so many of each row

export class MapFiles implements Saved {
  constructor(private readonly model: MapModel, private readonly painter: MapPainter) {}

  fileName(): string {
    const { layers, heads } = this.model.header;
    return `bertscope-attention-map-layer-${layers.join("-")}${heads.length ? `-head-${heads.join("-")}` : ""}`.slice(0, 120);
  }

  picture(): Picture {
    const { painter } = this;
    const { width, theme: { background: ground } } = painter;
    return { width, height: width, ground, draw: (context) => painter.drawOn(context, 2) };
  }

  sheet(): Sheet {
    const { rows, columns } = this.model;
    return {
      columns: ["attending token", ...Array.from(columns, (unit) => this.label(unit))],
      rows: Array.from(rows, (row) => [this.label(row), ...Array.from(columns, (column) => this.number(row, column))]),
    };
  }

  table(): CaptionedSheet {
    const { header: { title }, size, weights, rows } = this.model;
    if (size <= WHOLE_TABLE) {
      const { columns, rows: numbers } = this.sheet();
      return {
        caption: `${title}: each row's token${this.model.verb}the columns' tokens.`,
        columns,
        rows: numbers.map((row) => row.map((value) => (typeof value === "number" ? value.toFixed(4) : value))),
      };
    }
    return {
      caption: `${title}: the ${STRONGEST} strongest of each row; the files have all ${size} x ${size}.`,
      columns: ["attending token", ...range(STRONGEST).map((k) => `strongest ${k + 1}`)],
      rows: Array.from(rows, (row) => {
        const best = orderColumns(weights, size, "chosen", row).slice(0, STRONGEST);
        return [this.label(row), ...Array.from(best, (column) => `${this.label(column)}: ${this.number(row, column)?.toFixed(4) ?? "NaN"}`)];
      }),
    };
  }

  facts(): Record<string, unknown> {
    const { layers, heads, title, missing } = this.model.header;
    const unit = this.model.byWord ? "words: the sum over the attended pieces, the mean over the attending ones" : "word pieces";
    return { what: title, layers, heads: heads.length ? heads : "all", unit, ...(missing ? { not_numbers: missing } : {}) };
  }

  arrays(): Record<string, NamedArray> {
    const { size, units: { names }, rows, columns } = this.model;
    const values = new Float32Array(size * size);
    rows.forEach((_, row) => columns.forEach((__, column) => {
      values[row * size + column] = this.model.weightAt({ row, column });
    }));
    return {
      attention: { shape: [size, size], values },
      attending: { shape: [size], values: Array.from(rows, (row) => names[row]) },
      attended: { shape: [size], values: Array.from(columns, (column) => names[column]) },
      row_order: { shape: [size], values: Int32Array.from(rows) },
      column_order: { shape: [size], values: Int32Array.from(columns) },
    };
  }

  private label(unit: number): string {
    const { names, starts } = this.model.units;
    return `${starts[unit]} ${names[unit]}`;
  }

  private number(row: number, column: number): number | null {
    return exact(this.model.weights[row * this.model.size + column]);
  }
}
