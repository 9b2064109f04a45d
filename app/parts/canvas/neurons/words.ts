// What the neuron view says of a key: the tooltip, the sum below the rows, and a live region.

import { element } from "../../browser/elements";
import { LiveRegion } from "../../browser/live_region";
import { decimal, legible, shorten } from "../../browser/text";
import { tokenInTip, type Tooltip } from "../shared/tooltip";
import type { NeuronModel } from "./model";

export const NAMED = 3; // largest products that are named

export class NeuronWords {
  readonly line = element("div", { className: "note line sum" });
  readonly liveRegion = new LiveRegion();

  constructor(private readonly model: NeuronModel, readonly tip: Tooltip) {}

  showTip(event?: MouseEvent): void {
    const { model } = this;
    const { pointed: place, query, queries, keys, header: { tokens, width } } = model;
    if (!place || !event) return this.tip.hide();
    const lines: HTMLElement[] = [];
    if (place.dimension !== null) {
      const [q, k] = [queries[query * width + place.dimension], keys[place.key * width + place.dimension]];
      const text = `${numberText(q)} \u00d7 ${numberText(k)} = ${numberText(model.product(place.key, place.dimension))}`;
      lines.push(element("div", {}, `dimension ${place.dimension}: `, element("b", { textContent: text })));
    }
    lines.push(element("div", {}, "score ", element("b", { textContent: numberText(model.score(place.key)) }),
      model.isMasked(place.key) ? ", masked: weight " : ", weight ", element("b", { textContent: weightText(model.weight(place.key)) })));
    return this.tip.show(event.clientX, event.clientY, tokenInTip(tokens[query]), " attends to ",
      tokenInTip(tokens[place.key]), ...lines);
  }

  say(): void {
    const { model } = this;
    const { shownKey: key, query, header: { width } } = model;
    const [score, weight] = [model.score(key), model.weight(key)];
    const bdi = (token: number) => element("bdi", { textContent: `\u201c${shortName(model, token)}\u201d` });
    const strong = (text: string) => element("b", { textContent: text });
    const dimensions = model.strongest(key, NAMED).map((k) => `${k} (${numberText(model.product(key, k))})`).join(", ");
    this.line.replaceChildren(bdi(query), " attends to ", bdi(key), ": the products sum to ",
      strong(numberText(score * Math.sqrt(width))), `, divided by \u221a${width} that is the score `, strong(numberText(score)),
      model.isMasked(key) ? ". It is masked, so its weight is " : ", and softmax gives the weight ", strong(weightText(weight)),
      `. Largest products: dimensions ${dimensions}.`);
    this.liveRegion.say(`${shortName(model, query)} attends to ${shortName(model, key)}: score ${numberText(score)}, weight ${weightText(weight)}`);
  }
}

export function shortName(model: NeuronModel, token: number): string {
  return shorten(legible(model.header.tokens[token]), 60);
}

export function numberText(value: number): string {
  return Number.isNaN(value) ? "not a number" : decimal(value, Math.abs(value) < 0.1 ? 4 : 3);
}

function weightText(weight: number): string {
  return Number.isNaN(weight) ? "not a number" : weight.toFixed(6);
}
