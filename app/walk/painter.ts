// Paints the drawing, on the screen or into an SVG.

import { rgbOf } from "../browser/colours";
import { context2d, element } from "../browser/elements";
import { percent, range } from "../browser/text";
import { FittedNames, NOT_A_NUMBER, paintMissing, type Box, type Painting, type Theme } from "../canvas/shared/canvas";
import { paintCells } from "../canvas/saving/pictures";
import { ABSENT_LINE, linesOf, wrapped, type Answer, type Layout, type LayerPlace, type Part } from "./layout";
import { isAbsent, NUM_BANDS, type GlanceModel, type Link } from "./model";

const DIM = 0.2; // opacity of what a step is not about
const BANDS_OF_LINES = [0.12, 0.25, 0.5, 1.01]; // upper ends of weights that are drawn alike
const FOLLOWED = 8; // links of the followed token in a layer

type Section = "text" | "pieces" | "input" | "answers" | "pair" | "words" | number; // a number: a layer

export class GlancePainter {
  theme!: Theme;
  isDark = false;
  layout!: Layout;
  pointed: Part | null = null;
  private readonly names = new FittedNames();
  private cells: HTMLCanvasElement[] = [];
  private heads: HTMLCanvasElement[][] = [];
  private step = "";

  constructor(private readonly model: GlanceModel) {}

  // Called after each message and when the theme changes.
  refresh(theme: Theme): void {
    this.theme = theme;
    const ground = rgbOf(theme.background);
    this.isDark = ground[0] + ground[1] + ground[2] < 384;
    this.names.forget();
    const { header } = this.model;
    this.cells = header.columns.map((_, column) => this.vectors(column, this.cells[column]));
    const ink = rgbOf(this.isDark ? "#9cc0f0" : "#23429e");
    const ramp = range(256).map((code) => {
      const strength = Math.sqrt(this.model.decoded(code));
      return ground.map((channel, k) => Math.round(channel + (ink[k] - channel) * strength));
    });
    this.heads = range(header.num_layers).map((layer) =>
      range(header.num_heads).map((head) => this.attention(layer, head, ramp, this.heads[layer]?.[head])));
  }

  // ---- painting ----

  drawOn(context: Painting): void {
    const { model } = this;
    this.step = model.header.steps[model.step]?.part ?? "all";
    context.textBaseline = "middle";
    context.direction = "ltr";
    context.lineCap = "round";
    this.paintTitles(context);
    range(model.header.num_layers).forEach((layer) => this.paintLines(context, layer));
    this.paintFollowed(context);
    this.paintText(context);
    this.paintPieces(context);
    this.paintVectors(context);
    this.layout.layers.forEach((place, layer) => this.paintLayer(context, place, layer));
    this.paintRow(context);
    this.layout.boxes.forEach((box) => this.paintAnswer(context, box));
    context.globalAlpha = 1;
  }

  private lit(section: Section): number {
    const first = section === 0;
    const last = section === this.model.header.num_layers - 1;
    const isLit: Record<string, boolean> = {
      all: true,
      text: section === "text",
      pieces: section === "text" || section === "pieces",
      input: section === "pieces" || section === "input",
      attention: section === "pieces" || section === "input" || first,
      norm: first,
      feed_forward: first,
      layers: typeof section === "number",
      pair: section === "pair" || last,
      words: section === "words" || last,
    };
    return isLit[this.step] ?? true ? 1 : DIM;
  }

  private y(row: number): number {
    return this.layout.top + (row + 0.5) * this.layout.rowHeight;
  }

  private font(context: Painting, size: number, weight = 400): void {
    context.font = `${weight} ${size}px ${this.theme.font}`;
  }

  private label(context: Painting, text: string, x: number, y: number, room: number, align: CanvasTextAlign = "left"): void {
    context.textAlign = align;
    context.fillText(this.names.fit(context, text, room), x, y);
  }

  private paintTitles(context: Painting): void {
    const { layout, theme, model: { header } } = this;
    const { text, pieces, columns, layers, answers, top } = layout;
    context.fillStyle = theme.text;
    this.font(context, 12.5, 600);
    if (text.width) {
      context.globalAlpha = this.lit("text");
      this.label(context, "Text", text.width, 9, text.width, "right");
    }
    context.globalAlpha = this.lit("pieces");
    this.label(context, text.width ? "Pieces" : "Word pieces", pieces.x + pieces.width / 2, 9, pieces.width, "center");
    context.globalAlpha = this.lit("input");
    const inputs = header.columns.filter(({ layer }) => layer < 0);
    const end = columns[inputs.length - 1];
    this.label(context, "Input", (columns[0].x + end.x + end.width) / 2, 9, 160, "center");
    const every = layers[0].width < 20 ? 2 : 1;
    layers.forEach((place, layer) => {
      context.globalAlpha = this.lit(layer);
      const title = place.width >= 52 ? `Layer ${layer}` : String(layer);
      if (layer % every === 0) this.label(context, title, place.x + place.width / 2, 9, place.width * every, "center");
    });
    context.globalAlpha = Math.max(this.lit("pair"), this.lit("words"));
    this.label(context, "Predictions", answers.x, 9, answers.width);
    this.font(context, 10.5);
    context.globalAlpha = 0.8 * this.lit("input");
    inputs.forEach(({ kind }, column) => {
      const { x, width } = columns[column];
      const short = { token: "token", segment: "seg.", position: "pos.", input: "sum" }[kind as string] ?? kind;
      this.label(context, short, x + width / 2, top - 11, width + 12, "center");
      if (column === inputs.length - 1) return;
      const isSum = column === inputs.length - 2;
      if (!isSum && isAbsent(header, inputs[column + 1].kind)) return;
      const sign = isSum ? "=" : "+";
      this.label(context, sign, (x + width + columns[column + 1].x) / 2, top + layout.rowHeight / 2, 12, "center");
    });
  }

  // The characters of each word, and a bracket where it falls into pieces.
  private paintText(context: Painting): void {
    const { layout: { text, pieces, rowHeight }, theme, model } = this;
    context.strokeStyle = context.fillStyle = theme.text;
    context.lineWidth = 1;
    this.font(context, Math.min(13, Math.max(9, rowHeight * 0.7)));
    const labelled = this.labelled();
    for (const { text: word, first, last } of model.header.words) {
      const middle = (this.y(first) + this.y(last)) / 2;
      context.globalAlpha = 0.85 * this.lit("text");
      if (text.width && (last > first || labelled.has(first))) this.label(context, word, text.width, middle, text.width - 2, "right");
      if (last === first || !text.width) continue;
      const [x, reach] = [text.width + 5, pieces.x - text.width - 7];
      context.beginPath();
      context.moveTo(x + reach, this.y(first) - rowHeight * 0.3);
      context.lineTo(x + reach / 2, this.y(first) - rowHeight * 0.3);
      context.lineTo(x + reach / 2, this.y(last) + rowHeight * 0.3);
      context.lineTo(x + reach, this.y(last) + rowHeight * 0.3);
      context.moveTo(x, middle);
      context.lineTo(x + reach / 2, middle);
      context.stroke();
    }
  }

  // Rows whose names are drawn: all, or those that have room, important ones first.
  private labelled(): Set<number> {
    const { model, layout: { rowHeight } } = this;
    if (rowHeight >= 11) return new Set(range(model.size));
    const special = model.header.text_ids.flatMap((text, row) => (text < 0 ? [row] : []));
    const order = [model.followed, ...model.header.predictions.map(({ row }) => row), ...special, ...range(model.size)];
    const apart = Math.ceil(11 / rowHeight);
    const chosen: number[] = [];
    for (const row of order) if (chosen.every((other) => Math.abs(other - row) >= apart)) chosen.push(row);
    return new Set(chosen);
  }

  private paintPieces(context: Painting): void {
    const { layout: { pieces, rowHeight }, theme, model } = this;
    const { header } = model;
    const tall = Math.max(1, rowHeight - (rowHeight >= 8 ? 3 : 0.5));
    const masks = new Set(header.predictions.flatMap(({ kind, row }) => (kind === "masked" ? [row] : [])));
    // The framed token is named in every step.
    const light = (row: number) => (row === model.followed ? 1 : this.lit("pieces"));
    range(model.size).forEach((row) => {
      context.globalAlpha = light(row);
      const text = header.text_ids[row];
      context.fillStyle = masks.has(row) ? theme.text : theme.secondary;
      context.fillRect(pieces.x, this.y(row) - tall / 2, pieces.width, tall);
      context.fillStyle = text === 1 ? header.kinds.b : text === 0 ? header.kinds.a : header.kinds.special;
      context.fillRect(pieces.x, this.y(row) - tall / 2, 4, tall);
    });
    // The names last: where rows are lower than letters they reach into the next ones.
    for (const row of this.labelled()) {
      const isMask = masks.has(row);
      context.globalAlpha = light(row);
      this.font(context, Math.min(13, Math.max(10, rowHeight * 0.72)), row === model.followed || isMask ? 700 : 500);
      if (isMask && rowHeight < 11) {
        context.fillStyle = theme.text;
        context.fillRect(pieces.x + 4, this.y(row) - 6, pieces.width - 4, 12);
      }
      context.fillStyle = isMask ? theme.background : theme.text;
      this.label(context, header.tokens[row], pieces.x + 4 + (pieces.width - 4) / 2, this.y(row) + 0.5, pieces.width - 10, "center");
    }
    for (let row = 0; row < model.size; row++) {
      const folded = model.foldedAfter(row);
      if (folded) this.paintFold(context, row, folded);
    }
  }

  private paintFold(context: Painting, row: number, folded: number): void {
    const { layout: { pieces, rowHeight, answers }, theme } = this;
    const y = this.y(row) + rowHeight / 2;
    context.strokeStyle = theme.text;
    context.lineWidth = 1;
    context.globalAlpha = 0.5;
    context.beginPath();
    for (let x = pieces.x; x < answers.x - 12; x += 8) {
      context.moveTo(x, y);
      context.lineTo(x + 3, y);
    }
    context.stroke();
    this.font(context, 10);
    const note = `${folded} folded`;
    context.fillStyle = theme.background;
    context.globalAlpha = 0.9;
    const wide = context.measureText(note).width + 6;
    context.fillRect(pieces.x + pieces.width - wide, y - 6, wide, 12);
    context.fillStyle = theme.text;
    this.label(context, note, pieces.x + pieces.width - 3, y, wide, "right");
  }

  private paintVectors(context: Painting): void {
    const { layout: { columns, top, rowHeight }, theme, model } = this;
    const { header } = model;
    const tall = rowHeight * model.size;
    header.columns.forEach(({ kind, layer }, column) => {
      const { x, width } = columns[column];
      if (width < 1) return;
      const alpha = this.lit(layer < 0 ? "input" : layer);
      if (isAbsent(header, kind)) return this.paintDashed(context, [x, top, width, tall], alpha);
      context.globalAlpha = alpha;
      paintCells(context, this.cells[column], [0, 0, NUM_BANDS, model.size], [x, top, width, tall]);
      if (rowHeight < 8) return;
      context.fillStyle = theme.background; // a gap between the rows
      context.globalAlpha = 1;
      for (let row = 0; row <= model.size; row++) context.fillRect(x, top + row * rowHeight - 1.5, width, 3);
    });
  }

  private paintLayer(context: Painting, place: LayerPlace, layer: number): void {
    const { layout, theme, model: { header } } = this;
    const [left, upper, , tall] = place.heads;
    const alpha = this.lit(layer);
    const step = place.head + 1;
    context.globalAlpha = alpha;
    this.heads[layer].forEach((source, head) => {
      const x = left + (head % place.perRow) * step;
      const y = upper + Math.floor(head / place.perRow) * step;
      paintCells(context, source, [0, 0, header.size, header.size], [x, y, place.head, place.head]);
    });
    context.strokeStyle = theme.text;
    context.lineWidth = 0.7;
    context.globalAlpha = 0.35 * alpha;
    const pointed = this.pointed?.kind === "attention" && this.pointed.layer === layer ? this.pointed.head : null;
    context.beginPath();
    range(header.num_heads).forEach((head) =>
      context.roundRect(left + (head % place.perRow) * step - 0.5, upper + Math.floor(head / place.perRow) * step - 0.5, step, step, 0));
    context.stroke();
    context.globalAlpha = alpha;
    if (pointed !== null) {
      context.strokeStyle = header.accent;
      context.lineWidth = 2;
      context.beginPath();
      context.roundRect(left + (pointed % place.perRow) * step - 1, upper + Math.floor(pointed / place.perRow) * step - 1, step + 1, step + 1, 2);
      context.stroke();
    }
    if (header.broken.includes(layer)) paintMissing(context, [left, upper, place.heads[2], tall]);
    this.paintHalves(context, place, layer, layout.top - 12, alpha);
  }

  // Above the rows: attention, add (& norm), feed-forward, add (& norm), as small signs.
  private paintHalves(context: Painting, place: LayerPlace, layer: number, y: number, alpha: number): void {
    const { layout, theme, model: { header } } = this;
    const own = header.columns.flatMap((column, index) => (column.layer === layer ? [index] : []));
    const sign = (span: { x: number; width: number }) => {
      const x = span.x + span.width / 2;
      context.beginPath();
      context.roundRect(x - 5.5, y - 5.5, 11, 11, 5.5);
      context.moveTo(x - 3, y);
      context.lineTo(x + 3, y);
      context.moveTo(x, y - 3);
      context.lineTo(x, y + 3);
      context.stroke();
    };
    context.globalAlpha = 0.75 * alpha;
    context.strokeStyle = context.fillStyle = theme.text;
    context.lineWidth = 1;
    if (own.length > 1 && place.width >= 30) sign(layout.columns[own[own.length - 1]]);
    if (!layout.hasHalves) return;
    const half = layout.columns[own[0]];
    sign(half);
    this.font(context, 10.5);
    const room = half.x - place.lines.x - 8;
    const name = room > 48 ? "attention" : room > 24 ? "att." : "";
    if (name) this.label(context, name, place.lines.x + room / 2 - 2, y, room, "center");
    // The feed-forward network: each row alone.
    const [from, to] = [half.x + half.width + 1, layout.columns[own[own.length - 1]].x - 1];
    const last = layout.columns[own[own.length - 1]];
    const [first, second] = [half.x + half.width / 2, last.x + last.width / 2]; // of the two signs
    if (second - first > 25) this.label(context, "FF", (first + second) / 2, y, 20, "center");
    context.globalAlpha = 0.3 * alpha;
    context.beginPath();
    for (let row = 0; row < this.model.size; row++) {
      context.moveTo(from, this.y(row));
      context.lineTo(to, this.y(row));
    }
    context.stroke();
  }

  // ---- attention ----

  private curve(context: Painting, layer: number, { key, query }: Link): void {
    const { x, width } = this.layout.layers[layer].lines;
    const [from, to] = [this.y(key), this.y(query)];
    context.moveTo(x, from);
    context.bezierCurveTo(x + width * 0.5, from, x + width * 0.5, to, x + width, to);
  }

  private paintLines(context: Painting, layer: number): void {
    const { theme, model, layout: { rowHeight } } = this;
    const thin = Math.max(0.4, Math.min(1, rowHeight / 14));
    context.strokeStyle = theme.text;
    let least = 0;
    for (const most of BANDS_OF_LINES) {
      const links = model.links[layer].filter(({ weight, query }) =>
        weight >= least && weight < most && query !== model.followed);
      least = most;
      if (!links.length) continue;
      const strength = Math.min(1, most);
      context.globalAlpha = (0.1 + 0.3 * strength) * thin * this.lit(layer);
      context.lineWidth = (0.6 + 1.6 * strength) * thin;
      context.beginPath();
      for (const link of links) this.curve(context, layer, link);
      context.stroke();
    }
  }

  // What the followed token takes in each layer.
  private paintFollowed(context: Painting): void {
    const { model } = this;
    context.strokeStyle = model.header.accent;
    const least = Math.max(0.03, model.notable);
    range(model.header.num_layers).forEach((layer) => {
      const { pointed } = this;
      const head = pointed?.kind === "attention" && pointed.layer === layer ? pointed.head : null;
      for (const link of model.from(layer, model.followed, head, FOLLOWED)) {
        if (!(link.weight >= least)) continue;
        context.globalAlpha = (0.25 + 0.7 * Math.sqrt(link.weight)) * this.lit(layer);
        context.lineWidth = 0.8 + 5 * link.weight;
        context.beginPath();
        this.curve(context, layer, link);
        context.stroke();
      }
    });
  }

  private paintRow(context: Painting): void {
    const { layout: { pieces, answers, rowHeight }, model } = this;
    const tall = Math.max(rowHeight, 7);
    context.globalAlpha = 1;
    context.strokeStyle = model.header.accent;
    context.lineWidth = 1.5;
    context.beginPath();
    context.roundRect(pieces.x - 2, this.y(model.followed) - tall / 2, answers.x - pieces.x - 6, tall, 4);
    context.stroke();
  }

  // ---- predictions ----

  private paintAnswer(context: Painting, box: Answer): void {
    const { layout: { answers }, theme, model: { header } } = this;
    const alpha = this.lit(box.kind);
    const absent = header.absent[box.kind];
    const { x } = answers;
    context.globalAlpha = alpha;
    context.fillStyle = context.strokeStyle = theme.text;
    if (absent !== undefined) return this.paintAbsent(context, box, absent, alpha);
    const color = box.kind === "pair" ? header.kinds.a : header.accent;
    context.strokeStyle = color;
    context.globalAlpha = 0.7 * alpha;
    context.lineWidth = 1.2;
    context.beginPath();
    context.moveTo(x - 7, this.y(box.row));
    context.lineTo(x - 3, box.y + 8);
    context.stroke();
    this.font(context, 10.5);
    context.globalAlpha = 0.85 * alpha;
    const heads = { masked: "masked-word head", next: "next token", replaced: "replaced?" };
    const what = box.kind === "pair" ? "pooler" : heads[header.predictions[box.index].kind];
    this.label(context, `${header.tokens[box.row]} \u2192 ${what}`, x, box.y + 8, answers.width);
    const bars: [string, number | null][] = box.kind === "pair" && header.pair
      ? [[header.pair.kind === "nsp" ? "B follows A" : "A before B", header.pair.probability]]
      : header.predictions[box.index].words.slice(0, box.numWords).map((word, k) => [word, header.predictions[box.index].probabilities[k]]);
    bars.forEach(([word, probability], k) => {
      const y = box.y + 23 + k * 15;
      context.globalAlpha = (box.kind === "pair" ? 0.35 : 0.3) * alpha;
      context.fillStyle = color;
      context.fillRect(x, y - 6.5, Math.max(1, answers.width * (probability ?? 0)), 13);
      context.globalAlpha = alpha;
      context.fillStyle = theme.text;
      this.font(context, 12, k || box.kind === "pair" ? 400 : 700);
      this.label(context, word, x + 4, y + 0.5, answers.width - 44);
      this.font(context, 11);
      this.label(context, percent(probability ?? NaN), x + answers.width - 3, y + 0.5, 40, "right");
    });
  }

  private paintAbsent(context: Painting, box: Answer, why: string, alpha: number): void {
    const { layout: { answers } } = this;
    this.paintDashed(context, [answers.x, box.y, answers.width - 1, box.height - 4], alpha);
    context.globalAlpha = 0.7 * alpha;
    this.font(context, 10.5);
    const lines = wrapped(why, (text) => context.measureText(text).width, answers.width - 8);
    const room = linesOf(box);
    if (lines.length > room) lines.splice(room - 1, lines.length, lines.slice(room - 1).join(" ")); // which is cut to fit
    lines.forEach((line, at) => this.label(context, line, answers.x + 4, box.y + 9 + at * ABSENT_LINE, answers.width - 8));
  }

  // The frame of a part that the checkpoint or the text lacks.
  private paintDashed(context: Painting, [x, y, width, tall]: Box, alpha: number): void {
    context.globalAlpha = 0.5 * alpha;
    context.strokeStyle = this.theme.text;
    context.lineWidth = 1;
    context.beginPath();
    for (let at = 0; at < width; at += 6) {
      for (const line of [y, y + tall]) {
        context.moveTo(x + at, line);
        context.lineTo(x + Math.min(at + 3, width), line);
      }
    }
    for (let at = 0; at < tall; at += 6) {
      for (const line of [x, x + width]) {
        context.moveTo(line, y + at);
        context.lineTo(line, y + Math.min(at + 3, tall));
      }
    }
    context.stroke();
  }

  // ---- pictures of numbers ----

  private attention(layer: number, head: number, ramp: number[][], canvas?: HTMLCanvasElement): HTMLCanvasElement {
    const codes = this.model.codes(layer, head);
    const { size } = this.model.header;
    return picture(size, size, (at) => ramp[codes[at]], canvas);
  }

  private vectors(column: number, canvas?: HTMLCanvasElement): HTMLCanvasElement {
    const { model, isDark } = this;
    return picture(NUM_BANDS, model.size, (at) => {
      const value = model.band(column, Math.floor(at / NUM_BANDS), at % NUM_BANDS);
      return Number.isNaN(value) ? NOT_A_NUMBER : model.colour(value, isDark);
    }, canvas);
  }
}

// A canvas of a pixel for each number; the one of the last text, since a new one takes longer than what is drawn on it.
function picture(width: number, height: number, colour: (at: number) => ArrayLike<number>, canvas = element("canvas")): HTMLCanvasElement {
  const image = new ImageData(width, height);
  for (let at = 0; at < width * height; at++) {
    const rgb = colour(at);
    for (let channel = 0; channel < 3; channel++) image.data[4 * at + channel] = rgb[channel];
    image.data[4 * at + 3] = 255;
  }
  Object.assign(canvas, { width, height });
  context2d(canvas).putImageData(image, 0, 0);
  return canvas;
}
