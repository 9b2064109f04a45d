// The whole network on one text: the walk through it, pointer and keys.

import "../canvas/shared/shared.css";
import "./drawing.css";

import { element } from "../browser/elements";
import { onKey } from "../browser/keys";
import { LiveRegion } from "../browser/live_region";
import { legible, percent, said } from "../browser/text";
import { saveButtons } from "../canvas/saving/buttons";
import { fitCanvas, readTheme } from "../canvas/shared/canvas";
import { CanvasView } from "../canvas/shared/canvas_view";
import { button } from "../canvas/shared/controls";
import { DataTable } from "../canvas/shared/data_table";
import { mounting } from "../canvas/shared/mount";
import { Tooltip, tokenInTip } from "../canvas/shared/tooltip";
import type { Message } from "../canvas/shared/transport";
import { alone } from "../html_file/alone";
import { GlanceFiles } from "./files";
import { between, layoutOf, partAt, type Layout, type Part } from "./layout";
import { exactPercent, GlanceModel, isAbsent, NUM_BANDS, type GlanceHeader, type Step } from "./model";
import { GlancePainter } from "./painter";

const FOLDING_MS = 200;

/** What is opened by a click. */
export interface OpenedPart {
  part: string;
  position: number | null;
  layer: number | null;
  head: number | null;
}

interface GlanceEvents {
  opened(value: OpenedPart): void;
  step(value: number): void;
}

const SWIPE = 45; // pixels to the side, and less than half of it up or down
const PHONE = "(max-width: 640px)";

class Glance extends CanvasView<GlanceEvents> {
  private readonly model = new GlanceModel();
  private readonly painter = new GlancePainter(this.model);
  private readonly files = new GlanceFiles(this.model, this.painter);
  private readonly table = new DataTable("Tokens and what they read as a table", () => this.files.table());
  private readonly live = new LiveRegion();
  private readonly tip = new Tooltip(this.root);
  private readonly title = element("div", { className: "title" });
  private readonly texts = element("div", { className: "texts" });
  private readonly back = button("Back", "\u2190", () => this.go(this.model.step - 1), "go");
  private readonly on = button("Next", "\u2192", () => this.go((this.model.step + 1) % this.model.header.steps.length), "go on");
  private readonly more = element("div", { className: "more" });
  private readonly plane = element("div", {
    className: "plane", tabIndex: 0, role: "application",
    ariaLabel: "BERT on this text, from the word pieces to the predictions. Left and right arrow: steps. Up and " +
      "down arrow: follow another token. Enter: open what explains this step.",
    onpointermove: (event: PointerEvent) => this.point(this.hit(event), event),
    onpointerleave: () => this.point(null),
    onclick: (event: MouseEvent) => this.click(event),
  }, this.canvas);
  private target!: Layout;
  private from: Layout | null = null; // while it folds
  private start = 0;
  private down: PointerEvent | null = null;
  private isTouch = false;
  private tapped: Part | null = null;

  constructor(parent: Node) {
    super("view glance");
    const walk = element("div", { className: "walk", role: "group", ariaLabel: "Walk through BERT" },
      this.back, this.title, this.on, this.texts, this.more);
    const stage = element("div", {
      className: "stage",
      onkeydown: (event: KeyboardEvent) => this.key(event),
      onpointerdown: (event: PointerEvent) => { this.down = event; this.isTouch = event.pointerType !== "mouse"; },
      onpointerup: (event: PointerEvent) => this.swipe(event),
    }, walk, this.plane);
    this.open(parent, stage, element("div", { className: "foot" }, saveButtons(this.files)), this.table.root, this.live.root);
  }

  update(message: Message<GlanceHeader>): void {
    this.model.receive(message);
    const { steps, step } = message.header;
    if (!this.hasMessage) this.model.step = step;
    this.hasMessage = true;
    this.model.step = Math.min(this.model.step, steps.length - 1);
    this.painter.refresh(readTheme(this.root));
    // All stand in one place, so that the picture under them never moves.
    this.texts.replaceChildren(...steps.map((one) => element("p", {}, ...this.textOf(one))));
    this.showStep();
    this.table.refresh();
    this.fit();
  }

  // The title of what a click on a part opens, if there is such a page.
  private page(kind: string): string | undefined {
    return this.model.header.pages[kind];
  }

  // What the open step is about, as a click on it reports it.
  private get about(): string {
    const { part } = this.model.header.steps[this.model.step];
    return part === "heads" ? "attention" : part;
  }

  // ---- the walk ----

  private go(step: number): void {
    const { steps } = this.model.header;
    if (step < 0 || step >= steps.length) return;
    this.model.step = step;
    this.showStep();
    this.live.say(`${steps[step].title}. ${steps[step].text}`);
    this.point(null);
    this.fold();
    // On a phone, the page's head leaves too little room for the picture and the guesses.
    if (matchMedia(PHONE).matches) this.root.scrollIntoView({ block: "start" });
    this.noting.run(() => this.events.step(step));
  }

  // Each special word is a button that shows what it means.
  private textOf({ part, text, explained = [[text, ""]] }: Step): (HTMLElement | string)[] {
    return explained.flatMap(([words, meaning], at): (HTMLElement | string)[] => {
      const id = `${part}-${at}`;
      return meaning ? [
        element("button", { type: "button", className: "word", textContent: words, popovertarget: id }),
        element("span", { className: "meaning", id, popover: "auto", textContent: meaning }),
      ] : words ? [legible(words)] : [];
    });
  }

  private showStep(): void {
    const { header: { steps }, step } = this.model;
    const isLast = step === steps.length - 1;
    this.title.replaceChildren(element("span", { textContent: `${step + 1} / ${steps.length}` }), steps[step].title);
    [...this.texts.children].forEach((text, at) => text.classList.toggle("open", at === step));
    if (step === 0 && this.back.matches(":focus")) this.on.focus();
    this.back.disabled = step === 0;
    this.on.textContent = this.on.ariaLabel = said(isLast ? "Start again" : "Next");
    this.back.textContent = this.back.ariaLabel = said("Back");
    this.on.classList.toggle("last", isLast);
    this.more.classList.toggle("ways", isLast);
    const kinds = isLast ? ["lesson", "pieces", "own"] : [this.about];
    this.more.replaceChildren(...kinds.filter((kind) => this.page(kind)).map((kind) =>
      button(isLast ? this.page(kind) ?? "" : `${said("More on this:")} ${this.page(kind)}`, "", () => this.openStep(kind))));
  }

  private openStep(kind: string): void {
    const { header: { predictions, num_layers: layers }, followed } = this.model;
    const row = kind === "words" ? predictions[0].row : kind === "pair" ? 0 : followed;
    const layer = kind === "layers" ? layers - 1 : kind === "attention" || kind === "feed_forward" ? 0 : undefined;
    if (this.page(kind)) this.report({ kind, row, layer });
  }

  private swipe({ clientX, clientY }: PointerEvent): void {
    const { down } = this;
    this.down = null;
    if (!down || !this.isTouch) return;
    const [across, along] = [clientX - down.clientX, Math.abs(clientY - down.clientY)];
    if (Math.abs(across) > SWIPE && Math.abs(across) > 2 * along) this.go(this.model.step - Math.sign(across));
  }

  // ---- drawing ----

  private fold(): void {
    if (this.hasMessage && this.root.clientWidth) this.layout(this.root.clientWidth, true);
  }

  protected layout(width: number, isFolding = false): void {
    const { header, step, centre } = this.model;
    this.target = layoutOf(header, width, header.steps[step].part, centre);
    const isStill = !isFolding || matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.from = isStill ? null : this.painter.layout;
    this.start = performance.now();
    if (isStill) this.painter.layout = this.target;
    this.draw();
  }

  protected paint(): void {
    const theme = readTheme(this.root);
    if (theme.background !== this.painter.theme.background) this.painter.refresh(theme);
    const share = (performance.now() - this.start) / FOLDING_MS;
    const { from, target } = this;
    if (from && share < 1) {
      this.painter.layout = between(from, target, share * share * (3 - 2 * share));
      this.draw();
    } else [this.painter.layout, this.from] = [target, null];
    const { width, height } = this.painter.layout;
    this.painter.drawOn(fitCanvas(this.canvas, width, height));
  }

  // ---- pointing ----

  private hit(event: MouseEvent): Part | null {
    const box = this.canvas.getBoundingClientRect();
    return partAt(this.target, this.model.header, event.clientX - box.left, event.clientY - box.top);
  }

  private point(part: Part | null, event?: MouseEvent): void {
    this.painter.pointed = part;
    if (part && part.row !== null) this.model.followed = part.row;
    this.plane.classList.toggle("opens", part !== null && (this.opens(part)[0] !== undefined || this.opens(part)[1] >= 0));
    if (part && event) this.tip.show(event.clientX, event.clientY, ...this.tipOf(part));
    else this.tip.hide();
    this.draw();
  }

  // What a click on a part opens or does: a page, or where none is about it or it is folded, the step about it.
  private opens({ kind, row, isFolded }: Part): [string | undefined, number] {
    const { steps, text_ids: texts } = this.model.header;
    const hide = kind === "pieces" && row !== null && texts[row] >= 0 && this.page("hide");
    return [isFolded ? undefined : hide || this.page(kind), steps.findIndex(({ part }) => part === kind)];
  }

  private tipOf(part: Part): (HTMLElement | string)[] {
    const [page, step] = this.opens(part);
    const lines = this.describe(part).map((text) => element("div", { textContent: text }));
    const token = part.row === null ? [] : [tokenInTip(this.model.header.tokens[part.row])];
    const opened = page ?? (step < 0 ? "" : `step ${step + 1}, ${this.model.header.steps[step].title}`);
    return [...token, ...lines, ...(opened ? [element("div", {}, element("i", { textContent: `Click: ${opened}` }))] : [])];
  }

  // What is under the pointer, in lines of text.
  private describe({ kind, row, layer, head, column: at, index, isFolded }: Part): string[] {
    const { model, model: { header } } = this;
    if (isFolded) return [];
    if (kind === "pair" || kind === "words") {
      const absent = header.absent[kind];
      if (absent !== undefined) return [absent];
      const hidden = header.num_hidden ? ` with the hidden word${header.num_hidden > 1 ? "s" : ""}` : "";
      if (kind === "pair") return [exactPercent(header.pair?.probability ?? null) + hidden];
      const { words, probabilities, original } = header.predictions[index ?? 0];
      return [...(original === null ? [] : [`hidden: ${original}`]), ...words.map((word, k) => `${word} ${exactPercent(probabilities[k])}`)];
    }
    if (kind === "pieces") return [`token ${header.positions[row ?? 0]} of ${header.num_tokens}`];
    const lines = layer === undefined ? [] : [`Layer ${layer}${head === undefined ? "" : `, head ${head}`}`];
    if (kind === "attention" && row !== null) return [...lines, this.reads(layer ?? 0, row, 4)];
    if (kind === "attention") {
      const pink = head === undefined || model.hasHeads ? [] : ["Pink lines: mean of the heads, as the text is long"];
      return [...lines, "Attention: row reads column; strong colour is much", ...pink];
    }
    const column = at === undefined ? null : header.columns[at];
    if (column && isAbsent(header, column.kind)) return [header.absent[column.kind as "segment" | "position"] ?? ""];
    lines.push(header.parts[column?.kind ?? (row === null ? "block" : kind)] ?? "");
    if (column) lines.push(`${NUM_BANDS} cells: means of ${Math.round(column.num_dims / NUM_BANDS)} of ${column.num_dims} numbers`);
    return lines;
  }

  // What a token reads most in a layer, as the mean of the heads.
  private reads(layer: number, row: number, most: number): string {
    const { model } = this;
    const named = model.from(layer, row, null, most).map(({ key, weight }) => `${model.name(key, 16)} ${percent(weight)}`);
    return `reads${model.isFolded ? ", of those drawn," : ""} ${named.join(", ")}`;
  }

  // A finger has no pointer that rests: its first tap shows what is there.
  private click(event: MouseEvent): void {
    const part = this.hit(event);
    if (!part) return;
    const isNew = JSON.stringify(part) !== JSON.stringify(this.tapped);
    this.tapped = part;
    const [page, step] = this.opens(part);
    const hides = page && page === this.page("hide");
    if (this.isTouch && isNew && !part.isFolded && !hides) this.point(part, event);
    else if (page) this.report(hides ? { ...part, kind: "hide" } : part);
    else this.go(step);
  }

  private report({ kind, row, layer, head }: Part): void {
    this.tip.hide();
    const position = row === null ? null : this.model.header.positions[row];
    this.events.opened({ part: kind, position, layer: layer ?? null, head: head ?? null });
  }

  private key(event: KeyboardEvent): void {
    const { model } = this;
    const follow = (row: number) => () => {
      model.followed = Math.max(0, Math.min(model.size - 1, row));
      if (!this.target.rows[model.followed].height) model.centre = model.followed;
      this.painter.pointed = null;
      this.live.say(`${model.name(model.followed)}, token ${model.header.positions[model.followed]}. In layer 0 it ${this.reads(0, model.followed, 3)}.`);
      this.fold();
    };
    const isOnPlane = (event.target as Node) === this.plane;
    onKey(event, {
      ArrowLeft: () => this.go(model.step - 1), ArrowRight: () => this.go(model.step + 1),
      ...(isOnPlane && {
        ArrowUp: follow(model.followed - 1), ArrowDown: follow(model.followed + 1), Home: follow(0), End: follow(model.size - 1),
        Enter: () => this.openStep(this.about),
      }),
    });
  }
}

const component = mounting<GlanceHeader, GlanceEvents>(Glance, ({ setTriggerValue, setStateValue }) => ({
  opened: (value) => setTriggerValue("opened", value),
  step: (value) => setStateValue("step", value),
}));
export default component;
export const standAlone = alone(component);
