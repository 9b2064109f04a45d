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

  // app/what_if/mask_drawing.ts
  var mask_drawing_exports = {};
  __export(mask_drawing_exports, {
    default: () => mask_drawing_default
  });

  // app/browser/component.ts
  var lastOf = /* @__PURE__ */ new WeakMap();
  function closedByLast(place, close) {
    const mine = () => {
      if (lastOf.get(place) !== mine) return;
      lastOf.delete(place);
      close();
    };
    lastOf.set(place, mine);
    return mine;
  }
  function keepView(View, name) {
    const views = /* @__PURE__ */ new WeakMap();
    return ({ data, parentElement, setTriggerValue }) => {
      const view = views.get(parentElement) ?? new View(parentElement);
      views.set(parentElement, view);
      view.report = (value) => setTriggerValue(name, value);
      view.update(data);
      return closedByLast(parentElement, () => {
        view.close();
        views.delete(parentElement);
      });
    };
  }

  // app/browser/elements.ts
  function element(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in node && name !== "list") Reflect.set(node, name, value);
      else node.setAttribute(name, String(value));
    }
    node.append(...children);
    return node;
  }
  function context2d(canvas) {
    const context = canvas.getContext("2d");
    if (!context) throw new Error("the browser gives no 2D context for a canvas");
    return context;
  }

  // app/browser/colours.ts
  function rgbOf(colour) {
    const context = context2d(element("canvas", { width: 1, height: 1 }));
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data.subarray(0, 3)];
  }

  // app/browser/text.ts
  var GRAPHEMES = new Intl.Segmenter(void 0, { granularity: "grapheme" });
  var CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
  var INVISIBLE = /^[\s\u00ad\u115f\u1160\u200b-\u200d\u2060-\u2065\u3164\ufe00-\ufe0f\ufeff\uffa0]*$/u;
  function letters(text, most) {
    const graphemes = [];
    for (const { segment } of GRAPHEMES.segment(text.slice(0, most * 12))) {
      if (graphemes.push(segment) === most) break;
    }
    return graphemes;
  }
  function shorten(text, most) {
    const kept = letters(text, most).join("");
    return kept.length < text.length ? `${kept}\u2026` : text;
  }
  function legible(token) {
    const named = token.toWellFormed().replace(CONTROLS, codePoint).replace(/(\p{M}{3})\p{M}+/gu, "$1");
    if (!named) return "(empty)";
    return INVISIBLE.test(named) ? named.slice(0, 60).replace(/[^]/gu, codePoint) : named;
  }
  function codePoint(character) {
    return `\u2039U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}\u203A`;
  }

  // app/canvas/saving/pictures.ts
  var MAX_SHAPES = 4096;
  var SvgContext = class {
    constructor(width, height) {
      this.width = width;
      this.height = height;
    }
    width;
    height;
    globalAlpha = 1;
    lineWidth = 1;
    fillStyle = "#000";
    strokeStyle = "#000";
    font = "10px sans-serif";
    textAlign = "left";
    // Set by the views; SVG text is always centred on its line and drawn from left to right.
    textBaseline = "middle";
    direction = "ltr";
    lineCap = "round";
    lineJoin = "round";
    parts = [];
    path = "";
    ruler = context2d(element("canvas"));
    measureText(text) {
      this.ruler.font = this.font;
      return this.ruler.measureText(text);
    }
    beginPath() {
      this.path = "";
    }
    moveTo(x, y) {
      this.path += `M${round(x)} ${round(y)}`;
    }
    lineTo(x, y) {
      this.path += `L${round(x)} ${round(y)}`;
    }
    bezierCurveTo(x1, y1, x2, y2, x, y) {
      this.path += `C${[x1, y1, x2, y2, x, y].map(round).join(" ")}`;
    }
    roundRect(x, y, width, height, radius = 0) {
      const r = Math.min(radius, width / 2, height / 2);
      const [wide, high] = [round(width - 2 * r), round(height - 2 * r)];
      const corner = (dx, dy) => r ? `a${round(r)} ${round(r)} 0 0 1 ${round(dx * r)} ${round(dy * r)}` : "";
      this.path += `M${round(x + r)} ${round(y)}h${wide}${corner(1, 1)}v${high}${corner(-1, 1)}h${-wide}${corner(-1, -1)}v${-high}${corner(1, -1)}z`;
    }
    stroke() {
      this.add("path", {
        d: this.path,
        fill: "none",
        stroke: String(this.strokeStyle),
        "stroke-width": round(this.lineWidth),
        "stroke-opacity": round(this.globalAlpha),
        "stroke-linecap": "round"
      });
    }
    fill() {
      this.add("path", { d: this.path, ...this.filled() });
    }
    fillRect(x, y, width, height) {
      this.add("rect", { x: round(x), y: round(y), width: round(width), height: round(height), ...this.filled() });
    }
    fillText(text, x, y) {
      this.text(text, x, y, this.filled());
    }
    strokeText(text, x, y) {
      this.text(text, x, y, {
        fill: "none",
        stroke: String(this.strokeStyle),
        "stroke-width": round(this.lineWidth),
        "stroke-opacity": round(this.globalAlpha),
        "stroke-linejoin": "round"
      });
    }
    turnedText(text, x, y, angle) {
      this.text(text, x, y, { ...this.filled(), transform: `rotate(${round(angle)} ${round(x)} ${round(y)})` });
    }
    // A field of cells: shapes while there are few, else an image; see paintCells.
    cells(source, [sx, sy, sw, sh], [x, y, width, height]) {
      const [left, top] = [Math.floor(sx), Math.floor(sy)];
      const [wide, high] = [Math.ceil(sx + sw) - left, Math.ceil(sy + sh) - top];
      this.parts.push(`<svg x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" viewBox="${sx} ${sy} ${sw} ${sh}" preserveAspectRatio="none">`);
      if (wide * high <= MAX_SHAPES) {
        const { data } = context2d(source).getImageData(left, top, wide, high);
        for (let k = 0; k < wide * high; k++) {
          this.add("rect", {
            x: left + k % wide,
            y: top + Math.floor(k / wide),
            width: 1,
            height: 1,
            fill: `rgb(${data.subarray(k * 4, k * 4 + 3).join(",")})`,
            "shape-rendering": "crispEdges"
          });
        }
      } else {
        const copy = element("canvas", { width: wide, height: high });
        context2d(copy).drawImage(source, left, top, wide, high, 0, 0, wide, high);
        this.add("image", {
          href: copy.toDataURL("image/png"),
          x: left,
          y: top,
          width: wide,
          height: high,
          preserveAspectRatio: "none",
          style: "image-rendering:pixelated"
        });
      }
      this.parts.push("</svg>");
    }
    toString() {
      const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
      return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>
${this.parts.join("\n")}
</svg>
`;
    }
    filled() {
      return { fill: String(this.fillStyle), "fill-opacity": round(this.globalAlpha) };
    }
    text(text, x, y, paint) {
      const anchors = { left: "start", right: "end", center: "middle" };
      this.add("text", {
        x: round(x),
        y: round(y),
        style: `font:${this.font}`,
        "text-anchor": anchors[this.textAlign] ?? "start",
        "dominant-baseline": "central",
        ...paint
      }, text);
    }
    add(tag, attributes, text) {
      const written = Object.entries(attributes).map(([name, value]) => `${name}="${xml(String(value))}"`);
      this.parts.push(`<${tag} ${written.join(" ")}${text === void 0 ? "/>" : `>${xml(text)}</${tag}>`}`);
    }
  };
  function paintCells(context, source, from, to) {
    if (context instanceof SvgContext) return context.cells(source, from, to);
    const canvas = context;
    canvas.imageSmoothingEnabled = false;
    return canvas.drawImage(source, ...from, ...to);
  }
  function turnedText(context, text, x, y, angle) {
    if (context instanceof SvgContext) return context.turnedText(text, x, y, angle);
    const canvas = context;
    canvas.save();
    canvas.translate(x, y);
    canvas.rotate(angle * Math.PI / 180);
    canvas.fillText(text, 0, 0);
    return canvas.restore();
  }
  function round(number) {
    return Math.round(number * 100) / 100;
  }
  function xml(text) {
    return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\uFFFD").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  }

  // app/canvas/shared/canvas.ts
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
    }
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = context2d(canvas);
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
  function stride(step, room) {
    const needed = Math.max(1, Math.ceil(room / step));
    const power = 10 ** Math.floor(Math.log10(needed));
    return [1, 2, 5, 10].map((times) => times * power).find((every) => every >= needed) ?? needed;
  }

  // app/browser/timers.ts
  var Debounce = class {
    constructor(delayMs) {
      this.delayMs = delayMs;
    }
    delayMs;
    timer;
    run(work) {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(work, this.delayMs);
    }
    cancel() {
      clearTimeout(this.timer);
    }
  };
  var FrameLoop = class {
    constructor(paint) {
      this.paint = paint;
    }
    paint;
    frame = 0;
    request() {
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => this.paint());
    }
    cancel() {
      cancelAnimationFrame(this.frame);
    }
  };

  // app/canvas/shared/view_frame.ts
  var ViewFrame = class {
    root;
    canvas = element("canvas", { ariaHidden: "true" });
    /** Reports what the visitor chose, once it rests. */
    reporting = new Debounce(180);
    /** Reports the options, which get into the address. */
    noting = new Debounce(400);
    frames;
    observer;
    // `layout` is called whenever the width changes, `paint` at most once a frame.
    constructor(className, { layout, paint }) {
      this.root = element("div", { className });
      this.frames = new FrameLoop(paint);
      this.observer = new ResizeObserver(layout);
    }
    open(parent, ...parts) {
      this.root.prepend(...parts);
      parent.appendChild(this.root);
      this.observer.observe(this.root);
    }
    draw() {
      this.frames.request();
    }
    close() {
      this.observer.disconnect();
      this.frames.cancel();
      this.reporting.cancel();
      this.noting.cancel();
      this.root.remove();
    }
  };

  // app/what_if/blocks.ts
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
  function maskOf(blocks, size) {
    const allowed = new Uint8Array(size * size).fill(1);
    for (const [top, bottom, left, right] of blocks) {
      for (let row = top; row <= bottom; row++) allowed.fill(0, row * size + left, row * size + right + 1);
    }
    return allowed;
  }

  // app/what_if/mask_drawing.ts
  var LARGEST = 22;
  var NAMES = 84;
  var PATIENCE_MS = 2e3;
  var Drawing = class {
    report = () => {
    };
    frame = new ViewFrame("view drawing", { layout: () => this.layout(), paint: () => this.paint() });
    status = element("p", { className: "status", ariaLive: "polite" });
    plane;
    all;
    notLater;
    tokens = [];
    allowed = new Uint8Array();
    isCausal = false;
    cell = 1;
    // pixels
    cursor = [0, 0];
    // of the keyboard
    anchor = null;
    // where a rectangle of the keyboard begins
    start = null;
    // where a stroke of the pointer begins
    end = [0, 0];
    pointed = null;
    told = null;
    // what the status is about
    picture = element("canvas");
    // a pixel for each cell
    pictured = "";
    // what it shows, besides `allowed`
    sent = null;
    constructor(parent) {
      this.plane = element("div", {
        className: "plane",
        tabIndex: 0,
        role: "application",
        ariaLabel: "Which tokens may attend to which. Arrows move, Space changes a cell, with Shift a rectangle is chosen.",
        onpointerdown: (event) => this.press(event),
        onpointermove: (event) => this.move(event),
        onpointerup: () => {
          if (this.start) this.change();
        },
        onpointercancel: () => this.drop(),
        onpointerleave: () => {
          if (!this.start) this.point(null);
        },
        onkeydown: (event) => this.key(event)
      }, this.frame.canvas);
      const preset = (textContent, title, allows) => element("button", { type: "button", textContent, title, onclick: () => this.set(allows) });
      this.all = preset("All", "", () => true);
      this.notLater = preset("Not later ones", "Only to itself and earlier tokens, as in GPT", (row, column) => column <= row);
      const seesNoOther = (row) => this.size === 1 || this.isCausal && row === 0;
      const bar = element(
        "div",
        { className: "bar", role: "group", ariaLabel: "Start from" },
        this.all,
        this.notLater,
        preset("Not itself", "To all others", (row, column) => column !== row || seesNoOther(row)),
        preset("Neighbours", "To itself, the token before and the one after", (row, column) => Math.abs(row - column) < 2)
      );
      this.frame.open(parent, bar, this.plane, this.status);
    }
    close() {
      this.frame.close();
    }
    update(data) {
      const tokens = data.tokens.map(legible);
      const isSame = JSON.stringify(tokens) === JSON.stringify(this.tokens);
      const sent = this.sent && Date.now() - this.sent.when < PATIENCE_MS ? this.sent.blocks : null;
      if (isSame && sent && JSON.stringify(data.blocks) !== sent) return;
      this.sent = null;
      this.tokens = tokens;
      if (!isSame) {
        this.cursor = [0, 0];
        this.start = this.anchor = this.pointed = null;
      }
      this.allow(maskOf(data.blocks, this.size));
      this.isCausal = data.is_causal;
      this.all.title = this.isCausal ? "Every token may attend to itself and all before it" : "Every token may attend to every token";
      this.notLater.hidden = this.isCausal;
      this.tell(isSame ? this.told : null);
      this.layout();
    }
    allow(allowed) {
      this.allowed = allowed;
      this.pictured = "";
    }
    get size() {
      return this.tokens.length;
    }
    // ---- drawing ----
    layout() {
      if (!this.size || !this.frame.root.clientWidth) return;
      const room = this.frame.root.clientWidth - NAMES - 2;
      this.cell = Math.min(LARGEST, Math.max(1, room / this.size));
      if (this.cell > 3) this.cell = Math.floor(this.cell);
      this.draw();
    }
    draw() {
      this.frame.draw();
    }
    paint() {
      const theme = readTheme(this.frame.root);
      const side = NAMES + this.size * this.cell + 1;
      const context = fitCanvas(this.frame.canvas, side, side);
      this.paintCells(context, theme);
      this.paintNames(context, theme);
      this.paintCursor(context, theme);
    }
    paintCells(context, theme) {
      const { size, cell } = this;
      this.makePicture(theme);
      const side = Math.round(size * cell);
      paintCells(context, this.picture, [0, 0, size, size], [NAMES, NAMES, side, side]);
      if (cell < 6) return;
      for (let index = 1; index <= size; index++) {
        context.clearRect(NAMES + index * cell - 1, NAMES, 1, side);
        context.clearRect(NAMES, NAMES + index * cell - 1, side, 1);
      }
    }
    // Only when it would be another: the pointer moves often, and there may be 512 x 512 cells.
    makePicture(theme) {
      const { size, isCausal } = this;
      const box = this.rectangle();
      const fresh = box && !this.at(this.start ?? this.anchor ?? this.cursor);
      const wanted = JSON.stringify([box, fresh, isCausal, theme.primary, theme.text]);
      if (wanted === this.pictured) return;
      this.pictured = wanted;
      const [on, off] = [rgbOf(theme.primary), rgbOf(theme.text)];
      const shades = [[...off, 56], [...off, 128], [...on, 255], [...on, 179]];
      const image = new ImageData(size, size);
      const pixels = new Uint32Array(image.data.buffer);
      const [idle, idleInBox, open, openInBox] = new Uint32Array(Uint8Array.from(shades.flat()).buffer);
      for (let row = 0, at = 0; row < size; row++) {
        for (let column = 0; column < size; column++, at++) {
          const inBox = box && row >= box[0] && row <= box[1] && column >= box[2] && column <= box[3];
          const isOn = !this.isLater(row, column) && (inBox ? fresh : this.allowed[at]);
          pixels[at] = isOn ? inBox ? openInBox : open : inBox ? idleInBox : idle;
        }
      }
      Object.assign(this.picture, { width: size, height: size });
      context2d(this.picture).putImageData(image, 0, 0);
    }
    paintNames(context, theme) {
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
    paintCursor(context, theme) {
      if (!this.pointed && !this.plane.matches(":focus-visible")) return;
      const { size, cell } = this;
      const [row, column] = this.pointed ?? this.cursor;
      const [x, y] = [NAMES + Math.max(column, 0) * cell, NAMES + Math.max(row, 0) * cell];
      context.strokeStyle = theme.text;
      context.lineWidth = 1.5;
      context.strokeRect(x - 0.5, y - 0.5, column < 0 ? size * cell : cell, row < 0 ? size * cell : cell);
    }
    // ---- pointing ----
    hit(event) {
      const box = this.frame.canvas.getBoundingClientRect();
      const place = (value) => {
        const index = Math.floor((value - NAMES) / this.cell);
        return value < NAMES ? -1 : Math.min(index, this.size - 1);
      };
      return [place(event.clientY - box.top), place(event.clientX - box.left)];
    }
    at([row, column]) {
      return this.allowed[Math.max(row, 0) * this.size + Math.max(column, 0)];
    }
    isLater(row, column) {
      return this.isCausal && column > row;
    }
    press(event) {
      const place = this.hit(event);
      if (event.button || place[0] < 0 && place[1] < 0) return;
      this.plane.setPointerCapture(event.pointerId);
      this.start = this.end = place;
      this.draw();
    }
    move(event) {
      const { start } = this;
      const place = this.hit(event);
      const pointed = place[0] < 0 && place[1] < 0 ? null : place;
      const end = start ? [0, 1].map((axis) => start[axis] < 0 ? -1 : Math.max(place[axis], 0)) : this.end;
      if (String(pointed) === String(this.pointed) && String(end) === String(this.end)) return;
      this.end = end;
      this.point(pointed);
    }
    point(place) {
      this.pointed = place;
      this.tell(place);
      this.draw();
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
      const start = this.start ?? this.anchor;
      const box = this.rectangle();
      if (!start || !box) return;
      const [top, bottom, left, right] = box;
      const fresh = !this.at(start);
      this.told = this.start ? this.end : this.cursor;
      this.start = this.anchor = null;
      this.set((row, column) => row >= top && row <= bottom && column >= left && column <= right ? fresh : Boolean(this.allowed[row * this.size + column]));
    }
    set(allows) {
      const { size } = this;
      this.allow(Uint8Array.from({ length: size * size }, (_, at) => Number(allows(Math.floor(at / size), at % size))));
      const blocks = blocksOf(this.allowed, size);
      this.sent = { blocks: JSON.stringify(blocks), when: Date.now() };
      this.tell(this.told);
      this.draw();
      this.report(blocks);
    }
    key(event) {
      const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in moves) {
        this.anchor = event.shiftKey ? this.anchor ?? [...this.cursor] : null;
        const move = moves[event.key];
        this.cursor = this.cursor.map((index, axis) => Math.max(0, Math.min(this.size - 1, index + move[axis])));
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
      this.told = place;
      const text = place ? this.words(place) : "Drag over cells to change them; click a name for its whole row or column.";
      if (text !== this.status.textContent) this.status.textContent = text;
    }
    words([row, column]) {
      const name = (index) => shorten(this.tokens[index], 40);
      if (row < 0 || column < 0) {
        return `Click: change what ${row < 0 ? "may attend to" : "may be attended to by"} ${name(Math.max(row, column))}`;
      }
      const isLater = this.isLater(row, column);
      const verb = !isLater && this.at([row, column]) ? "may" : "may not";
      return `${name(row)} ${verb} attend to ${name(column)}${isLater ? ", which comes later" : ""}`;
    }
  };
  var mask_drawing_default = keepView(Drawing, "drawn");
  return __toCommonJS(mask_drawing_exports);
})();
