// The row above the grid: by which measure heads are shown, sorted and left out.

import { OverviewDetail } from "./detail.js";
import { ORDERS, passes, rangeOf } from "./order.js";
import { Twin } from "../shared/data_table.js";
import { element } from "../shared/elements.js";
import { saveButtons } from "../shared/saving.js";
import { Tooltip } from "../shared/tooltip.js";

export class OverviewControls extends OverviewDetail {
  build() {
    this.measureSelect = element("select", { ariaLabel: "Measure of the heads" });
    this.measureSelect.onchange = () => this.look({ measure: this.measureSelect.value, limit: null });
    this.orderSelect = element("select", { ariaLabel: "Order of the heads" },
      ...ORDERS.map(([value, textContent]) => element("option", { value, textContent })));
    this.orderSelect.onchange = () => this.look({ order: this.orderSelect.value });
    this.direction = element("button", { type: "button", className: "step" });
    this.direction.onclick = () => this.look({ lowest: !this.lowest, limit: null });
    this.slider = element("input", { type: "range", min: "0", max: "100", step: "1" });
    this.slider.oninput = () => this.setLimit(Number(this.slider.value) / 100);
    this.limitText = element("output");
    this.limitLabel = element("label", { title: "Heads beyond the limit are dimmed" }, "Dim", this.slider, this.limitText);
    this.measured = element("span", { className: "group" },
      element("label", {}, "Order", this.orderSelect), this.direction);

    this.canvas = element("canvas", { ariaHidden: "true" });
    this.grid = element("div", {
      className: "grid", tabIndex: 0, role: "application",
      ariaLabel: "All heads. Arrows move, Home and End go to the first and the last, Enter opens the head, " +
        "Escape lets go. The numbers are in the table below.",
    }, this.canvas);
    this.holder = element("div", { className: "frame" }, this.grid);
    this.scale = element("div", { className: "scale" });
    this.detail = element("div", { className: "detail" });
    this.said = element("div", { className: "said", ariaLive: "polite" });
    this.twin = new Twin("Numbers of all heads as a table", () => this.twinTable());
    this.saving = saveButtons(this);
    this.root.append(
      element("div", { className: "controls" },
        element("label", {}, "Measure", this.measureSelect), this.measured, this.limitLabel),
      element("div", { className: "body" },
        element("div", { className: "left" }, this.holder, this.scale), this.detail),
      this.twin.root, this.said);
    this.tooltip = new Tooltip(this.root);
  }

  refreshControls() {
    const { measures, names } = this.header;
    const known = Object.keys(measures).filter((name) => rangeOf(measures[name]));
    if (this.measureSelect.options.length !== known.length + 1) {
      this.measureSelect.replaceChildren(element("option", { value: "", textContent: "none" }),
        ...known.map((name) => element("option", { value: name, textContent: names[name].label })));
    }
    if (!known.includes(this.measure)) Object.assign(this, { measure: "", limit: null });
    this.measureSelect.value = this.measure;
    this.orderSelect.value = this.order;
    this.direction.textContent = this.lowest ? "\u2191" : "\u2193";
    const says = this.lowest ? "Lowest first; click for the highest first" : "Highest first; click for the lowest first";
    this.direction.title = this.direction.ariaLabel = says;
    this.measured.style.display = this.limitLabel.style.display = this.measure ? "" : "none";
    this.refreshLimit();
  }

  // share: of the way from the least to the largest value; at the slider's start nothing is dimmed.
  setLimit(share) {
    const [least, most] = rangeOf(this.header.measures[this.measure]);
    const limit = this.lowest ? most - share * (most - least) : least + share * (most - least);
    this.look({ limit: share === 0 ? null : limit });
  }

  refreshLimit() {
    if (!this.measure) return;
    const values = this.header.measures[this.measure];
    const [least, most] = rangeOf(values);
    const share = this.limit === null ? 0 : (this.limit - least) / (most - least || 1);
    this.slider.value = Math.round(100 * (this.limit !== null && this.lowest ? 1 - share : share));
    const left = values.filter((value) => passes(value, this.limit, this.lowest)).length;
    const sign = this.lowest ? "above" : "below";
    this.limitText.textContent = this.limit === null ? "none" : `${sign} ${this.format(this.limit)}: ${left} of ${values.length} left`;
    this.slider.setAttribute("aria-valuetext", this.limitText.textContent);
    this.slider.setAttribute("aria-label", `Dim heads ${sign}`);
  }
}
