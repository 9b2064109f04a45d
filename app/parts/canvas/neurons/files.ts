// The neurons as a table and as files: all keys in the shown order, the picture as it is seen.

import { exact, range } from "../../browser/text";
import type { Saved } from "../saving/buttons";
import type { NamedArray } from "../saving/npz";
import type { Picture } from "../saving/pictures";
import type { CaptionedSheet, Sheet } from "../shared/data_table";
import type { NeuronModel } from "./model";
import type { NeuronPainter } from "./painter";
import { NAMED, numberText, shortName } from "./words";

export class NeuronFiles implements Saved {
  constructor(private readonly model: NeuronModel, private readonly painter: NeuronPainter) {}

  fileName(): string {
    const { header: { layer, head }, query } = this.model;
    return `bertscope-neurons-layer-${layer}-head-${head}-token-${query}`;
  }

  picture(): Picture {
    const { painter } = this;
    const { width, height, theme: { background: ground } } = painter;
    return { width, height, ground, draw: (context) => painter.drawOn(context) };
  }

  table(): CaptionedSheet {
    const { model } = this;
    const { header: { layer, head, tokens }, query, orderBy } = model;
    const title = `Layer ${layer} head ${head}, query \u201c${shortName(model, query)}\u201d (token ${query})`;
    return {
      caption: `${title}: every key, ${orderBy === "text" ? "in the order of the text" : "most attention first"}.`,
      columns: ["key", "score", "weight", "largest products (dimension: value)"],
      rows: model.order.map((key) => [
        `${key} ${tokens[key]}`, fixed(model.score(key)), fixed(model.weight(key)),
        model.strongest(key, NAMED).map((k) => `${k}: ${numberText(model.product(key, k))}`).join(", "),
      ]),
    };
  }

  sheet(): Sheet {
    const { model } = this;
    const dimensions = range(model.header.width);
    return {
      columns: ["position", "key", "score", "weight", ...dimensions.map((k) => `q_k_${k}`)],
      rows: model.order.map((key) => [key, model.header.tokens[key], exact(model.score(key)), exact(model.weight(key)),
        ...dimensions.map((k) => exact(model.product(key, k)))]),
    };
  }

  facts(): Record<string, unknown> {
    const { header: { layer, head, tokens }, query } = this.model;
    return { what: "query times key, score, weight", layer, head, query, token: tokens[query] };
  }

  arrays(): Record<string, NamedArray> {
    const { model } = this;
    const { header: { width, tokens }, size, query } = model;
    const row = (list: Float32Array, length: number) => list.slice(query * length, (query + 1) * length);
    const products = Float32Array.from({ length: size * width }, (_, at) => model.product(Math.floor(at / width), at % width));
    return {
      query: { shape: [width], values: row(model.queries, width) },
      keys: { shape: [size, width], values: model.keys },
      products: { shape: [size, width], values: products },
      scores: { shape: [size], values: row(model.scores, size) },
      weights: { shape: [size], values: row(model.weights, size) },
      tokens: { shape: [size], values: tokens },
      query_position: { shape: [1], values: Int32Array.of(query) },
    };
  }
}

function fixed(value: number): string {
  return Number.isNaN(value) ? "NaN" : value.toFixed(4);
}
