// What the heat map says of a cell: the tooltip, the line below the map, and a live region.

import { element } from "../../browser/elements";
import { LiveRegion } from "../../browser/live_region";
import { legible, said, shorten } from "../../browser/text";
import { tokenInTip, type Tooltip } from "../shared/tooltip";
import type { MapModel } from "./model";

export class MapWords {
  readonly line = element("div", { className: "note line" });
  readonly liveRegion = new LiveRegion();

  constructor(private readonly model: MapModel, readonly tip: Tooltip) {}

  // The pointed cell, beside the pointer; hides the tooltip if no cell is pointed at.
  showTip(x: number, y: number): void {
    const { pointed, units, rows, columns } = this.model;
    if (!pointed) return this.tip.hide();
    const [query, key] = this.model.namesAt(pointed);
    const weight = this.model.weightAt(pointed);
    const number = Number.isNaN(weight) ? "not a number (NaN)" : weight.toFixed(6);
    const places = [rows[pointed.row], columns[pointed.column]].map((unit) => units.starts[unit]);
    return this.tip.show(x, y, tokenInTip(query), this.model.verb, tokenInTip(key),
      element("div", {}, element("b", { textContent: number }), ` \u00b7 tokens ${places.join(" \u2192 ")}`));
  }

  say(): void {
    const { place, marked } = this.model;
    if (!place) {
      this.line.replaceChildren(said("Point at a cell for its number; click marks its row and column."));
      return;
    }
    const [query, key] = this.model.namesAt(place).map((name) => shorten(legible(name), 60));
    const weight = this.model.weightAt(place);
    const number = Number.isNaN(weight) ? "not a number" : weight.toFixed(6);
    const bdi = (text: string) => element("bdi", { textContent: `\u201c${text}\u201d` });
    this.line.replaceChildren(bdi(query), this.model.verb, bdi(key), ": ", element("b", { textContent: number }),
      marked ? " (marked; Esc or a click lets go)" : "");
    this.liveRegion.say(`${query}${this.model.verb}${key}: ${number}`);
  }
}
