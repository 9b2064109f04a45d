// The controls of the overview: the measure by which heads are sorted and dimmed, and the colour scale.

import { element } from "../../browser/elements";
import { said } from "../../browser/text";
import type { Theme } from "../shared/canvas";
import { select } from "../shared/controls";
import { brokenNote, colourBar } from "../shared/legend";
import type { OverviewModel, OverviewOptions } from "./model";
import { ORDERS, passes, rangeOf } from "./order";

const TICKS = [0, 0.1, 0.25, 0.5, 1];

export class OverviewControls {
  readonly row: HTMLElement;
  readonly keys = element("span", { className: "keys" });
  private readonly measureSelect = select("Measure of the heads", [], (measure) => this.change({ measure, limit: null }));
  private readonly orderSelect = select("Order of the heads", ORDERS, (order) => this.change({ order }));
  private readonly direction = element("button", { type: "button", className: "step",
    onclick: () => this.change({ lowest: !this.model.options.lowest, limit: null }) });
  private readonly slider = element("input", { type: "range", min: "0", max: "100", step: "1",
    oninput: () => this.setLimit(Number(this.slider.value) / 100) });
  private readonly limitText = element("output");
  private readonly limitLabel = element("label", { title: said("Heads beyond the limit are dimmed") }, said("Dim"), this.slider, this.limitText);
  private readonly measured = element("span", { className: "group" }, element("label", {}, said("Order"), this.orderSelect), this.direction);

  constructor(private readonly model: OverviewModel, private readonly change: (options: Partial<OverviewOptions>) => void) {
    this.row = element("div", { className: "controls" },
      element("label", {}, said("Measure"), this.measureSelect), this.measured, this.limitLabel);
  }

  refresh(): void {
    const { names } = this.model.header;
    const { measure, order, lowest } = this.model.options;
    const known = this.model.knownMeasures;
    if (this.measureSelect.options.length !== known.length + 1) {
      this.measureSelect.replaceChildren(element("option", { value: "", textContent: said("none") }),
        ...known.map((name) => element("option", { value: name, textContent: said(names[name].label) })));
    }
    this.measureSelect.value = measure;
    this.orderSelect.value = order;
    this.direction.textContent = lowest ? "\u2191" : "\u2193";
    this.direction.title = this.direction.ariaLabel = lowest
      ? said("Lowest first; click for the highest first") : said("Highest first; click for the lowest first");
    this.measured.hidden = this.limitLabel.hidden = !measure;
    this.refreshLimit();
  }

  // fraction: of the way from the least to the largest value; at the slider's start nothing is dimmed.
  private setLimit(fraction: number): void {
    const { measure, lowest } = this.model.options;
    const [least, most] = this.ends(measure);
    const limit = lowest ? most - fraction * (most - least) : least + fraction * (most - least);
    this.change({ limit: fraction === 0 ? null : limit });
  }

  private ends(measure: string): [number, number] {
    return rangeOf(this.model.header.measures[measure]) ?? [0, 0];
  }

  private refreshLimit(): void {
    const { measure, limit, lowest } = this.model.options;
    if (!measure) return;
    const values = this.model.header.measures[measure];
    const [least, most] = this.ends(measure);
    const fraction = limit === null ? 0 : (limit - least) / (most - least || 1);
    this.slider.value = String(Math.round(100 * (limit !== null && lowest ? 1 - fraction : fraction)));
    const left = values.filter((value) => passes(value, limit, lowest)).length;
    this.limitText.textContent = limit === null ? said("none")
      : said(lowest ? "above {limit}: {left} of {all} left" : "below {limit}: {left} of {all} left", { limit: this.model.format(limit), left, all: values.length });
    this.slider.setAttribute("aria-valuetext", this.limitText.textContent);
    this.slider.setAttribute("aria-label", said(lowest ? "Dim heads above" : "Dim heads below"));
  }

  refreshKeys(theme: Theme): void {
    const { colours, table, header } = this.model;
    const bar = colourBar(said("Colour scale of the weights, 0 to 100%"), theme, {
      width: 190, margin: 15,
      colour: (at) => {
        const code = Math.round(255 * at);
        return `rgb(${colours.subarray(code * 3, code * 3 + 3).join(",")})`;
      },
      ticks: TICKS.map((weight) => {
        const code = table.findIndex((value) => value >= weight - 1e-6);
        return [code / 255, weight ? `${Math.round(weight * 100)}%` : "0"];
      }),
    });
    this.keys.replaceChildren(said("weight"), bar, ...brokenNote(header.missing, "such heads have no measures"));
  }
}
