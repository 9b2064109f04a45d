// The overview as a table and as files: every head in the shown order, with every measure.

import type { Saved } from "../saving/buttons";
import type { NamedArray } from "../saving/npz";
import type { Picture } from "../saving/pictures";
import type { CaptionedSheet, Sheet } from "../shared/data_table";
import type { GridPainter } from "./grid";
import type { OverviewModel } from "./model";

export class OverviewFiles implements Saved {
  constructor(private readonly model: OverviewModel, private readonly grid: GridPainter) {}

  fileName(): string {
    return "bertscope-attention-overview";
  }

  picture(): Picture {
    const { grid } = this;
    return {
      width: Math.ceil(grid.width + 4), height: Math.ceil(grid.height + 4), ground: grid.theme.background,
      draw: (context) => grid.drawOn(context, 2),
    };
  }

  sheet(): Sheet {
    const { measures, names, num_heads: heads } = this.model.header;
    const shown = Object.keys(measures);
    const unit = (name: string) => (names[name].unit === "fraction" ? "" : ` (${names[name].unit || "number"})`);
    return {
      columns: ["layer", "head", ...shown.map((name) => names[name].label + unit(name))],
      rows: this.model.sequence.filter((head) => !this.model.isLeftOut(head)).map((head) =>
        [Math.floor(head / heads), head % heads, ...shown.map((name) => measures[name][head])]),
    };
  }

  table(): CaptionedSheet {
    const { columns, rows } = this.sheet();
    const total = this.model.sequence.length;
    const left = rows.length < total ? `the ${rows.length} of ${total} heads that pass the limit` : `all ${total} heads`;
    return { caption: `Measures of ${left}, in the order of the pictures. Fractions are between 0 and 1.`, columns, rows };
  }

  facts(): Record<string, unknown> {
    const { header: { names, num_tokens: tokens, missing }, options: { measure, order, limit } } = this.model;
    return {
      what: "Measures of attention heads", tokens, order,
      sorted_by: measure ? names[measure].label : null, limit,
      ...(missing ? { not_numbers: missing } : {}),
    };
  }

  // Heads in their natural place; thumbnails as weights, each the largest of its block.
  arrays(): Record<string, NamedArray> {
    const { header: { measures, num_layers: layers, num_heads: heads, size }, codes, table, gaps } = this.model;
    const numbers = Object.entries(measures).map(([name, values]) => [name, {
      shape: [layers, heads], values: Float32Array.from(values, (value) => value ?? NaN) }]);
    const thumbnails = Float32Array.from(codes, (code) => table[code]);
    for (const [head, flags] of gaps) flags.forEach((flag, at) => { if (flag) thumbnails[head * size ** 2 + at] = NaN; });
    return { ...Object.fromEntries(numbers), thumbnails: { shape: [layers, heads, size, size], values: thumbnails } };
  }
}
