
import { MAX_LINES } from "./paint.js";
import { AttentionWords } from "./words.js";
import { exact } from "../shared/elements.js";

const TABLE_ROWS = 200; // of the table below the view; the files have all that is drawn

const LINE_COLUMNS = ["place", "looks", "place looked at", "looked at", "head", "weight"];

export class AttentionFiles extends AttentionWords {
  // The drawn lines, the strongest first: [map, row, column] of each.
  drawnLines(most) {
    const { map, row, column } = this.lines;
    const focus = this.focus();
    const first = focus ? 0 : Math.max(0, this.total - MAX_LINES);
    const out = [];
    for (let k = this.total - 1; k >= first && out.length < most; k--) {
      if (!focus || this.isInFocus(focus, row[k], column[k])) out.push([map[k], row[k], column[k]]);
    }
    return out;
  }

  lineRow([map, row, column]) {
    const { names, starts } = this.units;
    const head = this.averaged ? "mean" : this.heads[map];
    return [starts[row], names[row], starts[column], names[column], head, exact(this.mapWeight(map, row, column))];
  }

  sheet() {
    return {
      columns: LINE_COLUMNS,
      rows: this.drawnLines(Infinity).map((line) => this.lineRow(line)),
    };
  }

  twinTable() {
    const focus = this.focus();
    const what = `Layer ${this.header.layer}, ${this.headWords()}`;
    if (focus) return this.sumTable(what, focus);
    return {
      caption: `${what}: the strongest ${Math.min(TABLE_ROWS, this.total)} of ${this.total} lines. Weights are within 0.003.`,
      columns: LINE_COLUMNS,
      rows: this.drawnLines(TABLE_ROWS).map((line) => this.lineRow(line).map((v, k) => (k === 5 ? v.toFixed(3) : v))),
    };
  }

  // Every token's part in what is in focus.
  sumTable(what, focus) {
    const { found, number, other } = this.targets(focus);
    const heads = this.heads.length > 1 ? this.heads : [];
    const verb = other === "right" ? "is looked at" : "looks";
    const several = number > 1 ? `; over ${number} tokens` : "";
    return {
      caption: `${what}: ${this.panelTitle(focus).textContent}${several}. Weights are within 0.003.`,
      columns: ["place", verb, "sum", "share", ...heads.map((head) => `head ${head}`)],
      rows: found.map(({ index, shares, sum, share }) =>
        [this.units.starts[index], this.units.names[index], sum.toFixed(3), share.toFixed(3),
          ...(heads.length ? shares.map((part) => part.toFixed(3)) : [])]),
    };
  }

  headWords() {
    if (this.heads.length === 1) return `head ${this.heads[0]}`;
    return this.averaged ? `mean of heads ${this.heads.join(", ")}` : `heads ${this.heads.join(", ")}`;
  }

  fileName() {
    return `bertscope-attention-layer-${this.header.layer}`;
  }

  picture() {
    const height = Math.ceil(this.size * this.rowHeight + 2 * this.top);
    return {
      width: this.width, height, ground: this.theme.background,
      draw: (context) => {
        this.drawOn(context, 0, height);
        this.draw(); // the window's own place again
      },
    };
  }

  facts() {
    const names = (side) => [...this.chosen[side]].map((unit) => this.units.starts[unit]);
    return {
      what: `Attention of layer ${this.header.layer}, ${this.headWords()}`, layer: this.header.layer, heads: this.heads,
      unit: this.byWord ? "words: the sum over the pieces looked at, the mean over those that look" : "word pieces",
      at_least: this.threshold, between: this.filter, without_special: this.hideSpecial,
      chosen_looking: names("left"), chosen_looked_at: names("right"),
      lines_in_all: this.total, precision: "each weight is within 0.003",
      ...(this.header.missing ? { not_numbers: this.header.missing } : {}),
    };
  }

  arrays() {
    const lines = this.drawnLines(Infinity);
    const { names, starts } = this.units;
    const of = (values) => ({ shape: [values.length], values });
    return {
      row: of(Int32Array.from(lines, ([, row]) => row)),
      column: of(Int32Array.from(lines, ([, , column]) => column)),
      head: of(Int32Array.from(lines, ([map]) => (this.averaged ? -1 : this.heads[map]))),
      weight: of(Float32Array.from(lines, ([map, row, column]) => this.mapWeight(map, row, column))),
      names: of(names), places: of(Int32Array.from(starts)),
    };
  }
}
