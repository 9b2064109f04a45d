// The map of a corpus: many points on a WebGL2 canvas, with names, trails and a lasso above it.

import "../../canvas/shared/shared.css";
import "./point_map.css";

import { fitCanvas, readTheme } from "../../canvas/shared/canvas";
import { mount, type MountedView } from "../../canvas/shared/mount";
import { Tooltip } from "../../canvas/shared/tooltip";
import type { Message } from "../../canvas/shared/transport";
import { ViewFrame } from "../../canvas/shared/view_frame";
import type { Mounted } from "../../browser/component";
import type { Bytes } from "../../browser/data_blocks";
import { element } from "../../browser/elements";
import { LiveRegion } from "../../browser/live_region";
import { legible, shorten } from "../../browser/text";
import { PointGrid } from "./point_grid";
import { Renderer } from "./renderer";
import { freeOf, matching, mostFrequent } from "./words";
import { MapWindow, type Place } from "./window";

interface Region {
  x: number;
  y: number;
  name: string;
}

interface MapHeader {
  /** Numbers of the hidden states. */
  layers: number[];
  /** The one that is shown first, by its place in the list. */
  shown: number;
  num: number;
  words: string[];
  /** What the colours are of. */
  title: string;
  palette: string[];
  /** Name of each colour; of a scale its two ends. */
  groups: string[];
  isScale: boolean;
  /** Dense regions of each layer, over the unit square. */
  regions: Region[][];
  accent: string;
  /** Changes when the points are others. */
  map: string;
}

interface MapEvents {
  selection(value: { points: number[]; num: number; layer: number }): void;
}

const HEIGHT = 560;
const REACH = 9; // pixels around the pointer
const STEP_MS = 900;
const REST_MS = 350;
const MOST_REPORTED = 200;
const MOST_TRAILS = 60;
const SHOWN_WORDS = 12;

export default function component(mounted: Mounted<Bytes>): () => void {
  return mount<MapHeader, MapEvents>(PointMap, mounted, {
    selection: (value: unknown) => mounted.setStateValue("selection", value),
  });
}

class PointMap implements MountedView<MapHeader, MapEvents> {
  private readonly frame = new ViewFrame("view", { layout: () => this.layout(), paint: () => this.paint() });
  readonly root = this.frame.root;
  events!: MapEvents;
  private readonly renderer = Renderer.on(this.frame.canvas);
  private readonly overlay = element("canvas", { ariaHidden: "true" });
  private readonly window = new MapWindow();
  private readonly tip = new Tooltip(this.root);
  private readonly live = new LiveRegion();
  private readonly field: HTMLElement;
  private readonly layerRange = element("input", { type: "range", min: "0", step: "1", ariaLabel: "Layer" });
  private readonly layerName = element("output");
  private readonly play = element("button", { type: "button", textContent: "Play" });
  private readonly lasso = element("button", { type: "button", textContent: "Lasso", ariaPressed: "false" });
  private readonly search = element("input", { type: "search", placeholder: "Find a word", ariaLabel: "Find a word" });
  private readonly legend = element("div", { className: "foot" });
  private readonly chosen = element("div", { className: "chosen", ariaLive: "polite" });
  private header!: MapHeader;
  private places!: Uint16Array;
  private words!: Uint32Array;
  private grids = new Map<number, PointGrid>();
  private before = 0;
  private after = 0;
  private startedAt = 0; // of the way between two layers; 0: at rest
  private isPlaying = false;
  private marked: number[] = [];
  private pointed = -1;
  private outline: Place[] = []; // of the lasso, in the map
  private drag: { pointer: number; x: number; y: number; isMoved: boolean; isLasso: boolean } | null = null;
  private waiting: number | undefined;

  constructor(parent: Node) {
    this.field = this.makeField();
    if (!this.renderer) {
      this.frame.open(parent, element("p", { role: "alert", textContent:
        "This browser has no WebGL2, with which the map is drawn. Switch hardware acceleration on, or open the page " +
        "in another browser; the coordinates are in the file below." }));
      return;
    }
    this.layerRange.oninput = () => { this.stop(); this.goTo(Number(this.layerRange.value)); };
    this.play.onclick = () => (this.isPlaying ? this.stop() : this.start());
    this.lasso.onclick = () => this.setLasso(this.lasso.ariaPressed !== "true");
    this.search.oninput = () => this.find(this.search.value);
    const all = element("button", { type: "button", textContent: "Whole map", onclick: () => this.showAll() });
    const none = element("button", { type: "button", textContent: "Clear", onclick: () => this.clear() });
    const layers = element("label", {}, "Layer", this.layerRange, this.layerName);
    const controls = element("div", { className: "controls" }, layers, this.play, this.search, this.lasso, none, all);
    this.frame.open(parent, controls, this.field, this.legend, this.chosen, this.live.root);
  }

  private makeField(): HTMLElement {
    const field = element("div", {
      className: "field", tabIndex: 0, role: "application",
      ariaLabel: "Map of the corpus. Arrows move, plus and minus zoom, 0 shows the whole map, Page keys change the " +
        "layer, Escape lets go of the selection.",
      onpointermove: (event: PointerEvent) => this.move(event),
      onpointerleave: () => this.point(-1),
      onpointerdown: (event: PointerEvent) => this.press(event),
      onpointerup: (event: PointerEvent) => this.release(event),
      onpointercancel: (event: PointerEvent) => this.cancel(event),
      ondblclick: () => this.showAll(),
      onkeydown: (event: KeyboardEvent) => this.key(event),
    }, this.frame.canvas, this.overlay);
    field.style.height = `${HEIGHT}px`;
    this.frame.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault()); // it may come back
    this.frame.canvas.addEventListener("webglcontextrestored", () => {
      this.renderer?.restore();
      this.frame.draw();
    });
    field.addEventListener("wheel", (event) => {
      if (event.deltaY > 0 && this.window.isWhole) return; // the page scrolls
      event.preventDefault();
      this.window.zoomBy(Math.exp(-event.deltaY / 400), this.at(event));
      this.frame.draw();
    }, { passive: false });
    return field;
  }

  close(): void {
    clearTimeout(this.waiting);
    this.live.cancel();
    this.renderer?.close();
    this.frame.close();
  }

  // ---- what the server sends ----

  update({ header, blocks }: Message<MapHeader>): void {
    if (!this.renderer) return;
    const isOther = this.header?.map !== header.map;
    this.header = header;
    const [places, codes, words] = blocks;
    this.places = new Uint16Array(places.buffer, places.byteOffset, places.byteLength / 2);
    this.words = new Uint32Array(words.buffer, words.byteOffset, words.byteLength / 4);
    this.renderer.receive({ places: this.places, codes, palette: header.palette, num: header.num });
    this.layerRange.max = String(header.layers.length - 1);
    this.play.hidden = header.layers.length < 2;
    if (isOther) {
      this.grids.clear();
      this.marked = [];
      this.pointed = -1;
      this.window.showAll();
      this.before = this.after = header.shown;
      this.chosen.textContent = "";
      if (this.search.value) this.find(this.search.value);
    } else this.renderer.mark(this.marked);
    this.showLayer();
    this.showLegend();
    this.layout();
  }

  private showLegend(): void {
    const { title, groups, palette, isScale } = this.header;
    const keys = isScale
      ? [element("span", { className: "key" }, groups[0], this.gradient(), groups[1])]
      : groups.map((name, k) => {
          const box = element("b");
          box.style.background = palette[k];
          return element("span", { className: "key" }, box, shorten(legible(name), 30));
        });
    this.legend.replaceChildren(element("span", { className: "note", textContent: title }), ...keys);
  }

  // The last colour is of points without a number.
  private gradient(): HTMLElement {
    const bar = element("span", { className: "scale" });
    const { palette } = this.header;
    const stops = Array.from({ length: 9 }, (_, k) => palette[Math.round((k / 8) * (palette.length - 2))]);
    bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    return bar;
  }

  // ---- layers ----

  private showLayer(): void {
    const layer = this.header.layers[this.after];
    this.layerRange.value = String(this.after);
    this.layerName.textContent = layer === 0 ? "0 (embeddings)" : String(layer);
    this.layerRange.ariaValueText = `layer ${layer}`;
  }

  private goTo(index: number): void {
    if (index === this.after) return;
    this.pointed = -1;
    this.tip.hide();
    this.before = this.after;
    this.after = index;
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.startedAt = isStill ? 0 : performance.now();
    this.showLayer();
    this.frame.draw();
  }

  private start(): void {
    this.isPlaying = true;
    this.play.textContent = "Stop";
    if (this.after === this.header.layers.length - 1) this.playTo(0);
    else this.next();
  }

  private next(): void {
    if (!this.isPlaying) return;
    if (this.after === this.header.layers.length - 1) return this.stop();
    this.playTo(this.after + 1);
  }

  // Without motion nothing arrives, so the next layer is waited for.
  private playTo(index: number): void {
    this.goTo(index);
    if (!this.startedAt) this.waiting = window.setTimeout(() => this.next(), STEP_MS);
  }

  private stop(): void {
    this.isPlaying = false;
    clearTimeout(this.waiting);
    this.play.textContent = "Play";
  }

  // How far the points are on their way, eased; moves on by itself until they arrive.
  private way(): number {
    if (!this.startedAt) return 1;
    const passed = (performance.now() - this.startedAt) / STEP_MS;
    if (passed >= 1) {
      this.startedAt = 0;
      if (this.isPlaying) this.waiting = window.setTimeout(() => this.next(), REST_MS);
      return 1;
    }
    this.frame.draw();
    return passed * passed * (3 - 2 * passed);
  }

  // ---- drawing ----

  private layout(): void {
    if (!this.header || !this.renderer) return;
    const width = Math.max(1, this.field.clientWidth);
    const ratio = window.devicePixelRatio || 1;
    const { canvas } = this.frame;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${HEIGHT}px`;
    this.window.resize(width, HEIGHT);
    this.frame.draw();
  }

  private paint(): void {
    if (!this.header || !this.renderer) return;
    const way = this.way();
    const { before, after } = this;
    this.field.classList.toggle("whole", this.window.isWhole);
    this.renderer.draw(this.window, { before, after, way, hasMarked: this.marked.length > 0 });
    this.paintOverlay(way);
  }

  private paintOverlay(way: number): void {
    const context = fitCanvas(this.overlay, this.window.width, HEIGHT);
    const theme = readTheme(this.root);
    context.lineWidth = 1.5;
    if (this.marked.length && this.marked.length <= MOST_TRAILS) this.paintTrails(context, way);
    if (way === 1) this.paintNames(context, theme);
    if (this.outline.length > 1) {
      context.strokeStyle = this.header.accent;
      context.beginPath();
      for (const place of this.outline) context.lineTo(...this.window.toPixels(place));
      context.stroke();
    }
    if (this.pointed >= 0 && way === 1) {
      context.strokeStyle = this.header.accent;
      context.beginPath();
      context.arc(...this.window.toPixels(this.placeOf(this.pointed, this.after)), 8, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  // The path of each marked point from the first layer to where it is.
  private paintTrails(context: CanvasRenderingContext2D, way: number): void {
    context.strokeStyle = this.header.accent;
    context.globalAlpha = 0.55;
    const whole = way === 1 ? this.after : Math.min(this.before, this.after);
    for (const point of this.marked) {
      context.beginPath();
      for (let layer = 0; layer <= whole; layer++) context.lineTo(...this.window.toPixels(this.placeOf(point, layer)));
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  private paintNames(context: CanvasRenderingContext2D, theme: ReturnType<typeof readTheme>): void {
    context.font = `600 13px ${theme.font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    const free = freeOf();
    for (const { x, y, name } of this.header.regions[this.after]) {
      const [left, top] = this.window.toPixels([x, y]);
      const text = shorten(legible(name), 24);
      const half = context.measureText(text).width / 2 + 3;
      if (!free([left - half, top - 9, left + half, top + 9])) continue;
      context.strokeStyle = theme.background;
      context.lineWidth = 4;
      context.strokeText(text, left, top);
      context.fillStyle = theme.text;
      context.fillText(text, left, top);
    }
    context.lineWidth = 1.5;
  }

  // ---- pointer and keys ----

  private at(event: MouseEvent): Place {
    const box = this.field.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private press(event: PointerEvent): void {
    if (event.button || this.drag) return;
    this.field.setPointerCapture(event.pointerId);
    const [x, y] = this.at(event);
    const isLasso = event.shiftKey || this.lasso.ariaPressed === "true";
    this.drag = { pointer: event.pointerId, x, y, isMoved: false, isLasso };
    if (isLasso) this.outline = [this.window.toMap([x, y])];
  }

  private move(event: PointerEvent): void {
    const [x, y] = this.at(event);
    const { drag } = this;
    if (!drag) {
      const hit = this.startedAt ? -1 : this.grid().nearest(this.window.toMap([x, y]), REACH / this.window.unit);
      this.point(hit, event);
      return;
    }
    if (event.pointerId !== drag.pointer) return;
    if (!drag.isMoved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
    drag.isMoved = true;
    this.point(-1);
    if (drag.isLasso) this.outline.push(this.window.toMap([x, y]));
    else {
      this.window.panBy(x - drag.x, y - drag.y);
      [drag.x, drag.y] = [x, y];
    }
    this.frame.draw();
  }

  private release(event: PointerEvent): void {
    const { drag } = this;
    if (event.pointerId !== drag?.pointer) return;
    this.drag = null;
    if (drag.isMoved && drag.isLasso) {
      const inside = this.grid().inside(this.outline);
      this.outline = [];
      this.setLasso(false);
      this.choose(inside);
    } else if (!drag.isMoved) {
      const hit = this.grid().nearest(this.window.toMap(this.at(event)), REACH / this.window.unit);
      if (hit >= 0) this.choose([hit]);
    }
    this.outline = [];
    this.frame.draw();
  }

  private cancel(event: PointerEvent): void {
    if (event.pointerId !== this.drag?.pointer) return;
    this.drag = null;
    this.outline = [];
    this.frame.draw();
  }

  private point(index: number, event?: PointerEvent): void {
    if (index >= 0 && event) this.tip.show(event.clientX, event.clientY, element("b", {}, element("bdi", {
      textContent: shorten(legible(this.wordOf(index)), 120) })));
    else this.tip.hide();
    if (index === this.pointed) return;
    this.pointed = index;
    this.frame.draw();
  }

  private key(event: KeyboardEvent): void {
    const steps: Record<string, Place> = {
      ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60],
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps) this.window.panBy(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") this.window.zoomBy(1.5);
    else if (event.key === "-") this.window.zoomBy(1 / 1.5);
    else if (event.key === "0") this.window.showAll();
    else if (event.key === "PageUp") this.turn(1);
    else if (event.key === "PageDown") this.turn(-1);
    else if (event.key === "Escape") this.clear();
    else return;
    event.preventDefault();
    this.frame.draw();
  }

  private turn(by: number): void {
    this.stop();
    this.goTo(Math.max(0, Math.min(this.header.layers.length - 1, this.after + by)));
    this.live.say(`Layer ${this.layerName.textContent}`);
  }

  // ---- choosing ----

  private setLasso(isOn: boolean): void {
    this.lasso.ariaPressed = String(isOn);
    this.field.classList.toggle("lassoing", isOn);
  }

  private find(text: string): void {
    const wanted = matching(this.header.words, text);
    const found: number[] = [];
    if (wanted.size) for (let i = 0; i < this.header.num; i++) if (wanted.has(this.words[i])) found.push(i);
    this.choose(found, text.trim() ? `No point is "${legible(text.trim())}".` : "");
  }

  private choose(points: number[], none = ""): void {
    this.marked = points;
    this.renderer?.mark(points);
    this.chosen.textContent = points.length ? this.describe(points) : none;
    const reported = points.slice(0, MOST_REPORTED);
    const layer = this.header.layers[this.after];
    this.frame.reporting.run(() => this.events.selection({ points: reported, num: points.length, layer }));
    this.frame.draw();
  }

  private describe(points: number[]): string {
    const counts = mostFrequent(points.map((i) => this.words[i]), SHOWN_WORDS);
    const names = counts.map(([word, num]) => `${shorten(legible(this.header.words[word]), 30)} (${num.toLocaleString("en")})`);
    const what = points.length === 1 ? "1 point" : `${points.length.toLocaleString("en")} points`;
    return `${what}: ${names.join(", ")}${counts.length === SHOWN_WORDS ? " …" : ""}`;
  }

  private clear(): void {
    this.search.value = "";
    this.choose([]);
  }

  private showAll(): void {
    this.window.showAll();
    this.frame.draw();
  }

  private grid(): PointGrid {
    let grid = this.grids.get(this.after);
    if (!grid) {
      const { num } = this.header;
      grid = new PointGrid(this.places.subarray(2 * num * this.after, 2 * num * (this.after + 1)));
      this.grids.set(this.after, grid);
    }
    return grid;
  }

  private placeOf(point: number, layer: number): Place {
    const k = 2 * (this.header.num * layer + point);
    return [this.places[k] / 65535, this.places[k + 1] / 65535];
  }

  private wordOf(point: number): string {
    return this.header.words[this.words[point]];
  }
}
