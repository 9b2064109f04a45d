// What colours mean, below a view.

import { element } from "../../browser/elements";
import { said } from "../../browser/text";
import { fitCanvas, type Theme } from "./canvas";
import type { TokenHeader } from "./levels";

// The colour of a unit's kind: its text, or added by the tokenizer.
export function kindColour(header: TokenHeader, textId: number): string {
  return textId === -1 ? header.kinds.special : textId === 1 ? header.kinds.b : header.kinds.a;
}

// The legend of those colours.
export function kindKeys(header: TokenHeader): HTMLElement[] {
  const kinds = [["a", header.is_pair ? "sentence A" : "text"], ["b", "sentence B"], ["special", "added special tokens"]] as const;
  return kinds.filter(([kind]) => kind !== "b" || header.is_pair).map(([kind, words]) =>
    element("span", { className: "key" }, element("b", { style: `background: ${header.kinds[kind]}` }), said(words)));
}

// The sentence about weights that are not numbers, if there are any, and what is shown instead.
export function brokenNote(missing: string, instead: string): HTMLElement[] {
  return missing ? [element("span", { className: "key broken", textContent: `${missing} Red stripes mark them; ${instead}.` })] : [];
}

interface Scale {
  /** In pixels; `margin` on both sides is room for the outer numbers. */
  width: number;
  margin: number;
  /** From 0, the left end, to 1. */
  colour(at: number): string;
  ticks: readonly (readonly [at: number, text: string])[];
}

// A bar of colours with numbers below.
export function colourBar(ariaLabel: string, theme: Theme, { width, margin, colour, ticks }: Scale): HTMLCanvasElement {
  const bar = element("canvas", { role: "img", ariaLabel });
  const context = fitCanvas(bar, width, 24);
  const length = width - 2 * margin - 1;
  for (let x = 0; x <= length; x++) {
    context.fillStyle = colour(x / length);
    context.fillRect(margin + x, 0, 1.3, 9);
  }
  context.fillStyle = theme.text;
  context.font = `10.5px ${theme.font}`;
  context.textAlign = "center";
  for (const [at, text] of ticks) context.fillText(text, margin + at * length, 20);
  return bar;
}
