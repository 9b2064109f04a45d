// The heat map: what the server sends, pointer and keys.

import "../shared/shared.css";
import "./heat_map.css";

import { element } from "../../browser/elements";
import { onKey } from "../../browser/keys";
import { said } from "../../browser/text";
import { alone } from "../../html_file/alone";
import { saveButtons } from "../saving/buttons";
import { fitCanvas, readTheme } from "../shared/canvas";
import { ChoosingView } from "../shared/canvas_view";
import { DataTable } from "../shared/data_table";
import { sameTokens } from "../shared/levels";
import { mounting, stateEvents } from "../shared/mount";
import { Tooltip } from "../shared/tooltip";
import type { Message } from "../shared/transport";
import { MapControls } from "./controls";
import { MapFiles } from "./files";
import { MapModel, type Cell, type MapHeader } from "./model";
import { MapPainter } from "./painter";
import { MapWords } from "./words";

/** From one event of a pointer to its latest. */
interface Drag {
  first: PointerEvent;
  last: PointerEvent;
  isMoved: boolean;
}

export class HeatMap extends ChoosingView {
  private readonly model = new MapModel();
  private readonly painter = new MapPainter(this.model);
  private readonly files = new MapFiles(this.model, this.painter);
  private readonly controls = new MapControls(this.model, this.painter, this);
  private readonly table = new DataTable("Numbers as a table", () => this.files.table());
  private readonly words = new MapWords(this.model, new Tooltip(this.root));
  private readonly field = element("div", {
    className: "field", tabIndex: 0, role: "application",
    ariaLabel: said("Heat map. Arrows move the marked cell, Page keys by ten, Home and End to the edges, plus and minus zoom, 0 shows the whole map, Escape lets go. The numbers are in the table below."),
    onpointermove: (event: PointerEvent) => this.move(event),
    onpointerleave: () => this.point(null),
    onpointerdown: (event: PointerEvent) => this.press(event),
    onpointerup: (event: PointerEvent) => this.release(event),
    onlostpointercapture: (event: PointerEvent) => { if (event.pointerId === this.drag?.first.pointerId) this.drag = null; },
    ondblclick: () => this.zoomBy(0),
    onkeydown: (event: KeyboardEvent) => this.key(event),
    onwheel: (event: WheelEvent) => this.wheel(event),
  }, this.canvas);
  private drag: Drag | null = null;

  constructor(parent: Node) {
    super("view");
    this.open(parent, ...this.controls.rows, this.controls.title, this.field, this.words.line,
      element("div", { className: "foot" }, this.controls.keys, saveButtons(this.files)), this.table.root, this.words.liveRegion.root);
  }

  // ---- what the server sends ----

  update(message: Message<MapHeader>): void {
    const { model } = this;
    const { header } = message;
    const isFirst = !this.hasMessage;
    const isSameText = sameTokens(isFirst ? undefined : model.header, header);
    const wasZoomed = !isFirst && !model.window.isWhole;
    model.receive(message);
    this.hasMessage = true;
    if (this.isAnswer(header, isSameText)) model.adoptSelection();
    this.root.classList.toggle("waiting", this.isAwaited(header));
    if (!isSameText) model.marked = model.pointed = null;
    if (isFirst) {
      const { rows: rowsBy, columns: columnsBy, words: byWord } = header.look;
      Object.assign(model, { rowsBy, columnsBy, byWord });
      model.markIfNeeded();
    }
    this.painter.theme = readTheme(this.root);
    this.refreshUnits(!isSameText, isFirst ? header.look.seen : "");
    if (!isSameText && wasZoomed) this.noteOptions(); // the part that was seen is of another text
  }

  choose({ layers, heads }: { layers?: number[]; heads?: number[] }): void {
    const { model } = this;
    if (layers) model.layers = new Set(layers);
    if (heads) model.heads = new Set(heads);
    this.root.classList.add("waiting");
    this.controls.refresh();
    const hasAll = model.heads.size === model.header.num_heads;
    this.reportSelection({ layers: [...model.layers], heads: hasAll ? [] : [...model.heads] }); // no heads for all
  }

  // ---- what is shown ----

  // The options are reported so that they get into the address.
  private noteOptions(): void {
    this.noting.run(() => {
      const { rowsBy: rows, columnsBy: columns, byWord: words, window } = this.model;
      this.events.options({ rows, columns, words, seen: window.written() });
    });
  }

  showWords(isOn: boolean): void {
    this.model.byWord = isOn;
    this.noteOptions();
    this.model.marked = this.model.pointed = null;
    this.refreshUnits(true);
  }

  // `anew`: the units are others; `seen`: the part of the map to open.
  private refreshUnits(anew: boolean, seen = ""): void {
    this.model.refreshUnits();
    if (anew) {
      this.model.openWindow(seen);
      this.painter.labels.forget();
    }
    this.sort();
    this.fit();
  }

  private sort(): void {
    this.model.sort();
    this.painter.makeImages();
    this.controls.refresh();
    this.controls.refreshKeys();
    this.words.say();
    this.table.refresh();
  }

  sortBy(order: Partial<Pick<MapModel, "rowsBy" | "columnsBy">>): void {
    Object.assign(this.model, order);
    this.model.markIfNeeded();
    this.sort();
    this.draw();
    this.noteOptions();
  }

  // 0 for the whole map; x and y in cells, else around the marked cell.
  zoomBy(factor: number, x?: number, y?: number): void {
    const { window, place } = this.model;
    if (factor) window.zoom(factor, x ?? (place ? place.column + 0.5 : undefined), y ?? (place ? place.row + 0.5 : undefined));
    else window.reset();
    this.controls.refreshZoom();
    this.draw();
    this.noteOptions();
  }

  protected layout(width: number): void {
    this.painter.layout(width, this.canvas);
    this.draw();
  }

  protected override draw(): void {
    this.field.classList.toggle("zoomed", !this.model.window.isWhole);
    super.draw();
  }

  protected paint(): void {
    const { painter } = this;
    if (!painter.width) return;
    painter.theme = readTheme(this.root);
    painter.drawOn(fitCanvas(this.canvas, painter.width, painter.width), window.devicePixelRatio || 1);
  }

  // ---- pointer ----

  private place(event: MouseEvent): (Cell & { x: number; y: number }) | null {
    const box = this.canvas.getBoundingClientRect();
    const at = this.painter.hit(event.clientX - box.left, event.clientY - box.top);
    return at && { ...at, row: Math.floor(at.y), column: Math.floor(at.x) };
  }

  private move(event: PointerEvent): void {
    const { drag } = this;
    if (!drag) return this.point(this.place(event), event);
    const { first, last } = drag;
    if (event.pointerId !== first.pointerId) return; // another finger
    if (Math.abs(event.clientX - first.clientX) + Math.abs(event.clientY - first.clientY) > 4) drag.isMoved = true;
    if (!drag.isMoved) return;
    const { cell } = this.painter;
    this.model.window.pan((last.clientX - event.clientX) / cell, (last.clientY - event.clientY) / cell);
    drag.last = event;
    this.words.tip.hide();
    this.draw();
  }

  private point(place: Cell | null, event?: PointerEvent): void {
    const { pointed } = this.model;
    const isSame = place?.row === pointed?.row && place?.column === pointed?.column;
    this.model.pointed = place && { row: place.row, column: place.column };
    if (event) this.words.showTip(event.clientX, event.clientY);
    else if (!place) this.words.tip.hide();
    if (isSame) return;
    this.words.say();
    this.draw();
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0 || this.drag) return;
    this.field.setPointerCapture(event.pointerId);
    this.drag = { first: event, last: event, isMoved: false };
  }

  private release(event: PointerEvent): void {
    const { drag } = this;
    if (!drag || event.pointerId !== drag.first.pointerId) return;
    this.drag = null;
    if (drag.isMoved) return this.noteOptions();
    const place = this.place(event);
    const { marked } = this.model;
    const again = place && marked && place.row === marked.row && place.column === marked.column;
    return this.mark(again || !place ? null : { row: place.row, column: place.column });
  }

  // Zooms; when the whole map is visible, the wheel scrolls the page again.
  private wheel(event: WheelEvent): void {
    const place = this.place(event);
    if (!place || (event.deltaY > 0 && this.model.window.isWhole)) return;
    event.preventDefault();
    this.words.tip.hide();
    this.zoomBy(Math.exp(-Math.max(-240, Math.min(240, event.deltaY)) / 300), place.x, place.y);
  }

  // ---- marking and keys ----

  private mark(place: Cell | null): void {
    const { model } = this;
    model.marked = place;
    if (place && (model.rowsBy === "chosen" || model.columnsBy === "chosen")) this.sort();
    this.words.say();
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    const { size } = this.model;
    const by = (down: number, right: number) => () => this.step(down, right);
    const [closer, away] = [() => this.zoomBy(1.6), () => this.zoomBy(1 / 1.6)];
    onKey(event, {
      ArrowUp: by(-1, 0), ArrowDown: by(1, 0), ArrowLeft: by(0, -1), ArrowRight: by(0, 1),
      PageUp: by(-10, 0), PageDown: by(10, 0), Home: by(0, -size), End: by(0, size),
      "+": closer, "=": closer, "-": away, "0": () => this.zoomBy(0), "Escape": () => this.mark(null),
    });
  }

  private step(down: number, right: number): void {
    const { model } = this;
    const start = model.place;
    const inside = (k: number) => Math.max(0, Math.min(model.size - 1, k));
    this.mark(start ? { row: inside(start.row + down), column: inside(start.column + right) } : { row: 0, column: 0 });
    if (!model.marked) return;
    const seen = model.window.written();
    model.window.show(model.marked.row, model.marked.column); // which sorting may have moved
    if (model.window.written() !== seen) this.noteOptions();
  }
}

const component = mounting<MapHeader, HeatMap["events"]>(HeatMap, stateEvents);
export default component;
export const standAlone = alone(component);
