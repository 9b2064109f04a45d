// Who may look at whom, drawn by hand: a cell is a row's token looking at a column's. Dragging

import "../canvas/shared/shared.css";
import "./mask_drawing.css";
import { fitCanvas, fitText, readTheme, stride, turnedText } from "../canvas/shared/canvas.js";
import { element, legible, shorten } from "../canvas/shared/elements.js";

const views = new WeakMap();
const LARGEST = 22; // of a cell
const NAMES = 84; // room for the tokens' names, left and above
const PATIENCE_MS = 2000; // after a stroke, answers to older strokes are not shown

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  let view = views.get(parentElement);
  if (!view) {
    view = new Drawing(parentElement);
    views.set(parentElement, view);
  }
  view.report = (blocks) => setTriggerValue("drawn", blocks);
  view.update(data);
  return () => {
    view.observer.disconnect();
    view.root.remove();
    views.delete(parentElement);
  };
}

class Drawing {
  constructor(parent) {
    this.root = element("div", { className: "view drawing" });
    parent.append(this.root);
    this.cursor = [0, 0];
    this.canvas = element("canvas", { ariaHidden: "true" });
    this.plane = element("div", {
      className: "plane", tabIndex: 0, role: "application",
      ariaLabel: "Who may look at whom. Arrows move, Space changes a cell, with Shift a rectangle is chosen.",
    }, this.canvas);
    this.plane.onpointerdown = (event) => this.press(event);
    this.plane.onpointermove = (event) => this.move(event);
    this.plane.onpointerup = (event) => this.release(event);
    this.plane.onpointercancel = () => this.drop();
    this.plane.onpointerleave = () => !this.start && this.tell(null);
    this.plane.onkeydown = (event) => this.key(event);
    this.told = element("p", { className: "told", ariaLive: "polite" });
    const preset = (text, title, allows) => {
      const made = element("button", { type: "button", textContent: text, title });
      made.onclick = () => this.set((row, column) => allows(row, column));
      return made;
    };
    const bar = element("div", { className: "bar", role: "group", ariaLabel: "Start from" },
      preset("All", "Everybody may look at everybody", () => true),
      preset("Not later ones", "Only at itself and before, as GPT", (row, column) => column <= row),
      preset("Not itself", "At all others", (row, column) => this.size === 1 || column !== row),
      preset("Neighbours", "At itself, the token before and the one after", (row, column) => Math.abs(row - column) < 2));
    this.root.append(bar, this.plane, this.told);
    this.observer = new ResizeObserver(() => this.layout());
    this.observer.observe(this.root);
  }

  update(data) {
    const tokens = data.tokens.map(legible);
    const same = JSON.stringify(tokens) === JSON.stringify(this.tokens);
    const sent = this.sent && Date.now() - this.sent.when < PATIENCE_MS ? this.sent.blocks : null;
    if (same && sent && JSON.stringify(data.blocks) !== sent) return;
    this.sent = null;
    this.tokens = tokens;
    this.size = tokens.length;
    if (!same) this.cursor = [0, 0];
    this.allowed = new Uint8Array(this.size * this.size).fill(1);
    for (const [top, bottom, left, right] of data.blocks) {
      for (let row = top; row <= bottom; row++) {
        this.allowed.fill(0, row * this.size + left, row * this.size + right + 1);
      }
    }
    this.tell(null);
    this.layout();
  }

  layout() {
    if (!this.tokens || !this.root.clientWidth) return;
    const room = this.root.clientWidth - NAMES - 2;
    this.cell = Math.min(LARGEST, Math.max(1, room / this.size));
    if (this.cell > 3) this.cell = Math.floor(this.cell);
    this.draw();
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const { size, cell } = this;
    const theme = readTheme(this.root);
    const side = NAMES + size * cell + 1;
    const context = fitCanvas(this.canvas, side, side);
    const gap = cell >= 6 ? 1 : 0;
    const box = this.rectangle();
    const fresh = box && !this.at(this.start ?? this.anchor);
    // Whole pixels: cells of 2.3 of them would shimmer.
    const edges = Array.from({ length: size + 1 }, (_, index) => Math.round(NAMES + index * cell));
    for (let row = 0; row < size; row++) {
      for (let column = 0; column < size; column++) {
        const inBox = box && row >= box[0] && row <= box[1] && column >= box[2] && column <= box[3];
        const isOn = inBox ? fresh : this.allowed[row * size + column];
        context.globalAlpha = isOn ? (inBox ? 0.7 : 1) : inBox ? 0.5 : 0.22;
        context.fillStyle = isOn ? theme.primary : theme.text;
        context.fillRect(edges[column], edges[row],
          edges[column + 1] - edges[column] - gap, edges[row + 1] - edges[row] - gap);
      }
    }
    context.globalAlpha = 1;
    this.names(context, theme);
    const [row, column] = this.pointed ?? this.cursor;
    context.strokeStyle = theme.text;
    context.lineWidth = 1.5;
    context.beginPath();
    if (this.pointed || this.plane.matches(":focus-visible")) {
      const [x, y] = [NAMES + Math.max(column, 0) * cell, NAMES + Math.max(row, 0) * cell];
      context.rect(x - 0.5, y - 0.5, column < 0 ? size * cell : cell, row < 0 ? size * cell : cell);
    }
    context.stroke();
  }

  names(context, theme) {
    context.fillStyle = theme.text;
    context.textBaseline = "middle";
    context.font = `${Math.max(9, Math.min(12.5, this.cell * 0.72))}px ${theme.font}`;
    const every = stride(this.cell, 11);
    for (let index = 0; index < this.size; index += every) {
      const name = fitText(context, this.tokens[index], NAMES - 8);
      const middle = NAMES + (index + 0.5) * this.cell;
      context.textAlign = "right";
      context.fillText(name, NAMES - 6, middle);
      context.textAlign = "left";
      turnedText(context, name, middle, NAMES - 6, -90);
    }
  }

  // ---- pointing ----

  // The cell under the pointer; -1 for a name: a whole row or column.
  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const place = (value) => {
      const index = Math.floor((value - NAMES) / this.cell);
      return value < NAMES ? -1 : Math.min(index, this.size - 1);
    };
    return [place(event.clientY - box.top), place(event.clientX - box.left)];
  }

  at([row, column]) {
    return this.allowed[Math.max(row, 0) * this.size + Math.max(column, 0)];
  }

  press(event) {
    const place = this.hit(event);
    if (event.button || (place[0] < 0 && place[1] < 0)) return;
    this.plane.setPointerCapture(event.pointerId);
    this.start = this.end = place;
    this.draw();
  }

  move(event) {
    const place = this.hit(event);
    if (this.start) this.end = place.map((index, axis) => (this.start[axis] < 0 ? -1 : Math.max(index, 0)));
    this.pointed = place[0] < 0 && place[1] < 0 ? null : place;
    this.tell(this.pointed);
    this.draw();
  }

  release() {
    if (this.start) this.change();
  }

  drop() {
    this.start = this.anchor = null;
    this.draw();
  }

  rectangle() {
    const start = this.start ?? this.anchor;
    if (!start) return null;
    const end = this.start ? this.end : this.cursor;
    const span = (axis) => (start[axis] < 0 ? [0, this.size - 1]
      : [Math.min(start[axis], end[axis]), Math.max(start[axis], end[axis])]);
    return [...span(0), ...span(1)];
  }

  // All cells of the rectangle become what the first one is not.
  change() {
    const [top, bottom, left, right] = this.rectangle();
    const fresh = this.at(this.start ?? this.anchor) ? 0 : 1;
    this.start = this.anchor = null;
    this.set((row, column) => (row >= top && row <= bottom && column >= left && column <= right
      ? fresh : this.allowed[row * this.size + column]));
  }

  set(allows) {
    const { size } = this;
    this.allowed = Uint8Array.from({ length: size * size }, (_, at) => allows(Math.floor(at / size), at % size));
    const blocks = blocksOf(this.allowed, size);
    this.sent = { blocks: JSON.stringify(blocks), when: Date.now() };
    this.draw();
    this.report(blocks);
  }

  key(event) {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key in moves) {
      if (event.shiftKey) this.anchor ??= [...this.cursor];
      this.cursor = this.cursor.map((index, axis) => Math.max(0, Math.min(this.size - 1, index + moves[event.key][axis])));
      this.pointed = null;
      this.tell(this.cursor);
    } else if (event.key === " " || event.key === "Enter") {
      this.anchor ??= [...this.cursor];
      this.change();
    } else if (event.key === "Escape") {
      this.drop();
    } else {
      return;
    }
    event.preventDefault();
    this.draw();
  }

  tell(place) {
    if (!place) {
      this.told.textContent = "Drag over cells to change them; click a name for its whole row or column.";
      return;
    }
    const [row, column] = place;
    const name = (index) => shorten(this.tokens[index], 40);
    if (row < 0 || column < 0) {
      const what = row < 0 ? "who may look at" : "what may be looked at by";
      this.told.textContent = `Click: change ${what} ${name(Math.max(row, column))}`;
    } else {
      this.told.textContent = `${name(row)} ${this.at(place) ? "may" : "may not"} look at ${name(column)}`;
    }
  }
}

// The rectangles that are not allowed, as bertcore.interventions.attention_patterns.blocks_of gives them.
function blocksOf(allowed, size) {
  const blocks = [];
  const rowOf = (row) => allowed.subarray(row * size, (row + 1) * size);
  let start = 0;
  for (let row = 1; row <= size; row++) {
    if (row < size && rowOf(row).every((value, column) => value === rowOf(start)[column])) continue;
    let first = -1;
    for (let column = 0; column <= size; column++) {
      const isBlocked = column < size && !allowed[start * size + column];
      if (isBlocked && first < 0) first = column;
      if (!isBlocked && first >= 0) {
        blocks.push([start, row - 1, first, column - 1]);
        first = -1;
      }
    }
    start = row;
  }
  return blocks;
}
