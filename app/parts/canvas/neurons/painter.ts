// Draws the query and a key as strips of K numbers, then a row for each key with its products, score
// and weight.

import { hexRgb, inkOver, rgbOf } from "../../browser/colours";
import { percent } from "../../browser/text";
import { fitText, NOT_A_NUMBER, readTheme, type Painting } from "../shared/canvas";
import { kindColour } from "../shared/legend";
import { Painter } from "../shared/painter";
import type { NeuronModel } from "./model";

const ROW = 22; // pixels of a key's row
const STRIP = 15; // pixels of its strip
const HEAD = 92; // pixels above the rows: names of the columns, query, key
const GAP = 10; // between the columns

export class NeuronPainter extends Painter {
  width = 0;
  /** Of the window on the rows. */
  height = 0;
  /** Of all rows. */
  contentHeight = 0;
  /** First pixel that is seen. */
  scrolled = 0;
  private names = 150; // pixels of the names
  private numbers = 92; // of the score
  private bars = 130; // of the weight
  private strip = 0;
  private stops: number[][] = [];

  constructor(private readonly model: NeuronModel) {
    super();
  }

  // ---- colours ----

  readColours(root: Element): void {
    this.theme = readTheme(root);
    const isDark = inkOver(rgbOf(this.theme.background)) === "#fff";
    const { dark, light } = this.model.header;
    this.stops = (isDark ? dark : light).map(hexRgb);
  }

  // The colour of a value on a scale from -top to top; the ends hold what is beyond.
  colour(value: number, top: number): string {
    if (Number.isNaN(value)) return `rgb(${NOT_A_NUMBER.join(",")})`;
    const at = Math.max(0, Math.min(1, 0.5 + value / top / 2)) * (this.stops.length - 1);
    const low = Math.min(this.stops.length - 2, Math.floor(at));
    const mixed = this.stops[low].map((c, k) => Math.round(c + (at - low) * (this.stops[low + 1][k] - c)));
    return `rgb(${mixed.join(",")})`;
  }

  // ---- places ----

  layout(width: number): void {
    this.width = width;
    const isNarrow = width < 620;
    this.names = isNarrow ? 92 : 150;
    this.numbers = isNarrow ? 50 : 92;
    this.bars = isNarrow ? 62 : 130;
    this.strip = Math.max(60, width - this.names - this.numbers - this.bars - 3 * GAP - 18);
    this.height = HEAD + Math.min(this.model.size, 20) * ROW + 6;
    this.contentHeight = HEAD + this.model.size * ROW + 6;
  }

  // The key and the dimension at a point of the window.
  hit(x: number, y: number): { key: number; dimension: number | null } | null {
    if (y < HEAD) return null;
    const row = Math.floor((y - HEAD + this.scrolled) / ROW);
    if (row < 0 || row >= this.model.size) return null;
    const dimension = Math.floor((x - this.names) / this.cell);
    return { key: this.model.order[row], dimension: dimension >= 0 && dimension < this.model.header.width ? dimension : null };
  }

  // How far the window must be scrolled to show the marked key.
  scrolledToMarked(scrollTop: number): number {
    const y = this.model.rowOf[this.model.marked] * ROW;
    const room = this.height - HEAD;
    if (y + ROW > scrollTop + room) return y + ROW - room + 6;
    return Math.min(y, scrollTop);
  }

  private get cell(): number { return this.strip / this.model.header.width; }
  private get scoreX(): number { return this.names + this.strip + GAP; }
  private get weightX(): number { return this.scoreX + this.numbers + GAP; }

  // ---- painting ----

  drawOn(context: Painting): void {
    context.textBaseline = "middle";
    const first = Math.floor(this.scrolled / ROW);
    const last = Math.min(this.model.size, Math.ceil((this.scrolled + this.height - HEAD) / ROW));
    for (let row = first; row < last; row++) this.paintRow(context, this.model.order[row], HEAD + row * ROW - this.scrolled);
    this.fill(context, this.theme.background); // rows go under the head
    context.fillRect(0, 0, this.width, HEAD);
    this.paintHead(context);
  }

  // Names of the columns, the query, the shown key.
  private paintHead(context: Painting): void {
    const { header: { width }, query, queries, keys, shownKey, orderBy } = this.model;
    this.paintTitles(context, width);
    this.paintVector(context, "q", query, queries, 22);
    this.paintVector(context, "k", shownKey, keys, 44);
    this.fill(context, this.theme.border);
    context.fillRect(0, HEAD - 24, this.width, 1);
    this.fill(context, this.theme.text, 0.7);
    this.font(context, 11.5);
    const caption = `q \u00d7 k with every key, ${orderBy === "text" ? "in the order of the text" : "most attention first"}`;
    this.write(context, fitText(context, caption, this.width - 20), 14, HEAD - 11);
  }

  private paintTitles(context: Painting, width: number): void {
    this.fill(context, this.theme.text, 0.7);
    this.font(context, 11.5);
    this.write(context, "token", 14, 12);
    this.write(context, fitText(context, `dimensions 0 to ${width - 1} of the head`, this.strip), this.names, 12);
    this.write(context, this.numbers < 60 ? "score" : `q\u00b7k / \u221a${width}`, this.scoreX + this.numbers, 12, "right");
    this.write(context, "weight", this.weightX, 12);
  }

  private paintVector(context: Painting, letter: string, token: number, values: Float32Array, y: number): void {
    const { header: { width }, vectorTop } = this.model;
    this.fill(context, this.theme.text);
    this.font(context, 13, "italic 600");
    this.write(context, letter, 14, y + ROW / 2);
    this.paintName(context, token, 28, y, letter === "q");
    this.paintStrip(context, y, (k) => values[token * width + k], vectorTop);
  }

  private paintRow(context: Painting, key: number, y: number): void {
    const { model } = this;
    const isMarked = key === model.marked;
    const isPointed = key === model.pointed?.key;
    if (isMarked || isPointed) {
      this.fill(context, this.theme.primary, isMarked ? 0.16 : 0.08);
      context.fillRect(0, y, this.width, ROW);
    }
    this.fill(context, kindColour(model.header, model.header.text_ids[key]));
    context.fillRect(4, y + 4, 4, ROW - 8);
    this.paintName(context, key, 14, y, isMarked);
    this.paintStrip(context, y, (k) => model.product(key, k), model.productTop);
    this.paintScore(context, model.score(key), y);
    this.paintWeight(context, model.weight(key), y);
  }

  private paintName(context: Painting, token: number, x: number, y: number, isBold: boolean): void {
    this.fill(context, this.theme.text);
    this.font(context, 12.5, isBold ? 600 : 400);
    const text = this.labels.fit(context, this.model.header.tokens[token], this.names - x - 34);
    this.write(context, text, x, y + ROW / 2 + 0.5);
    this.fill(context, this.theme.text, 0.7); // its place, for tokens of the same name
    this.font(context, 10.5);
    this.write(context, String(token), this.names - 8, y + ROW / 2 + 0.5, "right");
  }

  private paintStrip(context: Painting, y: number, value: (dimension: number) => number, top: number): void {
    const gap = this.cell >= 5 ? 0.6 : 0;
    for (let k = 0; k < this.model.header.width; k++) {
      this.fill(context, this.colour(value(k), top));
      context.fillRect(this.names + k * this.cell, y + (ROW - STRIP) / 2, this.cell - gap + (gap ? 0 : 0.3), STRIP);
    }
  }

  private paintScore(context: Painting, score: number, y: number): void {
    const room = this.numbers < 60 ? 0 : this.numbers - 46; // a bar from the middle, if there is room
    if (room && !Number.isNaN(score)) {
      const [middle, reach] = [this.scoreX + room / 2, (score / this.model.scoreTop) * (room / 2)];
      this.fill(context, this.colour(Math.sign(score) * 0.75, 1));
      context.fillRect(Math.min(middle, middle + reach), y + 6, Math.max(0.7, Math.abs(reach)), ROW - 12);
      this.fill(context, this.theme.border);
      context.fillRect(middle - 0.5, y + 3, 1, ROW - 6);
    }
    this.paintNumber(context, Number.isNaN(score) ? "NaN" : score.toFixed(2), this.scoreX + this.numbers, y);
  }

  private paintWeight(context: Painting, weight: number, y: number): void {
    const room = this.bars - 46;
    if (!Number.isNaN(weight)) {
      this.fill(context, this.model.header.accent);
      context.fillRect(this.weightX, y + 5, Math.max(0.7, weight * room), ROW - 10);
    }
    this.paintNumber(context, percent(weight), this.weightX + this.bars, y);
  }

  private paintNumber(context: Painting, text: string, x: number, y: number): void {
    this.fill(context, this.theme.text);
    this.font(context, 12);
    this.write(context, text, x, y + ROW / 2 + 0.5, "right");
  }
}
