// The controls around the neuron view: layer, head, token, order, and the legend below.

import { element } from "../../browser/elements";
import { legible, said, shorten } from "../../browser/text";
import { button, disableInFile, numberSelect, offerNumbers, select } from "../shared/controls";
import { colourBar, kindKeys } from "../shared/legend";
import type { KeyOrder, NeuronModel } from "./model";
import type { NeuronView } from "./neurons";
import type { NeuronPainter } from "./painter";

const ORDERS: readonly (readonly [KeyOrder, string])[] = [["weight", "most attention first"], ["text", "as in the text"]];

/** What the controls ask of the view. */
type NeuronActions = Pick<NeuronView, "choose" | "setOrder" | "setQuery">;

export class NeuronControls {
  readonly row: HTMLElement;
  readonly keys = element("span", { className: "keys" });
  private readonly layerSelect = numberSelect("Layer", (layer) => this.actions.choose(layer, this.model.head));
  private readonly headSelect = numberSelect("Head", (head) => this.actions.choose(this.model.layer, head));
  private readonly querySelect = numberSelect("Query token", (query) => this.actions.setQuery(query));
  private readonly before = button("\u2039", "Token before (left arrow)", () => this.actions.setQuery(this.model.query - 1), "step");
  private readonly after = button("\u203a", "Token after (right arrow)", () => this.actions.setQuery(this.model.query + 1), "step");
  private readonly orderSelect = select("Order of the keys", ORDERS, (order) => this.actions.setOrder(order));

  constructor(private readonly model: NeuronModel, private readonly painter: NeuronPainter, private readonly actions: NeuronActions) {
    this.row = element("div", { className: "controls" },
      element("label", {}, said("Layer"), this.layerSelect), element("label", {}, said("Head"), this.headSelect),
      element("span", { className: "group" }, said("Query token"), this.before, this.querySelect, this.after),
      element("label", {}, said("Keys"), this.orderSelect));
  }

  // Offers the choices that the checkpoint and the text give; after each message.
  refreshOptions(): void {
    const { num_layers: layers, num_heads: heads, tokens } = this.model.header;
    offerNumbers(this.layerSelect, layers);
    offerNumbers(this.headSelect, heads);
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

  refreshKeys(): void {
    const { model } = this;
    const broken = model.hasNaN ? [element("span", { className: "key broken" },
      "Red cells are not numbers (NaN): this checkpoint's weights are damaged.")] : [];
    this.keys.replaceChildren(this.scale("q, k", model.vectorTop), this.scale("q \u00d7 k", model.productTop),
      ...kindKeys(model.header), ...broken);
  }

  private scale(name: string, top: number): HTMLElement {
    const { painter } = this;
    const end = Number(top.toPrecision(2));
    const bar = colourBar(`Colours of ${name} from ${-end} to ${end}`, painter.theme, {
      width: 128, margin: 20, colour: (at) => painter.colour(2 * at - 1, 1), ticks: [[0, `\u2212${end}`], [0.5, "0"], [1, `${end}`]],
    });
    return element("span", { className: "key" }, name, bar);
  }
}
