// The whole network on one text: the walk through it, pointer and keys.

import "../canvas/shared/shared.css";
import "./drawing.css";

import type { Mounted } from "../browser/component";
import type { Bytes } from "../browser/data_blocks";
import { element } from "../browser/elements";
import { LiveRegion } from "../browser/live_region";
import { percent } from "../browser/text";
import { saveButtons } from "../canvas/saving/buttons";
import { fitCanvas, readTheme } from "../canvas/shared/canvas";
import { button } from "../canvas/shared/controls";
import { DataTable } from "../canvas/shared/data_table";
import { mount, type MountedView } from "../canvas/shared/mount";
import { Tooltip, tokenInTip } from "../canvas/shared/tooltip";
import type { Message } from "../canvas/shared/transport";
import { ViewFrame } from "../canvas/shared/view_frame";
import { alone } from "../html_file/alone";
import { GlanceFiles } from "./files";
import { layoutOf, leastWidth, partAt, startOf, type Part } from "./layout";
import { exactPercent, GlanceModel, isAbsent, NUM_BANDS, type GlanceHeader } from "./model";
import { GlancePainter } from "./painter";

const HEIGHT = 560; // pixels that the drawing takes where the tokens allow it

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

export default function component(mounted: Mounted<Bytes>): () => void {
  return mount<GlanceHeader, GlanceEvents>(Glance, mounted, {
    opened: (value) => mounted.setTriggerValue("opened", value),
    step: (value) => mounted.setStateValue("step", value),
  });
}

export const standAlone = alone(component);

// The part that a step is about.
const PART_OF_STEP: Record<string, string> = {
  text: "text", pieces: "token", input: "input", attention: "attention", norm: "norm", feed_forward: "feed_forward",
  layers: "layer", pair: "pair", words: "words",
};

class Glance implements MountedView<GlanceHeader, GlanceEvents> {
  private readonly frame = new ViewFrame("view glance", { layout: () => this.layout(), paint: () => this.paint() });
  readonly root = this.frame.root;
  events!: GlanceEvents;
  private readonly model = new GlanceModel();
  private readonly painter = new GlancePainter(this.model);
  private readonly files = new GlanceFiles(this.model, this.painter);
  private readonly table = new DataTable("Tokens and what they read as a table", () => this.files.table());
  private readonly live = new LiveRegion();
  private readonly tip = new Tooltip(this.root);
  private readonly count = element("span", { className: "count" });
  private readonly sentence = element("p", { ariaLive: "polite" });
  private readonly back = button("\u25c0", "Step back (left arrow key)", () => this.go(this.model.step - 1), "step");
  private readonly on = button("\u25b6", "Next step (right arrow key)", () => this.go(this.model.step + 1), "step");
  private readonly opener = button("", "Open the page about this step", () => this.openStep(), "open");
  private readonly plane: HTMLElement;
  private hasMessage = false;

  constructor(parent: Node) {
    this.plane = element("div", {
      className: "plane", tabIndex: 0, role: "application",
      ariaLabel: "BERT on this text, from the word pieces to the predictions. Left and right arrow: steps. Up and " +
        "down arrow: follow another token. Enter: open what explains this step.",
      onpointermove: (event: PointerEvent) => this.point(this.hit(event), event),
      onpointerleave: () => this.point(null),
      onclick: (event: MouseEvent) => this.open(this.hit(event)),
      onkeydown: (event: KeyboardEvent) => this.key(event),
    }, this.frame.canvas);
    const walk = element("div", { className: "walk", role: "group", ariaLabel: "Walk through BERT" },
      this.back, this.count, this.on, this.sentence, this.opener);
    this.frame.open(parent, walk, this.plane,
      element("div", { className: "foot" }, saveButtons(this.files)), this.table.root, this.live.root);
  }

  close(): void {
    this.frame.close();
    this.table.close();
    this.live.cancel();
  }

  update(message: Message<GlanceHeader>): void {
    this.model.receive(message);
    if (!this.hasMessage) this.model.step = message.header.step;
    this.hasMessage = true;
    this.model.step = Math.min(this.model.step, message.header.steps.length - 1);
    this.painter.refresh(readTheme(this.root));
    this.showStep();
    this.table.refresh();
    this.layout();
  }

  // The title of what a click on a part opens, if there is such a page.
  private page(kind: string): string | undefined {
    return this.model.header.pages[kind];
  }

  // The step about a part, which a click shows where no page is about it; -1 for none.
  private stepAbout(kind: string): number {
    return this.model.header.steps.findIndex(({ part }) => PART_OF_STEP[part] === kind);
  }

  // ---- the walk ----

  private go(step: number): void {
    const { steps } = this.model.header;
    if (step < 0 || step >= steps.length) return;
    this.model.step = step;
    this.showStep();
    this.reveal();
    this.frame.draw();
    this.frame.noting.run(() => this.events.step(step));
  }

  private showStep(): void {
    const { header: { steps }, step } = this.model;
    this.count.textContent = `${step + 1} of ${steps.length}`;
    this.sentence.replaceChildren(element("b", { textContent: `${steps[step].title}. ` }), steps[step].text);
    this.back.disabled = step === 0;
    this.on.disabled = step === steps.length - 1;
    const part = PART_OF_STEP[steps[step].part];
    const page = this.page(part);
    this.opener.style.display = page ? "" : "none";
    this.opener.textContent = page ? `${page} \u2192` : "";
    this.opener.ariaLabel = page ? `${page}: open the page about this step` : "";
  }

  private openStep(): void {
    const { header: { steps, predictions, num_layers: layers }, step } = this.model;
    const part = PART_OF_STEP[steps[step].part];
    if (!this.page(part)) return;
    const row = part === "words" ? predictions[0].row : part === "pair" ? 0 : this.model.followed;
    const layer = part === "layer" ? layers - 1 : ["attention", "norm", "feed_forward"].includes(part) ? 0 : null;
    this.report(part, row, layer, null);
  }

  // ---- drawing ----

  private layout(): void {
    const width = this.root.clientWidth;
    if (!this.hasMessage || !width) return;
    const { header } = this.model;
    this.painter.layout = layoutOf(header, Math.max(width, leastWidth(header)), HEIGHT);
    this.frame.draw();
  }

  // Where the drawing is wider than its frame, the part of the step comes into it.
  private reveal(): void {
    this.plane.scrollTo({ left: startOf(this.painter.layout, this.model.header.steps[this.model.step].part) });
  }

  private paint(): void {
    const theme = readTheme(this.root);
    if (theme.background !== this.painter.theme.background) this.painter.refresh(theme);
    const { width, height } = this.painter.layout;
    this.painter.drawOn(fitCanvas(this.frame.canvas, width, height));
  }

  // ---- pointing ----

  private hit(event: MouseEvent): Part | null {
    const box = this.frame.canvas.getBoundingClientRect();
    return partAt(this.painter.layout, this.model.header, event.clientX - box.left, event.clientY - box.top);
  }

  private point(part: Part | null, event?: MouseEvent): void {
    this.painter.pointed = part;
    if (part && part.row !== null) this.model.followed = part.row;
    this.plane.classList.toggle("opens", part !== null && (this.page(part.kind) !== undefined || this.stepAbout(part.kind) >= 0));
    if (part && event) this.tip.show(event.clientX, event.clientY, ...this.tipOf(part));
    else this.tip.hide();
    this.frame.draw();
  }

  private tipOf(part: Part): (HTMLElement | string)[] {
    const lines = this.describe(part).map((text) => element("div", { textContent: text }));
    const token = part.row === null ? [] : [tokenInTip(this.model.header.tokens[part.row])];
    const step = this.stepAbout(part.kind);
    const opened = this.page(part.kind) ?? (step >= 0 ? `step ${step + 1}` : "");
    const click = opened ? [element("div", {}, element("i", { textContent: `Click: ${opened}` }))] : [];
    return [...token, ...lines, ...click];
  }

  // What is under the pointer, in lines of text.
  private describe(part: Part): string[] {
    const { model } = this;
    const { header } = model;
    if (part.kind === "pair" || part.kind === "words") {
      const absent = header.absent[part.kind];
      if (absent !== undefined) return [absent];
      if (part.kind === "pair") {
        if (!header.pair) return [];
        const hidden = header.num_hidden ? ` with the hidden word${header.num_hidden > 1 ? "s" : ""}` : "";
        return [exactPercent(header.pair.probability) + hidden];
      }
      const { words, probabilities, original } = header.predictions[part.index];
      const lines = words.map((word, k) => `${word} ${exactPercent(probabilities[k])}`);
      return original === null ? lines : [`hidden: ${original}`, ...lines];
    }
    if (part.kind === "text" || part.kind === "token") return [`token ${header.positions[part.row]} of ${header.num_tokens}`];
    const lines = "layer" in part ? [`Layer ${part.layer}${"head" in part && part.head !== null ? `, head ${part.head}` : ""}`] : [];
    if (part.kind === "attention") {
      if (part.row === null) {
        const pink = part.head === null || model.hasHeads ? [] : ["Pink lines: mean of the heads, as the text is long"];
        return [...lines, "Attention: row reads column; strong colour is much", ...pink];
      }
      return [...lines, this.reads(part.layer, part.row, 4)];
    }
    const column = "column" in part && part.column !== undefined ? header.columns[part.column] : null;
    const name = column?.kind ?? (part.kind === "norm" ? "block" : part.kind);
    if (column && isAbsent(header, column.kind)) return [header.absent[column.kind as "segment" | "position"] ?? ""];
    if (name !== "layer" || column) lines.push(header.parts[name] ?? "");
    if (column) lines.push(`${NUM_BANDS} cells: means of ${Math.round(column.num_dims / NUM_BANDS)} of ${column.num_dims} dimensions`);
    return lines;
  }

  // What a token reads most in a layer, as the mean of the heads.
  private reads(layer: number, row: number, most: number): string {
    const { model } = this;
    const named = model.from(layer, row, null, most).map(({ key, weight }) => `${model.name(key, 16)} ${percent(weight)}`);
    return `reads${model.isFolded ? ", of those drawn," : ""} ${named.join(", ")}`;
  }

  private open(part: Part | null): void {
    if (!part) return;
    if (!this.page(part.kind)) {
      this.go(this.stepAbout(part.kind));
      return;
    }
    const layer = "layer" in part ? part.layer : null;
    this.report(part.kind, part.row, layer, "head" in part ? part.head : null);
  }

  private report(part: string, row: number | null, layer: number | null, head: number | null): void {
    const position = row === null ? null : this.model.header.positions[row];
    this.tip.hide();
    this.events.opened({ part, position, layer, head });
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { model } = this;
    const follow = (row: number) => {
      model.followed = Math.max(0, Math.min(model.size - 1, row));
      this.painter.pointed = null;
      this.live.say(`${model.name(model.followed)}, token ${model.header.positions[model.followed]}. In layer 0 it ${this.reads(0, model.followed, 3)}.`);
      this.frame.draw();
    };
    const moves: Record<string, () => void> = {
      ArrowLeft: () => this.go(model.step - 1), ArrowRight: () => this.go(model.step + 1),
      ArrowUp: () => follow(model.followed - 1), ArrowDown: () => follow(model.followed + 1),
      Home: () => follow(0), End: () => follow(model.size - 1),
      Enter: () => this.openStep(),
    };
    if (!(event.key in moves)) return;
    moves[event.key]();
    event.preventDefault();
  }
}
