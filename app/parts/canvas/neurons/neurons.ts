// The neuron view: what the server sends, pointer and keys.

import "../shared/shared.css";
import "./neurons.css";

import { element } from "../../browser/elements";
import { onKey } from "../../browser/keys";
import { said } from "../../browser/text";
import { alone } from "../../html_file/alone";
import { saveButtons } from "../saving/buttons";
import { fitCanvas } from "../shared/canvas";
import { ChoosingView } from "../shared/canvas_view";
import { DataTable } from "../shared/data_table";
import { sameTokens } from "../shared/levels";
import { mounting, stateEvents } from "../shared/mount";
import { Tooltip } from "../shared/tooltip";
import type { Message } from "../shared/transport";
import { NeuronControls } from "./controls";
import { NeuronFiles } from "./files";
import { NeuronModel, type KeyOrder, type NeuronHeader } from "./model";
import { NeuronPainter } from "./painter";
import { NeuronWords } from "./words";

type Place = { key: number; dimension: number | null };

export class NeuronView extends ChoosingView {
  private readonly model = new NeuronModel();
  private readonly painter = new NeuronPainter(this.model);
  private readonly files = new NeuronFiles(this.model, this.painter);
  private readonly controls = new NeuronControls(this.model, this.painter, this);
  private readonly table = new DataTable("Numbers as a table", () => this.files.table());
  private readonly spacer = element("div", {}, this.canvas);
  private readonly words = new NeuronWords(this.model, new Tooltip(this.root));
  private readonly scroller = element("div", {
    className: "scroller", tabIndex: 0, role: "application",
    ariaLabel: said("Neurons. Left and right change the query, up and down the key, Page keys by ten, Home and End to the first and last, Enter makes the key the query. The numbers are in the table below."),
    onscroll: () => this.draw(),
    onpointermove: (event: PointerEvent) => this.point(this.hit(event), event),
    onpointerleave: () => this.point(null),
    onclick: (event: MouseEvent) => this.pick(this.hit(event)),
    ondblclick: (event: MouseEvent) => this.setQuery(this.hit(event)?.key ?? -1),
    onkeydown: (event: KeyboardEvent) => this.key(event),
  }, this.spacer);

  constructor(parent: Node) {
    super("view");
    this.open(parent, this.controls.row, this.scroller, this.words.line,
      element("div", { className: "foot" }, this.controls.keys, saveButtons(this.files)), this.table.root, this.words.liveRegion.root);
  }

  // ---- what the server sends ----

  update(message: Message<NeuronHeader>): void {
    const { model } = this;
    const { header } = message;
    const isSameText = sameTokens(this.hasMessage ? model.header : undefined, header);
    const options = this.hasMessage ? null : header.look;
    model.receive(message);
    this.hasMessage = true;
    if (options) model.orderBy = options.order;
    if (!isSameText) {
      model.openQuery(options?.query ?? 1);
      this.painter.labels.forget();
      this.scroller.scrollTop = 0;
    }
    if (this.isAnswer(header, isSameText)) Object.assign(model, { layer: header.layer, head: header.head });
    this.root.classList.toggle("waiting", this.isAwaited(header));
    this.painter.readColours(this.root);
    this.controls.refreshOptions();
    this.refresh(!isSameText);
  }

  choose(layer: number, head: number): void {
    Object.assign(this.model, { layer, head });
    this.root.classList.add("waiting");
    this.controls.refresh();
    this.reportSelection({ layer, heads: [head] });
  }

  // ---- what is shown ----

  // After another query, order or head; `anew` marks the key that gets the most attention.
  private refresh(anew: boolean): void {
    this.model.arrange();
    if (anew) [this.model.marked] = this.model.order;
    this.controls.refresh();
    this.controls.refreshKeys();
    this.words.say();
    this.table.refresh();
    this.fit();
  }

  // The options are reported so that they get into the address.
  private noteOptions(): void {
    const options = { order: this.model.orderBy, query: this.model.query };
    this.noting.run(() => this.events.options(options));
  }

  setQuery(query: number): void {
    const { model } = this;
    if (query < 0 || query >= model.size || query === model.query) return;
    model.openQuery(query);
    this.words.tip.hide();
    this.refresh(model.orderBy === "weight");
    this.showMarked();
    this.noteOptions();
  }

  setOrder(order: KeyOrder): void {
    this.model.orderBy = order;
    this.refresh(false);
    this.showMarked();
    this.noteOptions();
  }

  // ---- drawing ----

  protected layout(width: number): void {
    this.painter.layout(width - 2);
    this.scroller.style.height = `${this.painter.height}px`;
    this.spacer.style.height = `${this.painter.contentHeight}px`;
    this.draw();
  }

  protected paint(): void {
    const { painter } = this;
    if (!painter.width) return;
    painter.readColours(this.root);
    painter.scrolled = this.scroller.scrollTop;
    painter.drawOn(fitCanvas(this.canvas, painter.width, painter.height));
  }

  // Brings the marked key into view.
  private showMarked(): void {
    this.scroller.scrollTop = this.painter.scrolledToMarked(this.scroller.scrollTop);
    this.draw();
  }

  // ---- pointer and keys ----

  private hit(event: MouseEvent): Place | null {
    const box = this.scroller.getBoundingClientRect();
    this.painter.scrolled = this.scroller.scrollTop;
    return this.painter.hit(event.clientX - box.left - 1, event.clientY - box.top - 1);
  }

  private point(place: Place | null, event?: MouseEvent): void {
    const isSame = place?.key === this.model.pointed?.key;
    this.model.pointed = place;
    this.words.showTip(event);
    if (isSame) return;
    this.words.say();
    this.draw();
  }

  private pick(place: Place | null): void {
    if (!place) return;
    this.model.marked = place.key;
    this.words.say();
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    const { model } = this;
    const { size } = model;
    const by = (step: number) => () => {
      const row = Math.max(0, Math.min(size - 1, model.rowOf[model.marked] + step));
      model.pointed = null;
      this.words.tip.hide();
      model.marked = model.order[row];
      this.words.say();
      this.showMarked();
    };
    onKey(event, {
      ArrowDown: by(1), ArrowUp: by(-1), PageDown: by(10), PageUp: by(-10), Home: by(-size), End: by(size),
      ArrowLeft: () => this.setQuery(model.query - 1), ArrowRight: () => this.setQuery(model.query + 1),
      Enter: () => this.setQuery(model.marked),
    });
  }
}

const component = mounting<NeuronHeader, NeuronView["events"]>(NeuronView, stateEvents);
export default component;
export const standAlone = alone(component);
