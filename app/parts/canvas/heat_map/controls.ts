// The controls around the heat map: layers, heads, order, level, zoom, and the legend below.

import { element } from "../../browser/elements";
import { range, said } from "../../browser/text";
import { button, disableInFile, further, select, toggled, wordsCheckbox } from "../shared/controls";
import { brokenNote, colourBar, kindKeys } from "../shared/legend";
import type { HeatMap } from "./heat_map";
import type { MapModel } from "./model";
import { COLUMN_ORDERS, ROW_ORDERS } from "./order";
import type { MapPainter } from "./painter";

const TICKS = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1];
const TICK_DISTANCE = 0.145; // least, of the length of the scale: their numbers do not touch

/** What the controls ask of the view. */
type MapActions = Pick<HeatMap, "choose" | "showWords" | "sortBy" | "zoomBy">;

export class MapControls {
  readonly rows: HTMLElement[];
  readonly title = element("h2", { className: "title" });
  readonly keys = element("span", { className: "keys" });
  private readonly layerBox = element("span", { className: "group heads", role: "group", ariaLabel: said("Layers of the mean") });
  private readonly headBox = element("span", { className: "group heads", role: "group", ariaLabel: said("Heads of the mean") });
  private readonly allLayers = button("all", "The mean over all layers", () => this.actions.choose({ layers: range(this.model.header.num_layers) }));
  private readonly allHeads = button("all", "The mean over all heads", () => this.actions.choose({ heads: range(this.model.header.num_heads) }));
  private readonly rowSelect = select("Order of the rows", ROW_ORDERS, (rowsBy) => this.actions.sortBy({ rowsBy }));
  private readonly columnSelect = select("Order of the columns", COLUMN_ORDERS, (columnsBy) => this.actions.sortBy({ columnsBy }));
  private readonly words = wordsCheckbox((isOn) => this.actions.showWords(isOn));
  private readonly zoomOut = button("\u2212", "Zoom out (key \u2212)", () => this.actions.zoomBy(1 / 1.6), "step");
  private readonly whole = button("whole", "The whole map (key 0, or double click)", () => this.actions.zoomBy(0));

  constructor(private readonly model: MapModel, private readonly painter: MapPainter, private readonly actions: MapActions) {
    const zoomIn = button("+", "Zoom in (key +)", () => actions.zoomBy(1.6), "step");
    this.rows = [
      element("div", { className: "controls" },
        element("span", { className: "group heads" }, said("Layers"), this.layerBox, this.allLayers)),
      element("div", { className: "controls" },
        element("span", { className: "group heads" }, said("Heads"), this.headBox, this.allHeads),
        further(element("label", {}, said("Rows"), this.rowSelect), element("label", {}, said("Columns"), this.columnSelect),
          this.words.root, element("span", { className: "group" }, said("Zoom"), this.zoomOut, zoomIn, this.whole))),
    ];
  }

  refresh(): void {
    const { model, actions } = this;
    const { header } = model;
    const { num_layers: layers, num_heads: heads } = header;
    refreshChips(this.layerBox, layers, model.layers, "Layer", (next) => actions.choose({ layers: next }));
    refreshChips(this.headBox, heads, model.heads, "Head", (next) => actions.choose({ heads: next }));
    this.allLayers.disabled = model.layers.size === layers;
    this.allHeads.disabled = model.heads.size === heads;
    this.allLayers.hidden = layers === 1;
    this.allHeads.hidden = heads === 1;
    this.words.root.hidden = header.starts.length === header.tokens.length;
    this.words.input.checked = model.byWord;
    this.rowSelect.value = model.rowsBy;
    this.columnSelect.value = model.columnsBy;
    this.refreshZoom();
    this.title.textContent = header.title;
    const chips = [...this.layerBox.children, ...this.headBox.children] as HTMLButtonElement[];
    disableInFile([...chips, this.allLayers, this.allHeads], header, "this map");
  }

  refreshZoom(): void {
    this.zoomOut.disabled = this.whole.disabled = this.model.window.isWhole;
  }

  refreshKeys(): void {
    const { header } = this.model;
    const isMean = header.layers.length > 1 || header.heads.length !== 1;
    const broken = brokenNote(header.missing, isMean ? "a mean that includes one has no value" : "they have no colour");
    this.keys.replaceChildren(element("span", { className: "key" }, header.unit ?? "weight", this.scale()), ...kindKeys(header), ...broken);
  }

  private scale(): HTMLCanvasElement {
    const { scaleTop, theme } = this.painter;
    const ticks: [number, string][] = [];
    for (const weight of [0, ...TICKS.filter((tick) => tick <= scaleTop)]) {
      const at = Math.sqrt(weight / scaleTop);
      if (!ticks.length || at - ticks[ticks.length - 1][0] >= TICK_DISTANCE) ticks.push([at, String(weight)]);
    }
    return colourBar(`Colour scale from 0 to ${scaleTop.toPrecision(2)}`, theme, {
      width: 200, margin: 10, ticks, colour: (at) => `rgb(${this.painter.colour(at).join(",")})`,
    });
  }
}

// A row of buttons of which several may be pressed; a plain click takes one alone.
function refreshChips(box: HTMLElement, number: number, chosen: Set<number>, name: string, pick: (next: number[]) => void): void {
  if (box.children.length !== number) {
    box.replaceChildren(...range(number).map((k) => {
      const title = `${name} ${k}: a click shows it alone, Shift or Ctrl and a click adds it or takes it away`;
      return element("button", { type: "button", className: "chip", textContent: k, title, ariaLabel: `${name} ${k}` });
    }));
  }
  ([...box.children] as HTMLButtonElement[]).forEach((chip, k) => {
    chip.setAttribute("aria-pressed", String(chosen.has(k)));
    chip.onclick = (event) => {
      if (!(event.shiftKey || event.ctrlKey || event.metaKey)) return pick([k]);
      const next = toggled(chosen, k);
      return next.size ? pick([...next].sort((a, b) => a - b)) : undefined;
    };
  });
}
