// Lines between two columns of tokens: who attends (left) to whom (right), for the heads of one layer.

import "../shared/shared.css";
import "./lines.css";

import { element } from "../../browser/elements";
import { onKey } from "../../browser/keys";
import { range, said } from "../../browser/text";
import { alone } from "../../html_file/alone";
import { saveButtons } from "../saving/buttons";
import { fitCanvas, readTheme } from "../shared/canvas";
import { ChoosingView } from "../shared/canvas_view";
import { DataTable } from "../shared/data_table";
import { sameTokens } from "../shared/levels";
import { mounting, stateEvents } from "../shared/mount";
import type { Message } from "../shared/transport";
import type { Place, Side } from "./choice";
import { LinesControls, type LinesChange } from "./controls";
import { LinesFiles } from "./files";
import { Foot } from "./foot";
import { LinesModel, type LinesHeader } from "./model";
import { isLong, LinesPainter } from "./painter";
import { Panel } from "./panel";

export class LinesView extends ChoosingView {
  private readonly model = new LinesModel();
  private readonly painter = new LinesPainter(this.model);
  private readonly panel = new Panel(this.model);
  private readonly controls = new LinesControls(this.model, this);
  private readonly files = new LinesFiles(this.model, this.painter, this.panel, () => this.draw());
  private readonly foot = new Foot(this.model, this.painter);
  private readonly table = new DataTable("Numbers as a table", () => this.files.table());
  private readonly spacer = element("div", {}, this.canvas);
  private readonly scroller = element("div", {
    className: "scroller", tabIndex: 0, role: "application",
    ariaLabel: said("Attention lines. Up and down move through the tokens, left and right change the column, Enter keeps a token, Space adds one to the kept ones, Escape lets go. The numbers are in the table below."),
    onscroll: () => this.draw(),
    onpointermove: (event: PointerEvent) => this.point(this.hit(event)),
    onpointerleave: () => this.point(null),
    onclick: (event: MouseEvent) => this.pick(this.hit(event), event.shiftKey || event.ctrlKey || event.metaKey),
    onmousedown: (event: MouseEvent) => { if (event.shiftKey) event.preventDefault(); }, // selects no text
    onkeydown: (event: KeyboardEvent) => this.key(event),
  }, this.spacer);

  constructor(parent: Node) {
    super("view");
    this.open(parent, ...this.controls.rows,
      element("div", { className: "body" },
        element("div", {},
          element("div", { className: "columns" },
            element("span", { textContent: said("this token attends …") }),
            element("span", { textContent: said("… to this token") })),
          this.scroller, element("div", { className: "foot" }, this.foot.keys, saveButtons(this.files))),
        this.panel.root),
      this.table.root, this.panel.liveRegion.root);
  }

  // ---- what the server sends ----

  update(message: Message<LinesHeader>): void {
    const { model } = this;
    const { header } = message;
    const before = this.hasMessage ? model.header : undefined;
    const isSameText = sameTokens(before, header);
    const isSameLayer = isSameText && before?.layer === header.layer && before.weights === header.weights;
    const hadChoice = model.choice.size > 0;
    if (!before) this.openWith(header.look);
    model.receive(message, isSameLayer);
    this.hasMessage = true;
    if (!isSameText) {
      model.forgetFocus();
      this.scroller.scrollTop = 0;
    }
    model.refreshUnits();
    if (!before) model.choice.read(header.look.chosen, model.units.starts);
    else if (hadChoice && !isSameText) this.noteOptions(); // what was chosen is gone
    if (this.isAnswer(header, isSameText)) {
      model.shown = new Set(header.heads.length ? header.heads : range(header.colours.length));
      model.layer = header.layer;
    }
    if (!isSameLayer) this.painter.labels.forget();
    this.painter.theme = readTheme(this.root);
    this.refreshWaiting();
    this.refreshControls();
    this.select();
    this.fit();
  }

  private openWith({ special, words, mean, filter, threshold }: LinesHeader["look"]): void {
    Object.assign(this.model, { hideSpecial: special, byWord: words, mean, filter, hasOwnThreshold: threshold !== null });
    if (threshold !== null) this.model.threshold = Math.max(0, Math.min(0.5, threshold));
  }

  private refreshWaiting(): void {
    this.root.classList.toggle("waiting", this.model.layer !== this.model.header.layer || this.model.awaited().length > 0);
  }

  private refreshControls(): void {
    if (!this.model.header.is_pair) this.model.filter = "all";
    if (!isLong(this.model.size)) this.model.isSqueezed = false;
    this.controls.refresh();
  }

  private select(): void {
    this.model.select();
    this.refreshPanel();
  }

  private refreshPanel(): void {
    this.table.refresh();
    this.panel.refresh();
  }

  // ---- reports ----

  // The layer and its heads; no heads for all.
  private reportHeads(): void {
    const { layer, shown, header } = this.model;
    const heads = [...shown].sort((a, b) => a - b);
    this.reportSelection({ layer, heads: heads.length === header.colours.length ? [] : heads });
  }

  // The options are reported so that they get into the address.
  private noteOptions(): void {
    const { hideSpecial: special, byWord: words, mean, filter, hasOwnThreshold, choice, units } = this.model;
    const threshold = hasOwnThreshold ? this.model.threshold : null;
    const chosen = choice.written(units.starts);
    this.noting.run(() => this.events.options({ special, words, mean, filter, threshold, chosen }));
  }

  // ---- controls ----

  goToLayer(layer: number): void {
    this.model.layer = Math.max(0, Math.min(this.model.header.num_layers - 1, layer));
    this.refreshWaiting();
    this.refreshControls();
    this.reportHeads();
  }

  setHeads(heads: number[]): void {
    this.model.shown = new Set(heads);
    this.refreshWaiting();
    this.refreshControls();
    this.select();
    this.draw();
    this.reportHeads();
  }

  set(change: LinesChange): void {
    Object.assign(this.model, change);
    this.refreshControls();
    this.select();
    this.fit();
    this.noteOptions();
  }

  showWords(isOn: boolean): void {
    this.model.byWord = isOn;
    this.model.forgetFocus(); // the places mean other units now
    this.painter.labels.forget();
    this.model.refreshUnits();
    this.set({});
  }

  // ---- drawing ----

  protected layout(width: number): void {
    this.root.classList.toggle("narrow", width < 700);
    this.painter.setRows(this.model.isSqueezed);
    this.scroller.style.height = `${this.painter.height + 2}px`;
    this.spacer.style.height = `${this.painter.contentHeight}px`;
    this.painter.setWidth(this.scroller.clientWidth); // after the heights: a scroll bar may come or go
    this.draw();
  }

  protected paint(): void {
    const { painter } = this;
    if (!painter.width) return;
    painter.drawOn(fitCanvas(this.canvas, painter.width, painter.height), this.scroller.scrollTop, painter.height);
    this.foot.refresh();
  }

  // ---- pointer and keys ----

  private hit(event: MouseEvent): Place | null {
    const box = this.scroller.getBoundingClientRect();
    return this.painter.hit(event.clientX - box.left, event.clientY - box.top + this.scroller.scrollTop - 1);
  }

  private point(place: Place | null): void {
    const { model } = this;
    this.scroller.style.cursor = place ? "pointer" : "default";
    if (place?.side === model.pointed?.side && place?.index === model.pointed?.index) return;
    model.pointed = place;
    if (!model.choice.size) this.refreshPanel();
    this.draw();
  }

  // Chooses a unit alone or, with `adds`, besides the others; nothing without a place.
  private pick(place: Place | null, adds = false): void {
    const { choice } = this.model;
    if (!place) choice.clear();
    else if (adds) choice.toggle(place);
    else choice.pickAlone(place);
    this.model.pointed = place;
    this.noteOptions();
    this.refreshPanel();
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    const { size } = this.model;
    const now = this.model.pointed ?? this.model.choice.first;
    const by = (step: number, first = 0) => () => {
      const next = now ? now.index + step : first;
      this.moveTo({ side: now?.side ?? "left", index: Math.max(0, Math.min(size - 1, next)) }, event.shiftKey);
    };
    const to = (side: Side) => () => this.moveTo({ side, index: now?.index ?? 0 }, false);
    onKey(event, {
      ArrowDown: by(1), ArrowUp: by(-1), PageDown: by(10), PageUp: by(-10), Home: by(-size), End: by(size, size - 1),
      ArrowLeft: to("left"), ArrowRight: to("right"),
      "Enter": () => this.pick(now, event.shiftKey), " ": () => this.pick(now, true), "Escape": () => this.pick(null),
    });
  }

  // With `adds` the units that are passed are chosen too.
  private moveTo(place: Place, adds: boolean): void {
    if (adds) {
      this.model.choice.add(place);
      this.noteOptions();
    }
    this.model.pointed = place;
    this.scroller.scrollTop = this.painter.scrolledTo(place.index, this.scroller.scrollTop);
    this.refreshPanel();
    this.draw();
  }
}

const component = mounting<LinesHeader, LinesView["events"]>(LinesView, stateEvents);
export default component;
export const standAlone = alone(component);
