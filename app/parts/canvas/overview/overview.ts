// All heads of all layers as thumbnails, from which one picks: what the server sends, pointer and keys.

import "../shared/shared.css";
import "./overview.css";

import { element } from "../../browser/elements";
import { onKey } from "../../browser/keys";
import { said } from "../../browser/text";
import { alone } from "../../html_file/alone";
import { saveButtons } from "../saving/buttons";
import { fitCanvas, readTheme } from "../shared/canvas";
import { CanvasView } from "../shared/canvas_view";
import { DataTable } from "../shared/data_table";
import { mounting } from "../shared/mount";
import { Tooltip } from "../shared/tooltip";
import type { Message } from "../shared/transport";
import { OverviewControls } from "./controls";
import { Detail } from "./detail";
import { OverviewFiles } from "./files";
import { GridPainter } from "./grid";
import { OverviewModel, type OverviewHeader, type OverviewOptions, type Place } from "./model";
import { Thumbnails } from "./thumbnails";

const WIDE = 640; // pixels from which on the numbers stand beside the grid

/** What the view reports to Python. */
interface OverviewEvents {
  /** One head, or none for the whole layer. */
  picked(value: { layer: number; heads: number[] }): void;
  options(value: OverviewOptions): void;
}

class Overview extends CanvasView<OverviewEvents> {
  private readonly model = new OverviewModel();
  private readonly thumbnails = new Thumbnails(this.model);
  private readonly painter = new GridPainter(this.model, this.thumbnails);
  private readonly files = new OverviewFiles(this.model, this.painter);
  private readonly controls = new OverviewControls(this.model, (options) => this.change(options));
  private readonly table = new DataTable("Numbers of all heads as a table", () => this.files.table());
  private readonly detail = new Detail(this.model, this.thumbnails, new Tooltip(this.root));
  private readonly scale = element("div", { className: "scale" }, this.controls.keys, saveButtons(this.files));
  private readonly holder = element("div", { className: "frame" }, element("div", {
    className: "grid", tabIndex: 0, role: "application",
    ariaLabel: said("All heads. Arrows move, Home and End go to the first and the last, Enter opens the head, Escape lets go. The numbers are in the table below."),
    onpointermove: (event: PointerEvent) => this.point(this.hit(event), event),
    onpointerleave: () => this.point(null),
    onclick: (event: MouseEvent) => this.pick(this.hit(event)),
    onkeydown: (event: KeyboardEvent) => this.key(event),
  }, this.canvas));

  constructor(parent: Node) {
    super("view overview");
    this.open(parent, this.controls.row,
      element("div", { className: "body" },
        element("div", { className: "left" }, this.holder, this.scale), this.detail.root),
      this.table.root, this.detail.liveRegion.root);
  }

  update(message: Message<OverviewHeader>): void {
    this.model.receive(message);
    if (!this.hasMessage) this.model.options = { ...message.header.look };
    this.hasMessage = true;
    this.painter.theme = readTheme(this.root);
    this.thumbnails.forget();
    this.refresh();
  }

  // Changes the options; they are reported so that they get into the address.
  private change(options: Partial<OverviewOptions>): void {
    Object.assign(this.model.options, options);
    this.refresh();
    const { measure, order, lowest, limit } = this.model.options;
    this.noting.run(() => this.events.options({ measure, order, lowest, limit }));
  }

  private refresh(): void {
    this.model.sort();
    this.controls.refresh();
    this.table.refresh();
    this.fit();
  }

  protected layout(room: number): void {
    const isWide = room >= WIDE;
    this.root.classList.toggle("narrow", !isWide);
    this.painter.layout(isWide ? room - 450 : room - 12);
    this.holder.style.width = `${this.painter.width + 16}px`; // with a scroll bar's room
    this.scale.style.maxWidth = `${Math.max(300, this.painter.width + 16)}px`;
    this.controls.refreshKeys(this.painter.theme);
    this.detail.refresh();
    this.draw();
  }

  protected paint(): void {
    const { painter } = this;
    painter.theme = readTheme(this.root);
    const density = window.devicePixelRatio || 1;
    painter.drawOn(fitCanvas(this.canvas, painter.width + 2, painter.height + 2), density);
  }

  // ---- pointing and picking ----

  private hit(event: MouseEvent): Place | null {
    const box = this.canvas.getBoundingClientRect();
    return this.painter.hit(event.clientX - box.left, event.clientY - box.top);
  }

  private point(place: Place | null, event?: MouseEvent): void {
    const { pointed } = this.model;
    const isSame = place?.layer === pointed?.layer && place?.head === pointed?.head;
    this.model.pointed = place;
    this.detail.showTip(event);
    if (isSame) return;
    this.detail.refresh();
    this.draw();
  }

  private pick(place: Place | null): void {
    if (!place) return;
    const picked = { layer: place.layer, heads: place.head === null ? [] : [place.head] };
    this.model.selected = picked;
    this.draw();
    this.events.picked(picked);
  }

  private key(event: KeyboardEvent): void {
    const { model, painter: { columns } } = this;
    const now = model.pointed ?? model.opened;
    const at = model.sequence.indexOf(now.layer * model.header.num_heads + (now.head ?? 0));
    const last = model.sequence.length - 1;
    const to = (next: number) => () => {
      if (next < 0 || next > last) return;
      this.point(model.placeAt(next));
      // The grid scrolls when sorting makes it long.
      this.holder.scrollTop = this.painter.scrolledTo(next, this.holder.scrollTop, this.holder.clientHeight);
    };
    onKey(event, {
      ArrowUp: to(at - columns), ArrowDown: to(at + columns), ArrowLeft: to(at - 1), ArrowRight: to(at + 1), Home: to(0), End: to(last),
      "Enter": () => this.pick(now), " ": () => this.pick(now), "Escape": () => this.point(null),
    });
  }
}

const component = mounting<OverviewHeader, OverviewEvents>(Overview, ({ setTriggerValue, setStateValue }) => ({
  picked: (value) => setTriggerValue("picked", value),
  options: (value) => setStateValue("look", value),
}));
export default component;
export const standAlone = alone(component);
