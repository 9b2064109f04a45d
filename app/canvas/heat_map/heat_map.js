import { showAlone } from "../../html_file/alone.js";
import "../shared/shared.css";
import "./heat_map.css";
import { AttentionMapControls, count } from "./controls.js";
import { orderColumns, orderRows } from "./order.js";
import { MapWindow } from "./window.js";
import { readTheme } from "../shared/canvas.js";
import { element } from "../shared/elements.js";
import { mergeToWords, unitsOf } from "../shared/levels.js";
import { mount } from "../shared/mount.js";
import { asFloats } from "../shared/transport.js";

export function standAlone(place, css, messages) {
  showAlone(component, place, css, messages);
}

export default function component(mounted) {
  const { setStateValue } = mounted;
  return mount(AttentionMap, mounted, {
    report: (selection) => setStateValue("selection", selection),
    reportLook: (look) => setStateValue("look", look),
  });
}

class AttentionMap extends AttentionMapControls {
  constructor(parent) {
    super();
    this.root = element("div", { className: "view" });
    parent.append(this.root);
    this.revision = 0; // counts our own choices, so that an older echo of the server is not obeyed
    this.byWord = false;
    this.rowsBy = this.columnsBy = "text";
    this.marked = this.pointed = null; // { row, column } as displayed
    this.build();
    this.field.onpointermove = (event) => this.move(event);
    this.field.onpointerleave = () => this.point(null);
    this.field.onpointerdown = (event) => this.press(event);
    this.field.onpointerup = (event) => this.release(event);
    this.field.onpointercancel = () => { this.dragged = null; };
    this.field.ondblclick = () => this.zoomBy(0);
    this.field.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.field.onkeydown = (event) => this.key(event);
    this.observer = new ResizeObserver(() => this.layout());
    this.observer.observe(this.root);
  }

  close() {
    this.observer.disconnect();
    this.twin.close();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.reporting);
    clearTimeout(this.saying);
    clearTimeout(this.noting);
    this.root.remove();
  }

  // ---- what the server sends ----

  update({ header, blocks }) {
    const sameTokens = this.header && this.header.tokens.join("\u0000") === header.tokens.join("\u0000");
    const isFirst = !this.header;
    if (isFirst) {
      const { rows, columns, words } = header.look;
      Object.assign(this, { rowsBy: rows, columnsBy: columns, byWord: words });
      if (rows === "chosen" || columns === "chosen") this.marked = { row: 0, column: 0 };
    }
    const marked = isFirst ? this.marked : null;
    this.header = header;
    this.given = asFloats(blocks[0]);
    this.colours = blocks[1];
    if (header.revision === this.revision || !sameTokens) {
      this.revision = header.revision;
      this.layers = new Set(header.layers);
      this.heads = new Set(header.heads.length ? header.heads : count(header.num_heads));
    }
    this.root.classList.toggle("waiting", header.revision !== this.revision);
    if (!sameTokens) {
      this.marked = marked;
      this.pointed = null;
    }
    this.theme = readTheme(this.root);
    const wasZoomed = this.window?.isWhole === false;
    this.refreshUnits(!sameTokens, isFirst ? header.look.seen : "");
    if (!sameTokens && wasZoomed) this.noteLook(); // the part that was seen is of another text
  }

  choose(change) {
    if (change.layers) this.layers = new Set(change.layers);
    if (change.heads) this.heads = new Set(change.heads);
    this.revision += 1;
    this.root.classList.add("waiting");
    this.refreshControls();
    const heads = [...this.heads];
    const all = heads.length === this.header.num_heads;
    const selection = { layers: [...this.layers], heads: all ? [] : heads, revision: this.revision };
    clearTimeout(this.reporting);
    this.reporting = setTimeout(() => this.report(selection), 180);
  }

  // ---- what is shown ----

  // How one looks is reported, so that it gets into the address.
  noteLook() {
    clearTimeout(this.noting);
    this.noting = setTimeout(() => this.reportLook({
      rows: this.rowsBy, columns: this.columnsBy, words: this.byWord, seen: this.window.written(),
    }), 400);
  }

  setLevel(byWord) {
    this.byWord = byWord;
    this.noteLook();
    this.marked = this.pointed = null;
    this.refreshUnits(true);
  }

  refreshUnits(anew, seen = "") {
    this.units = unitsOf(this.header, this.byWord);
    this.weights = this.byWord
      ? mergeToWords((at) => this.given[at], this.header.tokens.length, this.units.starts) : this.given;
    if (anew) {
      this.window = new MapWindow(this.units.size);
      this.window.open(seen);
      this.names = new Map();
    }
    this.sort();
    this.layout();
  }

  sort() {
    const { size } = this.units;
    const placed = this.rows?.length === size; // else nothing is sorted yet
    const before = this.marked && (placed
      ? { row: this.rows[this.marked.row], column: this.columns[this.marked.column] } : this.marked);
    this.columns = orderColumns(this.weights, size, this.columnsBy, before?.row ?? null);
    this.rows = orderRows(this.weights, size, this.rowsBy, before?.column ?? null);
    if (before) this.marked = { row: this.rows.indexOf(before.row), column: this.columns.indexOf(before.column) };
    this.makeImages();
    this.refreshControls();
    this.refreshFoot();
    this.say();
    this.twin.refresh();
  }

  sortBy(axis, by) {
    this[axis] = by;
    // To sort by a row or a column, one must be marked.
    if (by === "chosen" && !this.marked) this.marked = { row: 0, column: 0 };
    this.sort();
    this.draw();
    this.noteLook();
  }

  zoomBy(factor, x, y) {
    if (factor) {
      const centre = this.marked ?? this.pointed;
      this.window.zoom(factor, x ?? (centre ? centre.column + 0.5 : undefined), y ?? (centre ? centre.row + 0.5 : undefined));
    } else this.window.reset();
    this.zoomOut.disabled = this.whole.disabled = this.window.isWhole;
    this.draw();
    this.noteLook();
  }

  // ---- pointer ----

  // In cells of the display; null outside of the map.
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - this.margin) / this.cell + this.window.left;
    const y = (event.clientY - box.top - this.margin) / this.cell + this.window.top;
    const { left, top, span } = this.window;
    if (x < left || y < top || x >= left + span || y >= top + span) return null;
    return { x, y, row: Math.floor(y), column: Math.floor(x) };
  }

  move(event) {
    if (this.dragged) {
      const { x, y } = this.dragged;
      if (Math.abs(event.clientX - x) + Math.abs(event.clientY - y) > 4) this.dragged.moved = true;
      if (!this.dragged.moved) return;
      this.window.pan((this.dragged.lastX - event.clientX) / this.cell, (this.dragged.lastY - event.clientY) / this.cell);
      Object.assign(this.dragged, { lastX: event.clientX, lastY: event.clientY });
      this.tooltip.hide();
      this.draw();
      return;
    }
    this.point(this.place(event), event);
  }

  point(place, event) {
    const same = place?.row === this.pointed?.row && place?.column === this.pointed?.column;
    this.pointed = place && { row: place.row, column: place.column };
    if (event || !place) this.tell(event?.clientX, event?.clientY);
    if (same) return;
    this.say();
    this.draw();
  }

  press(event) {
    if (event.button !== 0) return;
    this.field.setPointerCapture(event.pointerId);
    const [x, y] = [event.clientX, event.clientY];
    this.dragged = { x, y, lastX: x, lastY: y, moved: false };
  }

  release(event) {
    const wasMoved = this.dragged?.moved;
    this.dragged = null;
    if (wasMoved) return this.noteLook();
    const place = this.place(event);
    const again = place && this.marked && place.row === this.marked.row && place.column === this.marked.column;
    this.mark(again || !place ? null : { row: place.row, column: place.column });
  }

  // A wheel that zooms; once all is seen, it moves the page again.
  wheel(event) {
    const place = this.place(event);
    if (!place || (event.deltaY > 0 && this.window.isWhole)) return;
    event.preventDefault();
    this.tooltip.hide();
    this.zoomBy(Math.exp(-Math.max(-240, Math.min(240, event.deltaY)) / 300), place.x, place.y);
  }

  // ---- marking and keys ----

  mark(place) {
    this.marked = place;
    if (place && (this.rowsBy === "chosen" || this.columnsBy === "chosen")) this.sort();
    this.say();
    this.draw();
  }

  key(event) {
    const moves = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
      PageUp: [-10, 0], PageDown: [10, 0], Home: [0, -this.units.size], End: [0, this.units.size],
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) this.step(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoomBy(1.6);
    else if (event.key === "-") this.zoomBy(1 / 1.6);
    else if (event.key === "0") this.zoomBy(0);
    else if (event.key === "Escape") this.mark(null);
    else return;
    event.preventDefault();
  }

  step(down, right) {
    const last = this.units.size - 1;
    const start = this.marked ?? this.pointed;
    const inside = (k) => Math.max(0, Math.min(last, k));
    this.marked = start ? { row: inside(start.row + down), column: inside(start.column + right) } : { row: 0, column: 0 };
    const seen = this.window.written();
    this.window.show(this.marked.row, this.marked.column);
    if (this.window.written() !== seen) this.noteLook();
    this.say();
    this.draw();
  }
}
