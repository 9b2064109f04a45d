// A box of numbers beside the pointer. What it says is also in the view's own words for those who
// hear: it is hidden from them.

import { element, legible, shorten } from "./elements.js";

export class Tooltip {
  // `root` is positioned; the box stays inside its width.
  constructor(root) {
    this.root = root;
    this.box = element("div", { className: "tip", ariaHidden: "true" });
    root.append(this.box);
  }

  // x and y are those of a pointer event (of the window); `children` are strings or elements.
  show(x, y, ...children) {
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

  hide() {
    this.box.style.display = "none";
  }
}

// A token in a tooltip: whole as long as it can be read, else its start and its length.
export function tokenInTip(token) {
  const name = shorten(legible(token), 240);
  const note = name.endsWith("\u2026") && token.length > 240 ? ` (${token.length.toLocaleString("en")} characters)` : "";
  return element("b", {}, element("bdi", { textContent: name }), note);
}
