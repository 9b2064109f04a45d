// The lines as a table and as files.

import { exact } from "../../browser/text";
import type { Saved } from "../saving/buttons";
import type { NamedArray } from "../saving/npz";
import type { Picture } from "../saving/pictures";
import type { CaptionedSheet, Sheet } from "../shared/data_table";
import type { Focus, Side } from "./choice";
import type { Line, LinesModel } from "./model";
import type { LinesPainter } from "./painter";
import type { Panel } from "./panel";

const TABLE_ROWS = 200; // of the table below the view; the files have all that is drawn
const COLUMNS = ["attending position", "attending token", "attended position", "attended token", "head", "weight"];

type Row = [from: number, query: string, to: number, key: string, head: number | string, weight: number | null];

export class LinesFiles implements Saved {
  // `redraw` draws the window's own part again.
  constructor(
    private readonly model: LinesModel, private readonly painter: LinesPainter, private readonly panel: Panel,
    private readonly redraw: () => void,
  ) {}

  fileName(): string {
    return `bertscope-attention-layer-${this.model.header.layer}`;
  }

  picture(): Picture {
    const { painter } = this;
    return {
      width: painter.width, height: painter.contentHeight, ground: painter.theme.background,
      draw: (context) => {
        painter.drawOn(context, 0, painter.contentHeight);
        this.redraw();
      },
    };
  }

  sheet(): Sheet {
    return { columns: COLUMNS, rows: this.model.drawnLines(Infinity).map((line) => this.row(line)) };
  }

  // The strongest lines, or each token's part in what is in focus.
  table(): CaptionedSheet {
    const focus = this.model.focus();
    const what = `Layer ${this.model.header.layer}, ${this.headWords()}`;
    if (focus) return this.focusTable(what, focus);
    const { total } = this.model.lines;
    return {
      caption: `${what}: the strongest ${Math.min(TABLE_ROWS, total)} of ${total} lines. Each piece's weight is within 0.003.`,
      columns: COLUMNS,
      rows: this.model.drawnLines(TABLE_ROWS).map((line) => {
        const [from, query, to, key, head, weight] = this.row(line);
        return [from, query, to, key, head, weight?.toFixed(3)];
      }),
    };
  }

  facts(): Record<string, unknown> {
    const { header, heads, units, choice, lines, byWord, threshold, filter, hideSpecial } = this.model;
    const names = (side: Side) => [...choice[side]].map((unit) => units.starts[unit]);
    return {
      what: `Attention of layer ${header.layer}, ${this.headWords()}`, layer: header.layer, heads,
      unit: byWord ? "words: the sum over the attended pieces, the mean over the attending ones" : "word pieces",
      at_least: threshold, between: filter, without_special: hideSpecial,
      chosen_attending: names("left"), chosen_attended: names("right"),
      lines_in_all: lines.total, precision: "each piece's weight is within 0.003",
      ...(header.missing ? { not_numbers: header.missing } : {}),
    };
  }

  arrays(): Record<string, NamedArray> {
    const { model } = this;
    const lines = model.drawnLines(Infinity);
    const { names, starts } = model.units;
    const of = (values: NamedArray["values"]): NamedArray => ({ shape: [values.length], values });
    return {
      row: of(Int32Array.from(lines, ([, row]) => row)),
      column: of(Int32Array.from(lines, ([, , column]) => column)),
      head: of(Int32Array.from(lines, ([map]) => (model.averaged ? -1 : model.heads[map]))),
      weight: of(Float32Array.from(lines, ([map, row, column]) => model.mapWeight(map, row, column))),
      names: of(names), places: of(Int32Array.from(starts)),
    };
  }

  private row([map, row, column]: Line): Row {
    const { model } = this;
    const { names, starts } = model.units;
    const head = model.averaged ? "mean" : model.heads[map];
    return [starts[row], names[row], starts[column], names[column], head, exact(model.mapWeight(map, row, column))];
  }

  private focusTable(what: string, focus: Focus): CaptionedSheet {
    const { units } = this.model;
    const { ranked, number, other } = this.model.targets(focus);
    const heads = this.model.heads.length > 1 ? this.model.heads : [];
    const several = number > 1 ? `; over ${number} tokens` : "";
    return {
      caption: `${what}: ${this.panel.title(focus).textContent}${several}. Each piece's weight is within 0.003.`,
      columns: ["position", other === "right" ? "attended to" : "attends", "sum", "fraction", ...heads.map((head) => `head ${head}`)],
      rows: ranked.map(({ index, fractions, sum, fraction }) =>
        [units.starts[index], units.names[index], sum.toFixed(3), fraction.toFixed(3),
          ...(heads.length ? fractions.map((part) => part.toFixed(3)) : [])]),
    };
  }

  private headWords(): string {
    const { heads, averaged } = this.model;
    if (heads.length === 1) return `head ${heads[0]}`;
    return averaged ? `mean of heads ${heads.join(", ")}` : `heads ${heads.join(", ")}`;
  }
}
