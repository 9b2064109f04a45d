// Vectors as strips of coloured cells, with their numbers beside the pointer.

import { element, pixels } from "../../parts/browser/elements";
import type { Bytes } from "../../parts/browser/data_blocks";
import type { Tooltip } from "../../parts/canvas/shared/tooltip";
import { short, step, type Cell } from "./model";

const STEPS = 255; // of a colour scale

export interface Look {
  isDark: boolean;
  /** Scales for light and dark ground, RGB. */
  colours: Bytes;
  tip: Tooltip;
}

export interface StripText {
  /** For screen readers. */
  name: string;
  /** What a cell shows, above its numbers. */
  what: (cell: Cell) => string;
  /** The numbers of a cell, where it stands for several. */
  numbers?: (cell: Cell) => number[];
}

const MOST_NUMBERS = 16; // in a tooltip

export function strip(cells: Cell[], full: number, text: StripText, look: Look, className = ""): HTMLCanvasElement {
  const canvas = element("canvas", {
    className: `strip ${className}`, role: "img", ariaLabel: text.name,
    onpointermove: (event: PointerEvent) => {
      const { left, width } = canvas.getBoundingClientRect();
      const at = Math.max(0, Math.min(cells.length - 1, Math.floor(((event.clientX - left) / width) * cells.length)));
      look.tip.show(event.clientX, event.clientY, ...inTip(cells[at], text));
    },
    onpointerleave: () => look.tip.hide(),
  });
  return pixels(cells.length, 1, (at) => {
    const colour = 3 * ((look.isDark ? STEPS : 0) + step(cells[at].mean, full));
    return look.colours.subarray(colour, colour + 3);
  }, canvas);
}

function inTip(cell: Cell, text: StripText): HTMLElement[] {
  const numbers = text.numbers?.(cell) ?? [];
  const shown = numbers.slice(0, MOST_NUMBERS).map(short).join("  ");
  const more = numbers.length > MOST_NUMBERS ? ` \u2026 (${numbers.length})` : "";
  return [
    element("b", { textContent: text.what(cell) }),
    ...(numbers.length > 1 ? [element("div", { textContent: shown + more })] : []),
  ];
}

// "dimension 4" or "dimensions 4 to 7".
export function dims({ first, last }: Cell, noun = "dimension"): string {
  return first === last ? `${noun} ${first}` : `${noun}s ${first} to ${last}`;
}
