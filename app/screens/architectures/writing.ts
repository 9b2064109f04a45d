// Two networks that write, step by step: one token after another, and masks filled. Tokens are set as text only.

import "./writing.css";

import { keepView, type KeptView } from "../../parts/browser/component";
import { element } from "../../parts/browser/elements";
import { legible, percent, shorten } from "../../parts/browser/text";
import { filledAfter, lastRead, orderOf, type Masks, type Next, type Writing } from "./steps";

const MOST_BEFORE = 24; // tokens of the prompt that are drawn
const PACE = 900; // milliseconds of a step

class Player implements KeptView<Writing> {
  private data: Writing = { next: null, masks: null };
  private step = 0;
  private timer = 0;
  private readonly slider = element("input", { type: "range", min: "0", ariaLabel: "Step", oninput: () => this.show(Number(this.slider.value)) });
  private readonly count = element("output", {});
  private readonly play = element("button", { type: "button", onclick: () => this.toggle() });
  private readonly panels = element("div", { className: "panels" });

  constructor(parent: Node) {
    parent.appendChild(element("div", { className: "writing" },
      element("div", { className: "steps" },
        element("button", { type: "button", textContent: "\u25c0", ariaLabel: "Step back", onclick: () => this.show(this.step - 1) }),
        this.play,
        element("button", { type: "button", textContent: "\u25b6", ariaLabel: "Next step", onclick: () => this.show(this.step + 1) }),
        this.slider, this.count),
      this.panels));
  }

  update(data: Writing): void {
    if (JSON.stringify(data) === JSON.stringify(this.data)) return;
    this.close();
    this.data = data;
    this.show(this.length);
  }

  close(): void {
    clearInterval(this.timer);
    this.timer = 0;
    this.play.textContent = "Play";
  }

  private get length(): number {
    return Math.max(this.data.next?.written.length ?? 0, this.data.masks?.steps.length ?? 0);
  }

  private toggle(): void {
    if (this.timer) return this.close();
    if (this.step === this.length) this.show(0);
    this.play.textContent = "Pause";
    this.timer = window.setInterval(() => {
      this.show(this.step + 1);
      if (this.step === this.length) this.close();
    }, PACE);
  }

  private show(step: number): void {
    this.step = Math.max(0, Math.min(this.length, step));
    this.slider.max = String(this.length);
    this.slider.value = String(this.step);
    this.count.textContent = `step ${this.step} of ${this.length}`;
    const { next, masks } = this.data;
    this.panels.replaceChildren(...(next ? [nextPanel(next, this.step)] : []), ...(masks ? [maskPanel(masks, this.step)] : []));
  }
}

export default keepView(Player);

function nextPanel(next: Next, step: number): HTMLElement {
  const before = next.before.slice(-MOST_BEFORE).map((token) => chip(token, "before"));
  const shown = next.written.slice(0, step);
  const written = shown.map(({ token, probability }, place) =>
    chip(token, place === shown.length - 1 ? "new written" : "written", probability));
  const last = shown.at(-1);
  return panel(next.name, "one token after another, from the left", [...before, ...written], last
    ? [line("It chose ", last.token, ` at ${percent(last.probability)} from`), bars(last.best, last.token)]
    : [line("", "", "")]);
}

function maskPanel(masks: Masks, step: number): HTMLElement {
  const { steps } = masks;
  const tokens = filledAfter(masks, step);
  const order = orderOf(masks, step);
  const last = step ? steps[Math.min(step, steps.length) - 1] : null;
  const read = last ? lastRead(last) : [];
  const most = Math.max(...read, 0);
  const from = Math.max(0, masks.places[0] - MOST_BEFORE);
  const chips = tokens.map((token, place) => {
    const when = order.get(place);
    const isOpen = masks.places.includes(place) && when === undefined;
    const kind = last?.position === place ? "new written" : isOpen ? "open" : when === undefined ? "before" : "written";
    const one = chip(token, kind, when === undefined ? undefined : steps[when - 1].probability);
    if (when !== undefined) one.append(element("small", { textContent: String(when) }));
    if (last && most > 0) one.append(element("i", { className: "read", style: `opacity:${(read[place] / most).toFixed(3)}` }));
    return one;
  }).slice(from);
  const open = steps.length - Math.min(step, steps.length) + 1;
  const which = open > 1 ? `the surest of ${open} masks` : "the last mask";
  return panel(masks.name, "a row of masks, the surest first", chips, last
    ? [line("It put ", last.word, ` at ${percent(last.probability)}, ${which}. Underlined: what that mask looked at, the mean over layers and heads.`)]
    : [line("", "", `${masks.places.length} masks: their number has to be known beforehand.`)]);
}

function panel(name: string, rule: string, chips: HTMLElement[], below: HTMLElement[]): HTMLElement {
  return element("section", { "data-name": name }, element("h2", { textContent: name }), element("p", { className: "rule", textContent: rule }),
    element("div", { className: "chips", dir: "auto" }, ...chips), ...below);
}

function chip(token: string, kind: string, probability?: number): HTMLElement {
  const shade = probability === undefined ? "" : `--sure:${Math.round(100 * Math.sqrt(probability))}%`;
  const title = probability === undefined ? legible(token) : `${legible(token)} ${percent(probability)}`;
  return element("span", { className: `chip ${kind}`, style: shade, title }, element("bdi", { textContent: shorten(legible(token), 18) }));
}

function line(before: string, word: string, after: string): HTMLElement {
  return element("p", { className: "said" }, before, element("b", {}, element("bdi", { textContent: legible(word) })), after);
}

function bars(best: [string, number][], chosen: string): HTMLElement {
  return element("ol", {}, ...best.map(([word, probability]) => element("li", { className: word === chosen ? "chosen" : "" },
    element("bdi", { textContent: legible(word) }), element("span", {}, element("i", { style: `width:${100 * probability}%` })),
    element("b", { textContent: percent(probability) }))));
}
