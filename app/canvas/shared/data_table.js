// The numbers of a picture as a table, for those who read or hear instead of look. It is made when
// it is opened and follows the picture while it is open.

import { element, legible, shorten } from "./elements.js";

export class Twin {
  // make() returns { caption, columns: [string], rows: [[string | number]] }.
  constructor(summary, make) {
    this.make = make;
    this.holder = element("div", { className: "holder", tabIndex: 0, role: "region", ariaLabel: summary });
    this.root = element("details", { className: "twin" }, element("summary", { textContent: summary }), this.holder);
    this.root.addEventListener("toggle", () => this.refresh());
  }

  // Called whenever the picture changes; costs nothing while closed, and once in 150 ms while open.
  refresh() {
    clearTimeout(this.waiting);
    if (this.root.open) this.waiting = setTimeout(() => this.fill(), 150);
  }

  fill() {
    const { caption, columns, rows } = this.make();
    const cell = (tag, value, scope) => {
      const bdi = element("bdi", { textContent: typeof value === "string" ? shorten(legible(value), 120) : value ?? "\u2013" });
      const made = element(tag, {}, bdi);
      if (scope) made.scope = scope;
      if (typeof value === "number") made.className = "number";
      return made;
    };
    const body = rows.map(([first, ...others]) =>
      element("tr", {}, cell("th", first, "row"), ...others.map((value) => cell("td", value))));
    this.holder.replaceChildren(element("table", {}, element("caption", { textContent: caption }),
      element("thead", {}, element("tr", {}, ...columns.map((name) => cell("th", name, "col")))),
      element("tbody", {}, ...body)));
  }

  close() {
    clearTimeout(this.waiting);
  }
}
