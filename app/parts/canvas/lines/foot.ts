// The line below the lines: the scale, the legend, what is not drawn, and the save buttons.

import { element } from "../../browser/elements";
import { percent, said } from "../../browser/text";
import { fitCanvas } from "../shared/canvas";
import { brokenNote, kindKeys } from "../shared/legend";
import { MAX_LINES, type LinesModel } from "./model";
import { opacity, thickness, type LinesPainter } from "./painter";

const STEPS = [0.1, 0.3, 1]; // weights shown in the scale

export class Foot {
  readonly keys = element("span", { className: "keys" });
  private shown = "";

  constructor(private readonly model: LinesModel, private readonly painter: LinesPainter) {}

  // Called after each frame; changes the page only where its text or colours differ.
  refresh(): void {
    const { header, averaged, mapColours } = this.model;
    const { theme, faint } = this.painter;
    const text = this.note();
    const state = JSON.stringify([text, header.missing, header.is_pair, theme, averaged, mapColours[0], faint]);
    if (state === this.shown) return;
    this.shown = state;
    this.keys.replaceChildren(element("span", { className: "key" }, said("weight"), this.scale()), ...kindKeys(header),
      element("span", { className: "note", textContent: text }), ...brokenNote(header.missing, "no line is drawn"));
  }

  private note(): string {
    const { total } = this.model.lines;
    const awaited = this.model.awaited();
    if (awaited.length) return `Head${awaited.length > 1 ? "s" : ""} ${awaited.join(", ")} on the way \u2026`;
    if (this.model.focus() || total <= MAX_LINES) return "";
    const [most, lines] = [MAX_LINES, total].map((number) => number.toLocaleString("en"));
    return said("The {most} strongest of {lines} lines are drawn.", { most, lines });
  }

  private scale(): HTMLCanvasElement {
    const { averaged, mapColours } = this.model;
    const { theme, faint } = this.painter;
    const scale = element("canvas", { role: "img", ariaLabel: said("Key: thicker and darker lines are larger weights") });
    const context = fitCanvas(scale, 42 * STEPS.length, 16);
    context.font = `11px ${theme.font}`;
    context.textBaseline = "middle";
    STEPS.forEach((weight, k) => {
      context.globalAlpha = opacity(weight) * faint;
      context.strokeStyle = averaged || mapColours.length === 1 ? mapColours[0] : theme.text;
      context.lineWidth = thickness(weight);
      context.beginPath();
      context.moveTo(k * 42 + 1, 8);
      context.lineTo(k * 42 + 13, 8);
      context.stroke();
      context.globalAlpha = 0.75;
      context.fillStyle = theme.text;
      context.fillText(percent(weight), k * 42 + 16, 8.5);
    });
    return scale;
  }
}
