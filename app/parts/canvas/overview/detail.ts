// What a head does, in numbers: beside the grid, at the pointer, and in a live region.

import { element } from "../../browser/elements";
import { LiveRegion } from "../../browser/live_region";
import { percent, said } from "../../browser/text";
import { paintCells } from "../saving/pictures";
import { fitCanvas } from "../shared/canvas";
import type { Tooltip } from "../shared/tooltip";
import type { OverviewModel, Place } from "./model";
import type { Thumbnails } from "./thumbnails";

const LARGE = 152; // pixels of the enlarged head

export class Detail {
  readonly root = element("div", { className: "detail" });
  readonly liveRegion = new LiveRegion();

  constructor(private readonly model: OverviewModel, private readonly thumbnails: Thumbnails, private readonly tip: Tooltip) {}

  refresh(): void {
    const { model } = this;
    const place = model.pointed ?? model.opened;
    const known = Object.keys(model.header.measures).filter((name) => model.valueAt(place, name) !== null);
    this.root.replaceChildren(
      element("h2", {}, title(place), element("small", { textContent: this.state(place) })),
      element("div", { className: "large" }, this.large(place),
        element("p", { textContent: said("Each row's token attends to the columns' tokens; the first is at the top left.") })),
      this.numbers(place, known));
    this.liveRegion.cancel();
    if (model.pointed) this.liveRegion.say(this.spoken(place, known));
  }

  private state(place: Place): string {
    const { header, selected, pointed } = this.model;
    const isOpen = place.layer === selected.layer
      && String(place.head === null ? [] : [place.head]) === String(selected.heads);
    return header.alone ? "" : said(isOpen ? "open below" : pointed ? "click to open" : "one of the open heads");
  }

  private large(place: Place): HTMLCanvasElement {
    const large = element("canvas", { ariaHidden: "true" });
    const picture = this.thumbnails.one(place, LARGE);
    const context = fitCanvas(large, LARGE, LARGE);
    paintCells(context, picture, [0, 0, picture.width, picture.width], [0, 0, LARGE, LARGE]);
    this.thumbnails.paintMissing(context, place, [0, 0, LARGE]);
    return large;
  }

  private numbers(place: Place, known: string[]): HTMLElement {
    const { model } = this;
    const { names, num_tokens: tokens } = model.header;
    const { measure } = model.options;
    const fractions = known.filter((name) => names[name].unit === "fraction").map((name) => {
      const fraction = model.valueAt(place, name) ?? NaN;
      return element("div", { className: name === measure ? "measure chosen" : "measure" },
        element("span", { textContent: said(names[name].label) }),
        element("div", { className: "bar", ariaHidden: "true" }, element("i", { style: `width: ${100 * fraction}%` })),
        element("span", { textContent: percent(fraction) }));
    });
    const others = known.filter((name) => names[name].unit !== "fraction").map((name) =>
      element("span", { className: name === measure ? "chosen" : "" },
        `${said(names[name].label)}: ${model.format(model.valueAt(place, name), name)}`));
    const more = element("p", { className: "more" }, ...others,
      element("span", {}, said("{tokens} tokens; entropy is at most {most} nats", { tokens, most: Math.log(tokens).toFixed(2) })));
    return element("div", {}, ...fractions, more);
  }

  private spoken(place: Place, known: string[]): string {
    const { model } = this;
    const { measure } = model.options;
    const first = measure && known.includes(measure) ? [measure] : [];
    const parts = [...first, ...known.filter((name) => name !== measure)]
      .map((name) => `${said(model.header.names[name].label)} ${model.format(model.valueAt(place, name), name)}`);
    return `${title(place)}: ${parts.join(", ")}.`;
  }

  // At the pointer: the chosen measure, or the strongest habits.
  showTip(event?: MouseEvent): void {
    const { model } = this;
    const { pointed, header: { measures, names }, options: { measure } } = model;
    if (!pointed || !event) return this.tip.hide();
    const at = (name: string) => model.valueAt(pointed, name);
    const strongest = Object.keys(measures).filter((name) => names[name].habit && at(name) !== null)
      .sort((a, b) => (at(b) ?? 0) - (at(a) ?? 0)).slice(0, 2);
    const lines = (measure ? [measure] : strongest).map((name) =>
      element("div", {}, `${said(names[name].label)}: `, element("b", { textContent: model.format(at(name), name) })));
    return this.tip.show(event.clientX, event.clientY, element("b", { textContent: title(pointed) }), ...lines);
  }
}

function title({ layer, head }: Place): string {
  return head === null ? said("Layer {layer}, mean of its heads", { layer }) : said("Layer {layer}, head {head}", { layer, head });
}
