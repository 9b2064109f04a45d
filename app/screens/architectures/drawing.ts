// Networks side by side: tokens as rows, layers as columns, attention as lines. Tokens are set as text only.

import "./drawing.css";

import type { Mounted } from "../../parts/browser/component";
import { element, kept, replaceKeepingFocus } from "../../parts/browser/elements";
import { onKey } from "../../parts/browser/keys";
import { legible, percent, shorten } from "../../parts/browser/text";
import { cone, direction, edges, ink, reads, received, sees, touched, type Drawing, type Edge, type Net, type Panel, type SentDrawing, type Spot } from "./model";

const WIDTH = 300;
const LABELS = 82; // where the tokens end
const FIRST = 92;
const LAST = 226; // x of the first and the last vector
const TOP = 16;
const HIT = 12; // units around a vector in which it is pointed at
const LONGEST = 11; // letters of a token

const LEGEND: [string, string][] = [
  ["left", "looks to the left"], ["right", "looks to the right"], ["itself", "at itself"], ["guess", "the guess"],
];

export default function component({ parentElement, data: sent, setTriggerValue }: Mounted<SentDrawing>): void {
  const data = received(sent);
  const root = kept(parentElement, "architectures");
  const pick = (panel: number, row: number) => setTriggerValue("picked", { panel, row });
  replaceKeepingFocus(root, "data-network", legend(data), element("div", { className: "panels" },
    ...data.panels.map((panel, number) => new Network(panel, data.most, (row) => pick(number, row)).root)));
}

function legend({ panels }: Drawing): HTMLElement {
  const guesses = panels.some((panel) => panel.best.length);
  return element("div", { className: "legend" }, ...LEGEND.filter(([name]) => name !== "guess" || guesses).map(([name, text]) =>
    element("span", {}, element("i", { className: name }), text)));
}

class Network {
  readonly root: HTMLElement;
  private readonly svg: SVGSVGElement;
  private readonly status = element("p", { className: "status", ariaLive: "polite" });
  private readonly edges: Edge[][];
  private spot: Spot | null = null;

  constructor(private readonly panel: Panel, private readonly most: number, private readonly pick: (row: number) => void) {
    this.edges = panel.nets.map((net) => edges(net, most));
    this.svg = svg("svg", {
      viewBox: `0 0 ${WIDTH} ${this.height}`, tabindex: 0, role: "application", "data-network": panel.name,
      "aria-label": `${panel.name}: ${panel.rule}. Arrow keys move from vector to vector.`,
    });
    this.svg.addEventListener("pointermove", (event) => this.point(this.under(event)));
    this.svg.addEventListener("pointerleave", () => this.point(null));
    this.svg.addEventListener("click", (event) => this.click(event));
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.root = element("section", { className: this.showsPaths ? "panel paths" : "panel", "data-name": panel.name },
      element("h2", { textContent: panel.name }),
      element("p", { className: "rule", textContent: panel.rule }),
      this.svg, this.status, this.answers(),
      element("p", { className: "note", textContent: panel.note }));
    this.paint();
  }

  // ---- places ----

  private get step(): number {
    return this.panel.tokens.length > 16 ? 20 : 24;
  }

  private get height(): number {
    const rows = Math.max(this.panel.tokens.length, this.panel.place + 1);
    return TOP + rows * this.step + (this.panel.after ? 34 : 20);
  }

  private y(row: number, net = 0): number {
    const apart = this.panel.nets.length > 1 ? (net === 0 ? -4 : 4) : 0;
    return TOP + (row + 0.5) * this.step + apart;
  }

  private x(level: number): number {
    return FIRST + (level * (LAST - FIRST)) / this.levels;
  }

  private get levels(): number {
    return this.panel.nets[0].weights.length;
  }

  // ---- drawing ----

  // Of paths all are shown, also those that do not meet.
  private get showsPaths(): boolean {
    return this.panel.result !== "";
  }

  private get focus(): Spot[] {
    if (this.spot) return [this.spot];
    return this.panel.nets.map((net, number) => ({ net: number, level: this.levels, row: net.reader }));
  }

  private paint(): void {
    const { panel } = this;
    const parts: SVGElement[] = [];
    panel.nets.forEach((net, number) => parts.push(...this.lines(net, number)));
    panel.tokens.forEach((token, row) => parts.push(this.label(token, row)));
    panel.nets.forEach((net, number) => parts.push(...this.dots(net, number)));
    parts.push(...this.guess());
    if (panel.before) parts.push(text(`+${panel.before}`, LABELS, 11, "more"));
    if (panel.after) parts.push(text(`+${panel.after}`, LABELS, this.height - 22, "more"));
    parts.push(text("input", FIRST, this.height - 5, "axis"), text(`layer ${this.levels - 1}`, LAST, this.height - 5, "axis"));
    this.svg.replaceChildren(...parts);
    this.status.textContent = this.inWords();
  }

  private lines(net: Net, number: number): SVGElement[] {
    const chosen = this.focus.find((spot) => spot.net === number);
    const seen = chosen ? cone(net, chosen.level, chosen.row) : null;
    return this.edges[number].map((edge) => {
      const inside = this.showsPaths || (seen?.[edge.layer + 1][edge.query] ?? false);
      const shade = ink(edge.weight, this.most);
      return svg("line", {
        x1: this.x(edge.layer), y1: this.y(edge.key, number), x2: this.x(edge.layer + 1), y2: this.y(edge.query, number),
        class: inside ? direction(edge) : "outside", opacity: (inside ? 0.08 + 0.92 * shade : 0.25 * shade).toFixed(3),
        "stroke-width": inside ? (0.7 + 1.3 * shade).toFixed(2) : 0.6,
      });
    });
  }

  private dots(net: Net, number: number): SVGElement[] {
    const chosen = this.focus.find((spot) => spot.net === number);
    const seen = this.showsPaths ? touched(net) : chosen ? cone(net, chosen.level, chosen.row) : null;
    const found: SVGElement[] = [];
    for (let level = 0; level <= this.levels; level++) {
      for (let row = 0; row < this.panel.tokens.length; row++) {
        const isFocus = chosen?.level === level && chosen.row === row;
        const kind = isFocus ? "dot focus" : seen?.[level][row] ? "dot seen" : "dot";
        found.push(svg("circle", { cx: this.x(level), cy: this.y(row, number), r: isFocus ? 4 : 2, class: kind }));
      }
    }
    return found;
  }

  private label(token: string, row: number): SVGElement {
    const { panel } = this;
    const kind = row === panel.place && panel.best.length ? "token hidden" : row >= panel.unread ? "token unread" : "token";
    const label = text(shorten(legible(token), LONGEST), LABELS, this.y(row) + 4.5 + (panel.nets.length > 1 ? 4 : 0), kind);
    label.setAttribute("data-row", String(row));
    label.append(svg("title", {}, legible(token)));
    return label;
  }

  private guess(): SVGElement[] {
    const { panel } = this;
    if (!panel.best.length) return [];
    const y = panel.nets.length > 1 ? (this.y(panel.place, 0) + this.y(panel.place, 1)) / 2 : this.y(panel.place);
    const arrows = panel.nets.map((net, number) => svg("line", {
      x1: LAST + 5, y1: this.y(net.reader, number), x2: LAST + 20, y2: y, class: "guess",
    }));
    const word = text(shorten(legible(panel.best[0][0]), 8), LAST + 24, y + 4.5, "word");
    return [...arrows, word];
  }

  private answers(): HTMLElement {
    const { panel } = this;
    if (!panel.best.length) return element("p", { className: "result", textContent: panel.result });
    const most = panel.best[0][1];
    const bars = panel.best.map(([word, probability]) => element("li", { className: word === panel.token ? "right" : "" },
      element("bdi", { textContent: legible(word), title: legible(word) }),
      element("span", { className: "bar" }, element("i", { style: `width:${(100 * probability) / most}%` })),
      element("b", { textContent: percent(probability) })));
    const truth = panel.token === null || panel.probability === null ? [] : [element("p", { className: "truth" },
      element("bdi", { textContent: shorten(legible(panel.token), 16) }), " ",
      element("b", { textContent: percent(panel.probability) }),
      panel.rank === 1 ? ", its first guess" : `, rank ${(panel.rank ?? 0).toLocaleString("en")}`)];
    return element("div", { className: "answers" }, element("ol", {}, ...bars), ...truth);
  }

  // ---- pointing ----

  private under(event: PointerEvent): Spot | null {
    const box = this.svg.getBoundingClientRect();
    const scale = WIDTH / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    let best: Spot | null = null;
    let least = HIT * HIT;
    this.panel.nets.forEach((_, net) => {
      for (let level = 1; level <= this.levels; level++) {
        for (let row = 0; row < this.panel.tokens.length; row++) {
          const distance = (this.x(level) - x) ** 2 + (this.y(row, net) - y) ** 2;
          if (distance < least) [best, least] = [{ net, level, row }, distance];
        }
      }
    });
    return best;
  }

  private point(spot: Spot | null): void {
    if (JSON.stringify(spot) === JSON.stringify(this.spot)) return;
    this.spot = spot;
    this.paint();
  }

  private click(event: MouseEvent): void {
    const label = (event.target as Element).closest("[data-row]");
    if (label) this.pick(Number(label.getAttribute("data-row")));
  }

  private key(event: KeyboardEvent): void {
    const [{ net, level, row }] = this.focus;
    const by = (across: number, down: number) => () => this.point({
      net,
      level: Math.max(1, Math.min(this.levels, level + across)),
      row: Math.max(0, Math.min(this.panel.tokens.length - 1, row + down)),
    });
    onKey(event, {
      ArrowLeft: by(-1, 0), ArrowRight: by(1, 0), ArrowUp: by(0, -1), ArrowDown: by(0, 1),
      Enter: () => this.pick(row), Escape: () => this.point(null),
    });
  }

  // What the chosen vector reads, or how many tokens the guess can depend on.
  private inWords(): string {
    const { panel } = this;
    if (this.spot) {
      const { net, level, row } = this.spot;
      const found = reads(panel.nets[net], level - 1, row, 4).map(({ key, weight }) => `${legible(panel.tokens[key])} ${percent(weight)}`);
      return `Layer ${level - 1}, ${legible(panel.tokens[row])} reads ${found.join(" \u00b7 ") || "nothing"}`;
    }
    if (!panel.best.length) return "";
    const seen = new Set<number>();
    panel.nets.forEach((net) => cone(net, this.levels, net.reader)[0].forEach((is, row) => { if (is && row !== panel.place) seen.add(row); }));
    const left = [...seen].filter((row) => row < panel.place).length + panel.before;
    const right = seen.size + panel.before - left + ([...seen].some((row) => row > panel.place) ? panel.after : 0);
    return sees(left, right);
  }
}

function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag, attributes: Record<string, string | number>, content = "",
): SVGElementTagNameMap[Tag] {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.textContent = content;
  return node;
}

function text(content: string, x: number, y: number, kind: string): SVGTextElement {
  return svg("text", { x, y, class: kind }, content);
}
