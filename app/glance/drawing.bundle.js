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

  // app/glance/drawing.ts
  var drawing_exports = {};
  __export(drawing_exports, {
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
  function context2d(canvas) {
    const context = canvas.getContext("2d");
    if (!context) throw new Error("the browser gives no 2D context for a canvas");
    return context;
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
  function paintCells(context, source, from, to) {
    if (context instanceof SvgContext) return context.cells(source, from, to);
    const canvas = context;
    canvas.imageSmoothingEnabled = false;
    return canvas.drawImage(source, ...from, ...to);
  }
  function round(number) {
    return Math.round(number * 100) / 100;
  }
  function xml(text) {
    return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\uFFFD").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  }
  function savePicture(format, name, picture2) {
    const { width, height } = picture2;
    const draw = (context2) => {
      context2.fillStyle = picture2.ground;
      context2.fillRect(0, 0, width, height);
      picture2.draw(context2);
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
    const picture2 = (format) => savePicture(format, saved.fileName(), saved.picture());
    const keep = (text, type, ending) => download(new Blob([text], { type }), `${saved.fileName()}.${ending}`);
    const json = () => {
      const { columns, rows } = saved.sheet();
      return JSON.stringify({ ...saved.facts(), columns, rows }, null, 1);
    };
    const formats = [
      ["SVG", "picture", () => picture2("svg")],
      ["PNG", "picture at twice the size", () => picture2("png")],
      ["CSV", "table", () => keep(csv(saved.sheet()), "text/csv", "csv")],
      ["JSON", "table", () => keep(json(), "application/json", "json")],
      ["NPZ", "NumPy arrays", () => download(npz(saved.arrays()), `${saved.fileName()}.npz`)]
    ];
    const buttons = formats.map(([textContent, what, onclick]) => element("button", { type: "button", textContent, title: `Save what is shown: ${what}`, onclick }));
    return element("span", { className: "saving", role: "group", ariaLabel: "Save what is shown" }, "Save", ...buttons);
  }

  // app/canvas/shared/canvas.ts
  var NOT_A_NUMBER = [214, 40, 90];
  var STRIPES = 5;
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
  function paintMissing(context, [x, y, width, height]) {
    context.fillStyle = `rgb(${NOT_A_NUMBER.join(",")})`;
    context.fillRect(x, y, width, height);
    context.strokeStyle = "#fff";
    context.lineWidth = 1.2;
    context.beginPath();
    for (let sum = Math.ceil((x + y + 1) / STRIPES) * STRIPES; sum < x + y + width + height; sum += STRIPES) {
      const [from, to] = [Math.max(x, sum - y - height), Math.min(x + width, sum - y)];
      context.moveTo(from, sum - from);
      context.lineTo(to, sum - to);
    }
    context.stroke();
  }

  // app/canvas/shared/controls.ts
  function button(textContent, title, onclick, className = "") {
    return element("button", { type: "button", textContent, title, ariaLabel: title, onclick, className });
  }

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
  function asFlags(block, first, number) {
    return Uint8Array.from({ length: number }, (_, k) => block[first + k >> 3] >> 7 - (first + k & 7) & 1);
  }

  // app/canvas/shared/mount.ts
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

  // app/browser/colours.ts
  function rgbOf(colour) {
    const context = context2d(element("canvas", { width: 1, height: 1 }));
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data.subarray(0, 3)];
  }
  function onSchemeChange(changed) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
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

  // app/glance/model.ts
  function exactPercent(probability) {
    return probability === null ? "NaN" : `${(100 * probability).toFixed(2)}%`;
  }
  function isAbsent({ absent }, kind) {
    return (kind === "segment" || kind === "position") && absent[kind] !== void 0;
  }
  var NUM_BANDS = 16;
  var MISSING = -128;
  var MOST_LINKS = 3;
  var FEWEST = 0.08;
  var GlanceModel = class {
    header;
    /** Where the visitor's eye is: a row. */
    followed = 0;
    step = 0;
    /** Strongest links of each layer, as the mean of the heads. */
    links = [];
    bands = new Int8Array();
    heads = new Uint8Array();
    means = new Uint8Array();
    gaps = new Uint8Array();
    table = new Float32Array();
    colours = new Uint8Array();
    names = [];
    receive({ header, blocks }) {
      const isSame = this.header && header.tokens.join("\0") === this.header.tokens.join("\0");
      this.header = header;
      const [bands, heads, means, table, colours, gaps] = blocks;
      this.bands = new Int8Array(bands.buffer, bands.byteOffset, bands.byteLength);
      this.heads = heads;
      this.means = means;
      this.gaps = asFlags(gaps, 0, means.length);
      this.table = asFloats(table);
      this.colours = colours;
      this.names = header.tokens.map((token) => legible(token.slice(0, 200)));
      if (!isSame) this.followed = header.predictions[0]?.row ?? this.usualRow();
      this.links = Array.from({ length: header.num_layers }, (_, layer) => this.strongest(layer));
    }
    get size() {
      return this.header.tokens.length;
    }
    // The smallest weight that is drawn: half as much again as if attention were even.
    get notable() {
      return 1.5 / this.header.num_tokens;
    }
    name(row, most = 40) {
      return shorten(this.names[row], most);
    }
    // Tokens that are folded between a row and the next.
    foldedAfter(row) {
      const { positions, num_tokens: total } = this.header;
      return (positions[row + 1] ?? total) - positions[row] - 1;
    }
    // Attention of a layer, the mean of its heads; NaN where a head's is.
    mean(layer, query, key) {
      const at = (layer * this.size + query) * this.size + key;
      return this.gaps[at] ? NaN : this.table[this.means[at]];
    }
    // Whether tokens are folded: what they read and who reads them is not sent.
    get isFolded() {
      return this.size < this.header.num_tokens;
    }
    // Whether each head's weights are sent, not only its picture.
    get hasHeads() {
      return this.header.size === this.size;
    }
    // Attention of one head; null where its picture is smaller than the input.
    weight(layer, head, query, key) {
      const { size, num_heads: heads } = this.header;
      if (!this.hasHeads) return null;
      return this.table[this.heads[((layer * heads + head) * size + query) * size + key]];
    }
    // Links of one query row to those that are drawn, the strongest first and NaN last.
    from(layer, query, head, most) {
      const links = [];
      for (let key = 0; key < this.size; key++) {
        const weight = (head === null ? null : this.weight(layer, head, query, key)) ?? this.mean(layer, query, key);
        links.push({ query, key, weight });
      }
      const rank = ({ weight }) => Number.isNaN(weight) ? -1 : weight;
      return links.sort((a, b) => rank(b) - rank(a)).slice(0, most);
    }
    // Colours of a head's picture as [row, column] codes 0 to 255.
    codes(layer, head) {
      const { size, num_heads: heads } = this.header;
      const start = (layer * heads + head) * size * size;
      return this.heads.subarray(start, start + size * size);
    }
    decoded(code) {
      return this.table[code];
    }
    // A cell of a vector, -1 to 1 of its column's scale; NaN where it is not a number.
    band(column, row, band) {
      const code = this.bands[(column * this.size + row) * NUM_BANDS + band];
      return code === MISSING ? NaN : code / 127;
    }
    // [red, green, blue] of a cell.
    colour(value, isDark) {
      const at = (isDark ? 255 : 0) + Math.round((value + 1) * 127);
      return this.colours.subarray(at * 3, at * 3 + 3);
    }
    usualRow() {
      const words = this.header.text_ids.map((text, row) => text >= 0 ? row : -1).filter((row) => row >= 0);
      return words[Math.floor(words.length / 2)] ?? 0;
    }
    strongest(layer) {
      const least = Math.max(FEWEST, this.notable);
      const links = [];
      for (let query = 0; query < this.size; query++) {
        links.push(...this.from(layer, query, null, MOST_LINKS).filter(({ weight }) => weight >= least));
      }
      return links;
    }
  };

  // app/glance/files.ts
  var MOST = 3;
  var GlanceFiles = class {
    constructor(model, painter) {
      this.model = model;
      this.painter = painter;
    }
    model;
    painter;
    fileName() {
      return "bertscope-glance";
    }
    picture() {
      const { painter } = this;
      const { width, height } = painter.layout;
      return { width, height, ground: painter.theme.background, draw: (context) => painter.drawOn(context) };
    }
    // A row for each token that is drawn: where it stands, and what it reads in each layer.
    sheet() {
      const { model } = this;
      const { header } = model;
      const layers = range(header.num_layers);
      return {
        columns: ["token", "position", "text", ...layers.map((layer) => `reads in layer ${layer}`)],
        rows: header.tokens.map((token, row) => [
          token,
          header.positions[row],
          { 0: "A", 1: "B" }[header.text_ids[row]] ?? "special",
          ...layers.map((layer) => model.from(layer, row, null, MOST).map(({ key, weight }) => `${model.name(key, 20)} ${percent(weight)}`).join(", "))
        ])
      };
    }
    table() {
      const drawn = this.model.isFolded ? ", of those drawn" : "";
      return { caption: `The tokens, and what each reads most in every layer (mean of the heads${drawn}).`, ...this.sheet() };
    }
    facts() {
      const { predictions, pair, positions, num_tokens: tokens, steps } = this.model.header;
      return {
        what: "BERT at a glance",
        tokens,
        next_sentence: pair,
        predictions: predictions.map(({ row, ...rest }) => ({ position: positions[row], ...rest })),
        steps: steps.map(({ title, text }) => ({ title, text }))
      };
    }
    arrays() {
      const { model } = this;
      const { columns, num_layers: layers } = model.header;
      const { size } = model;
      const bands = Float32Array.from({ length: columns.length * size * NUM_BANDS }, (_, at) => {
        const column = Math.floor(at / (size * NUM_BANDS));
        return model.band(column, Math.floor(at / NUM_BANDS) % size, at % NUM_BANDS) * columns[column].scale;
      });
      const attention = Float32Array.from({ length: layers * size * size }, (_, at) => model.mean(Math.floor(at / size ** 2), Math.floor(at / size) % size, at % size));
      return {
        vectors: { shape: [columns.length, size, NUM_BANDS], values: bands },
        attention: { shape: [layers, size, size], values: attention }
      };
    }
  };

  // app/glance/layout.ts
  var TITLES = 20;
  var LABELS = 26;
  var WORD = 15;
  var ABSENT_LINE = 14;
  var MOST_ABSENT = 7;
  var LETTER = 5.7;
  var FEWEST_ROW = 3.6;
  var LARGEST_ROW = 22;
  var ROOMY = 62;
  function layoutOf(header, width, height) {
    const { num_layers: layers, num_heads: heads, columns } = header;
    const isWide = width >= 840;
    const text = { x: 0, width: isWide ? 82 : 0 };
    const pieces = { x: isWide ? 96 : 0, width: width >= 700 ? 84 : 68 };
    const answers = { x: 0, width: width >= 840 ? 148 : 104 };
    answers.x = width - answers.width;
    const inputWidth = width >= 900 ? 30 : width >= 700 ? 22 : 14;
    const gap = width >= 700 ? 13 : 9;
    const places = [];
    let x = pieces.x + pieces.width + 10;
    for (const { layer } of columns) {
      if (layer >= 0) break;
      places.push({ x, width: inputWidth });
      x += inputWidth + gap;
    }
    const start = x - gap;
    const pitch = (answers.x - 14 - start) / layers;
    const hasHalves = pitch >= ROOMY && columns.some(({ kind }) => kind === "attention");
    const out = Math.max(3, Math.min(28, pitch * (hasHalves ? 0.22 : 0.4)));
    const margin = Math.min(2, pitch * 0.06);
    const middle = hasHalves ? Math.min(20, pitch * 0.16) : 0;
    const between = hasHalves ? Math.min(16, pitch * 0.12) : 0;
    const perRow = Math.ceil(Math.sqrt(heads));
    const room = Math.max(6, Math.min(pitch - 8, 76));
    const head = Math.max(2, Math.floor((room - (perRow - 1)) / perRow));
    const rows = Math.ceil(heads / perRow);
    const tall = rows * (head + 1) - 1;
    const placed = range(layers).map((layer) => {
      const left = start + layer * pitch;
      const wide = perRow * (head + 1) - 1;
      return {
        x: left,
        width: pitch,
        perRow,
        head,
        lines: { x: left + margin, width: pitch - out - middle - between - 2 * margin },
        heads: [left + (pitch - wide) / 2, TITLES, wide, tall]
      };
    });
    for (const { kind, layer } of columns.slice(places.length)) {
      const right = start + (layer + 1) * pitch;
      if (kind === "layer") places.push({ x: right - out, width: out });
      else places.push({ x: right - out - between - middle, width: middle });
    }
    const top = TITLES + tall + LABELS;
    const rowHeight = Math.max(FEWEST_ROW, Math.min(LARGEST_ROW, (height - top - 4) / header.tokens.length));
    const bottom = top + rowHeight * header.tokens.length;
    const boxes = answersOf(header, answers.width, top, rowHeight, Math.max(bottom, height));
    const last = boxes.at(-1);
    return {
      width,
      height: Math.ceil(Math.max(bottom, last ? last.y + last.height : 0) + 4),
      top,
      rowHeight,
      text,
      pieces,
      columns: places,
      layers: placed,
      answers,
      boxes,
      hasHalves
    };
  }
  function absentHeight(why, width) {
    const lines = wrapped(why, (text) => LETTER * text.length, width - 8).length;
    return 10 + ABSENT_LINE * Math.max(1, Math.min(MOST_ABSENT, lines));
  }
  function linesOf({ height }) {
    return Math.max(1, Math.floor((height - 10) / ABSENT_LINE));
  }
  function wrapped(text, widthOf, room) {
    const lines = [];
    for (const word of text.split(" ")) {
      const line = lines.length ? `${lines[lines.length - 1]} ${word}` : "";
      if (line && widthOf(line) <= room) lines[lines.length - 1] = line;
      else lines.push(word);
    }
    return lines;
  }
  function answersOf(header, width, top, rowHeight, bottom) {
    const { predictions, absent } = header;
    const pairHeight = absent.pair === void 0 ? 40 : absentHeight(absent.pair, width);
    const room = bottom - top - pairHeight - 4;
    const words = predictions[0]?.words.length ?? 0;
    const numWords = Math.max(1, Math.min(words, Math.floor(room / Math.max(1, predictions.length) / WORD) - 2));
    const shown = predictions.slice(0, Math.max(1, Math.floor(room / ((numWords + 1.6) * WORD))));
    const boxes = [{ kind: "pair", index: 0, y: top, height: pairHeight, row: 0, numWords: 0 }];
    if (!predictions.length) {
      const why = absent.words ?? "";
      boxes.push({ kind: "words", index: 0, y: top + pairHeight + 14, height: absentHeight(why, width), row: 0, numWords: 0 });
      return boxes;
    }
    const height = (numWords + 1.6) * WORD;
    let free = top + pairHeight + 8;
    shown.forEach(({ row }, index) => {
      const wanted = top + (row + 0.5) * rowHeight - WORD * 0.8;
      const most = bottom - (shown.length - index) * height;
      const y = Math.max(free, Math.min(wanted, most));
      boxes.push({ kind: "words", index, y, height: height - 6, row, numWords });
      free = y + height;
    });
    return boxes;
  }
  function partAt(layout, header, x, y) {
    const { top, rowHeight, columns, answers } = layout;
    const count = header.tokens.length;
    const row = y < top ? null : Math.floor((y - top) / rowHeight);
    if (x >= answers.x) {
      const box = layout.boxes.find((one) => y >= one.y && y <= one.y + one.height);
      return box ? { kind: box.kind, row: box.row, index: box.index } : null;
    }
    if (row !== null && row >= count) return null;
    const layer = layout.layers.findIndex((place) => x >= place.x && x < place.x + place.width);
    if (layer >= 0) return inLayer(layout, header, layer, row, x, y);
    if (row === null) return null;
    if (x < layout.pieces.x) return { kind: "text", row };
    if (x < layout.pieces.x + layout.pieces.width + 4) return { kind: "token", row };
    const column = columns.findIndex((place) => x < place.x + place.width + 6);
    return { kind: "input", row, column };
  }
  function inLayer(layout, header, layer, row, x, y) {
    const place = layout.layers[layer];
    if (row === null) {
      const [left, upper, wide, tall] = place.heads;
      const isGrid = x >= left && x < left + wide && y >= upper && y < upper + tall;
      if (isGrid) {
        const step = place.head + 1;
        const head = Math.floor((y - upper) / step) * place.perRow + Math.floor((x - left) / step);
        return { kind: "attention", layer, row: null, head: head < header.num_heads && place.head >= 7 ? head : null };
      }
      return y < upper ? { kind: "layer", layer, row: null } : { kind: "norm", layer, row: null };
    }
    const own = header.columns.flatMap((column, index) => column.layer === layer ? [index] : []);
    const state = own.at(-1) ?? 0;
    if (x >= layout.columns[state].x - 1) return { kind: "layer", layer, row, column: state };
    if (layout.hasHalves) {
      const half = layout.columns[own[0]];
      if (x >= half.x + half.width + 1) return { kind: "feed_forward", layer, row };
      if (x >= half.x - 1) return { kind: "norm", layer, row, column: own[0] };
    }
    return { kind: "attention", layer, row, head: null };
  }

  // app/glance/painter.ts
  var DIM = 0.2;
  var BANDS_OF_LINES = [0.12, 0.25, 0.5, 1.01];
  var FOLLOWED = 8;
  var GlancePainter = class {
    constructor(model) {
      this.model = model;
    }
    model;
    theme;
    isDark = false;
    layout;
    pointed = null;
    names = new FittedNames();
    cells = [];
    heads = [];
    step = "";
    // Called after each message and when the theme changes.
    refresh(theme) {
      this.theme = theme;
      const ground = rgbOf(theme.background);
      this.isDark = ground[0] + ground[1] + ground[2] < 384;
      this.names.forget();
      const { header } = this.model;
      this.cells = header.columns.map((_, column) => this.vectors(column));
      const ink = rgbOf(this.isDark ? "#9cc0f0" : "#23429e");
      const ramp = range(256).map((code) => {
        const strength = Math.sqrt(this.model.decoded(code));
        return ground.map((channel, k) => Math.round(channel + (ink[k] - channel) * strength));
      });
      this.heads = range(header.num_layers).map((layer) => range(header.num_heads).map((head) => picture(header.size, header.size, (at) => ramp[this.model.codes(layer, head)[at]])));
    }
    // ---- painting ----
    drawOn(context) {
      const { model } = this;
      this.step = model.header.steps[model.step]?.part ?? "all";
      context.textBaseline = "middle";
      context.direction = "ltr";
      context.lineCap = "round";
      this.paintTitles(context);
      range(model.header.num_layers).forEach((layer) => this.paintLines(context, layer));
      this.paintFollowed(context);
      this.paintText(context);
      this.paintPieces(context);
      this.paintVectors(context);
      this.layout.layers.forEach((place, layer) => this.paintLayer(context, place, layer));
      this.paintRow(context);
      this.layout.boxes.forEach((box) => this.paintAnswer(context, box));
      context.globalAlpha = 1;
    }
    lit(section) {
      const first = section === 0;
      const last = section === this.model.header.num_layers - 1;
      const isLit = {
        all: true,
        text: section === "text",
        pieces: section === "text" || section === "pieces",
        input: section === "pieces" || section === "input",
        attention: section === "pieces" || section === "input" || first,
        norm: first,
        feed_forward: first,
        layers: typeof section === "number",
        pair: section === "pair" || last,
        words: section === "words" || last
      };
      return isLit[this.step] ?? true ? 1 : DIM;
    }
    y(row) {
      return this.layout.top + (row + 0.5) * this.layout.rowHeight;
    }
    font(context, size, weight = 400) {
      context.font = `${weight} ${size}px ${this.theme.font}`;
    }
    label(context, text, x, y, room, align = "left") {
      context.textAlign = align;
      context.fillText(this.names.fit(context, text, room), x, y);
    }
    paintTitles(context) {
      const { layout, theme, model: { header } } = this;
      const { text, pieces, columns, layers, answers, top } = layout;
      context.fillStyle = theme.text;
      this.font(context, 12.5, 600);
      if (text.width) {
        context.globalAlpha = this.lit("text");
        this.label(context, "Text", text.width, 9, text.width, "right");
      }
      context.globalAlpha = this.lit("pieces");
      this.label(context, text.width ? "Pieces" : "Word pieces", pieces.x + pieces.width / 2, 9, pieces.width, "center");
      context.globalAlpha = this.lit("input");
      const inputs = header.columns.filter(({ layer }) => layer < 0);
      const end = columns[inputs.length - 1];
      this.label(context, "Input", (columns[0].x + end.x + end.width) / 2, 9, 160, "center");
      const every = layers[0].width < 20 ? 2 : 1;
      layers.forEach((place, layer) => {
        context.globalAlpha = this.lit(layer);
        const title = place.width >= 52 ? `Layer ${layer}` : String(layer);
        if (layer % every === 0) this.label(context, title, place.x + place.width / 2, 9, place.width * every, "center");
      });
      context.globalAlpha = Math.max(this.lit("pair"), this.lit("words"));
      this.label(context, "Predictions", answers.x, 9, answers.width);
      this.font(context, 10.5);
      context.globalAlpha = 0.8 * this.lit("input");
      inputs.forEach(({ kind }, column) => {
        const { x, width } = columns[column];
        const short = { token: "token", segment: "seg.", position: "pos.", input: "sum" }[kind] ?? kind;
        this.label(context, short, x + width / 2, top - 11, width + 12, "center");
        if (column === inputs.length - 1) return;
        const isSum = column === inputs.length - 2;
        if (!isSum && isAbsent(header, inputs[column + 1].kind)) return;
        const sign = isSum ? "=" : "+";
        this.label(context, sign, (x + width + columns[column + 1].x) / 2, top + layout.rowHeight / 2, 12, "center");
      });
    }
    // The characters of each word, and a bracket where it falls into pieces.
    paintText(context) {
      const { layout: { text, pieces, rowHeight }, theme, model } = this;
      context.strokeStyle = context.fillStyle = theme.text;
      context.lineWidth = 1;
      this.font(context, Math.min(13, Math.max(9, rowHeight * 0.7)));
      const labelled = this.labelled();
      for (const { text: word, first, last } of model.header.words) {
        const middle = (this.y(first) + this.y(last)) / 2;
        context.globalAlpha = 0.85 * this.lit("text");
        if (text.width && (last > first || labelled.has(first))) this.label(context, word, text.width, middle, text.width - 2, "right");
        if (last === first || !text.width) continue;
        const [x, reach] = [text.width + 5, pieces.x - text.width - 7];
        context.beginPath();
        context.moveTo(x + reach, this.y(first) - rowHeight * 0.3);
        context.lineTo(x + reach / 2, this.y(first) - rowHeight * 0.3);
        context.lineTo(x + reach / 2, this.y(last) + rowHeight * 0.3);
        context.lineTo(x + reach, this.y(last) + rowHeight * 0.3);
        context.moveTo(x, middle);
        context.lineTo(x + reach / 2, middle);
        context.stroke();
      }
    }
    // Rows whose names are drawn: all, or those that have room, important ones first.
    labelled() {
      const { model, layout: { rowHeight } } = this;
      if (rowHeight >= 11) return new Set(range(model.size));
      const special = model.header.text_ids.flatMap((text, row) => text < 0 ? [row] : []);
      const order = [model.followed, ...model.header.predictions.map(({ row }) => row), ...special, ...range(model.size)];
      const apart = Math.ceil(11 / rowHeight);
      const chosen = [];
      for (const row of order) if (chosen.every((other) => Math.abs(other - row) >= apart)) chosen.push(row);
      return new Set(chosen);
    }
    paintPieces(context) {
      const { layout: { pieces, rowHeight }, theme, model } = this;
      const { header } = model;
      const tall = Math.max(1, rowHeight - (rowHeight >= 8 ? 3 : 0.5));
      const masks = new Set(header.predictions.flatMap(({ kind, row }) => kind === "masked" ? [row] : []));
      const light = (row) => row === model.followed ? 1 : this.lit("pieces");
      range(model.size).forEach((row) => {
        context.globalAlpha = light(row);
        const text = header.text_ids[row];
        context.fillStyle = masks.has(row) ? theme.text : theme.secondary;
        context.fillRect(pieces.x, this.y(row) - tall / 2, pieces.width, tall);
        context.fillStyle = text === 1 ? header.kinds.b : text === 0 ? header.kinds.a : header.kinds.special;
        context.fillRect(pieces.x, this.y(row) - tall / 2, 4, tall);
      });
      for (const row of this.labelled()) {
        const isMask = masks.has(row);
        context.globalAlpha = light(row);
        this.font(context, Math.min(13, Math.max(10, rowHeight * 0.72)), row === model.followed || isMask ? 700 : 500);
        if (isMask && rowHeight < 11) {
          context.fillStyle = theme.text;
          context.fillRect(pieces.x + 4, this.y(row) - 6, pieces.width - 4, 12);
        }
        context.fillStyle = isMask ? theme.background : theme.text;
        this.label(context, header.tokens[row], pieces.x + 4 + (pieces.width - 4) / 2, this.y(row) + 0.5, pieces.width - 10, "center");
      }
      for (let row = 0; row < model.size; row++) {
        const folded = model.foldedAfter(row);
        if (folded) this.paintFold(context, row, folded);
      }
    }
    paintFold(context, row, folded) {
      const { layout: { pieces, rowHeight, answers }, theme } = this;
      const y = this.y(row) + rowHeight / 2;
      context.strokeStyle = theme.text;
      context.lineWidth = 1;
      context.globalAlpha = 0.5;
      context.beginPath();
      for (let x = pieces.x; x < answers.x - 12; x += 8) {
        context.moveTo(x, y);
        context.lineTo(x + 3, y);
      }
      context.stroke();
      this.font(context, 10);
      const note = `${folded} folded`;
      context.fillStyle = theme.background;
      context.globalAlpha = 0.9;
      const wide = context.measureText(note).width + 6;
      context.fillRect(pieces.x + pieces.width - wide, y - 6, wide, 12);
      context.fillStyle = theme.text;
      this.label(context, note, pieces.x + pieces.width - 3, y, wide, "right");
    }
    paintVectors(context) {
      const { layout: { columns, top, rowHeight }, theme, model } = this;
      const { header } = model;
      const tall = rowHeight * model.size;
      header.columns.forEach(({ kind, layer }, column) => {
        const { x, width } = columns[column];
        if (width < 1) return;
        const alpha = this.lit(layer < 0 ? "input" : layer);
        if (isAbsent(header, kind)) return this.paintDashed(context, [x, top, width, tall], alpha);
        context.globalAlpha = alpha;
        paintCells(context, this.cells[column], [0, 0, NUM_BANDS, model.size], [x, top, width, tall]);
        if (rowHeight < 8) return;
        context.fillStyle = theme.background;
        context.globalAlpha = 1;
        for (let row = 0; row <= model.size; row++) context.fillRect(x, top + row * rowHeight - 1.5, width, 3);
      });
    }
    paintLayer(context, place, layer) {
      const { layout, theme, model: { header } } = this;
      const [left, upper, , tall] = place.heads;
      const alpha = this.lit(layer);
      const step = place.head + 1;
      context.globalAlpha = alpha;
      this.heads[layer].forEach((source, head) => {
        const x = left + head % place.perRow * step;
        const y = upper + Math.floor(head / place.perRow) * step;
        paintCells(context, source, [0, 0, header.size, header.size], [x, y, place.head, place.head]);
      });
      context.strokeStyle = theme.text;
      context.lineWidth = 0.7;
      context.globalAlpha = 0.35 * alpha;
      const pointed = this.pointed?.kind === "attention" && this.pointed.layer === layer ? this.pointed.head : null;
      context.beginPath();
      range(header.num_heads).forEach((head) => context.roundRect(left + head % place.perRow * step - 0.5, upper + Math.floor(head / place.perRow) * step - 0.5, step, step, 0));
      context.stroke();
      context.globalAlpha = alpha;
      if (pointed !== null) {
        context.strokeStyle = header.accent;
        context.lineWidth = 2;
        context.beginPath();
        context.roundRect(left + pointed % place.perRow * step - 1, upper + Math.floor(pointed / place.perRow) * step - 1, step + 1, step + 1, 2);
        context.stroke();
      }
      if (header.broken.includes(layer)) paintMissing(context, [left, upper, place.heads[2], tall]);
      this.paintHalves(context, place, layer, layout.top - 12, alpha);
    }
    // Above the rows: attention, add (& norm), feed-forward, add (& norm), as small signs.
    paintHalves(context, place, layer, y, alpha) {
      const { layout, theme, model: { header } } = this;
      const own = header.columns.flatMap((column, index) => column.layer === layer ? [index] : []);
      const sign = (span) => {
        const x = span.x + span.width / 2;
        context.beginPath();
        context.roundRect(x - 5.5, y - 5.5, 11, 11, 5.5);
        context.moveTo(x - 3, y);
        context.lineTo(x + 3, y);
        context.moveTo(x, y - 3);
        context.lineTo(x, y + 3);
        context.stroke();
      };
      context.globalAlpha = 0.75 * alpha;
      context.strokeStyle = context.fillStyle = theme.text;
      context.lineWidth = 1;
      if (own.length > 1 && place.width >= 30) sign(layout.columns[own[own.length - 1]]);
      if (!layout.hasHalves) return;
      const half = layout.columns[own[0]];
      sign(half);
      this.font(context, 10.5);
      const room = half.x - place.lines.x - 8;
      const name = room > 48 ? "attention" : room > 24 ? "att." : "";
      if (name) this.label(context, name, place.lines.x + room / 2 - 2, y, room, "center");
      const [from, to] = [half.x + half.width + 1, layout.columns[own[own.length - 1]].x - 1];
      const last = layout.columns[own[own.length - 1]];
      const [first, second] = [half.x + half.width / 2, last.x + last.width / 2];
      if (second - first > 25) this.label(context, "FF", (first + second) / 2, y, 20, "center");
      context.globalAlpha = 0.3 * alpha;
      context.beginPath();
      for (let row = 0; row < this.model.size; row++) {
        context.moveTo(from, this.y(row));
        context.lineTo(to, this.y(row));
      }
      context.stroke();
    }
    // ---- attention ----
    curve(context, layer, { key, query }) {
      const { x, width } = this.layout.layers[layer].lines;
      const [from, to] = [this.y(key), this.y(query)];
      context.moveTo(x, from);
      context.bezierCurveTo(x + width * 0.5, from, x + width * 0.5, to, x + width, to);
    }
    paintLines(context, layer) {
      const { theme, model, layout: { rowHeight } } = this;
      const thin = Math.max(0.4, Math.min(1, rowHeight / 14));
      context.strokeStyle = theme.text;
      let least = 0;
      for (const most of BANDS_OF_LINES) {
        const links = model.links[layer].filter(({ weight, query }) => weight >= least && weight < most && query !== model.followed);
        least = most;
        if (!links.length) continue;
        const strength = Math.min(1, most);
        context.globalAlpha = (0.1 + 0.3 * strength) * thin * this.lit(layer);
        context.lineWidth = (0.6 + 1.6 * strength) * thin;
        context.beginPath();
        for (const link of links) this.curve(context, layer, link);
        context.stroke();
      }
    }
    // What the followed token takes in each layer.
    paintFollowed(context) {
      const { model } = this;
      context.strokeStyle = model.header.accent;
      const least = Math.max(0.03, model.notable);
      range(model.header.num_layers).forEach((layer) => {
        const { pointed } = this;
        const head = pointed?.kind === "attention" && pointed.layer === layer ? pointed.head : null;
        for (const link of model.from(layer, model.followed, head, FOLLOWED)) {
          if (!(link.weight >= least)) continue;
          context.globalAlpha = (0.25 + 0.7 * Math.sqrt(link.weight)) * this.lit(layer);
          context.lineWidth = 0.8 + 5 * link.weight;
          context.beginPath();
          this.curve(context, layer, link);
          context.stroke();
        }
      });
    }
    paintRow(context) {
      const { layout: { pieces, answers, rowHeight }, model } = this;
      const tall = Math.max(rowHeight, 7);
      context.globalAlpha = 1;
      context.strokeStyle = model.header.accent;
      context.lineWidth = 1.5;
      context.beginPath();
      context.roundRect(pieces.x - 2, this.y(model.followed) - tall / 2, answers.x - pieces.x - 6, tall, 4);
      context.stroke();
    }
    // ---- predictions ----
    paintAnswer(context, box) {
      const { layout: { answers }, theme, model: { header } } = this;
      const alpha = this.lit(box.kind);
      const absent = header.absent[box.kind];
      const { x } = answers;
      context.globalAlpha = alpha;
      context.fillStyle = context.strokeStyle = theme.text;
      if (absent !== void 0) return this.paintAbsent(context, box, absent, alpha);
      const color = box.kind === "pair" ? header.kinds.a : header.accent;
      context.strokeStyle = color;
      context.globalAlpha = 0.7 * alpha;
      context.lineWidth = 1.2;
      context.beginPath();
      context.moveTo(x - 7, this.y(box.row));
      context.lineTo(x - 3, box.y + 8);
      context.stroke();
      this.font(context, 10.5);
      context.globalAlpha = 0.85 * alpha;
      const heads = { masked: "masked-word head", next: "next token", replaced: "replaced?" };
      const what = box.kind === "pair" ? "pooler" : heads[header.predictions[box.index].kind];
      this.label(context, `${header.tokens[box.row]} \u2192 ${what}`, x, box.y + 8, answers.width);
      const bars = box.kind === "pair" && header.pair ? [[header.pair.kind === "nsp" ? "B follows A" : "A before B", header.pair.probability]] : header.predictions[box.index].words.slice(0, box.numWords).map((word, k) => [word, header.predictions[box.index].probabilities[k]]);
      bars.forEach(([word, probability], k) => {
        const y = box.y + 23 + k * 15;
        context.globalAlpha = (box.kind === "pair" ? 0.35 : 0.3) * alpha;
        context.fillStyle = color;
        context.fillRect(x, y - 6.5, Math.max(1, answers.width * (probability ?? 0)), 13);
        context.globalAlpha = alpha;
        context.fillStyle = theme.text;
        this.font(context, 12, k || box.kind === "pair" ? 400 : 700);
        this.label(context, word, x + 4, y + 0.5, answers.width - 44);
        this.font(context, 11);
        this.label(context, percent(probability ?? NaN), x + answers.width - 3, y + 0.5, 40, "right");
      });
    }
    paintAbsent(context, box, why, alpha) {
      const { layout: { answers } } = this;
      this.paintDashed(context, [answers.x, box.y, answers.width - 1, box.height - 4], alpha);
      context.globalAlpha = 0.7 * alpha;
      this.font(context, 10.5);
      const lines = wrapped(why, (text) => context.measureText(text).width, answers.width - 8);
      const room = linesOf(box);
      if (lines.length > room) lines.splice(room - 1, lines.length, lines.slice(room - 1).join(" "));
      lines.forEach((line, at) => this.label(context, line, answers.x + 4, box.y + 9 + at * ABSENT_LINE, answers.width - 8));
    }
    // The frame of a part that the checkpoint or the text lacks.
    paintDashed(context, [x, y, width, tall], alpha) {
      context.globalAlpha = 0.5 * alpha;
      context.strokeStyle = this.theme.text;
      context.lineWidth = 1;
      context.beginPath();
      for (let at = 0; at < width; at += 6) {
        for (const line of [y, y + tall]) {
          context.moveTo(x + at, line);
          context.lineTo(x + Math.min(at + 3, width), line);
        }
      }
      for (let at = 0; at < tall; at += 6) {
        for (const line of [x, x + width]) {
          context.moveTo(line, y + at);
          context.lineTo(line, y + Math.min(at + 3, tall));
        }
      }
      context.stroke();
    }
    // ---- pictures of numbers ----
    vectors(column) {
      const { model, isDark } = this;
      return picture(NUM_BANDS, model.size, (at) => {
        const value = model.band(column, Math.floor(at / NUM_BANDS), at % NUM_BANDS);
        return Number.isNaN(value) ? NOT_A_NUMBER : model.colour(value, isDark);
      });
    }
  };
  function picture(width, height, colour) {
    const image = new ImageData(width, height);
    for (let at = 0; at < width * height; at++) {
      const rgb = colour(at);
      image.data.set([rgb[0], rgb[1], rgb[2], 255], at * 4);
    }
    const canvas = element("canvas", { width, height });
    context2d(canvas).putImageData(image, 0, 0);
    return canvas;
  }

  // app/glance/drawing.ts
  var HEIGHT = 560;
  function component(mounted) {
    return mount(Glance, mounted, {
      opened: (value) => mounted.setTriggerValue("opened", value),
      step: (value) => mounted.setStateValue("step", value)
    });
  }
  var standAlone = alone(component);
  var PAGES = {
    text: "Tokens & embeddings",
    token: "Tokens & embeddings",
    input: "Tokens & embeddings",
    attention: "Attention",
    norm: "Inside a layer",
    feed_forward: "Inside a layer",
    layer: "Layer map",
    pair: "Sentence pairs",
    words: "Masked words"
  };
  var PART_OF_STEP = {
    text: "text",
    pieces: "token",
    input: "input",
    attention: "attention",
    norm: "norm",
    feed_forward: "feed_forward",
    layers: "layer",
    pair: "pair",
    words: "words"
  };
  var Glance = class {
    frame = new ViewFrame("view glance", { layout: () => this.layout(), paint: () => this.paint() });
    root = this.frame.root;
    events;
    model = new GlanceModel();
    painter = new GlancePainter(this.model);
    files = new GlanceFiles(this.model, this.painter);
    table = new DataTable("Tokens and what they read as a table", () => this.files.table());
    live = new LiveRegion();
    tip = new Tooltip(this.root);
    count = element("span", { className: "count" });
    sentence = element("p", { ariaLive: "polite" });
    back = button("\u25C0", "Step back (left arrow key)", () => this.go(this.model.step - 1), "step");
    on = button("\u25B6", "Next step (right arrow key)", () => this.go(this.model.step + 1), "step");
    opener = button("", "Open the page about this step", () => this.openStep(), "open");
    plane;
    hasMessage = false;
    constructor(parent) {
      this.plane = element("div", {
        className: "plane",
        tabIndex: 0,
        role: "application",
        ariaLabel: "BERT on this text, from the word pieces to the predictions. Left and right arrow: steps. Up and down arrow: follow another token. Enter: open the page about this step.",
        onpointermove: (event) => this.point(this.hit(event), event),
        onpointerleave: () => this.point(null),
        onclick: (event) => this.open(this.hit(event)),
        onkeydown: (event) => this.key(event)
      }, this.frame.canvas);
      const walk = element(
        "div",
        { className: "walk", role: "group", ariaLabel: "Walk through BERT" },
        this.back,
        this.count,
        this.on,
        this.sentence,
        this.opener
      );
      this.frame.open(
        parent,
        walk,
        this.plane,
        element("div", { className: "foot" }, saveButtons(this.files)),
        this.table.root,
        this.live.root
      );
    }
    close() {
      this.frame.close();
      this.table.close();
      this.live.cancel();
    }
    update(message) {
      this.model.receive(message);
      if (!this.hasMessage) this.model.step = message.header.step;
      this.hasMessage = true;
      this.model.step = Math.min(this.model.step, message.header.steps.length - 1);
      this.painter.refresh(readTheme(this.root));
      this.showStep();
      this.table.refresh();
      this.layout();
    }
    get isAlone() {
      return this.model.header.alone !== void 0;
    }
    // ---- the walk ----
    go(step) {
      const { steps } = this.model.header;
      if (step < 0 || step >= steps.length) return;
      this.model.step = step;
      this.showStep();
      this.frame.draw();
      this.frame.noting.run(() => this.events.step(step));
    }
    showStep() {
      const { header: { steps }, step } = this.model;
      this.count.textContent = `${step + 1} of ${steps.length}`;
      this.sentence.replaceChildren(element("b", { textContent: `${steps[step].title}. ` }), steps[step].text);
      this.back.disabled = step === 0;
      this.on.disabled = step === steps.length - 1;
      const part = PART_OF_STEP[steps[step].part];
      this.opener.style.display = part && !this.isAlone ? "" : "none";
      this.opener.textContent = part ? `${PAGES[part]} \u2192` : "";
      this.opener.ariaLabel = part ? `${PAGES[part]}: open the page about this step` : "";
    }
    openStep() {
      const { header: { steps, predictions, num_layers: layers }, step } = this.model;
      const part = PART_OF_STEP[steps[step].part];
      if (!part) return;
      const row = part === "words" ? predictions[0].row : part === "pair" ? 0 : this.model.followed;
      const layer = part === "layer" ? layers - 1 : ["attention", "norm", "feed_forward"].includes(part) ? 0 : null;
      this.report(part, row, layer, null);
    }
    // ---- drawing ----
    layout() {
      const width = this.root.clientWidth;
      if (!this.hasMessage || !width) return;
      this.painter.layout = layoutOf(this.model.header, width, HEIGHT);
      this.frame.draw();
    }
    paint() {
      const theme = readTheme(this.root);
      if (theme.background !== this.painter.theme.background) this.painter.refresh(theme);
      const { width, height } = this.painter.layout;
      this.painter.drawOn(fitCanvas(this.frame.canvas, width, height));
    }
    // ---- pointing ----
    hit(event) {
      const box = this.frame.canvas.getBoundingClientRect();
      return partAt(this.painter.layout, this.model.header, event.clientX - box.left, event.clientY - box.top);
    }
    point(part, event) {
      this.painter.pointed = part;
      if (part && part.row !== null) this.model.followed = part.row;
      this.plane.classList.toggle("opens", part !== null && !this.isAlone);
      if (part && event) this.tip.show(event.clientX, event.clientY, ...this.tipOf(part));
      else this.tip.hide();
      this.frame.draw();
    }
    tipOf(part) {
      const lines = this.describe(part).map((text) => element("div", { textContent: text }));
      const token = part.row === null ? [] : [tokenInTip(this.model.header.tokens[part.row])];
      const page = this.isAlone ? [] : [element("div", {}, element("i", { textContent: `Click: ${PAGES[part.kind]}` }))];
      return [...token, ...lines, ...page];
    }
    // What is under the pointer, in lines of text.
    describe(part) {
      const { model } = this;
      const { header } = model;
      if (part.kind === "pair" || part.kind === "words") {
        const absent = header.absent[part.kind];
        if (absent !== void 0) return [absent];
        if (part.kind === "pair") {
          if (!header.pair) return [];
          const hidden = header.num_hidden ? ` with the hidden word${header.num_hidden > 1 ? "s" : ""}` : "";
          return [exactPercent(header.pair.probability) + hidden];
        }
        const { words, probabilities, original } = header.predictions[part.index];
        const lines2 = words.map((word, k) => `${word} ${exactPercent(probabilities[k])}`);
        return original === null ? lines2 : [`hidden: ${original}`, ...lines2];
      }
      if (part.kind === "text" || part.kind === "token") return [`token ${header.positions[part.row]} of ${header.num_tokens}`];
      const lines = "layer" in part ? [`Layer ${part.layer}${"head" in part && part.head !== null ? `, head ${part.head}` : ""}`] : [];
      if (part.kind === "attention") {
        if (part.row === null) {
          const pink = part.head === null || model.hasHeads ? [] : ["Pink lines: mean of the heads, as the text is long"];
          return [...lines, "Attention: row reads column; strong colour is much", ...pink];
        }
        return [...lines, this.reads(part.layer, part.row, 4)];
      }
      const column = "column" in part && part.column !== void 0 ? header.columns[part.column] : null;
      const name = column?.kind ?? (part.kind === "norm" ? "block" : part.kind);
      if (column && isAbsent(header, column.kind)) return [header.absent[column.kind] ?? ""];
      if (name !== "layer" || column) lines.push(header.parts[name] ?? "");
      if (column) lines.push(`${NUM_BANDS} cells: means of ${Math.round(column.num_dims / NUM_BANDS)} of ${column.num_dims} dimensions`);
      return lines;
    }
    // What a token reads most in a layer, as the mean of the heads.
    reads(layer, row, most) {
      const { model } = this;
      const named = model.from(layer, row, null, most).map(({ key, weight }) => `${model.name(key, 16)} ${percent(weight)}`);
      return `reads${model.isFolded ? ", of those drawn," : ""} ${named.join(", ")}`;
    }
    open(part) {
      if (!part || this.isAlone) return;
      const layer = "layer" in part ? part.layer : null;
      this.report(part.kind, part.row, layer, "head" in part ? part.head : null);
    }
    report(part, row, layer, head) {
      const position = row === null ? null : this.model.header.positions[row];
      this.tip.hide();
      this.events.opened({ part, position, layer, head });
    }
    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { model } = this;
      const follow = (row) => {
        model.followed = Math.max(0, Math.min(model.size - 1, row));
        this.painter.pointed = null;
        this.live.say(`${model.name(model.followed)}, token ${model.header.positions[model.followed]}. In layer 0 it ${this.reads(0, model.followed, 3)}.`);
        this.frame.draw();
      };
      const moves = {
        ArrowLeft: () => this.go(model.step - 1),
        ArrowRight: () => this.go(model.step + 1),
        ArrowUp: () => follow(model.followed - 1),
        ArrowDown: () => follow(model.followed + 1),
        Home: () => follow(0),
        End: () => follow(model.size - 1),
        Enter: () => {
          if (!this.isAlone) this.openStep();
        }
      };
      if (!(event.key in moves)) return;
      moves[event.key]();
      event.preventDefault();
    }
  };
  return __toCommonJS(drawing_exports);
})();
