// The controls around the neuron view: layer, head, token, order, and the legend below.

import { disableInFile, element } from "../../browser/elements";
import { legible, range, shorten } from "../../browser/text";
import { fitCanvas } from "../shared/canvas";
import { kindKeys } from "../shared/levels";
import type { KeyOrder, NeuronModel } from "./model";
import type { NeuronPainter } from "./painter";

/** What the controls ask of the view. */
export interface NeuronActions {
  choose(layer: number, head: number): void;
  setQuery(query: number): void;
  setOrder(order: KeyOrder): void;
}

export class NeuronControls {
  readonly row: HTMLElement;
  readonly foot = element("div", { className: "foot" });
  private readonly layerSelect: HTMLSelectElement;
  private readonly headSelect: HTMLSelectElement;
  private readonly querySelect: HTMLSelectElement;
  private readonly orderSelect: HTMLSelectElement;
  private readonly before: HTMLButtonElement;
  private readonly after: HTMLButtonElement;

  constructor(
    private readonly model: NeuronModel, private readonly painter: NeuronPainter, actions: NeuronActions,
    private readonly saving: HTMLElement,
  ) {
    this.layerSelect = select("Layer", (layer) => actions.choose(layer, model.head));
    this.headSelect = select("Head", (head) => actions.choose(model.layer, head));
    this.querySelect = select("Token that looks", (query) => actions.setQuery(query));
    this.before = step("\u2039", "Token before (left arrow)", () => actions.setQuery(model.query - 1));
    this.after = step("\u203a", "Token after (right arrow)", () => actions.setQuery(model.query + 1));
    this.orderSelect = element("select", { ariaLabel: "Order of the keys",
      onchange: () => actions.setOrder(this.orderSelect.value as KeyOrder) },
      element("option", { value: "weight", textContent: "most attention first" }),
      element("option", { value: "text", textContent: "as in the text" }));
    this.row = element("div", { className: "controls" },
      element("label", {}, "Layer", this.layerSelect), element("label", {}, "Head", this.headSelect),
      element("span", { className: "group" }, "Token that looks", this.before, this.querySelect, this.after),
      element("label", {}, "Keys", this.orderSelect));
  }

  // Offers the choices that the checkpoint and the text give; after each message.
  refreshOptions(): void {
    const numbered = (many: number) => range(many).map((k) => element("option", { value: k, textContent: k }));
    const { num_layers: layers, num_heads: heads, tokens } = this.model.header;
    if (this.layerSelect.length !== layers) this.layerSelect.replaceChildren(...numbered(layers));
    if (this.headSelect.length !== heads) this.headSelect.replaceChildren(...numbered(heads));
    this.querySelect.replaceChildren(...tokens.map((token, place) =>
      element("option", { value: place, textContent: `${place} ${shorten(legible(token), 24)}` })));
  }

  refresh(): void {
    const { layer, head, query, orderBy, size, header } = this.model;
    this.layerSelect.value = String(layer);
    this.headSelect.value = String(head);
    disableInFile([this.layerSelect, this.headSelect], header, `layer ${layer} head ${head}`);
    this.querySelect.value = String(query);
    this.orderSelect.value = orderBy;
    this.before.disabled = query === 0;
    this.after.disabled = query === size - 1;
  }

  refreshFoot(): void {
    const { model } = this;
    const broken = model.hasNaN ? [element("span", { className: "key broken" },
      "Red cells are not numbers (NaN): this checkpoint's weights are damaged.")] : [];
    this.foot.replaceChildren(this.scale("q, k", model.vectorTop), this.scale("q \u00d7 k", model.productTop),
      ...kindKeys(model.header), ...broken, this.saving);
  }

  private scale(name: string, top: number): HTMLElement {
    const { painter } = this;
    const [width, height] = [128, 24];
    const bar = element("canvas", { role: "img", ariaLabel: `Colours of ${name} from ${-top.toPrecision(2)} to ${top.toPrecision(2)}` });
    const context = fitCanvas(bar, width, height);
    const length = width - 40;
    for (let x = 0; x < length; x++) {
      context.fillStyle = painter.colour((2 * x) / (length - 1) - 1, 1);
      context.fillRect(20 + x, 0, 1.3, 9);
    }
    context.fillStyle = painter.theme.text;
    context.font = `10.5px ${painter.theme.font}`;
    context.textAlign = "center";
    for (const at of [-1, 0, 1]) {
      const text = at ? `${at < 0 ? "\u2212" : ""}${Number(top.toPrecision(2))}` : "0";
      context.fillText(text, 20 + ((at + 1) / 2) * length, 20);
    }
    return element("span", { className: "key" }, name, bar);
  }
}

function select(ariaLabel: string, chosen: (value: number) => void): HTMLSelectElement {
  const made = element("select", { ariaLabel });
  made.onchange = () => chosen(Number(made.value));
  return made;
}

function step(textContent: string, title: string, onclick: () => void): HTMLButtonElement {
  return element("button", { type: "button", className: "step", textContent, title, ariaLabel: title, onclick });
}
