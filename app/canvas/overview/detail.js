// Says in numbers what a head does: beside the grid, at the pointer, aloud, as table and files.

import { OverviewGrid } from "./grid.js";
import { fitCanvas } from "../shared/canvas.js";
import { brokenNote, element, percent } from "../shared/elements.js";
import { paintCells } from "../shared/pictures.js";

const LARGE = 152; // pixels of the enlarged head
const TICKS = [0, 0.1, 0.25, 0.5, 1];

export class OverviewDetail extends OverviewGrid {
  // A measure's value of one head; null if it has none.
  value(head, name = this.measure) {
    return name ? this.header.measures[name][head] : null;
  }

  // Shares in percent, others with their unit; short: without a unit, for a thumbnail.
  format(value, short = false, name = this.measure) {
    if (value === null) return "\u2013";
    const { unit } = this.header.names[name];
    if (unit === "share") return short ? `${Math.round(value * 100)}%` : percent(value);
    const digits = value >= 99.5 ? value.toFixed(0) : value >= 9.95 ? value.toFixed(1) : value.toFixed(2);
    return short || !unit ? digits : `${digits} ${unit}`;
  }

  // The mean over a layer's heads where no head is named.
  valueAt({ layer, head }, name) {
    const { num_heads: heads } = this.header;
    if (head !== null) return this.value(layer * heads + head, name);
    const known = this.header.measures[name].slice(layer * heads, (layer + 1) * heads).filter((value) => value !== null);
    return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
  }

  title({ layer, head }) {
    return head === null ? `Layer ${layer}, mean of its heads` : `Layer ${layer}, head ${head}`;
  }

  refreshDetail() {
    const place = this.pointed ?? this.opened();
    const { measures, names, num_tokens: tokens } = this.header;
    const large = element("canvas", { ariaHidden: "true" });
    const picture = this.thumbnail(this.codesOf(place.layer, place.head), LARGE);
    const context = fitCanvas(large, LARGE, LARGE);
    paintCells(context, picture, [0, 0, picture.width, picture.width], [0, 0, LARGE, LARGE]);
    this.paintMissingOf(context, place.layer, place.head, [0, 0, LARGE]);
    const isOpen = place.layer === this.selected.layer
      && String(place.head === null ? [] : [place.head]) === String(this.selected.heads);
    const state = this.header.alone ? "" : isOpen ? "open below" : this.pointed ? "click to open" : "one of the open heads";
    const known = Object.keys(measures).filter((name) => this.valueAt(place, name) !== null);
    const shares = known.filter((name) => names[name].unit === "share").map((name) => {
      const fill = element("i");
      fill.style.width = `${100 * this.valueAt(place, name)}%`;
      return element("div", { className: name === this.measure ? "measure chosen" : "measure" },
        element("span", { textContent: names[name].label }),
        element("div", { className: "bar", ariaHidden: "true" }, fill),
        element("span", { textContent: percent(this.valueAt(place, name)) }));
    });
    const others = known.filter((name) => names[name].unit !== "share").map((name) =>
      element("span", { className: name === this.measure ? "chosen" : "" },
        `${names[name].label}: ${this.format(this.valueAt(place, name), false, name)}`));
    const more = element("p", { className: "more" }, ...others,
      element("span", {}, `${tokens} tokens; entropy is at most ${Math.log(tokens).toFixed(2)} nats`));
    this.detail.replaceChildren(
      element("h4", {}, this.title(place), element("small", { textContent: state })),
      element("div", { className: "large" }, large,
        element("p", { textContent: "Rows look, columns are looked at; first token at the top left." })),
      element("div", {}, ...shares, more));
    clearTimeout(this.saying);
    if (this.pointed) {
      this.saying = setTimeout(() => { this.said.textContent = this.spoken(place, known); }, 250);
    }
  }

  spoken(place, known) {
    const { names } = this.header;
    const first = this.measure && known.includes(this.measure) ? [this.measure] : [];
    const parts = [...first, ...known.filter((name) => name !== this.measure)]
      .map((name) => `${names[name].label} ${this.format(this.valueAt(place, name), false, name)}`);
    return `${this.title(place)}: ${parts.join(", ")}.`;
  }

  // At the pointer: the chosen measure, or the strongest habits.
  tell(event) {
    if (!this.pointed || !event) return this.tooltip.hide();
    const { measures, names } = this.header;
    const at = (name) => this.valueAt(this.pointed, name);
    const strongest = Object.keys(measures).filter((name) => names[name].habit && at(name) !== null)
      .sort((a, b) => at(b) - at(a)).slice(0, 2);
    const lines = (this.measure ? [this.measure] : strongest).map((name) =>
      element("div", {}, `${names[name].label}: `, element("b", { textContent: this.format(at(name), false, name) })));
    return this.tooltip.show(event.clientX, event.clientY, element("b", { textContent: this.title(this.pointed) }), ...lines);
  }

  refreshScale() {
    const bar = element("canvas", { role: "img", ariaLabel: "Colour scale of the weights, 0 to 100%" });
    const [width, height] = [190, 26];
    const context = fitCanvas(bar, width, height);
    for (let x = 0; x < width - 30; x++) {
      const code = Math.round((255 * x) / (width - 31));
      context.fillStyle = `rgb(${this.colours.subarray(code * 3, code * 3 + 3).join(",")})`;
      context.fillRect(x + 10, 0, 1.2, 9);
    }
    context.fillStyle = this.theme.text;
    context.globalAlpha = 0.75;
    context.font = `10.5px ${this.theme.font}`;
    context.textAlign = "center";
    for (const weight of TICKS) {
      const code = this.table.findIndex((value) => value >= weight - 1e-6);
      context.fillText(weight ? `${Math.round(weight * 100)}%` : "0", 10 + (code / 255) * (width - 31), 22);
    }
    const broken = brokenNote(this.header.missing, "such heads have no measures");
    this.scale.replaceChildren("weight", bar, ...broken, this.saving);
  }

  // ---- table and files: every head in the shown order, with every measure ----

  sheet() {
    const { measures, names, num_heads: heads } = this.header;
    const shown = Object.keys(measures);
    return {
      columns: ["layer", "head", ...shown.map((name) => names[name].label + (names[name].unit === "share" ? "" : ` (${names[name].unit || "number"})`))],
      rows: this.sequence.filter((head) => !this.isOut(head)).map((head) =>
        [Math.floor(head / heads), head % heads, ...shown.map((name) => measures[name][head])]),
    };
  }

  twinTable() {
    const { columns, rows } = this.sheet();
    const total = this.sequence.length;
    const left = rows.length < total ? `the ${rows.length} of ${total} heads that pass the limit` : `all ${total} heads`;
    return { caption: `Measures of ${left}, in the order of the pictures. Shares are between 0 and 1.`, columns, rows };
  }

  fileName() {
    return "bertscope-attention-overview";
  }

  picture() {
    return {
      width: Math.ceil(this.width + 4), height: Math.ceil(this.height + 4), ground: this.theme.background,
      draw: (context) => this.drawOn(context, 2),
    };
  }

  facts() {
    const { names, num_tokens: tokens } = this.header;
    return {
      what: "Measures of attention heads", tokens, order: this.order,
      sorted_by: this.measure ? names[this.measure].label : null, limit: this.limit,
      ...(this.header.missing ? { not_numbers: this.header.missing } : {}),
    };
  }

  // Heads are in their natural place here; thumbnails as weights, each the largest of its block.
  arrays() {
    const { measures, num_layers: layers, num_heads: heads, size } = this.header;
    const numbers = Object.entries(measures).map(([name, values]) => [name, {
      shape: [layers, heads], values: Float32Array.from(values, (value) => value ?? NaN) }]);
    const thumbnails = Float32Array.from(this.codes, (code) => this.table[code]);
    for (const [head, flags] of this.gaps) flags.forEach((flag, at) => { if (flag) thumbnails[head * size ** 2 + at] = NaN; });
    return { ...Object.fromEntries(numbers), thumbnails: { shape: [layers, heads, size, size], values: thumbnails } };
  }
}
