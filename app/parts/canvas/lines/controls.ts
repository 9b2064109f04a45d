// The controls above the lines: layer, heads, threshold, filters, level.

import { hexRgb, inkOver } from "../../browser/colours";
import { element } from "../../browser/elements";
import { percent, range, said } from "../../browser/text";
import {
  button, checkbox, disableInFile, further, numberSelect, offerNumbers, select, toggled, wordsCheckbox,
} from "../shared/controls";
import type { LinesView } from "./lines";
import type { LinesModel } from "./model";
import { isLong } from "./painter";

const FILTERS = [
  ["all", "all tokens"],
  ["0>0", "A to A"],
  ["0>1", "A to B"],
  ["1>0", "B to A"],
  ["1>1", "B to B"],
] as const;

/** What is drawn of the weights. */
export type LinesChange = Partial<Pick<LinesModel, "filter" | "hasOwnThreshold" | "hideSpecial" | "isSqueezed" | "mean" | "threshold">>;

/** What the controls ask of the view. */
export type LinesActions = Pick<LinesView, "goToLayer" | "set" | "setHeads" | "showWords">;

export class LinesControls {
  readonly rows: HTMLElement[];
  private readonly layerSelect = numberSelect("Layer", (layer) => this.actions.goToLayer(layer));
  private readonly down = button("\u2039", "Layer before", () => this.actions.goToLayer(this.model.layer - 1), "step");
  private readonly up = button("\u203a", "Layer after", () => this.actions.goToLayer(this.model.layer + 1), "step");
  private readonly headBox = element("span", { className: "group heads", role: "group", ariaLabel: said("Heads") });
  private readonly allHeads = element("button", { textContent: said("all"), title: said("Show all heads of this layer"),
    onclick: () => this.actions.setHeads(this.everyHead()) });
  private readonly slider = element("input", { type: "range", min: "0", max: "100", step: "1",
    // Fine steps where most weights are.
    oninput: () => this.actions.set({ threshold: (Number(this.slider.value) / 100) ** 2 / 2, hasOwnThreshold: true }) });
  private readonly thresholdText = element("output");
  private readonly special = checkbox("Hide special tokens", "Leave out what is added to the text, such as [CLS] and [SEP]",
    (hideSpecial) => this.actions.set({ hideSpecial }));
  private readonly words = wordsCheckbox((isOn) => this.actions.showWords(isOn));
  private readonly mean = checkbox("Mean of heads", "One line for the mean weight of the chosen heads", (mean) => this.actions.set({ mean }));
  private readonly fit = checkbox("All tokens in one view", "Squeeze the rows; names that fit are shown", (isSqueezed) => this.actions.set({ isSqueezed }));
  private readonly filterSelect = select("Show lines between sentences", FILTERS, (filter) => this.actions.set({ filter }));
  private readonly filterLabel = element("label", {}, said("Show"), this.filterSelect);

  constructor(private readonly model: LinesModel, private readonly actions: LinesActions) {
    this.rows = [
      element("div", { className: "controls" },
        element("span", { className: "group" }, said("Layer"), this.down, this.layerSelect, this.up),
        element("span", { className: "group heads" }, said("Heads"), this.headBox, this.allHeads),
        further(element("label", { title: said("Lines of smaller weight are hidden; 0% shows all") }, said("Hide weights below"), this.slider, this.thresholdText),
          this.special.root, this.words.root, this.filterLabel, this.mean.root, this.fit.root)),
    ];
  }

  refresh(): void {
    const { model } = this;
    const { header } = model;
    this.refreshLayers();
    this.refreshHeads();
    this.slider.value = String(Math.round(Math.sqrt(model.threshold * 2) * 100));
    this.thresholdText.textContent = percent(model.threshold);
    this.slider.setAttribute("aria-valuetext", percent(model.threshold));
    this.filterLabel.hidden = !header.is_pair;
    this.filterSelect.value = model.filter;
    this.special.root.hidden = !header.text_ids.includes(-1);
    this.words.root.hidden = header.starts.length === header.tokens.length;
    this.fit.root.hidden = !isLong(model.size);
    this.special.input.checked = model.hideSpecial;
    this.words.input.checked = model.byWord;
    this.mean.input.checked = model.mean;
    this.fit.input.checked = model.isSqueezed;
  }

  private refreshLayers(): void {
    const { header, layer } = this.model;
    const layers = header.num_layers;
    offerNumbers(this.layerSelect, layers);
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
    return element("button", {
      className: "head", textContent: head, ariaLabel: `${said("Head")} ${head}`, style: `--colour: ${colour}; --ink: ${inkOver(hexRgb(colour))}`,
      title: said("Head {head}: click shows or hides it, double click shows it alone", { head }),
      onclick: ({ shiftKey }: MouseEvent) => {
        const next = shiftKey ? new Set([head]) : toggled(this.model.shown, head);
        if (next.size) this.actions.setHeads([...next]);
      },
      ondblclick: () => {
        const { shown } = this.model;
        const alone = shown.size === 1 && shown.has(head);
        // The two clicks before have undone each other, or did nothing to a lone head.
        this.actions.setHeads(alone ? this.everyHead() : [head]);
      },
    });
  }
}
