// The buttons around the neuron view: layer, head, token, order; and the legend.

import { kindKeys } from "../shared/levels.js";
import { NeuronWords } from "./words.js";
import { fitCanvas } from "../shared/canvas.js";
import { Twin } from "../shared/data_table.js";
import { element, legible, onlyHere, shorten } from "../shared/elements.js";
import { saveButtons } from "../shared/saving.js";
import { Tooltip } from "../shared/tooltip.js";

export class NeuronControls extends NeuronWords {
  build() {
    this.layerSelect = this.select("Layer", (layer) => this.choose(layer, this.head));
    this.headSelect = this.select("Head", (head) => this.choose(this.layer, head));
    this.querySelect = this.select("Token that looks", (query) => this.setQuery(query));
    this.before = this.step("\u2039", "Token before (left arrow)", () => this.setQuery(this.query - 1));
    this.after = this.step("\u203a", "Token after (right arrow)", () => this.setQuery(this.query + 1));
    this.orderSelect = element("select", { ariaLabel: "Order of the keys" },
      element("option", { value: "weight", textContent: "most attention first" }),
      element("option", { value: "text", textContent: "as in the text" }));
    this.orderSelect.onchange = () => this.setOrder(this.orderSelect.value);
    this.canvas = element("canvas", { ariaHidden: "true" });
    this.spacer = element("div", {}, this.canvas);
    this.scroller = element("div", {
      className: "scroller", tabIndex: 0, role: "application",
      ariaLabel: "Neurons. Left and right change the token that looks, up and down the key, Page keys by ten, " +
        "Home and End to the first and last, Enter lets the key look. The numbers are in the table below.",
    }, this.spacer);
    this.line = element("div", { className: "note line sum" });
    this.said = element("div", { className: "said", ariaLive: "polite" });
    this.foot = element("div", { className: "foot" });
    this.twin = new Twin("Numbers as a table", () => this.twinTable());
    this.saving = saveButtons(this);
    this.root.append(
      element("div", { className: "controls" },
        element("label", {}, "Layer", this.layerSelect), element("label", {}, "Head", this.headSelect),
        element("span", { className: "group" }, "Token that looks", this.before, this.querySelect, this.after),
        element("label", {}, "Keys", this.orderSelect)),
      this.scroller, this.line, this.foot, this.twin.root, this.said);
    this.tooltip = new Tooltip(this.root);
  }

  select(ariaLabel, chosen) {
    const made = element("select", { ariaLabel });
    made.onchange = () => chosen(Number(made.value));
    return made;
  }

  step(textContent, title, onclick) {
    return element("button", { type: "button", className: "step", textContent, title, ariaLabel: title, onclick });
  }

  // The choices that the checkpoint and the text give.
  refreshOptions() {
    const numbered = (many) => Array.from({ length: many }, (_, k) => element("option", { value: k, textContent: k }));
    const { num_layers: layers, num_heads: heads, tokens } = this.header;
    if (this.layerSelect.length !== layers) this.layerSelect.replaceChildren(...numbered(layers));
    if (this.headSelect.length !== heads) this.headSelect.replaceChildren(...numbered(heads));
    this.querySelect.replaceChildren(...tokens.map((token, place) =>
      element("option", { value: place, textContent: `${place} ${shorten(legible(token), 24)}` })));
  }

  refreshControls() {
    this.layerSelect.value = this.layer;
    this.headSelect.value = this.head;
    onlyHere([this.layerSelect, this.headSelect], this.header, `layer ${this.layer} head ${this.head}`);
    this.querySelect.value = this.query;
    this.orderSelect.value = this.orderBy;
    this.before.disabled = this.query === 0;
    this.after.disabled = this.query === this.size - 1;
  }

  refreshFoot() {
    const hasNaN = [this.queries, this.keys, this.scores, this.weights].some((list) => list.some(Number.isNaN));
    const broken = hasNaN ? [element("span", { className: "key broken" },
      "Red cells are not numbers (NaN): this checkpoint's weights are damaged.")] : [];
    this.foot.replaceChildren(this.scale("q, k", this.vectorTop), this.scale("q \u00d7 k", this.productTop),
      ...kindKeys(this.header), ...broken, this.saving);
  }

  scale(name, top) {
    const [width, height] = [128, 24];
    const bar = element("canvas", { role: "img", ariaLabel: `Colours of ${name} from ${-top.toPrecision(2)} to ${top.toPrecision(2)}` });
    const context = fitCanvas(bar, width, height);
    const length = width - 40;
    for (let x = 0; x < length; x++) {
      context.fillStyle = this.colour((2 * x) / (length - 1) - 1, 1);
      context.fillRect(20 + x, 0, 1.3, 9);
    }
    context.fillStyle = this.theme.text;
    context.font = `10.5px ${this.theme.font}`;
    context.textAlign = "center";
    for (const at of [-1, 0, 1]) {
      const text = at ? `${at < 0 ? "\u2212" : ""}${Number(top.toPrecision(2))}` : "0";
      context.fillText(text, 20 + ((at + 1) / 2) * length, 20);
    }
    return element("span", { className: "key" }, name, bar);
  }
}
