// Draws the neuron view: the query and a key as strips of K numbers, then a row for each key with

import { NOT_A_NUMBER, fitCanvas, fitText, inkOver, readTheme } from "../shared/canvas.js";
import { element, legible, percent } from "../shared/elements.js";
import { kindColour } from "../shared/levels.js";

export const ROW = 22; // pixels of a key's row
const STRIP = 15; // pixels of its strip
export const HEAD = 92; // pixels above the rows: names of the columns, query, key
const GAP = 10; // between the columns

export class NeuronPainter {
  // ---- numbers ----

  product(key, dimension) {
    const { width } = this.header;
    return Math.fround(this.queries[this.query * width + dimension] * this.keys[key * width + dimension]);
  }

  score(key) { return this.scores[this.query * this.size + key]; }
  weight(key) { return this.weights[this.query * this.size + key]; }

  // The order of the rows and the ends of the scales, for the present query.
  arrange() {
    const { width } = this.header;
    const places = Array.from({ length: this.size }, (_, key) => key);
    const rank = (key) => (Number.isNaN(this.weight(key)) ? Infinity : this.weight(key));
    this.order = this.orderBy === "text" ? places : places.sort((a, b) => rank(b) - rank(a) || a - b);
    this.rowOf = new Int32Array(this.size);
    this.order.forEach((key, row) => { this.rowOf[key] = row; });
    let [most, mostScore] = [0, 0];
    for (let key = 0; key < this.size; key++) {
      mostScore = larger(mostScore, this.score(key));
      for (let k = 0; k < width; k++) most = larger(most, this.product(key, k));
    }
    [this.productTop, this.scoreTop] = [most || 1, mostScore || 1];
  }

  // One scale for all queries and keys of the head, so that tokens can be compared.
  measure() {
    let most = 0;
    for (const list of [this.queries, this.keys]) for (const value of list) most = larger(most, value);
    this.vectorTop = most || 1;
  }

  // ---- colours ----

  readColours() {
    this.theme = readTheme(this.root);
    const isDark = inkOver(rgbOf(this.theme.background)) === "#fff";
    this.stops = (isDark ? this.header.dark : this.header.light).map(hexRgb);
  }

  // The colour of a value on a scale from -top to top; the ends hold what is beyond.
  colour(value, top) {
    if (Number.isNaN(value)) return `rgb(${NOT_A_NUMBER.join(",")})`;
    const at = Math.max(0, Math.min(1, 0.5 + value / top / 2)) * (this.stops.length - 1);
    const low = Math.min(this.stops.length - 2, Math.floor(at));
    const mixed = this.stops[low].map((c, k) => Math.round(c + (at - low) * (this.stops[low + 1][k] - c)));
    return `rgb(${mixed.join(",")})`;
  }

  // ---- places ----

  layout() {
    if (!this.header || !this.root.clientWidth) return;
    this.width = this.root.clientWidth - 2;
    const narrow = this.width < 620;
    this.names = narrow ? 92 : 150;
    this.numbers = narrow ? 50 : 92; // of the score
    this.bars = narrow ? 62 : 130; // of the weight
    this.strip = Math.max(60, this.width - this.names - this.numbers - this.bars - 3 * GAP - 18);
    const rows = Math.min(this.size, 20);
    this.height = HEAD + rows * ROW + 6;
    this.scroller.style.height = `${this.height}px`;
    this.spacer.style.height = `${HEAD + this.size * ROW + 6}px`;
    this.draw();
  }

  get cell() { return this.strip / this.header.width; }
  get scoreX() { return this.names + this.strip + GAP; }
  get weightX() { return this.scoreX + this.numbers + GAP; }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      if (!this.width) return;
      this.readColours();
      this.drawOn(fitCanvas(this.canvas, this.width, this.height));
    });
  }

  drawOn(context) {
    const scrolled = this.scroller.scrollTop;
    context.textBaseline = "middle";
    const first = Math.floor(scrolled / ROW);
    const last = Math.min(this.size, Math.ceil((scrolled + this.height - HEAD) / ROW));
    for (let row = first; row < last; row++) this.paintRow(context, this.order[row], HEAD + row * ROW - scrolled);
    context.fillStyle = this.theme.background; // rows go under the head
    context.fillRect(0, 0, this.width, HEAD);
    this.paintHead(context);
  }

  // ---- the head: names of the columns, the query, the key that is looked at ----

  paintHead(context) {
    const write = (text, x, align = "left") => {
      context.textAlign = align;
      context.fillText(text, x, 12);
    };
    context.font = `11.5px ${this.theme.font}`;
    context.fillStyle = this.theme.text;
    context.globalAlpha = 0.7;
    const { width } = this.header;
    write("token", 14);
    write(fitText(context, `dimensions 0 to ${width - 1} of the head`, this.strip), this.names);
    write(this.numbers < 60 ? "score" : `q\u00b7k / \u221a${width}`, this.scoreX + this.numbers, "right");
    write("weight", this.weightX);
    context.globalAlpha = 1;
    const key = this.shownKey;
    this.paintVector(context, "q", this.query, this.queries, 22);
    this.paintVector(context, "k", key, this.keys, 44);
    context.fillStyle = this.theme.border;
    context.fillRect(0, HEAD - 24, this.width, 1);
    context.fillStyle = this.theme.text;
    context.globalAlpha = 0.7;
    context.font = `11.5px ${this.theme.font}`;
    context.textAlign = "left";
    const said = `q \u00d7 k with every key, ${this.orderBy === "text" ? "in the order of the text" : "most attention first"}`;
    context.fillText(fitText(context, said, this.width - 20), 14, HEAD - 11);
    context.globalAlpha = 1;
  }

  paintVector(context, letter, token, values, y) {
    const { width } = this.header;
    context.textAlign = "left";
    context.font = `italic 600 13px ${this.theme.font}`;
    context.fillStyle = this.theme.text;
    context.fillText(letter, 14, y + ROW / 2);
    this.paintName(context, token, 28, y, letter === "q");
    this.paintStrip(context, y, (k) => values[token * width + k], this.vectorTop);
  }

  // ---- a row ----

  paintRow(context, key, y) {
    const isMarked = key === this.marked;
    const isPointed = key === this.pointed?.key;
    if (isMarked || isPointed) {
      context.globalAlpha = isMarked ? 0.16 : 0.08;
      context.fillStyle = this.theme.primary;
      context.fillRect(0, y, this.width, ROW);
      context.globalAlpha = 1;
    }
    context.fillStyle = kindColour(this.header, this.header.text_ids[key]);
    context.fillRect(4, y + 4, 4, ROW - 8);
    this.paintName(context, key, 14, y, isMarked);
    this.paintStrip(context, y, (k) => this.product(key, k), this.productTop);
    this.paintScore(context, this.score(key), y);
    this.paintWeight(context, this.weight(key), y);
  }

  paintName(context, token, x, y, isBold) {
    context.textAlign = "left";
    context.font = `${isBold ? 600 : 400} 12.5px ${this.theme.font}`;
    context.fillStyle = this.theme.text;
    const room = this.names - x - 34;
    const cut = `${room} ${isBold} ${token}`;
    let text = this.fitted.get(cut);
    if (text === undefined) {
      text = fitText(context, legible(this.header.tokens[token].slice(0, 400)), room);
      this.fitted.set(cut, text);
    }
    context.fillText(text, x, y + ROW / 2 + 0.5);
    context.textAlign = "right"; // its place, for tokens of the same name
    context.font = `10.5px ${this.theme.font}`;
    context.globalAlpha = 0.6;
    context.fillText(String(token), this.names - 8, y + ROW / 2 + 0.5);
    context.globalAlpha = 1;
  }

  paintStrip(context, y, value, top) {
    const gap = this.cell >= 5 ? 0.6 : 0;
    for (let k = 0; k < this.header.width; k++) {
      context.fillStyle = this.colour(value(k), top);
      context.fillRect(this.names + k * this.cell, y + (ROW - STRIP) / 2, this.cell - gap + (gap ? 0 : 0.3), STRIP);
    }
  }

  paintScore(context, score, y) {
    const room = this.numbers < 60 ? 0 : this.numbers - 46; // a bar from the middle, if there is room
    if (room && !Number.isNaN(score)) {
      const [middle, reach] = [this.scoreX + room / 2, (score / this.scoreTop) * (room / 2)];
      context.fillStyle = this.colour(Math.sign(score) * 0.75, 1);
      context.fillRect(Math.min(middle, middle + reach), y + 6, Math.max(0.7, Math.abs(reach)), ROW - 12);
      context.fillStyle = this.theme.border;
      context.fillRect(middle - 0.5, y + 3, 1, ROW - 6);
    }
    this.paintNumber(context, Number.isNaN(score) ? "NaN" : score.toFixed(2), this.scoreX + this.numbers, y);
  }

  paintWeight(context, weight, y) {
    const room = this.bars - 46;
    if (!Number.isNaN(weight)) {
      context.fillStyle = this.header.accent;
      context.fillRect(this.weightX, y + 5, Math.max(0.7, weight * room), ROW - 10);
    }
    this.paintNumber(context, Number.isNaN(weight) ? "NaN" : percent(weight), this.weightX + this.bars, y);
  }

  paintNumber(context, text, x, y) {
    context.textAlign = "right";
    context.font = `12px ${this.theme.font}`;
    context.fillStyle = this.theme.text;
    context.fillText(text, x, y + ROW / 2 + 0.5);
  }
}

function larger(most, value) {
  const size = Math.abs(value);
  return size > most && size < Infinity ? size : most;
}

function hexRgb(hex) {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

// The red, green and blue of any CSS colour, as a canvas reads it.
function rgbOf(colour) {
  const context = element("canvas", { width: 1, height: 1 }).getContext("2d");
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return context.getImageData(0, 0, 1, 1).data;
}
