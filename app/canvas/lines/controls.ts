// The controls above the lines: layer, heads, threshold, filters, level.

import { disableInFile, element } from "../../browser/elements";
import { percent, range } from "../../browser/text";
import { hexRgb, inkOver } from "../shared/canvas";
import type { LinesModel } from "./model";
import { isLong } from "./painter";

const FILTERS = [
  ["all", "all tokens"],
  ["0>0", "A to A"],
  ["0>1", "A to B"],
  ["1>0", "B to A"],
  ["1>1", "B to B"],
] as const;

/** What the controls ask of the view. */
export interface LinesActions {
  goToLayer(layer: number): void;
  setHeads(heads: number[]): void;
  setThreshold(threshold: number): void;
  setFilter(filter: string): void;
  hideSpecial(isOn: boolean): void;
  showWords(isOn: boolean): void;
  showMean(isOn: boolean): void;
  fit(isOn: boolean): void;
}

interface Switch {
  root: HTMLLabelElement;
  input: HTMLInputElement;
}

export class LinesControls {
  /** Two rows. */
  readonly rows: HTMLElement[];
  private readonly layerSelect: HTMLSelectElement;
  private readonly down: HTMLButtonElement;
  private readonly up: HTMLButtonElement;
  private readonly headBox = element("span", { className: "group heads", role: "group", ariaLabel: "Heads" });
  private readonly allHeads: HTMLButtonElement;
  private readonly slider: HTMLInputElement;
  private readonly thresholdText = element("output");
  private readonly special: Switch;
  private readonly words: Switch;
  private readonly mean: Switch;
  private readonly fit: Switch;
  private readonly filterSelect: HTMLSelectElement;
  private readonly filterLabel: HTMLLabelElement;

  constructor(private readonly model: LinesModel, private readonly actions: LinesActions) {
    this.layerSelect = element("select", { ariaLabel: "Layer", onchange: () => actions.goToLayer(Number(this.layerSelect.value)) });
    this.down = element("button", { className: "step", textContent: "\u2039", ariaLabel: "Layer before",
      onclick: () => actions.goToLayer(model.layer - 1) });
    this.up = element("button", { className: "step", textContent: "\u203a", ariaLabel: "Layer after",
      onclick: () => actions.goToLayer(model.layer + 1) });
    this.allHeads = element("button", { textContent: "all", title: "Show all heads of this layer",
      onclick: () => actions.setHeads(this.everyHead()) });
    this.slider = element("input", { type: "range", min: "0", max: "100", step: "1",
      oninput: () => actions.setThreshold((Number(this.slider.value) / 100) ** 2 / 2) }); // fine steps where most weights are
    this.special = checkbox("Hide special tokens", "Leave out what is added to the text, such as [CLS] and [SEP]",
      (isOn) => actions.hideSpecial(isOn));
    this.words = checkbox("Whole words", "Sum over the pieces of a word that is looked at, mean over the pieces of one that looks",
      (isOn) => actions.showWords(isOn));
    this.mean = checkbox("Mean of heads", "One line for the mean weight of the chosen heads", (isOn) => actions.showMean(isOn));
    this.fit = checkbox("All tokens in one view", "Squeeze the rows; names that fit are shown", (isOn) => actions.fit(isOn));
    this.filterSelect = element("select", { ariaLabel: "Between sentences", onchange: () => actions.setFilter(this.filterSelect.value) },
      ...FILTERS.map(([value, textContent]) => element("option", { value, textContent })));
    this.filterLabel = element("label", {}, "Show", this.filterSelect);
    this.rows = [
      element("div", { className: "controls" },
        element("span", { className: "group" }, "Layer", this.down, this.layerSelect, this.up),
        element("span", { className: "group heads" }, "Heads", this.headBox, this.allHeads)),
      element("div", { className: "controls" },
        element("label", { title: "Lines of smaller weight are hidden" }, "Hide weights below", this.slider, this.thresholdText),
        this.special.root, this.words.root, this.filterLabel, this.mean.root, this.fit.root),
    ];
  }

  // `fit`: whether the rows are squeezed.
  refresh(fit: boolean): void {
    const { model } = this;
    const { header } = model;
    this.refreshLayers();
    this.refreshHeads();
    this.slider.value = String(Math.round(Math.sqrt(model.threshold * 2) * 100));
    this.thresholdText.textContent = percent(model.threshold);
    this.slider.setAttribute("aria-valuetext", percent(model.threshold));
    show(this.filterLabel, header.is_pair);
    this.filterSelect.value = model.filter;
    show(this.special.root, header.text_ids.includes(-1));
    show(this.words.root, header.starts.length < header.tokens.length);
    show(this.fit.root, isLong(model.size));
    this.special.input.checked = model.hideSpecial;
    this.words.input.checked = model.byWord;
    this.mean.input.checked = model.mean;
    this.fit.input.checked = fit;
  }

  private refreshLayers(): void {
    const { header, layer } = this.model;
    const layers = header.num_layers;
    if (this.layerSelect.options.length !== layers) {
      this.layerSelect.replaceChildren(...range(layers).map((k) => element("option", { value: k, textContent: k })));
    }
    this.layerSelect.value = String(layer);
    this.down.disabled = layer === 0;
    this.up.disabled = layer === layers - 1;
    if (header.alone && header.alone.length < layers) {
      disableInFile([this.layerSelect, this.down, this.up], header, `layer ${layer}`);
    }
  }

  private refreshHeads(): void {
    const { header: { colours }, shown } = this.model;
    if (this.headBox.children.length !== colours.length) {
      this.headBox.replaceChildren(...colours.map((colour, head) => this.headButton(colour, head)));
    }
    [...this.headBox.children].forEach((button, head) => button.setAttribute("aria-pressed", String(shown.has(head))));
    this.allHeads.disabled = shown.size === colours.length;
  }

  private everyHead(): number[] {
    return range(this.model.header.colours.length);
  }

  private headButton(colour: string, head: number): HTMLButtonElement {
    const button = element("button", {
      className: "head", textContent: head, ariaLabel: `Head ${head}`,
      title: `Head ${head}: click shows or hides it, double click shows it alone`,
    });
    button.style.setProperty("--colour", colour);
    button.style.setProperty("--ink", inkOver(hexRgb(colour)));
    button.onclick = (event) => {
      if (event.shiftKey) return this.actions.setHeads([head]);
      const next = new Set(this.model.shown);
      if (!next.delete(head)) next.add(head);
      return next.size ? this.actions.setHeads([...next]) : undefined;
    };
    button.ondblclick = () => {
      const { shown } = this.model;
      const alone = shown.size === 1 && shown.has(head);
      // The two clicks before have undone each other, or did nothing to a lone head.
      this.actions.setHeads(alone ? this.everyHead() : [head]);
    };
    return button;
  }
}

function checkbox(text: string, title: string, changed: (isOn: boolean) => void): Switch {
  const input = element("input", { type: "checkbox" });
  input.onchange = () => changed(input.checked);
  return { root: element("label", { title }, input, text), input };
}

function show(node: HTMLElement, isShown: boolean): void {
  node.style.display = isShown ? "" : "none";
}
