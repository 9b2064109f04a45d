// The buttons around the lines: layer, heads, threshold, filters, level.

import { AttentionFiles } from "./files.js";
import { MAX_HEIGHT } from "./paint.js";
import { inkOver } from "../shared/canvas.js";
import { Twin } from "../shared/data_table.js";
import { element, onlyHere, percent } from "../shared/elements.js";
import { saveButtons } from "../shared/saving.js";

const FILTERS = [
  ["all", "all tokens"],
  ["0>0", "A to A"],
  ["0>1", "A to B"],
  ["1>0", "B to A"],
  ["1>1", "B to B"],
];

export class AttentionControls extends AttentionFiles {
  build() {
    this.layerSelect = element("select", { ariaLabel: "Layer" });
    this.layerSelect.onchange = () => this.goToLayer(Number(this.layerSelect.value));
    this.down = element("button", { className: "step", textContent: "\u2039", ariaLabel: "Layer before" });
    this.up = element("button", { className: "step", textContent: "\u203a", ariaLabel: "Layer after" });
    this.down.onclick = () => this.goToLayer(this.layer - 1);
    this.up.onclick = () => this.goToLayer(this.layer + 1);
    this.headBox = element("span", { className: "group heads", role: "group", ariaLabel: "Heads" });
    this.allHeads = element("button", { textContent: "all", title: "Show all heads of this layer" });
    this.allHeads.onclick = () => this.setHeads(this.header.colours.map((_, head) => head));

    this.slider = element("input", { type: "range", min: "0", max: "100", step: "1" });
    this.thresholdText = element("output");
    this.slider.oninput = () => {
      this.touchedThreshold = true;
      this.threshold = (this.slider.value / 100) ** 2 / 2; // fine steps where most weights are
      this.refreshControls();
      this.select();
      this.draw();
      this.noteLook();
    };
    const box = (name, text, title) => {
      const input = element("input", { type: "checkbox" });
      input.onchange = () => {
        this[name] = input.checked;
        if (name === "byWord") this.changeUnits();
        this.select();
        this.layout();
        this.noteLook();
      };
      const label = element("label", { title }, input, text);
      label.input = input;
      return label;
    };
    this.specialBox = box("hideSpecial", "Hide special tokens", "Leave out what is added to the text, such as [CLS] and [SEP]");
    this.wordBox = box("byWord", "Whole words",
      "Sum over the pieces of a word that is looked at, mean over the pieces of one that looks");
    this.meanBox = box("mean", "Mean of heads", "One line for the mean weight of the chosen heads");
    this.fitBox = box("fit", "All tokens in one view", "Squeeze the rows; names that fit are shown");
    this.filterSelect = element("select", { ariaLabel: "Between sentences" });
    for (const [value, text] of FILTERS) {
      this.filterSelect.append(element("option", { value, textContent: text }));
    }
    this.filterSelect.onchange = () => {
      this.filter = this.filterSelect.value;
      this.select();
      this.draw();
      this.noteLook();
    };
    this.filterLabel = element("label", {}, "Show", this.filterSelect);

    this.canvas = element("canvas", { ariaHidden: "true" });
    this.spacer = element("div", {}, this.canvas);
    this.scroller = element("div", {
      className: "scroller",
      tabIndex: 0,
      role: "application",
      ariaLabel:
        "Attention lines. Up and down move through the tokens, left and right change the column, " +
        "Enter keeps a token, Space adds one to the kept ones, Escape lets go. " +
        "The numbers are in the table below.",
    }, this.spacer);
    this.panel = element("div", { className: "panel" });
    this.said = element("div", { className: "said", ariaLive: "polite" });
    this.foot = element("div", { className: "foot" });
    this.saving = saveButtons(this);
    this.twin = new Twin("Numbers as a table", () => this.twinTable());
    this.root.append(
      element("div", { className: "controls" },
        element("span", { className: "group" }, "Layer", this.down, this.layerSelect, this.up),
        element("span", { className: "group heads" }, "Heads", this.headBox, this.allHeads)),
      element("div", { className: "controls" },
        element("label", { title: "Lines of smaller weight are hidden" },
          "Hide weights below", this.slider, this.thresholdText),
        this.specialBox, this.wordBox, this.filterLabel, this.meanBox, this.fitBox),
      element("div", { className: "body" },
        element("div", {},
          element("div", { className: "columns" },
            element("span", { textContent: "this token looks \u2026" }),
            element("span", { textContent: "\u2026 at this token" })),
          this.scroller, this.foot),
        this.panel),
      this.twin.root, this.said,
    );
  }

  refreshControls() {
    const { num_layers: layers, colours, is_pair: isPair } = this.header;
    if (this.layerSelect.options.length !== layers) {
      const options = Array.from({ length: layers }, (_, i) => element("option", { value: i, textContent: i }));
      this.layerSelect.replaceChildren(...options);
    }
    this.layerSelect.value = this.layer;
    this.down.disabled = this.layer === 0;
    this.up.disabled = this.layer === layers - 1;
    if (this.header.alone?.length < layers) {
      onlyHere([this.layerSelect, this.down, this.up], this.header, `layer ${this.layer}`);
    }
    if (this.headBox.children.length !== colours.length) {
      this.headBox.replaceChildren(...colours.map((colour, head) => this.headButton(colour, head)));
    }
    [...this.headBox.children].forEach((button, head) => {
      button.setAttribute("aria-pressed", String(this.shown.has(head)));
    });
    this.allHeads.disabled = this.shown.size === colours.length;
    this.slider.value = Math.round(Math.sqrt(this.threshold * 2) * 100);
    this.thresholdText.textContent = percent(this.threshold);
    this.slider.setAttribute("aria-valuetext", percent(this.threshold));
    this.filterLabel.hidden = !isPair;
    this.filterLabel.style.display = isPair ? "" : "none";
    if (!isPair) this.filter = this.filterSelect.value = "all";
    this.specialBox.style.display = this.header.text_ids.includes(-1) ? "" : "none";
    this.wordBox.style.display = this.header.starts.length < this.header.tokens.length ? "" : "none";
    for (const [box, name] of [[this.specialBox, "hideSpecial"], [this.wordBox, "byWord"], [this.meanBox, "mean"]]) {
      box.input.checked = this[name];
    }
    this.filterSelect.value = this.filter;
    this.fitBox.style.display = this.size * 19 > MAX_HEIGHT ? "" : "none";
    if (this.size * 19 <= MAX_HEIGHT) this.fit = this.fitBox.input.checked = false;
  }

  headButton(colour, head) {
    const button = element("button", {
      className: "head",
      textContent: head,
      title: `Head ${head}: click shows or hides it, double click shows it alone`,
      ariaLabel: `Head ${head}`,
    });
    button.style.setProperty("--colour", colour);
    button.style.setProperty("--ink", inkOn(colour));
    button.onclick = (event) => {
      if (event.shiftKey) return this.setHeads([head]);
      const next = new Set(this.shown);
      if (next.has(head)) next.delete(head);
      else next.add(head);
      return next.size ? this.setHeads([...next]) : undefined;
    };
    button.ondblclick = () => {
      const alone = this.shown.size === 1 && this.shown.has(head);
      // The two clicks before have undone each other, or did nothing to a lone head.
      this.setHeads(alone ? this.header.colours.map((_, i) => i) : [head]);
    };
    return button;
  }

  setHeads(heads) {
    this.shown = new Set(heads);
    this.refreshWaiting();
    this.refreshControls();
    this.select();
    this.draw();
    this.choose();
  }

  goToLayer(layer) {
    this.layer = Math.max(0, Math.min(this.header.num_layers - 1, layer));
    this.refreshWaiting();
    this.refreshControls();
    this.choose();
  }
}

// Black or white, whichever is read better on a colour #rrggbb.
function inkOn(colour) {
  return inkOver([1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
}
