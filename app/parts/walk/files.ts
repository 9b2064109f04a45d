// The drawing as files: the picture, and its numbers.

import type { Saved } from "../canvas/saving/buttons";
import type { NamedArray } from "../canvas/saving/npz";
import type { Picture } from "../canvas/saving/pictures";
import type { CaptionedSheet, Sheet } from "../canvas/shared/data_table";
import { percent, range } from "../browser/text";
import { NUM_BANDS, type GlanceModel } from "./model";
import type { GlancePainter } from "./painter";

const MOST = 3; // tokens that are named in a cell of the table

export class GlanceFiles implements Saved {
  constructor(private readonly model: GlanceModel, private readonly painter: GlancePainter) {}

  fileName(): string {
    return "bertscope-glance";
  }

  picture(): Picture {
    const { painter } = this;
    const { width, height } = painter.layout;
    return { width, height, ground: painter.theme.background, draw: (context) => painter.drawOn(context) };
  }

  // A row for each token that is drawn: where it stands, and what it reads in each layer.
  sheet(): Sheet {
    const { model } = this;
    const { header } = model;
    const layers = range(header.num_layers);
    return {
      columns: ["token", "position", "text", ...layers.map((layer) => `reads in layer ${layer}`)],
      rows: header.tokens.map((token, row) => [
        token, header.positions[row], { 0: "A", 1: "B" }[header.text_ids[row]] ?? "special",
        ...layers.map((layer) => model.from(layer, row, null, MOST)
          .map(({ key, weight }) => `${model.name(key, 20)} ${percent(weight)}`).join(", ")),
      ]),
    };
  }

  table(): CaptionedSheet {
    const drawn = this.model.isFolded ? ", of those drawn" : "";
    return { caption: `The tokens, and what each reads most in every layer (mean of the heads${drawn}).`, ...this.sheet() };
  }

  facts(): Record<string, unknown> {
    const { predictions, pair, positions, num_tokens: tokens, steps } = this.model.header;
    return {
      what: "BERT at a glance", tokens, next_sentence: pair,
      predictions: predictions.map(({ row, ...rest }) => ({ position: positions[row], ...rest })),
      steps: steps.map(({ title, text }) => ({ title, text })),
    };
  }

  arrays(): Record<string, NamedArray> {
    const { model } = this;
    const { columns, num_layers: layers } = model.header;
    const { size } = model;
    const bands = Float32Array.from({ length: columns.length * size * NUM_BANDS }, (_, at) => {
      const column = Math.floor(at / (size * NUM_BANDS));
      return model.band(column, Math.floor(at / NUM_BANDS) % size, at % NUM_BANDS) * columns[column].scale;
    });
    const attention = Float32Array.from({ length: layers * size * size }, (_, at) =>
      model.mean(Math.floor(at / size ** 2), Math.floor(at / size) % size, at % size));
    return {
      vectors: { shape: [columns.length, size, NUM_BANDS], values: bands },
      attention: { shape: [layers, size, size], values: attention },
    };
  }
}
