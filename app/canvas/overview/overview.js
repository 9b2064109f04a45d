// All heads of all layers as small pictures, from which one picks: state, pointer and keys.

import { showAlone } from "../../html_file/alone.js";
import "../shared/shared.css";
import "./overview.css";
import { OverviewControls } from "./controls.js";
import { LEFT, TOP } from "./grid.js";
import { orderHeads, passes } from "./order.js";
import { fitCanvas, readTheme } from "../shared/canvas.js";
import { element } from "../shared/elements.js";
import { mount } from "../shared/mount.js";
import { asFlags, asFloats } from "../shared/transport.js";

const WIDE = 640; // pixels from which on the numbers stand beside the grid

export function standAlone(place, css, messages) {
  showAlone(component, place, css, messages);
}

export default function component(mounted) {
  const { setTriggerValue, setStateValue } = mounted;
  return mount(Overview, mounted, {
    report: (picked) => setTriggerValue("picked", picked),
    reportLook: (look) => setStateValue("look", look),
  });
}

class Overview extends OverviewControls {
  constructor(parent) {
    super();
    this.root = element("div", { className: "view overview" });
    parent.append(this.root);
    this.pointed = null; // { layer, head }; head null for a whole layer
    this.measure = "";
    this.limit = null;
    this.order = "place";
    this.lowest = false;
    this.build();
    this.grid.onpointermove = (event) => this.point(this.hit(event), event);
    this.grid.onpointerleave = () => this.point(null);
    this.grid.onclick = (event) => this.pick(this.hit(event));
    this.grid.onkeydown = (event) => this.key(event);
    this.observer = new ResizeObserver(() => this.layout());
    this.observer.observe(this.root);
  }

  close() {
    this.observer.disconnect();
    this.twin.close();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.saying);
    clearTimeout(this.reporting);
    this.root.remove();
  }

  update({ header, blocks }) {
    const first = !this.header;
    this.header = header;
    this.codes = blocks[0];
    this.colours = blocks[1]; // 256 x red, green, blue
    this.table = asFloats(blocks[2]);
    const cells = header.size ** 2;
    // Heads with weights that are not numbers: a flag for each cell of their thumbnail.
    this.gaps = new Map(header.broken.map((head, k) => [head, asFlags(blocks[3], k * cells, cells)]));
    // The same as pixels of an ImageData, little-endian: alpha, blue, green, red.
    this.packed = Uint32Array.from({ length: 256 }, (_, code) => {
      const [red, green, blue] = this.colours.subarray(code * 3, code * 3 + 3);
      return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    });
    this.selected = { layer: header.layer, heads: header.heads };
    if (first) Object.assign(this, header.look);
    this.theme = readTheme(this.root);
    this.drawn = null;
    this.refresh();
  }

  // Change how one looks at the heads; the choice is reported, so that it gets into the address.
  look(change) {
    Object.assign(this, change);
    this.refresh();
    clearTimeout(this.reporting);
    const { measure, order, lowest, limit } = this;
    this.reporting = setTimeout(() => this.reportLook({ measure, order, lowest, limit }), 400);
  }

  refresh() {
    this.refreshControls();
    const { num_layers: layers, num_heads: heads, measures } = this.header;
    if (!this.measure) this.order = "place";
    this.sequence = orderHeads(this.measure && measures[this.measure], layers, heads, this.order, this.lowest);
    this.twin.refresh();
    this.layout();
  }

  layout() {
    if (!this.header || !this.root.clientWidth) return;
    const wide = this.root.clientWidth >= WIDE;
    this.root.classList.toggle("narrow", !wide);
    this.measureGrid(wide ? this.root.clientWidth - 450 : this.root.clientWidth - 12);
    this.holder.style.width = `${this.width + 16}px`; // with a scroll bar's room
    this.scale.style.maxWidth = `${Math.max(300, this.width + 16)}px`;
    this.refreshScale();
    this.refreshDetail();
    this.draw();
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      this.theme = readTheme(this.root);
      const density = window.devicePixelRatio || 1;
      this.drawOn(fitCanvas(this.canvas, this.width + 2, this.height + 2), density);
    });
  }

  // ---- what is marked ----

  isOut(head) {
    return Boolean(this.measure) && !passes(this.value(head), this.limit, this.lowest);
  }

  isOpen(head) {
    const { num_heads: heads } = this.header;
    if (Math.floor(head / heads) !== this.selected.layer) return false;
    return !this.selected.heads.length || this.selected.heads.includes(head % heads);
  }

  isPointed(head) {
    const { num_heads: heads } = this.header;
    return Math.floor(head / heads) === this.pointed.layer
      && (this.pointed.head === null || head % heads === this.pointed.head);
  }

  // What the detail shows while nothing is pointed at.
  opened() {
    return { layer: this.selected.layer, head: this.selected.heads[0] ?? null };
  }

  // ---- pointing and picking ----

  placeOf(k) {
    const { num_heads: heads } = this.header;
    const head = this.sequence[k];
    return head === undefined ? null : { layer: Math.floor(head / heads), head: head % heads };
  }

  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - LEFT) / this.across);
    const row = Math.floor((event.clientY - box.top - TOP) / this.down);
    if (row < 0 || row >= this.rows || column >= this.columns) return null;
    // The numbers on the left stand for whole layers, where rows are layers.
    if (column < 0) return this.order === "all" ? null : { layer: row, head: null };
    return this.placeOf(row * this.columns + column);
  }

  point(place, event) {
    const same = place?.layer === this.pointed?.layer && place?.head === this.pointed?.head;
    this.pointed = place;
    this.tell(event);
    if (same) return;
    this.refreshDetail();
    this.draw();
  }

  pick(place) {
    if (!place) return;
    this.selected = { layer: place.layer, heads: place.head === null ? [] : [place.head] };
    this.draw();
    this.report({ layer: place.layer, heads: this.selected.heads });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { num_heads: heads } = this.header;
    const now = this.pointed ?? this.opened();
    const at = this.sequence.indexOf(now.layer * heads + (now.head ?? 0));
    const last = this.sequence.length - 1;
    const moves = {
      ArrowUp: -this.columns, ArrowDown: this.columns, ArrowLeft: -1, ArrowRight: 1, Home: -at, End: last - at };
    if (event.key in moves) {
      const next = at + moves[event.key];
      if (next >= 0 && next <= last) {
        this.point(this.placeOf(next));
        this.scrollTo(next);
      }
    } else if (event.key === "Enter" || event.key === " ") {
      this.pick(now);
    } else if (event.key === "Escape") {
      this.point(null);
    } else {
      return;
    }
    event.preventDefault();
  }

  // The grid scrolls when sorting makes it long.
  scrollTo(k) {
    const y = this.corner(k)[1];
    const { scrollTop, clientHeight } = this.holder;
    if (y - TOP < scrollTop) this.holder.scrollTop = y - TOP;
    if (y + this.down > scrollTop + clientHeight) this.holder.scrollTop = y + this.down - clientHeight;
  }
}
