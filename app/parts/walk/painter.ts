// Paints the drawing, on the screen or into an SVG.

import { rgbOf } from "../browser/colours";
import { pixels } from "../browser/elements";
import { percent, range, said } from "../browser/text";
import { paintCells, turnedText } from "../canvas/saving/pictures";
import { NOT_A_NUMBER, paintMissing, type Box, type Painting, type Theme } from "../canvas/shared/canvas";
import { Painter } from "../canvas/shared/painter";
import { ABSENT_LINE, type Answer, type Layout, type LayerPlace, type Part, type Span } from "./layout";
import { isAbsent, NUM_BANDS, type GlanceModel, type Link } from "./model";

const DIM = 0.45; // opacity of the answer that a step is not about
const BANDS_OF_LINES = [0.12, 0.25, 0.5, 1.01]; // upper ends of weights that are drawn alike
const FOLLOWED = 8; // links of the followed token in a layer
const LABELS: Record<string, string> = { token: "piece", segment: "sentence", position: "place", input: "sum" };

export class GlancePainter extends Painter {
  isDark = false;
  layout!: Layout;
  pointed: Part | null = null;
  private cells: HTMLCanvasElement[] = [];
  private heads: HTMLCanvasElement[][] = [];
  private masks = new Set<number>();
  private shown: number[] = []; // rows that are not folded
  private named = new Set<number>(); // those whose token is written

  constructor(private readonly model: GlanceModel) {
    super();
  }

  // Called after each message and when the theme changes.
  refresh(theme: Theme): void {
    this.theme = theme;
    const ground = rgbOf(theme.background);
    this.isDark = ground[0] + ground[1] + ground[2] < 384;
    this.labels.forget();
    const { header } = this.model;
    this.masks = new Set(header.predictions.flatMap(({ kind, row }) => (kind === "masked" ? [row] : [])));
    this.cells = header.columns.map((_, column) => this.vectors(column, this.cells[column]));
    const ink = rgbOf(this.isDark ? "#9cc0f0" : "#23429e");
    const ramp = Array.from(this.model.table, (weight) => {
      const strength = Math.sqrt(weight);
      return ground.map((channel, k) => Math.round(channel + (ink[k] - channel) * strength));
    });
    this.heads = range(header.num_layers).map((layer) =>
      range(header.num_heads).map((head) => this.attention(layer, head, ramp, this.heads[layer]?.[head])));
  }

  // ---- painting ----

  drawOn(context: Painting): void {
    const { model, layout } = this;
    context.textBaseline = "middle";
    context.direction = "ltr";
    context.lineCap = "round";
    this.shown = range(model.size).filter((row) => layout.rows[row].height > 0);
    this.named = this.labelled();
    this.paintTitles(context);
    range(model.header.num_layers).forEach((layer) => this.paintLinks(context, layer));
    if (layout.text.width) this.paintWords(context);
    for (const span of [layout.pieces, layout.readers]) if (span.width) this.paintPieces(context, span);
    this.paintFolds(context);
    this.paintVectors(context);
    this.paintRow(context);
    layout.layers.forEach((place, layer) => place.head >= 1 && this.paintHeads(context, place, layer));
    layout.strips.forEach((strip) => strip.width && this.paintStrip(context, strip, this.say(strip.name, strip.number)));
    layout.boxes.forEach((box) => this.paintAnswer(context, box));
    context.globalAlpha = 1;
  }

  private get step(): string {
    return this.model.header.steps[this.model.step].part;
  }

  // A text of the drawing in the visitor's language.
  private say(text: string, number: number | string = ""): string {
    return said(text).replace("{number}", String(number));
  }

  private y(row: number): number {
    return this.layout.rows[row].y;
  }

  private label(context: Painting, text: string, x: number, y: number, room: number, align: CanvasTextAlign = "left"): void {
    if (room > 8) this.write(context, this.labels.fit(context, text, Math.round(room)), x, y, align);
  }

  private over(context: Painting, text: string, { x, width }: Span, y: number, room = width): void {
    if (width) this.label(context, text, x + width / 2, y, room, "center");
  }

  private paintTitles(context: Painting): void {
    const { layout: { text, pieces, readers, columns, layers, answers, top, rowHeight }, model: { header } } = this;
    const first = header.columns.findIndex(({ layer }) => layer >= 0);
    const inputs = columns.slice(0, first);
    const end = inputs[first - 1];
    this.fill(context, this.theme.text);
    this.font(context, 12.5, 600);
    if (pieces.width && text.width) this.label(context, this.say("Text"), text.x + text.width, 9, text.width, "right");
    this.over(context, this.say(readers.width ? "is read" : "Tokens"), pieces, 9);
    this.over(context, this.say("reads"), readers, 9);
    this.over(context, this.say("Input"), { x: inputs[0].x, width: end.width && end.x + end.width - inputs[0].x }, 9);
    const every = layers[0].width < 20 ? 2 : 1;
    layers.forEach((place, layer) => {
      if (layer % every === 0) this.over(context, place.width >= 52 ? `${said("Layer")} ${layer}` : String(layer), place, 9, place.width * every);
    });
    this.label(context, this.say("Predictions"), answers.x, 9, answers.width);
    this.font(context, 11.5);
    // Under them what the columns are, where there is room.
    const write = (text: string, span: Span, room: number) => {
      const name = this.say(text);
      if (room > context.measureText(name).width) this.over(context, name, span, top - 10, room);
    };
    inputs.forEach((span, column) => {
      const next = inputs[column + 1];
      const pitch = next ? next.x - span.x : 99;
      const { kind } = header.columns[column];
      write(kind === "segment" && pitch < 56 ? "A/B" : LABELS[kind], span, pitch);
      if (!span.width || !next || (next !== end && isAbsent(header, header.columns[column + 1].kind))) return;
      this.label(context, next === end ? "=" : "+", (span.x + span.width + next.x) / 2, top + rowHeight / 2, 12, "center");
    });
    if (this.step === "feed_forward") {
      const [before, inside, after] = columns.slice(first);
      write("before", before, 60);
      write("feed-forward", inside, inside.width);
      write("after", after, 60);
    }
    const last = columns[columns.length - 1];
    if (!layers[0].width) write(last.width < 50 ? "last" : "last vector", last, last.width + 16);
  }

  // The characters of each word, and a bracket where it falls into pieces. Without pieces beside them, the hidden words as
  // they are read, and a line from each word to a gap, which all of them help to fill.
  private paintWords(context: Painting): void {
    const { layout: { text, pieces, rows, rowHeight }, theme, model: { header }, masks } = this;
    const isAlone = !pieces.width;
    const gaps = isAlone ? header.predictions.filter(({ kind, row }) => kind !== "replaced" && rows[row].height).map(({ row }) => row) : [];
    const wide = Math.min(190, text.width * 0.55);
    const right = text.x + text.width;
    this.font(context, Math.min(isAlone ? 16 : 14, Math.max(isAlone ? 11 : 9, rowHeight * 0.72)));
    for (const { text: word, first, last } of header.words) {
      if (!rows[first].height && !rows[last].height) continue;
      const middle = (this.y(first) + this.y(last)) / 2;
      if (isAlone) {
        const own = range(last - first + 1).map((k) => first + k);
        const isHidden = own.some((row) => masks.has(row));
        this.fill(context, isHidden ? theme.text : header.text_ids[first] ? header.kinds.b : header.kinds.a);
        context.fillRect(text.x, this.y(first) - rowHeight / 2 + 2, isHidden ? wide : 4, this.y(last) - this.y(first) + rowHeight - 4);
        this.fill(context, isHidden ? theme.background : theme.text);
        const read = isHidden ? own.map((row) => header.tokens[row]).join("").replaceAll("##", "") : word;
        this.label(context, read, text.x + 12, middle + 0.5, wide - 16);
        for (const gap of gaps.filter((row) => !isHidden || own.includes(row))) {
          const [from, half, y] = [text.x + wide + 4, (text.x + wide + right) / 2, this.y(gap)];
          const alpha = isHidden ? 0.9 : gaps.length > 3 ? 0.08 : 0.25;
          this.stroke(context, isHidden ? header.accent : theme.text, isHidden ? 2 : 1, alpha, () => {
            context.moveTo(from, middle);
            context.bezierCurveTo(half, middle, half, y, right, y);
          });
        }
        continue;
      }
      this.fill(context, theme.text, 0.85);
      if (last > first || this.named.has(first)) this.label(context, word, right - 8, middle, text.width - 10, "right");
      if (last === first) continue;
      const [reach, from, to] = [pieces.x - right, this.y(first) - rowHeight * 0.3, this.y(last) + rowHeight * 0.3];
      this.stroke(context, theme.text, 1, 0.85, () => {
        context.moveTo(right - 4 + reach, from);
        context.lineTo(right - 4 + reach / 2, from);
        context.lineTo(right - 4 + reach / 2, to);
        context.lineTo(right - 4 + reach, to);
      });
    }
  }

  // Rows whose names are drawn: all, or those that have room, important ones first.
  private labelled(): Set<number> {
    const { model: { header, followed }, layout: { rows, rowHeight }, shown } = this;
    if (rowHeight >= 11) return new Set(shown);
    const apart = Math.ceil(11 / rowHeight);
    const chosen: number[] = [];
    for (const row of [followed, ...header.predictions.map((one) => one.row), ...shown.filter((one) => header.text_ids[one] < 0), ...shown]) {
      if (rows[row].height && chosen.every((other) => Math.abs(other - row) >= apart)) chosen.push(row);
    }
    return new Set(chosen);
  }

  private paintPieces(context: Painting, { x, width }: Span): void {
    const { layout: { rows, rowHeight }, theme, model: { header, followed }, masks } = this;
    for (const row of this.shown) {
      const { y, height } = rows[row];
      const tall = Math.max(1, height - (height >= 8 ? 3 : 0.5));
      const text = header.text_ids[row];
      this.fill(context, masks.has(row) ? theme.text : theme.secondary);
      context.fillRect(x, y - tall / 2, width, tall);
      this.fill(context, text === 1 ? header.kinds.b : text === 0 ? header.kinds.a : header.kinds.special);
      context.fillRect(x, y - tall / 2, 4, tall);
    }
    // The names last: where rows are lower than letters they reach into the next ones.
    for (const row of this.named) {
      const isMask = masks.has(row);
      this.font(context, Math.min(14, Math.max(10, rowHeight * 0.72)), row === followed || isMask ? 700 : 500);
      this.fill(context, theme.text);
      if (isMask && rowHeight < 11) context.fillRect(x + 4, this.y(row) - 6, width - 4, 12);
      if (isMask) this.fill(context, theme.background);
      this.label(context, header.tokens[row], x + 4 + (width - 4) / 2, this.y(row) + 0.5, width - 10, "center");
    }
  }

  // Where tokens are folded, how many.
  private paintFolds(context: Painting): void {
    const { layout: { rows, text, pieces, answers }, theme, model, shown } = this;
    const start = (pieces.width ? pieces : text).x;
    this.font(context, 11);
    shown.forEach((row, at) => {
      const folded = model.foldedBetween(row, shown[at + 1]);
      if (!folded) return;
      const [above, below] = [rows[row], rows[shown[at + 1]]];
      const y = (above.y + above.height / 2 + (below ? below.y - below.height / 2 : above.y + above.height / 2 + 12)) / 2;
      this.stroke(context, theme.text, 1, 0.3, () => {
        for (let x = start; x < answers.x - 12; x += 8) {
          context.moveTo(x, y);
          context.lineTo(x + 3, y);
        }
      });
      const note = this.say("{number} more", folded);
      const wide = context.measureText(note).width + 8;
      this.fill(context, theme.background, 0.9);
      context.fillRect(start + 6, y - 6, wide, 12);
      this.fill(context, theme.text);
      this.label(context, note, start + 10, y, wide);
    });
  }

  private paintVectors(context: Painting): void {
    const { layout: { columns, rows }, model: { header } } = this;
    header.columns.forEach(({ kind }, column) => {
      const { x, width } = columns[column];
      if (width < 1) return;
      context.globalAlpha = 1;
      const [first, last] = [rows[0], rows[rows.length - 1]];
      if (isAbsent(header, kind)) this.paintFrame(context, [x, first.y - first.height / 2, width, last.y - first.y + first.height]);
      else for (const row of this.shown) {
        const { y, height } = rows[row];
        const tall = height >= 8 ? height - 3 : height;
        paintCells(context, this.cells[column], [0, row, NUM_BANDS, 1], [x, y - tall / 2, width, tall]);
      }
    });
  }

  private paintHeads(context: Painting, place: LayerPlace, layer: number): void {
    const { layout: { perRow }, theme, model: { header, hasHeads, followed }, pointed } = this;
    const { heads: [left, upper, wide, tall], head: side, pitch } = place;
    const corner = (head: number) => [left + (head % perRow) * pitch[0], upper + Math.floor(head / perRow) * pitch[1]];
    const all = range(header.num_heads);
    context.globalAlpha = 1;
    for (const head of all) {
      const [x, y] = corner(head);
      paintCells(context, this.heads[layer][head], [0, 0, header.size, header.size], [x, y, side, side]);
    }
    const frame = (head: number, grow: number) => {
      const [x, y] = corner(head);
      context.roundRect(x - grow, y - grow, side + 2 * grow, side + 2 * grow, 0);
    };
    this.stroke(context, theme.text, 0.7, 0.35, () => all.forEach((head) => frame(head, 0.5)));
    if (this.step === "heads" && hasHeads) { // what the followed token reads
      const cell = side / header.size;
      this.stroke(context, header.accent, 1.5, 1, () => all.forEach((head) => {
        const [x, y] = corner(head);
        context.roundRect(x, y + followed * cell - 1, side, cell + 2, 1);
      }));
      this.fill(context, theme.text);
      this.font(context, 12);
      for (const head of all) {
        const [x, y] = corner(head);
        const [{ key, weight }] = this.model.from(layer, followed, head, 1);
        const name = this.model.name(key, 16);
        const names = [`${head}: ${name} ${percent(weight)}`, `${head}: ${name}`, name];
        const fits = names.find((one) => context.measureText(one).width <= pitch[0] - 6) ?? name;
        this.label(context, fits, x, y + side + 9, pitch[0] - 6);
      }
    }
    const head = pointed?.layer === layer ? pointed.head : undefined;
    if (head !== undefined) this.stroke(context, header.accent, 2, 1, () => frame(head, 1));
    if (header.broken.includes(layer)) paintMissing(context, [left, upper, wide, tall]);
  }

  private paintStrip(context: Painting, { x, width }: Span, name: string): void {
    const { layout: { top, height }, theme } = this;
    const tall = height - top - 6;
    this.fill(context, theme.secondary);
    this.stroke(context, theme.border, 1, 1, () => context.roundRect(x + 0.5, top + 0.5, Math.max(0, width - 1), tall, 5));
    context.fill();
    this.fill(context, theme.text);
    this.font(context, 12.5, 600);
    context.textAlign = "center";
    if (width > 15) turnedText(context, name, x + width / 2, top + Math.min(tall / 2, 130), -90);
  }

  // What tokens read in a layer: the strongest links of all, and more of those of the followed one.
  private paintLinks(context: Painting, layer: number): void {
    const { theme, model, layout: { rowHeight, layers, rows }, pointed } = this;
    const { lines: { x, width }, width: whole } = layers[layer];
    if (width < 4) return;
    const curves = (links: Link[]) => () => links.forEach(({ key, query }) => {
      const [from, to] = [this.y(key), this.y(query)];
      context.moveTo(x, from);
      context.bezierCurveTo(x + width * 0.5, from, x + width * 0.5, to, x + width, to);
    });
    const thin = Math.max(0.4, Math.min(whole > 200 ? 1.6 : 1, rowHeight / 14));
    const others = model.links[layer].filter(({ query }) => query !== model.followed && rows[query].height);
    BANDS_OF_LINES.forEach((most, band) => {
      const links = others.filter(({ weight }) => weight >= (BANDS_OF_LINES[band - 1] ?? 0) && weight < most);
      const strength = Math.min(1, most);
      if (links.length) this.stroke(context, theme.text, (0.6 + 1.6 * strength) * thin, (0.1 + 0.3 * strength) * thin, curves(links));
    });
    const head = pointed?.layer === layer ? pointed.head ?? null : null;
    for (const link of model.from(layer, model.followed, head, FOLLOWED)) {
      const { weight } = link;
      if (!(weight >= model.least(0.03))) continue;
      this.stroke(context, model.header.accent, 0.8 + 5 * weight, 0.25 + 0.7 * Math.sqrt(weight), curves([link]));
    }
  }

  // Around the followed token, all the way to the predictions.
  private paintRow(context: Painting): void {
    const { layout: { text, pieces, answers, rows }, model, model: { header: { words }, followed } } = this;
    const { height } = rows[followed];
    // A word is drawn as one where its pieces are not.
    const { first, last } = (!pieces.width && words.find((word) => word.first <= followed && followed <= word.last)) || { first: followed, last: followed };
    const span = pieces.width ? pieces : text;
    const left = Math.max(1, span.x - 2);
    const right = this.step === "heads" ? span.x + span.width + 2 : answers.x - 8;
    const tall = Math.max(height, 7);
    const upper = this.y(first) - tall / 2;
    if (height) this.stroke(context, model.header.accent, 1.5, 1, () => context.roundRect(left, upper, right - left, this.y(last) - this.y(first) + tall, 4));
  }

  // ---- predictions ----

  private paintAnswer(context: Painting, box: Answer): void {
    const { layout: { answers: { x, width }, rows }, theme, model: { header }, step } = this;
    const alpha = step === "all" || (box.kind === "pair") === (step === "pair") ? 1 : DIM;
    const { line, y: top, reason } = box;
    if (reason.length) {
      this.paintFrame(context, [x, top, width - 1, box.height - 4]);
      this.fill(context, theme.text, Math.max(0.7, alpha));
      this.font(context, 11);
      return reason.forEach((text, at) => this.label(context, text, x + 4, top + 9 + at * ABSENT_LINE, width - 8));
    }
    const color = box.kind === "pair" ? header.kinds.a : header.accent;
    if (rows[box.row].height) {
      this.stroke(context, color, 1.2, 0.7 * alpha, () => {
        context.moveTo(x - 8, this.y(box.row));
        context.lineTo(x - 3, top + 8);
      });
    }
    const [large, small] = line > 20 ? [15, 13] : [12, 11];
    const answer = header.predictions[box.index];
    const of = answer && header.words.find(({ first, last }) => first < last && first <= answer.row && answer.row <= last);
    const hidden = of ? `${of.text} ${answer.row - of.first + 1}/${of.last - of.first + 1}` : answer?.original;
    const pair = box.kind === "pair" ? header.pair : null;
    const what = pair ? (pair.kind === "nsp" ? "B follows A?" : "A before B?")
      : { masked: answer.original ? "hidden:" : "in the gap", next: "next word", replaced: "replaced?" }[answer.kind];
    this.fill(context, theme.text, alpha);
    this.font(context, small, step === "training" ? 700 : 400);
    this.label(context, `${said(what)} ${pair || !answer.original ? "" : hidden}`, x, top + 8, width);
    const bars: [string, number | null][] = pair
      ? [[this.say("yes"), pair.probability]]
      : answer.words.slice(0, box.numWords).map((word, k) => [word, answer.probabilities[k]]);
    bars.forEach(([word, probability], k) => {
      const y = top + 8 + line * (k + 1);
      this.fill(context, color, 0.3 * alpha);
      context.fillRect(x, y - line / 2 + 1, Math.max(1, width * (probability ?? 0)), line - 2);
      this.fill(context, theme.text, alpha);
      this.font(context, large, k || pair ? 400 : 700);
      this.label(context, word, x + 4, y + 0.5, width - 48);
      this.font(context, small);
      this.label(context, percent(probability ?? NaN), x + width - 3, y + 0.5, 48, "right");
    });
  }

  // Around a part that the checkpoint or the text lacks.
  private paintFrame(context: Painting, [x, y, width, tall]: Box): void {
    this.stroke(context, this.theme.text, 1, 0.35, () => context.roundRect(x, y, width, tall, 3));
  }

  // ---- pictures of numbers ----

  private attention(layer: number, head: number, ramp: number[][], canvas?: HTMLCanvasElement): HTMLCanvasElement {
    const codes = this.model.codes(layer, head);
    const { size } = this.model.header;
    return pixels(size, size, (at) => ramp[codes[at]], canvas);
  }

  private vectors(column: number, canvas?: HTMLCanvasElement): HTMLCanvasElement {
    const { model, isDark } = this;
    return pixels(NUM_BANDS, model.size, (at) => {
      const value = model.band(column, Math.floor(at / NUM_BANDS), at % NUM_BANDS);
      return Number.isNaN(value) ? NOT_A_NUMBER : model.colour(value, isDark);
    }, canvas);
  }
}
