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

  // app/canvas/neurons/neurons.ts
  var neurons_exports = {};
  __export(neurons_exports, {
    default: () => component,
    standAlone: () => standAlone
  });

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
  function replaceBefore(child, ...parts) {
    while (child.previousSibling) child.previousSibling.remove();
    child.before(...parts);
  }
  function context2d(canvas) {
    const context = canvas.getContext("2d");
    if (!context) throw new Error("the browser gives no 2D context for a canvas");
    return context;
  }

  // app/browser/data_blocks.ts
  function heldBytes(id) {
    const held = document.getElementById(id);
    if (!held) throw new Error(`the page has no data block ${id}`);
    return Uint8Array.from(atob(held.textContent ?? ""), (letter) => letter.charCodeAt(0));
  }
  async function inflate(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // app/browser/colours.ts
  var EQUAL_CONTRAST = 0.179;
  function inkOver(rgb) {
    const [r, g, b] = Array.from(rgb, (c) => c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > EQUAL_CONTRAST ? "#000" : "#fff";
  }
  function hexRgb(hex) {
    return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  }
  function rgbOf(colour) {
    const context = context2d(element("canvas", { width: 1, height: 1 }));
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data.subarray(0, 3)];
  }
  function onSchemeChange(changed) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  }

  // app/canvas/shared/transport.ts
  function unpack(bytes) {
    const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
    const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength);
    const length = view.getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + length)));
    const start = 4 + length;
    const blocks = header.blocks.map(([from, size]) => whole.subarray(start + from, start + from + size));
    return { header, blocks };
  }
  function changeHeader(bytes, values) {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const header = { ...JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))), ...values };
    const text = new TextEncoder().encode(JSON.stringify(header));
    const padded = Math.ceil(text.length / 4) * 4;
    const out = new Uint8Array(4 + padded + bytes.length - 4 - length).fill(32, 4, 4 + padded);
    new DataView(out.buffer).setUint32(0, padded, true);
    out.set(text, 4);
    out.set(bytes.subarray(4 + length), 4 + padded);
    return out;
  }
  function isDeflated({ header }) {
    return header.blocks.some(([, , deflated]) => deflated);
  }
  async function inflateBlocks({ header, blocks }) {
    const whole = await Promise.all(blocks.map((block, k) => header.blocks[k][2] ? inflate(block) : block));
    return { header, blocks: whole };
  }
  function asFloats(block) {
    return new Float32Array(block.buffer, block.byteOffset, block.byteLength / 4);
  }

  // app/html_file/alone.ts
  function alone(component2) {
    return (place, css, messages) => {
      const root = place.attachShadow({ mode: "open" });
      root.append(element("style", { textContent: css }));
      const held = messages.map(heldBytes);
      let shown = held[0];
      const show = (data) => {
        shown = data;
        component2({ data, parentElement: root, setStateValue: answer, setTriggerValue: keep });
      };
      const keep = (name, value) => {
        if (name === "picked" && typeof value === "object") shown = changeHeader(shown, value);
      };
      const answer = (name, value) => {
        if (name !== "selection") return;
        const { layer, heads, revision } = value;
        if (layer === void 0) return;
        const message = held.find((bytes) => unpack(bytes).header.layer === layer);
        if (message) show(changeHeader(message, { heads, revision }));
      };
      show(shown);
      onSchemeChange(() => show(shown));
    };
  }

  // app/canvas/saving/csv.ts
  function csv({ columns, rows }) {
    return `\uFEFF${[columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n")}\r
`;
  }
  function csvCell(value) {
    if (typeof value !== "string") return String(value ?? "");
    const text = /^[=+\-@\t\r]./s.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  // app/canvas/saving/npz.ts
  function npz(arrays) {
    const files = Object.entries(arrays).map(([name, array]) => {
      const bytes = npy(array);
      return { name: new TextEncoder().encode(`${name}.npy`), bytes, crc: crc32(bytes) };
    });
    const parts = [];
    const directory = [];
    let at = 0;
    for (const { name, bytes, crc } of files) {
      const common = [
        [2, 20],
        [2, 2048],
        [2, 0],
        [2, 0],
        [2, 33],
        [4, crc],
        [4, bytes.length],
        [4, bytes.length],
        [2, name.length],
        [2, 0]
      ];
      const header = littleEndian([[4, 67324752], ...common]);
      directory.push(littleEndian([[4, 33639248], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]]), name);
      parts.push(header, name, bytes);
      at += header.length + name.length + bytes.length;
    }
    const length = directory.reduce((sum, part) => sum + part.length, 0);
    const end = littleEndian([
      [4, 101010256],
      [2, 0],
      [2, 0],
      [2, files.length],
      [2, files.length],
      [4, length],
      [4, at],
      [2, 0]
    ]);
    return new Blob([...parts, ...directory, end], { type: "application/zip" });
  }
  function npy({ shape, values }) {
    const [kind, data] = Array.isArray(values) ? unicode(values) : [values instanceof Float32Array ? "<f4" : "<i4", new Uint8Array(values.buffer, values.byteOffset, values.byteLength)];
    const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
    const text = `{'descr': '${kind}', 'fortran_order': False, 'shape': (${sizes}), }`;
    const header = text.padEnd(Math.ceil((10 + text.length + 1) / 64) * 64 - 11, " ") + "\n";
    const out = new Uint8Array(10 + header.length + data.length);
    out.set([147, 78, 85, 77, 80, 89, 1, 0, header.length & 255, header.length >> 8]);
    out.set(new TextEncoder().encode(header), 10);
    out.set(data, 10 + header.length);
    return out;
  }
  function unicode(strings) {
    const characters = strings.map((text) => Array.from(text.toWellFormed(), (character) => character.codePointAt(0) ?? 0));
    const width = Math.max(1, ...characters.map((codes) => codes.length));
    const out = new Uint32Array(strings.length * width);
    characters.forEach((codes, row) => out.set(codes, row * width));
    return [`<U${width}`, new Uint8Array(out.buffer)];
  }
  function littleEndian(fields) {
    const out = [];
    for (const [width, number] of fields) {
      for (let byte = 0; byte < width; byte++) out.push(number >>> 8 * byte & 255);
    }
    return new Uint8Array(out);
  }
  var CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >>> 1 ^ 3988292384 : crc >>> 1;
    return crc;
  });
  function crc32(bytes) {
    let crc = 4294967295;
    for (const byte of bytes) crc = crc >>> 8 ^ CRC_TABLE[(crc ^ byte) & 255];
    return (crc ^ 4294967295) >>> 0;
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
  function round(number) {
    return Math.round(number * 100) / 100;
  }
  function xml(text) {
    return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\uFFFD").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  }
  function savePicture(format, name, picture) {
    const { width, height } = picture;
    const draw = (context2) => {
      context2.fillStyle = picture.ground;
      context2.fillRect(0, 0, width, height);
      picture.draw(context2);
    };
    if (format === "svg") {
      const context2 = new SvgContext(width, height);
      draw(context2);
      return download(new Blob([String(context2)], { type: "image/svg+xml" }), `${name}.svg`);
    }
    const scale = Math.min(2, 16e3 / height, 16e3 / width);
    const canvas = element("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
    const context = context2d(canvas);
    context.scale(scale, scale);
    draw(context);
    return canvas.toBlob((blob) => {
      if (!blob) throw new Error(`the browser could not make ${name}.png of ${canvas.width} x ${canvas.height} pixels`);
      download(blob, `${name}.png`);
    }, "image/png");
  }
  function download(blob, name) {
    const link = element("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
  }

  // app/canvas/saving/buttons.ts
  function saveButtons(saved) {
    const picture = (format) => savePicture(format, saved.fileName(), saved.picture());
    const keep = (text, type, ending) => download(new Blob([text], { type }), `${saved.fileName()}.${ending}`);
    const json = () => {
      const { columns, rows } = saved.sheet();
      return JSON.stringify({ ...saved.facts(), columns, rows }, null, 1);
    };
    const formats = [
      ["SVG", "picture", () => picture("svg")],
      ["PNG", "picture at twice the size", () => picture("png")],
      ["CSV", "table", () => keep(csv(saved.sheet()), "text/csv", "csv")],
      ["JSON", "table", () => keep(json(), "application/json", "json")],
      ["NPZ", "NumPy arrays", () => download(npz(saved.arrays()), `${saved.fileName()}.npz`)]
    ];
    const buttons = formats.map(([textContent, what, onclick]) => element("button", { type: "button", textContent, title: `Save what is shown: ${what}`, onclick }));
    return element("span", { className: "saving", role: "group", ariaLabel: "Save what is shown" }, "Save", ...buttons);
  }

  // app/browser/text.ts
  var GRAPHEMES = new Intl.Segmenter(void 0, { granularity: "grapheme" });
  var CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
  var INVISIBLE = /^[\s\u00ad\u115f\u1160\u200b-\u200d\u2060-\u2065\u3164\ufe00-\ufe0f\ufeff\uffa0]*$/u;
  function percent(weight) {
    if (Number.isNaN(weight)) return "NaN";
    const value = 100 * weight;
    const whole = Math.round(value);
    if (Math.abs(value - whole) < 5e-6 && (whole % 100 || weight === whole / 100)) return `${whole}%`;
    const text = value.toFixed(1);
    return text === "0.0" ? "<0.1%" : text === "100.0" ? ">99.9%" : `${text}%`;
  }
  function exact(value) {
    return Number.isFinite(value) ? Number(value.toPrecision(7)) : null;
  }
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
  function range(number) {
    return Array.from({ length: number }, (_, k) => k);
  }

  // app/canvas/shared/canvas.ts
  var NOT_A_NUMBER = [214, 40, 90];
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
  var FittedNames = class {
    kept = /* @__PURE__ */ new Map();
    forget() {
      this.kept = /* @__PURE__ */ new Map();
    }
    fit(context, name, room) {
      const start = name.slice(0, 400);
      const key = `${room} ${context.font} ${start}`;
      let text = this.kept.get(key);
      if (text === void 0) {
        text = fitText(context, legible(start), room);
        this.kept.set(key, text);
      }
      return text;
    }
  };

  // app/canvas/shared/data_table.ts
  var DataTable = class {
    constructor(summary, make) {
      this.make = make;
      this.holder = element("div", { className: "holder", tabIndex: 0, role: "region", ariaLabel: summary });
      this.root = element("details", { className: "data-table" }, element("summary", { textContent: summary }), this.holder);
      this.root.addEventListener("toggle", () => this.refresh());
    }
    make;
    root;
    holder;
    waiting;
    // Called whenever the picture changes; does nothing while closed, and fills at most once in 150 ms.
    refresh() {
      clearTimeout(this.waiting);
      if (this.root.open) this.waiting = window.setTimeout(() => this.fill(), 150);
    }
    close() {
      clearTimeout(this.waiting);
    }
    fill() {
      const { caption, columns, rows } = this.make();
      const body = rows.map(([first, ...others]) => element("tr", {}, cell("th", first, "row"), ...others.map((value) => cell("td", value))));
      this.holder.replaceChildren(element(
        "table",
        {},
        element("caption", { textContent: caption }),
        element("thead", {}, element("tr", {}, ...columns.map((name) => cell("th", name, "col")))),
        element("tbody", {}, ...body)
      ));
    }
  };
  function cell(tag, value, scope) {
    const text = typeof value === "string" ? shorten(legible(value), 120) : value ?? "\u2013";
    const node = element(tag, {}, element("bdi", { textContent: text }));
    if (scope) node.scope = scope;
    if (typeof value === "number") node.className = "number";
    return node;
  }

  // app/canvas/shared/levels.ts
  function sameTokens(a, b) {
    return a !== void 0 && a.tokens.join("\0") === b.tokens.join("\0");
  }

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

  // app/canvas/shared/mount.ts
  function stateEvents({ setStateValue }) {
    return {
      selection: (value) => setStateValue("selection", value),
      options: (value) => setStateValue("look", value)
    };
  }
  var keptViews = /* @__PURE__ */ new WeakMap();
  function mount(View, { data, parentElement }, events) {
    let kept = keptViews.get(parentElement);
    if (!kept) {
      kept = { view: new View(parentElement), turn: 0 };
      keptViews.set(parentElement, kept);
    }
    const current = kept;
    const view = current.view;
    view.events = events;
    const turn = ++current.turn;
    const show = (message2) => {
      if (current.turn !== turn || keptViews.get(parentElement) !== current) return;
      view.update(message2);
      view.root.removeAttribute("aria-busy");
    };
    const message = unpack(data);
    if (isDeflated(message)) {
      view.root.setAttribute("aria-busy", "true");
      void inflateBlocks(message).then(show);
    } else show(message);
    return closedByLast(parentElement, () => {
      view.close();
      keptViews.delete(parentElement);
    });
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

  // app/canvas/shared/controls.ts
  function button(textContent, title, onclick, className = "") {
    return element("button", { type: "button", textContent, title, ariaLabel: title, onclick, className });
  }
  function select(ariaLabel, options, chosen) {
    const dropdown = element("select", { ariaLabel }, ...options.map(([value, textContent]) => element("option", { value, textContent })));
    dropdown.onchange = () => chosen(dropdown.value);
    return dropdown;
  }
  function numberSelect(ariaLabel, chosen) {
    return select(ariaLabel, [], (value) => chosen(Number(value)));
  }
  function offerNumbers(dropdown, count) {
    if (dropdown.length === count) return;
    dropdown.replaceChildren(...range(count).map((k) => element("option", { value: k, textContent: k })));
  }
  function disableInFile(controls, header, what) {
    if (!header.alone) return;
    for (const control of controls) Object.assign(control, { disabled: true, title: `This file holds ${what} only` });
  }

  // app/canvas/shared/legend.ts
  function kindColour(header, textId) {
    return textId === -1 ? header.kinds.special : textId === 1 ? header.kinds.b : header.kinds.a;
  }
  function kindKeys(header) {
    const kinds = [["a", header.is_pair ? "sentence A" : "text"], ["b", "sentence B"], ["special", "added special tokens"]];
    return kinds.filter(([kind]) => kind !== "b" || header.is_pair).map(([kind, words]) => {
      const square = element("b");
      square.style.background = header.kinds[kind];
      return element("span", { className: "key" }, square, words);
    });
  }
  function colourBar(ariaLabel, theme, { width, margin, colour, ticks }) {
    const bar = element("canvas", { role: "img", ariaLabel });
    const context = fitCanvas(bar, width, 24);
    const length = width - 2 * margin - 1;
    for (let x = 0; x <= length; x++) {
      context.fillStyle = colour(x / length);
      context.fillRect(margin + x, 0, 1.3, 9);
    }
    context.fillStyle = theme.text;
    context.font = `10.5px ${theme.font}`;
    context.textAlign = "center";
    for (const [at, text] of ticks) context.fillText(text, margin + at * length, 20);
    return bar;
  }

  // app/canvas/neurons/controls.ts
  var ORDERS = [["weight", "most attention first"], ["text", "as in the text"]];
  var NeuronControls = class {
    constructor(model, painter, actions, saving) {
      this.model = model;
      this.painter = painter;
      this.saving = saving;
      this.foot.append(saving);
      this.layerSelect = numberSelect("Layer", (layer) => actions.choose(layer, model.head));
      this.headSelect = numberSelect("Head", (head) => actions.choose(model.layer, head));
      this.querySelect = numberSelect("Query token", (query) => actions.setQuery(query));
      this.before = button("\u2039", "Token before (left arrow)", () => actions.setQuery(model.query - 1), "step");
      this.after = button("\u203A", "Token after (right arrow)", () => actions.setQuery(model.query + 1), "step");
      this.orderSelect = select("Order of the keys", ORDERS, (order) => actions.setOrder(order));
      this.row = element(
        "div",
        { className: "controls" },
        element("label", {}, "Layer", this.layerSelect),
        element("label", {}, "Head", this.headSelect),
        element("span", { className: "group" }, "Query token", this.before, this.querySelect, this.after),
        element("label", {}, "Keys", this.orderSelect)
      );
    }
    model;
    painter;
    saving;
    row;
    foot = element("div", { className: "foot" });
    layerSelect;
    headSelect;
    querySelect;
    orderSelect;
    before;
    after;
    // Offers the choices that the checkpoint and the text give; after each message.
    refreshOptions() {
      const { num_layers: layers, num_heads: heads, tokens } = this.model.header;
      offerNumbers(this.layerSelect, layers);
      offerNumbers(this.headSelect, heads);
      this.querySelect.replaceChildren(...tokens.map((token, place) => element("option", { value: place, textContent: `${place} ${shorten(legible(token), 24)}` })));
    }
    refresh() {
      const { layer, head, query, orderBy, size, header } = this.model;
      this.layerSelect.value = String(layer);
      this.headSelect.value = String(head);
      disableInFile([this.layerSelect, this.headSelect], header, `layer ${layer} head ${head}`);
      this.querySelect.value = String(query);
      this.orderSelect.value = orderBy;
      this.before.disabled = query === 0;
      this.after.disabled = query === size - 1;
    }
    refreshFoot() {
      const { model } = this;
      const broken = model.hasNaN ? [element(
        "span",
        { className: "key broken" },
        "Red cells are not numbers (NaN): this checkpoint's weights are damaged."
      )] : [];
      replaceBefore(
        this.saving,
        this.scale("q, k", model.vectorTop),
        this.scale("q \xD7 k", model.productTop),
        ...kindKeys(model.header),
        ...broken
      );
    }
    scale(name, top) {
      const { painter } = this;
      const end = Number(top.toPrecision(2));
      const bar = colourBar(`Colours of ${name} from ${-top.toPrecision(2)} to ${top.toPrecision(2)}`, painter.theme, {
        width: 128,
        margin: 20,
        colour: (at) => painter.colour(2 * at - 1, 1),
        ticks: [[0, `\u2212${end}`], [0.5, "0"], [1, `${end}`]]
      });
      return element("span", { className: "key" }, name, bar);
    }
  };

  // app/browser/live_region.ts
  var LiveRegion = class {
    root = element("div", { className: "live-region", ariaLive: "polite" });
    announcing = new Debounce(200);
    // Of several texts in quick succession only the last is announced.
    say(text) {
      this.announcing.run(() => {
        this.root.textContent = text;
      });
    }
    cancel() {
      this.announcing.cancel();
    }
  };

  // app/canvas/shared/tooltip.ts
  var Tooltip = class {
    // `root` is positioned; the box stays inside its width.
    constructor(root) {
      this.root = root;
      root.append(this.box);
    }
    root;
    box = element("div", { className: "tip", ariaHidden: "true" });
    // x and y are client coordinates, as of a pointer event.
    show(x, y, ...children) {
      this.box.replaceChildren(...children);
      this.box.style.display = "block";
      const place = this.root.getBoundingClientRect();
      const { offsetWidth: width, offsetHeight: height } = this.box;
      const right = x - place.left + 14;
      const left = right + width > place.width ? x - place.left - width - 14 : right;
      const below = y + 16 + height > window.innerHeight ? y - place.top - height - 12 : y - place.top + 16;
      this.box.style.left = `${Math.max(0, Math.min(left, place.width - width))}px`;
      this.box.style.top = `${below}px`;
    }
    hide() {
      this.box.style.display = "none";
    }
  };
  function tokenInTip(token) {
    const name = shorten(legible(token), 240);
    const note = name.endsWith("\u2026") && token.length > 240 ? ` (${token.length.toLocaleString("en")} characters)` : "";
    return element("b", {}, element("bdi", { textContent: name }), note);
  }

  // app/canvas/neurons/words.ts
  var NAMED = 3;
  var NeuronWords = class {
    constructor(model, root) {
      this.model = model;
      this.tooltip = new Tooltip(root);
    }
    model;
    line = element("div", { className: "note line sum" });
    liveRegion = new LiveRegion();
    tooltip;
    close() {
      this.liveRegion.cancel();
    }
    hideTip() {
      this.tooltip.hide();
    }
    showTip(event) {
      const { model } = this;
      const { pointed: place, query, queries, keys, header: { tokens, width } } = model;
      if (!place || !event) return this.tooltip.hide();
      const lines = [];
      if (place.dimension !== null) {
        const [q, k] = [queries[query * width + place.dimension], keys[place.key * width + place.dimension]];
        const text = `${numberText(q)} \xD7 ${numberText(k)} = ${numberText(model.product(place.key, place.dimension))}`;
        lines.push(element("div", {}, `dimension ${place.dimension}: `, element("b", { textContent: text })));
      }
      lines.push(element(
        "div",
        {},
        "score ",
        element("b", { textContent: numberText(model.score(place.key)) }),
        model.isMasked(place.key) ? ", masked: weight " : ", weight ",
        element("b", { textContent: weightText(model.weight(place.key)) })
      ));
      return this.tooltip.show(
        event.clientX,
        event.clientY,
        tokenInTip(tokens[query]),
        " attends to ",
        tokenInTip(tokens[place.key]),
        ...lines
      );
    }
    say() {
      const { model } = this;
      const { shownKey: key, query, header: { width } } = model;
      const [score, weight] = [model.score(key), model.weight(key)];
      const bdi = (token) => element("bdi", { textContent: `\u201C${shortName(model, token)}\u201D` });
      const strong = (text) => element("b", { textContent: text });
      const dimensions = model.strongest(key, NAMED).map((k) => `${k} (${numberText(model.product(key, k))})`).join(", ");
      this.line.replaceChildren(
        bdi(query),
        " attends to ",
        bdi(key),
        ": the products sum to ",
        strong(numberText(score * Math.sqrt(width))),
        `, divided by \u221A${width} that is the score `,
        strong(numberText(score)),
        model.isMasked(key) ? ". It is masked, so its weight is " : ", and softmax gives the weight ",
        strong(weightText(weight)),
        `. Largest products: dimensions ${dimensions}.`
      );
      this.liveRegion.say(`${shortName(model, query)} attends to ${shortName(model, key)}: score ${numberText(score)}, weight ${weightText(weight)}`);
    }
  };
  function shortName(model, token) {
    return shorten(legible(model.header.tokens[token]), 60);
  }
  function numberText(value) {
    return Number.isNaN(value) ? "not a number" : value.toFixed(Math.abs(value) < 0.1 ? 4 : 3);
  }
  function weightText(weight) {
    return Number.isNaN(weight) ? "not a number" : weight.toFixed(6);
  }

  // app/canvas/neurons/files.ts
  var NeuronFiles = class {
    constructor(model, painter) {
      this.model = model;
      this.painter = painter;
    }
    model;
    painter;
    fileName() {
      const { header: { layer, head }, query } = this.model;
      return `bertscope-neurons-layer-${layer}-head-${head}-token-${query}`;
    }
    picture() {
      const { painter } = this;
      return {
        width: painter.width,
        height: painter.height,
        ground: painter.theme.background,
        draw: (context) => painter.drawOn(context)
      };
    }
    table() {
      const { model } = this;
      const { header: { layer, head, tokens }, query, orderBy } = model;
      const title = `Layer ${layer} head ${head}, query \u201C${shortName(model, query)}\u201D (token ${query})`;
      return {
        caption: `${title}: every key, ${orderBy === "text" ? "in the order of the text" : "most attention first"}.`,
        columns: ["key", "score", "weight", "largest products (dimension: value)"],
        rows: model.order.map((key) => [
          `${key} ${tokens[key]}`,
          fixed(model.score(key)),
          fixed(model.weight(key)),
          model.strongest(key, NAMED).map((k) => `${k}: ${numberText(model.product(key, k))}`).join(", ")
        ])
      };
    }
    sheet() {
      const { model } = this;
      const dimensions = range(model.header.width);
      return {
        columns: ["position", "key", "score", "weight", ...dimensions.map((k) => `q_k_${k}`)],
        rows: model.order.map((key) => [
          key,
          model.header.tokens[key],
          exact(model.score(key)),
          exact(model.weight(key)),
          ...dimensions.map((k) => exact(model.product(key, k)))
        ])
      };
    }
    facts() {
      const { header: { layer, head, tokens }, query } = this.model;
      return { what: "query times key, score, weight", layer, head, query, token: tokens[query] };
    }
    arrays() {
      const { model } = this;
      const { header: { width, tokens }, size, query } = model;
      const row = (list, length) => list.slice(query * length, (query + 1) * length);
      const products = Float32Array.from({ length: size * width }, (_, at) => model.product(Math.floor(at / width), at % width));
      return {
        query: { shape: [width], values: row(model.queries, width) },
        keys: { shape: [size, width], values: model.keys },
        products: { shape: [size, width], values: products },
        scores: { shape: [size], values: row(model.scores, size) },
        weights: { shape: [size], values: row(model.weights, size) },
        tokens: { shape: [size], values: tokens },
        query_position: { shape: [1], values: Int32Array.of(query) }
      };
    }
  };
  function fixed(value) {
    return Number.isNaN(value) ? "NaN" : value.toFixed(4);
  }

  // app/canvas/neurons/model.ts
  var NeuronModel = class {
    header;
    /** [T, K] */
    queries = new Float32Array();
    keys = new Float32Array();
    /** [T, T] */
    scores = new Float32Array();
    weights = new Float32Array();
    /** Where 1, the key may not be attended to; empty: nothing is masked. */
    masked = new Uint8Array();
    layer = 0;
    head = 0;
    /** The attending token. */
    query = 0;
    orderBy = "weight";
    /** The keys in the shown order, and the row of each. */
    order = [];
    rowOf = new Int32Array();
    marked = 0;
    pointed = null;
    /** Ends of the scales: the largest absolute values. */
    vectorTop = 1;
    productTop = 1;
    scoreTop = 1;
    receive({ header, blocks }) {
      this.header = header;
      [this.queries, this.keys, this.scores, this.weights] = blocks.slice(0, 4).map(asFloats);
      this.masked = blocks[4];
      this.vectorTop = largest([this.queries, this.keys]) || 1;
    }
    get size() {
      return this.header.tokens.length;
    }
    // The key whose vector is shown in full.
    get shownKey() {
      return this.pointed?.key ?? this.marked;
    }
    get hasNaN() {
      return [this.queries, this.keys, this.scores, this.weights].some((list) => list.some(Number.isNaN));
    }
    openQuery(wanted) {
      this.query = Math.max(0, Math.min(this.size - 1, Math.round(wanted)));
      this.pointed = null;
    }
    product(key, dimension) {
      const { width } = this.header;
      return Math.fround(this.queries[this.query * width + dimension] * this.keys[key * width + dimension]);
    }
    score(key) {
      return this.scores[this.query * this.size + key];
    }
    weight(key) {
      return this.weights[this.query * this.size + key];
    }
    isMasked(key) {
      return this.masked[this.query * this.size + key] === 1;
    }
    // The dimensions with the largest products.
    strongest(key, most) {
      const size = (k) => Math.abs(this.product(key, k));
      return range(this.header.width).sort((a, b) => size(b) - size(a) || a - b).slice(0, most);
    }
    // Orders the keys and sets the ends of the scales, for the present query.
    arrange() {
      const places = range(this.size);
      const rank = (key) => Number.isNaN(this.weight(key)) ? Infinity : this.weight(key);
      this.order = this.orderBy === "text" ? places : places.sort((a, b) => rank(b) - rank(a) || a - b);
      this.rowOf = new Int32Array(this.size);
      this.order.forEach((key, row) => {
        this.rowOf[key] = row;
      });
      let [most, mostScore] = [0, 0];
      for (let key = 0; key < this.size; key++) {
        mostScore = larger(mostScore, this.score(key));
        for (let k = 0; k < this.header.width; k++) most = larger(most, this.product(key, k));
      }
      [this.productTop, this.scoreTop] = [most || 1, mostScore || 1];
    }
  };
  function largest(lists) {
    let most = 0;
    for (const list of lists) for (const value of list) most = larger(most, value);
    return most;
  }
  function larger(most, value) {
    const size = Math.abs(value);
    return size > most && size < Infinity ? size : most;
  }

  // app/canvas/neurons/painter.ts
  var ROW = 22;
  var STRIP = 15;
  var HEAD = 92;
  var GAP = 10;
  var NeuronPainter = class {
    constructor(model) {
      this.model = model;
    }
    model;
    theme;
    width = 0;
    /** Of the window on the rows. */
    height = 0;
    labels = new FittedNames();
    /** First pixel that is seen. */
    scrolled = 0;
    names = 150;
    // pixels of the names
    numbers = 92;
    // of the score
    bars = 130;
    // of the weight
    strip = 0;
    stops = [];
    // ---- colours ----
    readColours(root) {
      this.theme = readTheme(root);
      const isDark = inkOver(rgbOf(this.theme.background)) === "#fff";
      const { dark, light } = this.model.header;
      this.stops = (isDark ? dark : light).map(hexRgb);
    }
    // The colour of a value on a scale from -top to top; the ends hold what is beyond.
    colour(value, top) {
      if (Number.isNaN(value)) return `rgb(${NOT_A_NUMBER.join(",")})`;
      const at = Math.max(0, Math.min(1, 0.5 + value / top / 2)) * (this.stops.length - 1);
      const low = Math.min(this.stops.length - 2, Math.floor(at));
      const mixed = this.stops[low].map((c, k) => Math.round(c + (at - low) * (this.stops[low + 1][k] - c)));
      return `rgb(${mixed.join(",")})`;
    }
    // ---- places ----
    layout(width) {
      this.width = width;
      const isNarrow = width < 620;
      this.names = isNarrow ? 92 : 150;
      this.numbers = isNarrow ? 50 : 92;
      this.bars = isNarrow ? 62 : 130;
      this.strip = Math.max(60, width - this.names - this.numbers - this.bars - 3 * GAP - 18);
      this.height = HEAD + Math.min(this.model.size, 20) * ROW + 6;
    }
    // Height of all rows.
    get contentHeight() {
      return HEAD + this.model.size * ROW + 6;
    }
    // The key and the dimension at a point of the window.
    hit(x, y) {
      if (y < HEAD) return null;
      const row = Math.floor((y - HEAD + this.scrolled) / ROW);
      if (row < 0 || row >= this.model.size) return null;
      const dimension = Math.floor((x - this.names) / this.cell);
      return { key: this.model.order[row], dimension: dimension >= 0 && dimension < this.model.header.width ? dimension : null };
    }
    // How far the window must be scrolled to show the marked key.
    scrolledToMarked(scrollTop) {
      const y = this.model.rowOf[this.model.marked] * ROW;
      const room = this.height - HEAD;
      if (y + ROW > scrollTop + room) return y + ROW - room + 6;
      return Math.min(y, scrollTop);
    }
    get cell() {
      return this.strip / this.model.header.width;
    }
    get scoreX() {
      return this.names + this.strip + GAP;
    }
    get weightX() {
      return this.scoreX + this.numbers + GAP;
    }
    // ---- painting ----
    drawOn(context) {
      context.textBaseline = "middle";
      const first = Math.floor(this.scrolled / ROW);
      const last = Math.min(this.model.size, Math.ceil((this.scrolled + this.height - HEAD) / ROW));
      for (let row = first; row < last; row++) this.paintRow(context, this.model.order[row], HEAD + row * ROW - this.scrolled);
      context.fillStyle = this.theme.background;
      context.fillRect(0, 0, this.width, HEAD);
      this.paintHead(context);
    }
    // Names of the columns, the query, the shown key.
    paintHead(context) {
      const { header: { width }, query, queries, keys, shownKey, orderBy } = this.model;
      this.paintTitles(context, width);
      this.paintVector(context, "q", query, queries, 22);
      this.paintVector(context, "k", shownKey, keys, 44);
      context.fillStyle = this.theme.border;
      context.fillRect(0, HEAD - 24, this.width, 1);
      context.fillStyle = this.theme.text;
      context.globalAlpha = 0.7;
      context.font = `11.5px ${this.theme.font}`;
      context.textAlign = "left";
      const caption = `q \xD7 k with every key, ${orderBy === "text" ? "in the order of the text" : "most attention first"}`;
      context.fillText(fitText(context, caption, this.width - 20), 14, HEAD - 11);
      context.globalAlpha = 1;
    }
    paintTitles(context, width) {
      const write = (text, x, align = "left") => {
        context.textAlign = align;
        context.fillText(text, x, 12);
      };
      context.font = `11.5px ${this.theme.font}`;
      context.fillStyle = this.theme.text;
      context.globalAlpha = 0.7;
      write("token", 14);
      write(fitText(context, `dimensions 0 to ${width - 1} of the head`, this.strip), this.names);
      write(this.numbers < 60 ? "score" : `q\xB7k / \u221A${width}`, this.scoreX + this.numbers, "right");
      write("weight", this.weightX);
      context.globalAlpha = 1;
    }
    paintVector(context, letter, token, values, y) {
      const { header: { width }, vectorTop } = this.model;
      context.textAlign = "left";
      context.font = `italic 600 13px ${this.theme.font}`;
      context.fillStyle = this.theme.text;
      context.fillText(letter, 14, y + ROW / 2);
      this.paintName(context, token, 28, y, letter === "q");
      this.paintStrip(context, y, (k) => values[token * width + k], vectorTop);
    }
    paintRow(context, key, y) {
      const { model } = this;
      const isMarked = key === model.marked;
      const isPointed = key === model.pointed?.key;
      if (isMarked || isPointed) {
        context.globalAlpha = isMarked ? 0.16 : 0.08;
        context.fillStyle = this.theme.primary;
        context.fillRect(0, y, this.width, ROW);
        context.globalAlpha = 1;
      }
      context.fillStyle = kindColour(model.header, model.header.text_ids[key]);
      context.fillRect(4, y + 4, 4, ROW - 8);
      this.paintName(context, key, 14, y, isMarked);
      this.paintStrip(context, y, (k) => model.product(key, k), model.productTop);
      this.paintScore(context, model.score(key), y);
      this.paintWeight(context, model.weight(key), y);
    }
    paintName(context, token, x, y, isBold) {
      context.textAlign = "left";
      context.font = `${isBold ? 600 : 400} 12.5px ${this.theme.font}`;
      context.fillStyle = this.theme.text;
      const room = this.names - x - 34;
      const text = this.labels.fit(context, this.model.header.tokens[token], room);
      context.fillText(text, x, y + ROW / 2 + 0.5);
      context.textAlign = "right";
      context.font = `10.5px ${this.theme.font}`;
      context.globalAlpha = 0.7;
      context.fillText(String(token), this.names - 8, y + ROW / 2 + 0.5);
      context.globalAlpha = 1;
    }
    paintStrip(context, y, value, top) {
      const gap = this.cell >= 5 ? 0.6 : 0;
      for (let k = 0; k < this.model.header.width; k++) {
        context.fillStyle = this.colour(value(k), top);
        context.fillRect(this.names + k * this.cell, y + (ROW - STRIP) / 2, this.cell - gap + (gap ? 0 : 0.3), STRIP);
      }
    }
    paintScore(context, score, y) {
      const room = this.numbers < 60 ? 0 : this.numbers - 46;
      if (room && !Number.isNaN(score)) {
        const [middle, reach] = [this.scoreX + room / 2, score / this.model.scoreTop * (room / 2)];
        context.fillStyle = this.colour(Math.sign(score) * 0.75, 1);
        context.fillRect(Math.min(middle, middle + reach), y + 6, Math.max(0.7, Math.abs(reach)), ROW - 12);
        context.fillStyle = this.theme.border;
        context.fillRect(middle - 0.5, y + 3, 1, ROW - 6);
      }
      this.paintNumber(context, Number.isNaN(score) ? "NaN" : score.toFixed(2), this.scoreX + this.numbers, y);
    }
    paintWeight(context, weight, y) {
      const room = this.bars - 46;
      if (!Number.isNaN(weight)) {
        context.fillStyle = this.model.header.accent;
        context.fillRect(this.weightX, y + 5, Math.max(0.7, weight * room), ROW - 10);
      }
      this.paintNumber(context, percent(weight), this.weightX + this.bars, y);
    }
    paintNumber(context, text, x, y) {
      context.textAlign = "right";
      context.font = `12px ${this.theme.font}`;
      context.fillStyle = this.theme.text;
      context.fillText(text, x, y + ROW / 2 + 0.5);
    }
  };

  // app/canvas/neurons/neurons.ts
  function component(mounted) {
    return mount(NeuronView, mounted, stateEvents(mounted));
  }
  var standAlone = alone(component);
  var NeuronView = class {
    frame = new ViewFrame("view", { layout: () => this.layout(), paint: () => this.paint() });
    root = this.frame.root;
    events;
    model = new NeuronModel();
    painter = new NeuronPainter(this.model);
    files = new NeuronFiles(this.model, this.painter);
    controls = new NeuronControls(this.model, this.painter, this, saveButtons(this.files));
    table = new DataTable("Numbers as a table", () => this.files.table());
    spacer = element("div", {}, this.frame.canvas);
    scroller;
    words;
    hasMessage = false;
    revision = 0;
    // counts our own choices, to ignore older echoes of the server
    constructor(parent) {
      this.scroller = element("div", {
        className: "scroller",
        tabIndex: 0,
        role: "application",
        ariaLabel: "Neurons. Left and right change the query, up and down the key, Page keys by ten, Home and End to the first and last, Enter makes the key the query. The numbers are in the table below.",
        onscroll: () => this.draw(),
        onpointermove: (event) => this.point(this.hit(event), event),
        onpointerleave: () => this.point(null),
        onclick: (event) => this.pick(this.hit(event)),
        ondblclick: (event) => this.lookFrom(this.hit(event)),
        onkeydown: (event) => this.key(event)
      }, this.spacer);
      this.words = new NeuronWords(this.model, this.root);
      this.frame.open(parent, this.controls.row, this.scroller, this.words.line, this.controls.foot, this.table.root, this.words.liveRegion.root);
    }
    close() {
      this.frame.close();
      this.table.close();
      this.words.close();
    }
    // ---- what the server sends ----
    update(message) {
      const { model } = this;
      const { header } = message;
      const isSameText = sameTokens(this.hasMessage ? model.header : void 0, header);
      const options = this.hasMessage ? null : header.look;
      model.receive(message);
      this.hasMessage = true;
      if (options) model.orderBy = options.order;
      if (!isSameText) {
        model.openQuery(options?.query ?? 1);
        this.painter.labels.forget();
        this.scroller.scrollTop = 0;
      }
      if (header.revision >= this.revision || !isSameText) {
        this.revision = Math.max(this.revision, header.revision);
        Object.assign(model, { layer: header.layer, head: header.head });
      }
      this.root.classList.toggle("waiting", header.revision !== this.revision);
      this.painter.readColours(this.root);
      this.controls.refreshOptions();
      this.refresh(!isSameText);
    }
    choose(layer, head) {
      Object.assign(this.model, { layer, head });
      this.revision += 1;
      this.root.classList.add("waiting");
      this.controls.refresh();
      const selection = { layer, heads: [head], revision: this.revision };
      this.frame.reporting.run(() => this.events.selection(selection));
    }
    // ---- what is shown ----
    // After another query, order or head; `anew` marks the key that gets the most attention.
    refresh(anew) {
      this.model.arrange();
      if (anew) [this.model.marked] = this.model.order;
      this.controls.refresh();
      this.controls.refreshFoot();
      this.words.say();
      this.table.refresh();
      this.layout();
    }
    // The options are reported so that they get into the address.
    noteOptions() {
      const options = { order: this.model.orderBy, query: this.model.query };
      this.frame.noting.run(() => this.events.options(options));
    }
    setQuery(query) {
      const { model } = this;
      if (query < 0 || query >= model.size || query === model.query) return;
      model.openQuery(query);
      this.words.hideTip();
      this.refresh(model.orderBy === "weight");
      this.showMarked();
      this.noteOptions();
    }
    setOrder(order) {
      this.model.orderBy = order;
      this.refresh(false);
      this.showMarked();
      this.noteOptions();
    }
    lookFrom(place) {
      if (place) this.setQuery(place.key);
    }
    // ---- drawing ----
    layout() {
      if (!this.hasMessage || !this.root.clientWidth) return;
      this.painter.layout(this.root.clientWidth - 2);
      this.scroller.style.height = `${this.painter.height}px`;
      this.spacer.style.height = `${this.painter.contentHeight}px`;
      this.draw();
    }
    draw() {
      this.frame.draw();
    }
    paint() {
      const { painter } = this;
      if (!painter.width) return;
      painter.readColours(this.root);
      painter.scrolled = this.scroller.scrollTop;
      painter.drawOn(fitCanvas(this.frame.canvas, painter.width, painter.height));
    }
    // Brings the marked key into view.
    showMarked() {
      this.scroller.scrollTop = this.painter.scrolledToMarked(this.scroller.scrollTop);
      this.draw();
    }
    // ---- pointer and keys ----
    hit(event) {
      const box = this.scroller.getBoundingClientRect();
      this.painter.scrolled = this.scroller.scrollTop;
      return this.painter.hit(event.clientX - box.left - 1, event.clientY - box.top - 1);
    }
    point(place, event) {
      const isSame = place?.key === this.model.pointed?.key;
      this.model.pointed = place;
      this.words.showTip(event);
      if (isSame) return;
      this.words.say();
      this.draw();
    }
    pick(place) {
      if (!place) return;
      this.model.marked = place.key;
      this.words.say();
      this.draw();
    }
    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { model } = this;
      const { size } = model;
      const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -size, End: size };
      if (event.key in moves) {
        const row = Math.max(0, Math.min(size - 1, model.rowOf[model.marked] + moves[event.key]));
        model.pointed = null;
        this.words.hideTip();
        model.marked = model.order[row];
        this.words.say();
        this.showMarked();
      } else if (event.key === "ArrowLeft") this.setQuery(model.query - 1);
      else if (event.key === "ArrowRight") this.setQuery(model.query + 1);
      else if (event.key === "Enter") this.setQuery(model.marked);
      else return;
      event.preventDefault();
    }
  };
  return __toCommonJS(neurons_exports);
})();
