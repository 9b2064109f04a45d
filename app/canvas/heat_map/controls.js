// The buttons above the heat map: layers, heads, order, level, zoom.

import { MAP_TICKS } from "./paint.js";
import { kindKeys } from "../shared/levels.js";
import { COLUMN_ORDERS, ROW_ORDERS } from "./order.js";
import { AttentionMapWords } from "./words.js";
import { fitCanvas } from "../shared/canvas.js";
import { Twin } from "../shared/data_table.js";
import { brokenNote, element, onlyHere } from "../shared/elements.js";
import { saveButtons } from "../shared/saving.js";
import { Tooltip } from "../shared/tooltip.js";

export class AttentionMapControls extends AttentionMapWords {
  build() {
    this.layerBox = element("span", { className: "group heads", role: "group", ariaLabel: "Layers of the mean" });
    this.headBox = element("span", { className: "group heads", role: "group", ariaLabel: "Heads of the mean" });
    this.allLayers = this.button("all", "The mean over all layers", () =>
      this.choose({ layers: count(this.header.num_layers) }));
    this.allHeads = this.button("all", "The mean over all heads", () => this.choose({ heads: count(this.header.num_heads) }));
    this.rowSelect = this.select("Order of the rows", ROW_ORDERS, (by) => this.sortBy("rowsBy", by));
    this.columnSelect = this.select("Order of the columns", COLUMN_ORDERS, (by) => this.sortBy("columnsBy", by));
    const box = element("input", { type: "checkbox" });
    box.onchange = () => this.setLevel(box.checked);
    this.wordBox = element("label", {
      title: "Sum over the pieces of a word that is looked at, mean over the pieces of one that looks" }, box, "Whole words");
    this.zoomIn = this.button("+", "Zoom in (key +)", () => this.zoomBy(1.6));
    this.zoomOut = this.button("\u2212", "Zoom out (key \u2212)", () => this.zoomBy(1 / 1.6));
    this.whole = this.button("whole", "The whole map (key 0, or double click)", () => this.zoomBy(0));
    for (const button of [this.zoomIn, this.zoomOut]) button.classList.add("step");

    this.canvas = element("canvas", { ariaHidden: "true" });
    this.field = element("div", {
      className: "field", tabIndex: 0, role: "application",
      ariaLabel: "Heat map. Arrows move the marked cell, Page keys by ten, Home and End to the edges, " +
        "plus and minus zoom, 0 shows the whole map, Escape lets go. The numbers are in the table below.",
    }, this.canvas);
    this.line = element("div", { className: "note line" });
    this.said = element("div", { className: "said", ariaLive: "polite" });
    this.foot = element("div", { className: "foot" });
    this.twin = new Twin("Numbers as a table", () => this.twinTable());
    this.saving = saveButtons(this);
    this.heading = element("h4", { className: "title" });
    this.root.append(
      element("div", { className: "controls" },
        element("span", { className: "group heads" }, "Layers", this.layerBox, this.allLayers)),
      element("div", { className: "controls" },
        element("span", { className: "group heads" }, "Heads", this.headBox, this.allHeads)),
      element("div", { className: "controls" },
        element("label", {}, "Rows", this.rowSelect), element("label", {}, "Columns", this.columnSelect),
        this.wordBox, element("span", { className: "group" }, "Zoom", this.zoomOut, this.zoomIn, this.whole)),
      this.heading,
      this.field, this.line, this.foot, this.twin.root, this.said);
    this.tooltip = new Tooltip(this.root);
  }

  button(textContent, title, onclick) {
    return element("button", { type: "button", textContent, title, ariaLabel: title, onclick });
  }

  select(ariaLabel, options, chosen) {
    const made = element("select", { ariaLabel },
      ...options.map(([value, textContent]) => element("option", { value, textContent })));
    made.onchange = () => chosen(made.value);
    return made;
  }

  refreshControls() {
    const { num_layers: layers, num_heads: heads } = this.header;
    this.chips(this.layerBox, layers, this.layers, "Layer", (next) => this.choose({ layers: next }));
    this.chips(this.headBox, heads, this.heads, "Head", (next) => this.choose({ heads: next }));
    this.allLayers.disabled = this.layers.size === layers;
    this.allHeads.disabled = this.heads.size === heads;
    this.allLayers.hidden = layers === 1;
    this.allHeads.hidden = heads === 1;
    const hasPieces = this.header.starts.length < this.header.tokens.length;
    this.wordBox.style.display = hasPieces ? "" : "none";
    this.wordBox.firstChild.checked = this.byWord;
    this.rowSelect.value = this.rowsBy;
    this.columnSelect.value = this.columnsBy;
    this.zoomOut.disabled = this.whole.disabled = this.window.isWhole;
    this.heading.textContent = this.header.title;
    onlyHere([...this.layerBox.children, ...this.headBox.children, this.allLayers, this.allHeads], this.header, "this map");
  }

  // A row of buttons of which several may be pressed; a plain click takes one alone.
  chips(box, number, chosen, name, pick) {
    if (box.children.length !== number) {
      box.replaceChildren(...count(number).map((k) => {
        const title = `${name} ${k}: a click shows it alone, Shift or Ctrl and a click adds it or takes it away`;
        const chip = element("button", { type: "button", className: "chip", textContent: k, title, ariaLabel: `${name} ${k}` });
        return chip;
      }));
    }
    [...box.children].forEach((chip, k) => {
      chip.setAttribute("aria-pressed", String(chosen.has(k)));
      chip.onclick = (event) => {
        if (!(event.shiftKey || event.ctrlKey || event.metaKey)) return pick([k]);
        const next = new Set(chosen);
        if (next.has(k)) next.delete(k);
        else next.add(k);
        return next.size ? pick([...next].sort((a, b) => a - b)) : undefined;
      };
    });
  }

  refreshFoot() {
    const bar = element("canvas", { role: "img", ariaLabel: `Colour scale from 0 to ${this.scaleTop.toPrecision(2)}` });
    const [width, height] = [200, 24];
    const context = fitCanvas(bar, width, height);
    for (let x = 0; x < width - 20; x++) {
      context.fillStyle = `rgb(${this.colour(x / (width - 21)).join(",")})`;
      context.fillRect(x + 10, 0, 1.3, 9);
    }
    context.fillStyle = this.theme.text;
    context.font = `10.5px ${this.theme.font}`;
    context.textAlign = "center";
    let last = -99;
    for (const weight of [0, ...MAP_TICKS.filter((tick) => tick <= this.scaleTop)]) {
      const x = 10 + Math.sqrt(weight / this.scaleTop) * (width - 21);
      if (x - last < 26) continue;
      context.fillText(String(weight), x, 20);
      last = x;
    }
    const isMean = this.header.layers.length > 1 || this.header.heads.length !== 1;
    const broken = brokenNote(this.header.missing, isMean ? "a mean with one of them is none" : "they have no colour");
    this.foot.replaceChildren(element("span", { className: "key" }, "weight", bar), ...kindKeys(this.header), ...broken, this.saving);
  }
}

export function count(number) {
  return Array.from({ length: number }, (_, k) => k);
}
