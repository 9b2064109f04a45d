// What the heat map says in words and numbers: tooltip, the line below, the table, the files.

import { orderColumns } from "./order.js";
import { AttentionMapPainter } from "./paint.js";
import { element, exact, legible, shorten } from "../shared/elements.js";
import { tokenInTip } from "../shared/tooltip.js";

const WHOLE_TABLE = 24; // units up to which the table has every cell
const STRONGEST = 5; // else so many of each row

export class AttentionMapWords extends AttentionMapPainter {
  weightAt(place) {
    return this.weights[this.rows[place.row] * this.units.size + this.columns[place.column]];
  }

  nameAt(place) {
    return [this.units.names[this.rows[place.row]], this.units.names[this.columns[place.column]]];
  }

  tell(x, y) {
    if (!this.pointed) return this.tooltip.hide();
    const [looks, looked] = this.nameAt(this.pointed);
    const weight = this.weightAt(this.pointed);
    const number = Number.isNaN(weight) ? "not a number (NaN)" : weight.toFixed(6);
    const places = [this.rows[this.pointed.row], this.columns[this.pointed.column]].map((u) => this.units.starts[u]);
    return this.tooltip.show(x, y, tokenInTip(looks), ` looks at `, tokenInTip(looked),
      element("div", {}, element("b", { textContent: number }), ` \u00b7 tokens ${places.join(" \u2192 ")}`));
  }

  say() {
    const place = this.marked ?? this.pointed;
    if (!place) {
      this.line.replaceChildren("Point at a cell for its number; click marks its row and column.");
      return;
    }
    const [looks, looked] = this.nameAt(place).map((name) => shorten(legible(name), 60));
    const weight = this.weightAt(place);
    const number = Number.isNaN(weight) ? "not a number" : weight.toFixed(6);
    const bdi = (text) => element("bdi", { textContent: `\u201c${text}\u201d` });
    this.line.replaceChildren(bdi(looks), " looks at ", bdi(looked), ": ", element("b", { textContent: number }),
      this.marked ? " (marked; Esc or a click lets go)" : "");
    clearTimeout(this.saying);
    this.saying = setTimeout(() => { this.said.textContent = `${looks} looks at ${looked}: ${number}`; }, 200);
  }

  kindOfScale() {
    return this.units.byWord ? "words: the sum over the pieces looked at, the mean over those that look" : "word pieces";
  }

  // ---- the table ----

  twinTable() {
    const { names, starts, size } = this.units;
    const label = (unit) => `${starts[unit]} ${names[unit]}`;
    const of = (row, column) => exact(this.weights[row * size + column]);
    if (size <= WHOLE_TABLE) {
      return {
        caption: `${this.header.title}: each row is a token that looks, each column one that is looked at.`,
        columns: ["looks", ...Array.from(this.columns, label)],
        rows: Array.from(this.rows, (row) => [label(row), ...Array.from(this.columns, (column) => of(row, column)?.toFixed(4))]),
      };
    }
    const ranks = Array.from({ length: STRONGEST }, (_, k) => `strongest ${k + 1}`);
    return {
      caption: `${this.header.title}: the ${STRONGEST} strongest of each row; the files have all ${size} x ${size}.`,
      columns: ["looks", ...ranks],
      rows: Array.from(this.rows, (row) => {
        const best = orderColumns(this.weights, size, "chosen", row).slice(0, STRONGEST);
        return [label(row), ...Array.from(best, (column) => `${label(column)}: ${of(row, column)?.toFixed(4) ?? "NaN"}`)];
      }),
    };
  }

  // ---- files: all rows and columns in the shown order, the picture as it is seen ----

  fileName() {
    const { layers, heads } = this.header;
    return `bertscope-attention-map-layer-${layers.join("-")}${heads.length ? `-head-${heads.join("-")}` : ""}`.slice(0, 120);
  }

  picture() {
    return {
      width: this.width, height: this.height, ground: this.theme.background,
      draw: (context) => {
        context.textBaseline = "middle";
        this.drawOn(context, 2);
      },
    };
  }

  sheet() {
    const { names, starts, size } = this.units;
    const label = (unit) => `${starts[unit]} ${names[unit]}`;
    return {
      columns: ["looks", ...Array.from(this.columns, label)],
      rows: Array.from(this.rows, (row) =>
        [label(row), ...Array.from(this.columns, (column) => exact(this.weights[row * size + column]))]),
    };
  }

  facts() {
    const { layers, heads, title, missing } = this.header;
    return { what: title, layers, heads: heads.length ? heads : "all", unit: this.kindOfScale(),
      ...(missing ? { not_numbers: missing } : {}) };
  }

  arrays() {
    const { size, names } = this.units;
    const values = new Float32Array(size * size);
    this.rows.forEach((row, y) => this.columns.forEach((column, x) => {
      values[y * size + x] = this.weights[row * size + column];
    }));
    return {
      attention: { shape: [size, size], values },
      looks: { shape: [size], values: Array.from(this.rows, (row) => names[row]) },
      looked_at: { shape: [size], values: Array.from(this.columns, (column) => names[column]) },
      row_order: { shape: [size], values: Int32Array.from(this.rows) },
      column_order: { shape: [size], values: Int32Array.from(this.columns) },
    };
  }
}
