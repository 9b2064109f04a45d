// What is in focus, in words and numbers, beside the lines.

import { element } from "../../browser/elements";
import { LiveRegion } from "../../browser/live_region";
import { percent, legible, said, shorten } from "../../browser/text";
import type { Focus } from "./choice";
import type { LinesModel, Target } from "./model";

export class Panel {
  readonly root = element("div", { className: "panel" });
  readonly liveRegion = new LiveRegion();

  constructor(private readonly model: LinesModel) {}

  refresh(): void {
    const focus = this.model.focus();
    if (!this.model.heads.length) this.root.replaceChildren(note(said("The head is on its way.")));
    else if (focus) this.describe(focus);
    else {
      this.root.replaceChildren(element("h2", { textContent: said("Point at a token, or tap it") }),
        note(said("On the left: what it attends to. On the right: which tokens attend to it. A click keeps it.")));
    }
  }

  private describe(focus: Focus): void {
    const { ranked, number, averages } = this.model.targets(focus);
    const title = this.title(focus);
    const text = ranked.length ? this.note(focus, number, averages) : said("What is chosen is left out by the choice above.");
    const shown = ranked.slice(0, 8);
    this.root.replaceChildren(title, note(text), ...shown.map((target) => this.row(target, averages)),
      ...totals(focus, ranked.slice(shown.length), ranked, averages));
    const list = ranked.slice(0, 4).map((target) => `${this.shortName(target.index)} ${percent(target.fraction)}`).join(", ");
    this.liveRegion.say(`${title.textContent}: ${list || "nothing shown"}`);
  }

  title(focus: Focus): HTMLElement {
    const name = (units: ReadonlySet<number>) => {
      if (units.size > 1) return [element("span", { textContent: said("{number} tokens together", { number: units.size }) })];
      const [first] = units;
      return ["\u201c", element("bdi", { textContent: this.shortName(first, 60) }), "\u201d"];
    };
    const attends = ` ${said(focus.left.size > 1 ? "attend to" : "attends to")}`;
    if (focus.left.size && focus.right.size) {
      return element("h2", {}, ...name(focus.left), `${attends} `, ...name(focus.right));
    }
    if (focus.left.size) return element("h2", {}, ...name(focus.left), attends);
    return element("h2", {}, ...name(focus.right), ` ${said(focus.right.size > 1 ? "are attended to by" : "is attended to by")}`);
  }

  private shortName(unit: number, most = 40): string {
    return shorten(legible(this.model.units.names[unit].slice(0, 1000)), most);
  }

  private note(focus: Focus, number: number, averages: boolean): string {
    const { heads, header, units: { starts }, choice } = this.model;
    const which = heads.length > 1 ? said("mean of {number} heads", { number: heads.length }) : said("head {head}", { head: heads[0] });
    const units = [...focus.left, ...focus.right].sort((a, b) => a - b).map((unit) => starts[unit]);
    const list = units.length > 6 ? `${units.slice(0, 6).join(", ")} \u2026` : units.join(", ");
    const kept = choice.size ? ` ${said("(kept: Esc lets go)")}` : "";
    const sums = averages ? `. ${said("Percentages are the mean over these tokens, numbers their sum")}`
      : number > 1 ? `. ${said("Summed over the attended tokens")}` : "";
    const tokens = said(units.length > 1 ? "tokens {list}" : "token {list}", { list });
    return `${said("Layer {layer}", { layer: header.layer })}, ${which}, ${tokens}${kept}${sums}`;
  }

  private row({ index, fractions, sum, fraction }: Target, averages: boolean): HTMLElement {
    const { heads, header, averaged, units } = this.model;
    const bar = element("div", { className: "bar", ariaHidden: "true" }, ...fractions.map((part, k) => element("span", {
      style: `width: ${(100 * part) / fractions.length}%; background: ${averaged ? header.mean_colour : header.colours[heads[k]]}`,
    })));
    const name = element("span", { className: "name", title: this.shortName(index, 240) },
      element("bdi", { textContent: this.shortName(index) }), " ",
      element("span", { className: "place", textContent: units.starts[index] }));
    const row = element("div", { className: "target" }, name, bar, numbers(sum, fraction, averages));
    if (heads.length > 1) row.append(this.strongestHeads(fractions));
    return row;
  }

  private strongestHeads(fractions: number[]): HTMLElement {
    const { heads, header } = this.model;
    const best = fractions.map((part, k) => [part, heads[k]] as const).filter(([part]) => !Number.isNaN(part))
      .sort((a, b) => b[0] - a[0]);
    const worth = best.slice(0, 2).filter(([weight], k) => k === 0 || weight >= 0.005);
    return element("span", { className: "detail" }, ...worth.map(([weight, head]) =>
      element("span", {}, element("i", { style: `background: ${header.colours[head]}` }), `head ${head} ${percent(weight)}`)));
  }
}

function note(textContent: string): HTMLElement {
  return element("p", { className: "note", textContent });
}

// What the rows do not list, and the sum over all.
function totals(focus: Focus, rest: Target[], ranked: Target[], averages: boolean): HTMLElement[] {
  const add = (list: Target[], name: "sum" | "fraction") => list.reduce((sum, target) => sum + target[name], 0);
  const both = focus.left.size > 0 && focus.right.size > 0;
  const out: HTMLElement[] = [];
  if (rest.length && focus.left.size && !both) {
    out.push(element("div", { className: "target rest" }, element("span", { textContent: `${rest.length} others` }),
      element("span"), numbers(add(rest, "sum"), add(rest, "fraction"), averages)));
  }
  if (both && ranked.length) {
    const all = add(ranked, "sum");
    out.push(note(`Together ${all.toFixed(3)} of ${ranked.length} (each token gives 1 in all): ${percent(all / ranked.length)}.`));
  } else if (!focus.left.size && ranked.length) {
    out.push(note("Each number is a fraction of the attending token's attention; these do not add up to 100%."));
  }
  return out;
}

function numbers(sum: number, fraction: number, averages: boolean): HTMLElement {
  const cell = element("span", { className: "fraction", textContent: percent(fraction) });
  if (averages) cell.append(element("small", { textContent: sum.toFixed(2) }));
  return cell;
}
