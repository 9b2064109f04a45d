// The controls around the heat map: layers, heads, order, level, zoom, and the legend below.

import { brokenNote, disableInFile, element } from "../../browser/elements";
import { range } from "../../browser/text";
import { fitCanvas } from "../shared/canvas";
import { kindKeys } from "../shared/levels";
import type { MapModel } from "./model";
import { COLUMN_ORDERS, ROW_ORDERS, type ColumnOrder, type RowOrder } from "./order";
import type { MapPainter } from "./painter";

const TICKS = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1];

/** What the controls ask of the view. */
export interface MapActions {
  choose(change: { layers?: number[]; heads?: number[] }): void;
  sortRows(by: RowOrder): void;
  sortColumns(by: ColumnOrder): void;
  showWords(isOn: boolean): void;
  /** 0 for the whole map. */
  zoomBy(factor: number): void;
}

export class MapControls {
  readonly rows: HTMLElement[];
  readonly title = element("h4", { className: "title" });
  readonly foot = element("div", { className: "foot" });
  private readonly layerBox = element("span", { className: "group heads", role: "group", ariaLabel: "Layers of the mean" });
  private readonly headBox = element("span", { className: "group heads", role: "group", ariaLabel: "Heads of the mean" });
  private readonly allLayers: HTMLButtonElement;
  private readonly allHeads: HTMLButtonElement;
  private readonly rowSelect: HTMLSelectElement;
  private readonly columnSelect: HTMLSelectElement;
  private readonly wordBox = element("input", { type: "checkbox" });
  private readonly wordLabel: HTMLLabelElement;
  private readonly zoomOut: HTMLButtonElement;
  private readonly whole: HTMLButtonElement;

  constructor(
    private readonly model: MapModel, private readonly painter: MapPainter, private readonly actions: MapActions,
    private readonly saving: HTMLElement,
  ) {
    this.allLayers = button("all", "The mean over all layers", () => actions.choose({ layers: range(model.header.num_layers) }));
    this.allHeads = button("all", "The mean over all heads", () => actions.choose({ heads: range(model.header.num_heads) }));
    this.rowSelect = select("Order of the rows", ROW_ORDERS, (by) => actions.sortRows(by));
    this.columnSelect = select("Order of the columns", COLUMN_ORDERS, (by) => actions.sortColumns(by));
    this.wordBox.onchange = () => actions.showWords(this.wordBox.checked);
    this.wordLabel = element("label", {
      title: "Sum over the pieces of a word that is looked at, mean over the pieces of one that looks" }, this.wordBox, "Whole words");
    const zoomIn = button("+", "Zoom in (key +)", () => actions.zoomBy(1.6), "step");
    this.zoomOut = button("\u2212", "Zoom out (key \u2212)", () => actions.zoomBy(1 / 1.6), "step");
    this.whole = button("whole", "The whole map (key 0, or double click)", () => actions.zoomBy(0));
    this.rows = [
      element("div", { className: "controls" },
        element("span", { className: "group heads" }, "Layers", this.layerBox, this.allLayers)),
      element("div", { className: "controls" },
        element("span", { className: "group heads" }, "Heads", this.headBox, this.allHeads)),
      element("div", { className: "controls" },
        element("label", {}, "Rows", this.rowSelect), element("label", {}, "Columns", this.columnSelect),
        this.wordLabel, element("span", { className: "group" }, "Zoom", this.zoomOut, zoomIn, this.whole)),
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
    this.wordLabel.style.display = header.starts.length < header.tokens.length ? "" : "none";
    this.wordBox.checked = model.byWord;
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

  refreshFoot(): void {
    const { header } = this.model;
    const isMean = header.layers.length > 1 || header.heads.length !== 1;
    const broken = brokenNote(header.missing, isMean ? "a mean with one of them is none" : "they have no colour");
    this.foot.replaceChildren(element("span", { className: "key" }, "weight", this.scale()), ...kindKeys(header), ...broken, this.saving);
  }

  private scale(): HTMLCanvasElement {
    const { scaleTop, theme } = this.painter;
    const bar = element("canvas", { role: "img", ariaLabel: `Colour scale from 0 to ${scaleTop.toPrecision(2)}` });
    const [width, height] = [200, 24];
    const context = fitCanvas(bar, width, height);
    for (let x = 0; x < width - 20; x++) {
      context.fillStyle = `rgb(${this.painter.colour(x / (width - 21)).join(",")})`;
      context.fillRect(x + 10, 0, 1.3, 9);
    }
    context.fillStyle = theme.text;
    context.font = `10.5px ${theme.font}`;
    context.textAlign = "center";
    let last = -99;
    for (const weight of [0, ...TICKS.filter((tick) => tick <= scaleTop)]) {
      const x = 10 + Math.sqrt(weight / scaleTop) * (width - 21);
      if (x - last < 26) continue;
      context.fillText(String(weight), x, 20);
      last = x;
    }
    return bar;
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
      const next = new Set(chosen);
      if (!next.delete(k)) next.add(k);
      return next.size ? pick([...next].sort((a, b) => a - b)) : undefined;
    };
  });
}

function button(textContent: string, title: string, onclick: () => void, className = ""): HTMLButtonElement {
  return element("button", { type: "button", textContent, title, ariaLabel: title, onclick, className });
}

function select<Value extends string>(
  ariaLabel: string, options: readonly (readonly [Value, string])[], chosen: (value: Value) => void,
): HTMLSelectElement {
  const made = element("select", { ariaLabel }, ...options.map(([value, textContent]) => element("option", { value, textContent })));
  made.onchange = () => chosen(made.value as Value);
  return made;
}
