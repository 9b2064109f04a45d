/* Made by `npm run build`; do not edit. */
"use strict";
var bundle = (() => {
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __export = (target, all) => {
    for (var name in all)
      __defProp(target, name, { get: all[name], enumerable: true });
  };
  var __copyProps = (to, from, except, desc) => {
    if (from && typeof from === "object" || typeof from === "function") {
      for (let key of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key) && key !== except)
          __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    }
    return to;
  };
  var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

  // app/what_if/mask_drawing.js
  var mask_drawing_exports = {};
  __export(mask_drawing_exports, {
    default: () => mask_drawing_default
  });

  // app/canvas/shared/elements.js
  function element(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in node && name !== "list") node[name] = value;
      else node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }
  function letters(text, most) {
    const found = [];
    for (const { segment } of LETTERS.segment(text.slice(0, most * 12))) {
      if (found.push(segment) === most) break;
    }
    return found;
  }
  var LETTERS = new Intl.Segmenter(void 0, { granularity: "grapheme" });
  function shorten(text, most) {
    const kept = letters(text, most).join("");
    return kept.length < text.length ? `${kept}\u2026` : text;
  }
  var TURNING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
  var NOTHING_SEEN = /^[\s\u00ad\u115f\u1160\u200b-\u200d\u2060-\u2065\u3164\ufe00-\ufe0f\ufeff\uffa0]*$/u;
  function legible(token) {
    const named = token.toWellFormed().replace(TURNING, signName).replace(/(\p{M}{3})\p{M}+/gu, "$1");
    if (!named) return "(empty)";
    return NOTHING_SEEN.test(named) ? named.slice(0, 60).replace(/[^]/gu, signName) : named;
  }
  function signName(sign) {
    return `\u2039U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u203A`;
  }

  // app/canvas/shared/canvas.js
  function readTheme(node) {
    const style = getComputedStyle(node);
    const read = (name, other) => style.getPropertyValue(name).trim() || other;
    return {
      text: read("--st-text-color", "#222"),
      background: read("--st-background-color", "#fff"),
      secondary: read("--st-secondary-background-color", "#f0f2f6"),
      primary: read("--st-primary-color", "#3366cc"),
      border: read("--st-border-color", "#ccc"),
      font: read("--st-font", "sans-serif")
    };
  }
  function fitCanvas(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
  }
  function fitText(context, text, room) {
    const parts = letters(text, 80);
    const start = parts.join("");
    if (start.length === text.length && context.measureText(text).width <= room) return text;
    let [low, high] = [0, parts.length];
    while (low < high) {
      const middle = low + high + 1 >> 1;
      if (context.measureText(`${parts.slice(0, middle).join("")}\u2026`).width <= room) low = middle;
      else high = middle - 1;
    }
    return `${parts.slice(0, low).join("")}\u2026`;
  }
  function turnedText(context, text, x, y, angle) {
    if (context.turnedText) return context.turnedText(text, x, y, angle);
    context.save();
    context.translate(x, y);
    context.rotate(angle * Math.PI / 180);
    context.fillText(text, 0, 0);
    return context.restore();
  }
  function stride(step, room) {
    const needed = Math.max(1, Math.ceil(room / step));
    const power = 10 ** Math.floor(Math.log10(needed));
    return [1, 2, 5, 10].map((times) => times * power).find((every) => every >= needed);
  }

  // app/what_if/mask_drawing.js
  var views = /* @__PURE__ */ new WeakMap();
  var LARGEST = 22;
  var NAMES = 84;
  var PATIENCE_MS = 2e3;
  function mask_drawing_default(component) {
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
  var Drawing = class {
    constructor(parent) {
      this.root = element("div", { className: "view drawing" });
      parent.append(this.root);
      this.cursor = [0, 0];
      this.canvas = element("canvas", { ariaHidden: "true" });
      this.plane = element("div", {
        className: "plane",
        tabIndex: 0,
        role: "application",
        ariaLabel: "Who may look at whom. Arrows move, Space changes a cell, with Shift a rectangle is chosen."
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
      const bar = element(
        "div",
        { className: "bar", role: "group", ariaLabel: "Start from" },
        preset("All", "Everybody may look at everybody", () => true),
        preset("Not later ones", "Only at itself and before, as GPT", (row, column) => column <= row),
        preset("Not itself", "At all others", (row, column) => this.size === 1 || column !== row),
        preset("Neighbours", "At itself, the token before and the one after", (row, column) => Math.abs(row - column) < 2)
      );
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
      const edges = Array.from({ length: size + 1 }, (_, index) => Math.round(NAMES + index * cell));
      for (let row2 = 0; row2 < size; row2++) {
        for (let column2 = 0; column2 < size; column2++) {
          const inBox = box && row2 >= box[0] && row2 <= box[1] && column2 >= box[2] && column2 <= box[3];
          const isOn = inBox ? fresh : this.allowed[row2 * size + column2];
          context.globalAlpha = isOn ? inBox ? 0.7 : 1 : inBox ? 0.5 : 0.22;
          context.fillStyle = isOn ? theme.primary : theme.text;
          context.fillRect(
            edges[column2],
            edges[row2],
            edges[column2 + 1] - edges[column2] - gap,
            edges[row2 + 1] - edges[row2] - gap
          );
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
      if (event.button || place[0] < 0 && place[1] < 0) return;
      this.plane.setPointerCapture(event.pointerId);
      this.start = this.end = place;
      this.draw();
    }
    move(event) {
      const place = this.hit(event);
      if (this.start) this.end = place.map((index, axis) => this.start[axis] < 0 ? -1 : Math.max(index, 0));
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
      const span = (axis) => start[axis] < 0 ? [0, this.size - 1] : [Math.min(start[axis], end[axis]), Math.max(start[axis], end[axis])];
      return [...span(0), ...span(1)];
    }
    // All cells of the rectangle become what the first one is not.
    change() {
      const [top, bottom, left, right] = this.rectangle();
      const fresh = this.at(this.start ?? this.anchor) ? 0 : 1;
      this.start = this.anchor = null;
      this.set((row, column) => row >= top && row <= bottom && column >= left && column <= right ? fresh : this.allowed[row * this.size + column]);
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
  };
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
  return __toCommonJS(mask_drawing_exports);
})();
