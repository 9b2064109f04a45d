// Draws the lines, the tokens and the key on a canvas.

import { AttentionChoice } from "./choice.js";
import { fitCanvas, fitText, paintMissing } from "../shared/canvas.js";
import { legible, percent } from "../shared/elements.js";
import { kindColour } from "../shared/levels.js";

export const MAX_LINES = 20000; // strongest first; the foot says so when there are more
export const MAX_HEIGHT = 660; // of the window on the tokens, in pixels
export const LINE_STEPS = [0.02, 0.1, 0.3, 1]; // weights shown in the key

export const opacity = (weight) => Math.min(1, 0.1 + 0.9 * Math.pow(weight, 0.55));
export const thickness = (weight) => 0.8 + 2.6 * weight;

export class AttentionPainter extends AttentionChoice {
  layout() {
    if (!this.header || !this.root.clientWidth) return;
    this.root.classList.toggle("narrow", this.root.clientWidth < 700);
    this.width = this.scroller.clientWidth;
    const roomy = this.size <= 24 ? 26 : this.size <= 32 ? 22 : 19;
    this.rowHeight = this.fit ? Math.max(1.2, (MAX_HEIGHT - 12) / this.size) : roomy;
    this.fontSize = this.rowHeight >= 22 ? 14 : 12.5;
    this.top = 6;
    const content = Math.ceil(this.size * this.rowHeight + 2 * this.top);
    this.height = Math.min(MAX_HEIGHT, content);
    this.scroller.style.height = `${this.height + 2}px`;
    this.spacer.style.height = `${content}px`;
    this.width = this.scroller.clientWidth; // again: a scroll bar may have come or gone
    this.column = Math.max(84, Math.min(190, this.width * 0.3));
    this.labels = new Map();
    this.draw();
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  y(index) {
    return this.top + (index + 0.5) * this.rowHeight - this.offset;
  }

  paint() {
    if (!this.width || !this.lines) return;
    this.drawOn(fitCanvas(this.canvas, this.width, this.height), this.scroller.scrollTop, this.height);
    this.refreshFoot();
  }

  // Draw the rows from `offset` on, as many as fit into `height`.
  drawOn(context, offset, height) {
    this.offset = offset;
    this.seen = height;
    const focus = this.focus();
    if (focus) this.paintRows(context, focus);
    this.paintLines(context, focus);
    const found = focus && this.targets(focus);
    if (focus) this.paintBoxes(context, focus, found);
    this.paintTokens(context, "left", focus, found);
    this.paintTokens(context, "right", focus, found);
    if (this.anyChosen && this.pointed) this.paintCursor(context);
  }

  // Grounds of the tokens in focus.
  paintRows(context, focus) {
    context.fillStyle = this.theme.secondary;
    const height = Math.max(this.rowHeight, 14);
    for (const side of ["left", "right"]) {
      const x = side === "left" ? 0 : this.width - this.column;
      for (const unit of focus[side]) {
        context.beginPath();
        context.roundRect(x + 2, this.y(unit) - height / 2, this.column - 4, height, 4);
        context.fill();
      }
    }
  }

  // Where the next key or click acts, while other tokens are chosen.
  paintCursor(context) {
    const height = Math.max(this.rowHeight, 14);
    const x = this.pointed.side === "left" ? 0 : this.width - this.column;
    context.strokeStyle = this.theme.primary;
    context.lineWidth = 1.5;
    context.beginPath();
    context.roundRect(x + 2, this.y(this.pointed.index) - height / 2, this.column - 4, height, 4);
    context.stroke();
  }

  // Fainter and thinner when lines would cover everything: [opacity, thickness], each at most 1.
  ink(focus) {
    const thin = Math.max(0.35, Math.min(1, this.rowHeight / 13));
    if (focus) return [1, thin];
    const { code } = this.lines;
    let sum = 0;
    for (let k = Math.max(0, this.total - MAX_LINES); k < this.total; k++) {
      const weight = this.table[code[k]];
      sum += opacity(weight) * thickness(weight) * thin;
    }
    const cover = sum / (this.size * this.rowHeight);
    return [Math.max(0.2, Math.min(1, Math.pow(0.7 / cover, 0.6))), thin];
  }

  paintLines(context, focus) {
    const { code, map, row, column } = this.lines;
    const [x1, x2] = [this.column, this.width - this.column];
    const spread = this.spread();
    const [faint, thin] = this.ink(focus);
    this.faint = faint;
    context.lineCap = "round";
    const last = this.total;
    const first = focus ? 0 : Math.max(0, last - MAX_LINES);
    let style = -1;
    for (let k = first; k < last; k++) {
      if (focus && !this.isInFocus(focus, row[k], column[k])) continue;
      const from = this.y(row[k]) + spread[map[k]];
      const to = this.y(column[k]) + spread[map[k]];
      if (Math.max(from, to) < 0 || Math.min(from, to) > this.seen) continue;
      const next = code[k] * 256 + map[k];
      if (next !== style) {
        style = next;
        const weight = this.table[code[k]];
        context.globalAlpha = opacity(weight) * faint;
        context.lineWidth = thickness(weight) * thin * (focus ? 1.15 : 1);
        context.strokeStyle = this.mapColours[map[k]];
      }
      context.beginPath();
      context.moveTo(x1, from);
      context.lineTo(x2, to);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  // Lines of several heads between the same two tokens lie side by side, not on top of each other.
  spread() {
    const n = this.mapColours.length;
    const step = Math.min(2.4, (this.rowHeight * 0.6) / n);
    return this.mapColours.map((_, m) => (m - (n - 1) / 2) * step);
  }

  // Behind the tokens of the other column: one field per head, as strong as its share.
  paintBoxes(context, focus, { other, found }) {
    if (focus.left.size && focus.right.size) return;
    const x = other === "right" ? this.width - this.column + 4 : 4;
    const wide = (this.column - 8) / this.mapColours.length;
    for (const { index, shares, share } of found) {
      const y = this.y(index);
      if (y < -this.rowHeight || y > this.seen + this.rowHeight) continue;
      (this.averaged ? [share] : shares).forEach((weight, m) => {
        if (!(weight >= 0.004)) return;
        context.globalAlpha = Math.min(0.6, weight * 0.62 + 0.02);
        context.fillStyle = this.mapColours[m];
        context.fillRect(x + m * wide, y - this.rowHeight / 2 + 0.5, wide, Math.max(1, this.rowHeight - 1));
      });
    }
    context.globalAlpha = 1;
  }

  paintTokens(context, side, focus, targets) {
    const left = side === "left";
    const inner = left ? this.column : this.width - this.column;
    const isFocus = (k) => Boolean(focus?.[side].has(k));
    const numbers = this.numbersBeside(side, targets);
    const wanted = this.namedFirst(side, focus, numbers);
    const lineHeight = Math.min(this.rowHeight, this.fontSize + 1) < this.fontSize ? this.fontSize : 0;
    const taken = [];
    context.textBaseline = "middle";
    context.textAlign = left ? "right" : "left";
    context.direction = "ltr";
    const edge = left ? inner - 12 : inner + 12;
    for (const k of wanted) {
      const y = this.y(k);
      if (y < -20 || y > this.seen + 20) continue;
      if (lineHeight && taken.some((other) => Math.abs(other - y) < lineHeight)) continue;
      taken.push(y);
      const part = this.takesPart(side, k);
      context.globalAlpha = part ? 1 : 0.35;
      context.font = `${isFocus(k) ? 600 : 400} ${this.fontSize}px ${this.theme.font}`;
      const room = this.column - 22 - (numbers.has(k) ? 38 : 0);
      const text = this.label(context, k, room, isFocus(k));
      // A thin ground in the page's colour keeps names legible on strong fields.
      context.lineWidth = 3;
      context.lineJoin = "round";
      context.strokeStyle = this.theme.background;
      if (focus && !isFocus(k)) context.strokeText(text, edge, y + 0.5);
      context.fillStyle = this.theme.text;
      context.fillText(text, edge, y + 0.5);
      if (!numbers.has(k)) continue;
      context.textAlign = left ? "left" : "right";
      context.font = `400 11.5px ${this.theme.font}`;
      context.strokeText(percent(numbers.get(k)), left ? 8 : this.width - 8, y + 0.5);
      context.fillText(percent(numbers.get(k)), left ? 8 : this.width - 8, y + 0.5);
      context.textAlign = left ? "right" : "left";
    }
    for (let k = 0; k < this.size; k++) {
      const y = this.y(k);
      if (y < -this.rowHeight || y > this.seen + this.rowHeight) continue;
      context.globalAlpha = this.takesPart(side, k) ? 1 : 0.3;
      context.fillStyle = kindColour(this.header, this.units.textIds[k]);
      const tall = Math.max(1, this.rowHeight - 2);
      context.fillRect(left ? inner - 6 : inner + 2, y - tall / 2, 4, tall);
      if (left && this.broken[k]) paintMissing(context, inner + 1, y - this.rowHeight / 2, 12, this.rowHeight);
    }
    context.globalAlpha = 1;
  }

  // The shares worth printing beside the tokens that the focus is tied to.
  numbersBeside(side, targets) {
    if (!targets || targets.other !== side) return new Map();
    const strongest = targets.found.slice(0, 16).filter((target) => target.share >= 0.01);
    return new Map(strongest.map((target) => [target.index, target.share]));
  }

  // Order in which names claim room when rows are squeezed: the focus, what it is tied to, the rest.
  namedFirst(side, focus, numbers) {
    const all = this.units.names.map((_, k) => k);
    if (this.rowHeight >= this.fontSize || !focus) return all;
    return [...focus[side], ...numbers.keys(), ...all];
  }

  label(context, index, room, bold) {
    const key = `${index} ${room} ${bold}`;
    let text = this.labels.get(key);
    if (text === undefined) {
      text = fitText(context, legible(this.units.names[index].slice(0, 400)), room);
      this.labels.set(key, text);
    }
    return text;
  }
}
