// What the neuron view says in words and numbers: tooltip, the sum, the table, the files.

import { NeuronPainter } from "./paint.js";
import { element, exact, legible, shorten } from "../shared/elements.js";
import { tokenInTip } from "../shared/tooltip.js";

const TOLD = 3; // largest products that are named

export class NeuronWords extends NeuronPainter {
  // The key whose vector is shown in full: the pointed one, else the marked one.
  get shownKey() {
    return this.pointed?.key ?? this.marked;
  }

  name(token) {
    return shorten(legible(this.header.tokens[token]), 60);
  }

  // Dimensions in the order of the size of their products.
  strongest(key) {
    const places = Array.from({ length: this.header.width }, (_, k) => k);
    const size = (k) => Math.abs(this.product(key, k));
    return places.sort((a, b) => size(b) - size(a) || a - b).slice(0, TOLD);
  }

  tell(event) {
    const place = this.pointed;
    if (!place || !event) return this.tooltip.hide();
    const { tokens, width } = this.header;
    const lines = [];
    if (place.dimension !== null) {
      const [q, k] = [this.queries[this.query * width + place.dimension], this.keys[place.key * width + place.dimension]];
      const text = `${number(q)} \u00d7 ${number(k)} = ${number(this.product(place.key, place.dimension))}`;
      lines.push(element("div", {}, `dimension ${place.dimension}: `, element("b", { textContent: text })));
    }
    lines.push(element("div", {}, "score ", element("b", { textContent: number(this.score(place.key)) }),
      ", weight ", element("b", { textContent: exactWeight(this.weight(place.key)) })));
    return this.tooltip.show(event.clientX, event.clientY, tokenInTip(tokens[this.query]), " looks at ",
      tokenInTip(tokens[place.key]), ...lines);
  }

  say() {
    const key = this.shownKey;
    const { width } = this.header;
    const [score, weight] = [this.score(key), this.weight(key)];
    const bdi = (token) => element("bdi", { textContent: `\u201c${this.name(token)}\u201d` });
    const strong = (text) => element("b", { textContent: text });
    const dimensions = this.strongest(key).map((k) => `${k} (${number(this.product(key, k))})`).join(", ");
    this.line.replaceChildren(bdi(this.query), " looks at ", bdi(key), ": the products sum to ",
      strong(number(score * Math.sqrt(width))), `, divided by \u221a${width} that is the score `, strong(number(score)),
      ", and its share of the softmax over all keys is ", strong(exactWeight(weight)),
      `. Largest products: dimensions ${dimensions}.`);
    clearTimeout(this.saying);
    const text = `${this.name(this.query)} looks at ${this.name(key)}: score ${number(score)}, weight ${exactWeight(weight)}`;
    this.saying = setTimeout(() => { this.said.textContent = text; }, 200);
  }

  // ---- the table ----

  twinTable() {
    return {
      caption: `${this.title()}: every key, ${this.orderBy === "text" ? "in the order of the text" : "most attention first"}.`,
      columns: ["key", "score", "weight", "largest products (dimension: value)"],
      rows: this.order.map((key) => [
        `${key} ${this.header.tokens[key]}`, shownNumber(this.score(key)), shownNumber(this.weight(key)),
        this.strongest(key).map((k) => `${k}: ${number(this.product(key, k))}`).join(", "),
      ]),
    };
  }

  title() {
    const { layer, head } = this.header;
    return `Layer ${layer} head ${head}, \u201c${this.name(this.query)}\u201d (token ${this.query}) looks`;
  }

  // ---- files: all keys in the shown order, the picture as it is seen ----

  fileName() {
    const { layer, head } = this.header;
    return `bertscope-neurons-layer-${layer}-head-${head}-token-${this.query}`;
  }

  picture() {
    return {
      width: this.width, height: this.height, ground: this.theme.background,
      draw: (context) => this.drawOn(context),
    };
  }

  sheet() {
    const dimensions = Array.from({ length: this.header.width }, (_, k) => k);
    return {
      columns: ["position", "key", "score", "weight", ...dimensions.map((k) => `q_k_${k}`)],
      rows: this.order.map((key) => [key, this.header.tokens[key], exact(this.score(key)), exact(this.weight(key)),
        ...dimensions.map((k) => exact(this.product(key, k)))]),
    };
  }

  facts() {
    const { layer, head, tokens } = this.header;
    return { what: "query times key, score, weight", layer, head, query: this.query, token: tokens[this.query] };
  }

  arrays() {
    const { width, tokens } = this.header;
    const row = (list, length) => list.slice(this.query * length, (this.query + 1) * length);
    const products = Float32Array.from({ length: this.size * width }, (_, at) =>
      this.product(Math.floor(at / width), at % width));
    return {
      query: { shape: [width], values: row(this.queries, width) },
      keys: { shape: [this.size, width], values: this.keys },
      products: { shape: [this.size, width], values: products },
      scores: { shape: [this.size], values: row(this.scores, this.size) },
      weights: { shape: [this.size], values: row(this.weights, this.size) },
      tokens: { shape: [this.size], values: tokens },
      query_position: { shape: [1], values: Int32Array.of(this.query) },
    };
  }
}

function number(value) {
  return Number.isNaN(value) ? "not a number" : value.toFixed(Math.abs(value) < 0.1 ? 4 : 3);
}

function exactWeight(weight) {
  return Number.isNaN(weight) ? "not a number" : weight.toFixed(6);
}

function shownNumber(value) {
  return Number.isNaN(value) ? "NaN" : value.toFixed(4);
}
