// The numbers of a picture as a table, for readers of a screen reader or of exact values. It is
// made when it is opened and follows the picture while it is open.

import { element } from "../../browser/elements";
import { legible, said, shorten } from "../../browser/text";
import { Debounce } from "../../browser/timers";

export type Cell = string | number | null | undefined;

export interface Sheet {
  columns: string[];
  rows: Cell[][];
}

export interface CaptionedSheet extends Sheet {
  caption: string;
}

export class DataTable {
  readonly root: HTMLDetailsElement;
  private readonly holder: HTMLElement;
  private readonly filling = new Debounce(150);

  constructor(summary: string, private readonly make: () => CaptionedSheet) {
    this.holder = element("div", { className: "holder", tabIndex: 0, role: "region", ariaLabel: said(summary) });
    this.root = element("details", { className: "data-table" }, element("summary", { textContent: said(summary) }), this.holder);
    this.root.addEventListener("toggle", () => this.refresh());
  }

  // Called whenever the picture changes; does nothing while closed, and fills at most once in 150 ms.
  refresh(): void {
    this.filling.cancel();
    if (this.root.open) this.filling.run(() => this.fill());
  }

  private fill(): void {
    const { caption, columns, rows } = this.make();
    const body = rows.map(([first, ...others]) => element("tr", {}, cell("th", first, "row"), ...others.map((value) => cell("td", value))));
    this.holder.replaceChildren(element("table", {}, element("caption", { textContent: caption }),
      element("thead", {}, element("tr", {}, ...columns.map((name) => cell("th", name, "col")))),
      element("tbody", {}, ...body)));
  }
}

function cell(tag: "th" | "td", value: Cell, scope?: string): HTMLTableCellElement {
  const text = typeof value === "string" ? shorten(legible(value), 120) : value ?? "\u2013";
  const node = element(tag, {}, element("bdi", { textContent: text }));
  if (scope) node.scope = scope;
  if (typeof value === "number") node.className = "number";
  return node;
}
