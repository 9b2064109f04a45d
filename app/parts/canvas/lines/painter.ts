// Draws the lines and the tokens.

import { percent } from "../../browser/text";
import { paintMissing, type Painting } from "../shared/canvas";
import { kindColour } from "../shared/legend";
import { Painter } from "../shared/painter";
import { isInFocus, type Focus, type Place, type Side } from "./choice";
import { MAX_LINES, type LinesModel, type Targets } from "./model";

export const MAX_HEIGHT = 660; // of the window on the tokens, in pixels
const ROW_HEIGHT = 19; // of long texts, in pixels

export const opacity = (weight: number): number => Math.min(1, 0.1 + 0.9 * Math.pow(weight, 0.55));
export const thickness = (weight: number): number => 0.8 + 2.6 * weight;

// Whether the units need more room than the window has, at their usual height.
export function isLong(size: number): boolean {
  return size * ROW_HEIGHT > MAX_HEIGHT;
}

export class LinesPainter extends Painter {
  width = 0;
  /** Of the window on the tokens. */
  height = 0;
  /** Of all tokens. */
  contentHeight = 0;
  rowHeight = ROW_HEIGHT;
  /** Opacity of all lines, less than 1 where they would cover everything. */
  faint = 1;
  private readonly top = 6;
  private fontSize = 14;
  private column = 0;
  private offset = 0;
  private seen = 0;

  constructor(private readonly model: LinesModel) {
    super();
  }

  // ---- places ----

  // `fit`: squeeze the rows into one window.
  setRows(fit: boolean): void {
    const { size } = this.model;
    const roomy = size <= 24 ? 26 : size <= 32 ? 22 : ROW_HEIGHT;
    this.rowHeight = fit ? Math.max(1.2, (MAX_HEIGHT - 12) / size) : roomy;
    this.fontSize = this.rowHeight >= 22 ? 14 : 12.5;
    this.contentHeight = Math.ceil(size * this.rowHeight + 2 * this.top);
    this.height = Math.min(MAX_HEIGHT, this.contentHeight);
  }

  setWidth(width: number): void {
    if (width !== this.width) this.labels.forget();
    this.width = width;
    this.column = Math.max(84, Math.min(190, width * 0.3));
  }

  // The unit at a point; y from the top of all tokens.
  hit(x: number, y: number): Place | null {
    const index = Math.floor((y - this.top) / this.rowHeight);
    if (index < 0 || index >= this.model.size) return null;
    if (x <= this.column + 6) return { side: "left", index };
    if (x >= this.width - this.column - 6) return { side: "right", index };
    return null;
  }

  // How far the window must be scrolled to show a row.
  scrolledTo(index: number, scrollTop: number): number {
    const y = this.top + index * this.rowHeight;
    if (y + this.rowHeight > scrollTop + this.height) return y + this.rowHeight + this.top - this.height;
    return y < scrollTop ? y - this.top : scrollTop;
  }

  private y(index: number): number {
    return this.top + (index + 0.5) * this.rowHeight - this.offset;
  }

  private isSeen(y: number, margin: number): boolean {
    return y >= -margin && y <= this.seen + margin;
  }

  // ---- painting ----

  // Draws the rows from `offset` on, as many as fit into `height`.
  drawOn(context: Painting, offset: number, height: number): void {
    this.offset = offset;
    this.seen = height;
    const focus = this.model.focus();
    if (focus) this.paintRows(context, focus);
    this.paintLines(context, focus);
    const targets = focus && this.model.targets(focus);
    if (focus && targets) this.paintBoxes(context, focus, targets);
    this.paintTokens(context, "left", focus, targets);
    this.paintTokens(context, "right", focus, targets);
    const { choice, pointed } = this.model;
    // Where the next key or click acts, while other tokens are chosen.
    if (choice.size && pointed) this.stroke(context, this.theme.primary, 1.5, 1, () => this.tokenBox(context, pointed));
  }

  private tokenBox(context: Painting, { side, index }: Place): void {
    const height = Math.max(this.rowHeight, 14);
    const x = side === "left" ? 0 : this.width - this.column;
    context.roundRect(x + 2, this.y(index) - height / 2, this.column - 4, height, 4);
  }

  // Backgrounds of the tokens in focus.
  private paintRows(context: Painting, focus: Focus): void {
    this.fill(context, this.theme.secondary);
    for (const side of ["left", "right"] as const) {
      for (const index of focus[side]) {
        context.beginPath();
        this.tokenBox(context, { side, index });
        context.fill();
      }
    }
  }

  // Fainter and thinner when lines would cover everything: [opacity, thickness], each at most 1.
  private ink(focus: Focus | null): [number, number] {
    const thin = Math.max(0.35, Math.min(1, this.rowHeight / 13));
    if (focus) return [1, thin];
    const { lines: { code, total }, table, size } = this.model;
    let sum = 0;
    for (let k = Math.max(0, total - MAX_LINES); k < total; k++) {
      const weight = table[code[k]];
      sum += opacity(weight) * thickness(weight) * thin;
    }
    const cover = sum / (size * this.rowHeight);
    return [Math.max(0.2, Math.min(1, Math.pow(0.7 / cover, 0.6))), thin];
  }

  private paintLines(context: Painting, focus: Focus | null): void {
    const { lines: { code, map, row, column, total }, table, mapColours } = this.model;
    const [x1, x2] = [this.column, this.width - this.column];
    const spread = this.spread();
    const [faint, thin] = this.ink(focus);
    this.faint = faint;
    context.lineCap = "round";
    const first = focus ? 0 : Math.max(0, total - MAX_LINES);
    let style = -1;
    for (let k = first; k < total; k++) {
      if (focus && !isInFocus(focus, row[k], column[k])) continue;
      const from = this.y(row[k]) + spread[map[k]];
      const to = this.y(column[k]) + spread[map[k]];
      if (Math.max(from, to) < 0 || Math.min(from, to) > this.seen) continue;
      const next = code[k] * 256 + map[k];
      if (next !== style) {
        style = next;
        const weight = table[code[k]];
        context.globalAlpha = opacity(weight) * faint;
        context.lineWidth = thickness(weight) * thin * (focus ? 1.15 : 1);
        context.strokeStyle = mapColours[map[k]];
      }
      context.beginPath();
      context.moveTo(x1, from);
      context.lineTo(x2, to);
      context.stroke();
    }
  }

  // Offsets that put the lines of several heads between the same two tokens side by side.
  private spread(): number[] {
    const n = this.model.mapColours.length;
    const step = Math.min(2.4, (this.rowHeight * 0.6) / n);
    return this.model.mapColours.map((_, m) => (m - (n - 1) / 2) * step);
  }

  // Behind the tokens of the other column: one field per head, as strong as its fraction.
  private paintBoxes(context: Painting, focus: Focus, { other, ranked }: Targets): void {
    if (focus.left.size && focus.right.size) return;
    const { mapColours, averaged } = this.model;
    const x = other === "right" ? this.width - this.column + 4 : 4;
    const wide = (this.column - 8) / mapColours.length;
    for (const { index, fractions, fraction } of ranked) {
      const y = this.y(index);
      if (!this.isSeen(y, this.rowHeight)) continue;
      (averaged ? [fraction] : fractions).forEach((weight, m) => {
        if (!(weight >= 0.004)) return;
        this.fill(context, mapColours[m], Math.min(0.6, weight * 0.62 + 0.02));
        context.fillRect(x + m * wide, y - this.rowHeight / 2 + 0.5, wide, Math.max(1, this.rowHeight - 1));
      });
    }
  }

  private paintTokens(context: Painting, side: Side, focus: Focus | null, targets: Targets | null): void {
    const numbers = fractionsBeside(side, targets);
    const lineHeight = Math.min(this.rowHeight, this.fontSize + 1) < this.fontSize ? this.fontSize : 0;
    const taken: number[] = [];
    context.textBaseline = "middle";
    context.direction = "ltr";
    for (const unit of this.namedFirst(side, focus, numbers)) {
      const y = this.y(unit);
      if (!this.isSeen(y, 20)) continue;
      if (lineHeight && taken.some((other) => Math.abs(other - y) < lineHeight)) continue;
      taken.push(y);
      this.paintName(context, { side, index: unit }, focus, numbers.get(unit));
    }
    this.paintKinds(context, side);
  }

  private paintName(context: Painting, { side, index }: Place, focus: Focus | null, fraction: number | undefined): void {
    const left = side === "left";
    const [edge, end] = left ? [this.column - 12, 8] : [this.width - this.column + 12, this.width - 8];
    const y = this.y(index);
    const isFocus = Boolean(focus?.[side].has(index));
    this.fill(context, this.theme.text, this.model.takesPart(side, index) ? 1 : 0.35);
    this.font(context, this.fontSize, isFocus ? 600 : 400);
    const room = this.column - 22 - (fraction === undefined ? 0 : 38);
    const text = this.labels.fit(context, this.model.units.names[index], room);
    // A thin outline in the page's colour keeps names legible on strong fields.
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = this.theme.background;
    context.textAlign = left ? "right" : "left";
    if (focus && !isFocus) context.strokeText(text, edge, y + 0.5);
    context.fillText(text, edge, y + 0.5);
    if (fraction === undefined) return;
    context.textAlign = left ? "left" : "right";
    this.font(context, 11.5);
    context.strokeText(percent(fraction), end, y + 0.5);
    context.fillText(percent(fraction), end, y + 0.5);
  }

  // Bars in the colours of the units' kinds, and stripes where weights are missing.
  private paintKinds(context: Painting, side: Side): void {
    const { model } = this;
    const left = side === "left";
    const inner = left ? this.column : this.width - this.column;
    for (let unit = 0; unit < model.size; unit++) {
      const y = this.y(unit);
      if (!this.isSeen(y, this.rowHeight)) continue;
      this.fill(context, kindColour(model.header, model.units.textIds[unit]), model.takesPart(side, unit) ? 1 : 0.3);
      const tall = Math.max(1, this.rowHeight - 2);
      context.fillRect(left ? inner - 6 : inner + 2, y - tall / 2, 4, tall);
      if (left && model.broken[unit]) paintMissing(context, [inner + 1, y - this.rowHeight / 2, 12, this.rowHeight]);
    }
  }

  // Order in which names claim room when rows are squeezed: the focus, its targets, the rest.
  private namedFirst(side: Side, focus: Focus | null, numbers: Map<number, number>): number[] {
    const all = this.model.units.names.map((_, unit) => unit);
    if (this.rowHeight >= this.fontSize || !focus) return all;
    return [...focus[side], ...numbers.keys(), ...all];
  }
}

// The fractions worth printing beside the units that the focus is tied to.
function fractionsBeside(side: Side, targets: Targets | null): Map<number, number> {
  if (!targets || targets.other !== side) return new Map();
  const strongest = targets.ranked.slice(0, 16).filter((target) => target.fraction >= 0.01);
  return new Map(strongest.map((target) => [target.index, target.fraction]));
}
