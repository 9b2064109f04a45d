// A box of numbers beside the pointer. Views say the same in a live region, so it is hidden from
// screen readers.

import { element, type Child } from "../../browser/elements";
import { legible, shorten } from "../../browser/text";

export class Tooltip {
  private readonly box = element("div", { className: "tip", ariaHidden: "true" });

  // `root` is positioned; the box stays inside its width.
  constructor(private readonly root: HTMLElement) {
    root.append(this.box);
  }

  // x and y are client coordinates, as of a pointer event.
  show(x: number, y: number, ...children: Child[]): void {
    this.box.replaceChildren(...children);
    this.box.style.display = "block";
    const place = this.root.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const right = x - place.left + 14;
    const left = right + width > place.width ? x - place.left - width - 14 : right;
    const below = y + 16 + height > window.innerHeight ? y - place.top - height - 12 : y - place.top + 16;
    this.box.style.left = `${Math.max(0, Math.min(left, place.width - width))}px`;
    this.box.style.top = `${below}px`;
  }

  hide(): void {
    this.box.style.display = "none";
  }
}

// A token in a tooltip: its first 240 letters, and its length if there are more.
export function tokenInTip(token: string): HTMLElement {
  const name = shorten(legible(token), 240);
  const note = name.endsWith("\u2026") && token.length > 240 ? ` (${token.length.toLocaleString("en")} characters)` : "";
  return element("b", {}, element("bdi", { textContent: name }), note);
}
