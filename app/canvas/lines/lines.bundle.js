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

  // app/canvas/lines/lines.ts
  var lines_exports = {};
  __export(lines_exports, {
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
  function asFlags(block, first, number) {
    return Uint8Array.from({ length: number }, (_, k) => block[first + k >> 3] >> 7 - (first + k & 7) & 1);
  }
  function encoder(table) {
    const middles = table.slice(1).map((weight, k) => (weight + table[k]) / 2);
    return (weight) => {
      let [low, high] = [0, 255];
      while (low < high) {
        const middle = low + high >> 1;
        if (weight < middles[middle]) high = middle;
        else low = middle + 1;
      }
      return low;
    };
  }
  function quickEncoder(table) {
    const encode = encoder(table);
    const known = Uint8Array.from({ length: 4096 }, (_, k) => encode((k / 4095) ** 2));
    return (weight) => known[Math.round(4095 * Math.sqrt(Math.min(1, weight)))];
  }

  // app/html_file/alone.ts
  function alone(component2) {
    return (place, css, messages) => {
      const root = place.attachShadow({ mode: "open" });
      root.append(element("style", { textContent: css }));
      const held = messages.map(heldBytes);
      let shown = held[0];
      const show2 = (data) => {
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
        if (message) show2(changeHeader(message, { heads, revision }));
      };
      show2(shown);
      onSchemeChange(() => show2(shown));
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
  function unitsOf(header, byWord) {
    const starts = byWord ? header.starts : header.tokens.map((_, place) => place);
    const pick = (list) => starts.map((start) => list[start]);
    return {
      byWord,
      starts,
      names: byWord ? header.words : header.tokens,
      textIds: pick(header.text_ids),
      segmentIds: pick(header.segment_ids),
      size: starts.length
    };
  }
  function mergeToWords(read, size, starts) {
    const count = starts.length;
    const wordOf = new Uint16Array(size);
    starts.forEach((start, word) => wordOf.fill(word, start));
    const out = new Float32Array(count * count);
    for (let row = 0, at = 0; row < size; row++) {
      const first = wordOf[row] * count;
      for (let column = 0; column < size; column++, at++) out[first + wordOf[column]] += read(at);
    }
    starts.forEach((start, word) => {
      const pieces = (starts[word + 1] ?? size) - start;
      if (pieces > 1) for (let k = word * count; k < (word + 1) * count; k++) out[k] /= pieces;
    });
    return out;
  }
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
    const show2 = (message2) => {
      if (current.turn !== turn || keptViews.get(parentElement) !== current) return;
      view.update(message2);
      view.root.removeAttribute("aria-busy");
    };
    const message = unpack(data);
    if (isDeflated(message)) {
      view.root.setAttribute("aria-busy", "true");
      void inflateBlocks(message).then(show2);
    } else show2(message);
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
  function checkbox(text, title, changed) {
    const input = element("input", { type: "checkbox" });
    input.onchange = () => changed(input.checked);
    return { root: element("label", { title }, input, text), input };
  }
  function wordsCheckbox(changed) {
    return checkbox("Whole words", "Sum over the pieces of an attended word, mean over the pieces of an attending one", changed);
  }
  function show(node, isShown) {
    node.style.display = isShown ? "" : "none";
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
  function brokenNote(missing, instead) {
    return missing ? [element("span", { className: "key broken", textContent: `${missing} Red stripes mark them; ${instead}.` })] : [];
  }

  // app/canvas/lines/choice.ts
  var TokenChoice = class {
    left = /* @__PURE__ */ new Set();
    right = /* @__PURE__ */ new Set();
    get size() {
      return this.left.size + this.right.size;
    }
    get first() {
      const side = this.left.size ? "left" : "right";
      const [index] = this[side];
      return index === void 0 ? null : { side, index };
    }
    clear() {
      this.left = /* @__PURE__ */ new Set();
      this.right = /* @__PURE__ */ new Set();
    }
    add({ side, index }) {
      this[side].add(index);
    }
    // Adds a unit to the chosen ones, or takes it away.
    toggle({ side, index }) {
      if (!this[side].delete(index)) this[side].add(index);
    }
    // Chooses a unit alone; if it was chosen alone, nothing is chosen.
    pickAlone(place) {
      const wasAlone = this.size === 1 && this[place.side].has(place.index);
      this.clear();
      if (!wasAlone) this.add(place);
    }
    // For the address: first tokens of the units, "l2.5r7"; at most a hundred on a side.
    written(starts) {
      return ["left", "right"].map((side) => {
        const places = [...this[side]].slice(0, 100).map((unit) => starts[unit]);
        return places.length ? side[0] + places.join(".") : "";
      }).join("");
    }
    // Reads what `written` gives; tokens that start no unit are left out.
    read(written, starts) {
      this.clear();
      for (const [, letter, places] of written.matchAll(/([lr])([\d.]+)/g)) {
        const units = places.split(".").map((place) => starts.indexOf(Number(place)));
        this[letter === "l" ? "left" : "right"] = new Set(units.filter((unit) => unit >= 0));
      }
    }
  };
  function isInFocus(focus, row, column) {
    return (!focus.left.size || focus.left.has(row)) && (!focus.right.size || focus.right.has(column));
  }

  // app/canvas/lines/strongest.ts
  function sortedLines(maps, size, lowest, rows, columns) {
    const counts = new Uint32Array(257);
    const visit = (see) => {
      maps.forEach((codes, m) => {
        for (let i = 0; i < size; i++) {
          if (!rows[i]) continue;
          for (let j = 0, at = i * size; j < size; j++, at++) {
            if (codes[at] >= lowest && columns[j]) see(codes[at], m, i, j);
          }
        }
      });
    };
    visit((code) => {
      counts[code + 1] += 1;
    });
    for (let code = 1; code < 257; code++) counts[code] += counts[code - 1];
    const total = counts[256];
    const lines = { code: new Uint8Array(total), map: new Uint8Array(total), row: new Uint16Array(total), column: new Uint16Array(total), total };
    visit((code, m, i, j) => {
      const at = counts[code]++;
      lines.code[at] = code;
      lines.map[at] = m;
      lines.row[at] = i;
      lines.column[at] = j;
    });
    return lines;
  }

  // app/canvas/lines/model.ts
  var MAX_LINES = 2e4;
  var LinesModel = class {
    header;
    units;
    lines = sortedLines([], 0, 0, [], []);
    choice = new TokenChoice();
    pointed = null;
    hideSpecial = false;
    byWord = false;
    mean = false;
    filter = "all";
    threshold = 0.02;
    /** Whether the visitor has set the threshold; else it follows the length of the text. */
    hasOwnThreshold = false;
    layer = 0;
    /** Heads that the visitor wants to see. */
    shown = /* @__PURE__ */ new Set();
    /** Those of them that have arrived, in order. */
    heads = [];
    averaged = false;
    mapColours = [];
    /** For each row whether it holds a weight that is not a number; empty if none does. */
    broken = [];
    table = new Float32Array(256);
    received = /* @__PURE__ */ new Map();
    maps = /* @__PURE__ */ new Map();
    get size() {
      return this.units.size;
    }
    // ---- messages ----
    // Keeps the heads of a message; `isSameLayer`: those of earlier messages still count.
    receive({ header, blocks }, isSameLayer) {
      this.header = header;
      this.table = asFloats(blocks[1]);
      if (!isSameLayer) this.received = /* @__PURE__ */ new Map();
      this.keepHeads(header, blocks[0], blocks[2]);
    }
    keepHeads({ sent, broken, tokens }, codes, bits) {
      const cells = tokens.length ** 2;
      sent.forEach((head, k) => {
        const number = broken.indexOf(head);
        this.received.set(head, {
          codes: codes.subarray(k * cells, (k + 1) * cells),
          gaps: number < 0 ? null : asFlags(bits, number * cells, cells)
        });
      });
    }
    // Sets the units, word pieces or words, and the maps of the heads between them.
    refreshUnits() {
      const { header, received, table } = this;
      this.units = unitsOf(header, this.byWord);
      this.maps = received;
      if (!this.byWord) return;
      this.maps = /* @__PURE__ */ new Map();
      const encode = quickEncoder(table);
      for (const [head, { codes, gaps }] of received) {
        const read = gaps ? (at) => gaps[at] ? NaN : table[codes[at]] : (at) => table[codes[at]];
        const values = mergeToWords(read, header.tokens.length, this.units.starts).map((weight) => Math.min(1, weight));
        this.maps.set(head, {
          values,
          codes: Uint8Array.from(values, (weight) => encode(weight || 0)),
          gaps: gaps && Uint8Array.from(values, (weight) => Number(Number.isNaN(weight)))
        });
      }
    }
    // Shown heads that have not arrived yet.
    awaited() {
      return [...this.shown].filter((head) => !this.received.has(head)).sort((a, b) => a - b);
    }
    // ---- the lines ----
    takesPart(side, unit) {
      if (this.hideSpecial && this.units.textIds[unit] === -1) return false;
      if (this.filter === "all") return true;
      const wanted = Number(this.filter[side === "left" ? 0 : 2]);
      return this.units.segmentIds[unit] === wanted;
    }
    // Finds the lines that the visitor's choices leave.
    select() {
      this.heads = [...this.shown].filter((head) => this.maps.has(head)).sort((a, b) => a - b);
      this.averaged = this.mean && this.heads.length > 1;
      const maps = this.averaged ? [this.meanCodes()] : this.heads.map((head) => this.map(head).codes);
      this.mapColours = this.averaged ? [this.header.mean_colour] : this.heads.map((head) => this.header.colours[head]);
      const anyGaps = this.heads.some((head) => this.map(head).gaps);
      this.broken = anyGaps ? this.units.names.map((_, row) => this.isBroken(row)) : [];
      const rows = this.units.names.map((_, unit) => this.takesPart("left", unit));
      const columns = this.units.names.map((_, unit) => this.takesPart("right", unit));
      const lowest = Math.max(1, this.table.findIndex((weight) => weight >= this.threshold));
      this.lines = sortedLines(maps, this.size, lowest, rows, columns);
    }
    map(head) {
      const weights = this.maps.get(head);
      if (!weights) throw new Error(`head ${head} of layer ${this.header.layer} has not arrived`);
      return weights;
    }
    meanCodes() {
      const { table } = this;
      const encode = quickEncoder(table);
      const maps = this.heads.map((head) => this.map(head));
      return Uint8Array.from({ length: this.size ** 2 }, (_, at) => {
        if (maps.some(({ gaps }) => gaps?.[at])) return 0;
        return encode(maps.reduce((sum, { codes }) => sum + table[codes[at]], 0) / maps.length);
      });
    }
    isBroken(row) {
      return this.heads.some((head) => this.map(head).gaps?.subarray(row * this.size, (row + 1) * this.size).includes(1));
    }
    // NaN where the checkpoint gave no number.
    weight(head, row, column) {
      const { values, codes, gaps } = this.map(head);
      const at = row * this.size + column;
      if (values) return values[at];
      return gaps?.[at] ? NaN : this.table[codes[at]];
    }
    // Of a line's map: one head, or the mean of the shown ones.
    mapWeight(map, row, column) {
      if (!this.averaged) return this.weight(this.heads[map], row, column);
      return this.heads.reduce((sum, head) => sum + this.weight(head, row, column), 0) / this.heads.length;
    }
    // The drawn lines, the strongest first.
    drawnLines(most) {
      const { map, row, column, total } = this.lines;
      const focus = this.focus();
      const first = focus ? 0 : Math.max(0, total - MAX_LINES);
      const out = [];
      for (let k = total - 1; k >= first && out.length < most; k--) {
        if (!focus || isInFocus(focus, row[k], column[k])) out.push([map[k], row[k], column[k]]);
      }
      return out;
    }
    // ---- focus ----
    // The chosen units, else the pointed one; null for everything.
    focus() {
      if (this.choice.size) return this.choice;
      if (!this.pointed) return null;
      const { side, index } = this.pointed;
      return { left: new Set(side === "left" ? [index] : []), right: new Set(side === "right" ? [index] : []) };
    }
    forgetFocus() {
      this.choice.clear();
      this.pointed = null;
    }
    // The units on the other side, the strongest first; with units in focus on both sides, those on the
    // left and what each gives to those on the right.
    targets(focus) {
      const both = focus.left.size > 0 && focus.right.size > 0;
      const side = focus.left.size > 0 && !both ? "left" : "right";
      const other = side === "left" ? "right" : "left";
      const summed = [...focus[side]].filter((unit) => this.takesPart(side, unit));
      const listed = both ? [...focus.left] : this.units.names.map((_, unit) => unit);
      if (!summed.length || !this.heads.length) return { other, number: 0, averages: false, ranked: [] };
      const divisor = side === "left" ? summed.length : 1;
      const targets = listed.filter((unit) => this.takesPart(other, unit)).map((index) => {
        const weights = this.heads.map((head) => {
          let sum2 = 0;
          for (const unit of summed) sum2 += side === "left" ? this.weight(head, unit, index) : this.weight(head, index, unit);
          return sum2;
        });
        const sum = weights.reduce((a, b) => a + b, 0) / weights.length;
        return { index, sum, fraction: sum / divisor, fractions: weights.map((weight) => weight / divisor) };
      });
      const rank = ({ sum }) => Number.isNaN(sum) ? -1 : sum;
      return { other, number: summed.length, averages: divisor > 1, ranked: targets.sort((a, b) => rank(b) - rank(a)) };
    }
  };

  // app/canvas/lines/painter.ts
  var MAX_HEIGHT = 660;
  var ROW_HEIGHT = 19;
  var opacity = (weight) => Math.min(1, 0.1 + 0.9 * Math.pow(weight, 0.55));
  var thickness = (weight) => 0.8 + 2.6 * weight;
  function isLong(size) {
    return size * ROW_HEIGHT > MAX_HEIGHT;
  }
  var LinesPainter = class {
    constructor(model) {
      this.model = model;
    }
    model;
    theme;
    width = 0;
    /** Of the window on the tokens. */
    height = 0;
    /** Of all tokens. */
    contentHeight = 0;
    rowHeight = ROW_HEIGHT;
    labels = new FittedNames();
    /** Opacity of all lines, less than 1 where they would cover everything. */
    faint = 1;
    top = 6;
    fontSize = 14;
    column = 0;
    offset = 0;
    seen = 0;
    // ---- places ----
    // `fit`: squeeze the rows into one window.
    setRows(fit) {
      const { size } = this.model;
      const roomy = size <= 24 ? 26 : size <= 32 ? 22 : ROW_HEIGHT;
      this.rowHeight = fit ? Math.max(1.2, (MAX_HEIGHT - 12) / size) : roomy;
      this.fontSize = this.rowHeight >= 22 ? 14 : 12.5;
      this.contentHeight = Math.ceil(size * this.rowHeight + 2 * this.top);
      this.height = Math.min(MAX_HEIGHT, this.contentHeight);
    }
    setWidth(width) {
      this.width = width;
      this.column = Math.max(84, Math.min(190, width * 0.3));
      this.labels.forget();
    }
    // The unit at a point; y from the top of all tokens.
    hit(x, y) {
      const index = Math.floor((y - this.top) / this.rowHeight);
      if (index < 0 || index >= this.model.size) return null;
      if (x <= this.column + 6) return { side: "left", index };
      if (x >= this.width - this.column - 6) return { side: "right", index };
      return null;
    }
    // How far the window must be scrolled to show a row.
    scrolledTo(index, scrollTop) {
      const y = this.top + index * this.rowHeight;
      if (y + this.rowHeight > scrollTop + this.height) return y + this.rowHeight + this.top - this.height;
      return y < scrollTop ? y - this.top : scrollTop;
    }
    y(index) {
      return this.top + (index + 0.5) * this.rowHeight - this.offset;
    }
    isSeen(y, margin) {
      return y >= -margin && y <= this.seen + margin;
    }
    // ---- painting ----
    // Draws the rows from `offset` on, as many as fit into `height`.
    drawOn(context, offset, height) {
      this.offset = offset;
      this.seen = height;
      const focus = this.model.focus();
      if (focus) this.paintRows(context, focus);
      this.paintLines(context, focus);
      const targets = focus && this.model.targets(focus);
      if (focus && targets) this.paintBoxes(context, focus, targets);
      this.paintTokens(context, "left", focus, targets);
      this.paintTokens(context, "right", focus, targets);
      if (this.model.choice.size && this.model.pointed) this.paintCursor(context, this.model.pointed);
    }
    tokenBox(context, { side, index }) {
      const height = Math.max(this.rowHeight, 14);
      const x = side === "left" ? 0 : this.width - this.column;
      context.beginPath();
      context.roundRect(x + 2, this.y(index) - height / 2, this.column - 4, height, 4);
    }
    // Backgrounds of the tokens in focus.
    paintRows(context, focus) {
      context.fillStyle = this.theme.secondary;
      for (const side of ["left", "right"]) {
        for (const index of focus[side]) {
          this.tokenBox(context, { side, index });
          context.fill();
        }
      }
    }
    // Where the next key or click acts, while other tokens are chosen.
    paintCursor(context, pointed) {
      context.strokeStyle = this.theme.primary;
      context.lineWidth = 1.5;
      this.tokenBox(context, pointed);
      context.stroke();
    }
    // Fainter and thinner when lines would cover everything: [opacity, thickness], each at most 1.
    ink(focus) {
      const thin = Math.max(0.35, Math.min(1, this.rowHeight / 13));
      if (focus) return [1, thin];
      const { lines: { code, total }, table, size } = this.model;
      let sum = 0;
      for (let k = Math.max(0, total - MAX_LINES); k < total; k++) {
        const weight = table[code[k]];
        sum += opacity(weight) * thickness(weight) * thin;
      }
      const cover = sum / (size * this.rowHeight);
      return [Math.max(0.2, Math.min(1, Math.pow(0.7 / cover, 0.6))), thin];
    }
    paintLines(context, focus) {
      const { lines: { code, map, row, column, total }, table, mapColours } = this.model;
      const [x1, x2] = [this.column, this.width - this.column];
      const spread = this.spread();
      const [faint, thin] = this.ink(focus);
      this.faint = faint;
      context.lineCap = "round";
      const first = focus ? 0 : Math.max(0, total - MAX_LINES);
      let style = -1;
      for (let k = first; k < total; k++) {
        if (focus && !isInFocus(focus, row[k], column[k])) continue;
        const from = this.y(row[k]) + spread[map[k]];
        const to = this.y(column[k]) + spread[map[k]];
        if (Math.max(from, to) < 0 || Math.min(from, to) > this.seen) continue;
        const next = code[k] * 256 + map[k];
        if (next !== style) {
          style = next;
          const weight = table[code[k]];
          context.globalAlpha = opacity(weight) * faint;
          context.lineWidth = thickness(weight) * thin * (focus ? 1.15 : 1);
          context.strokeStyle = mapColours[map[k]];
        }
        context.beginPath();
        context.moveTo(x1, from);
        context.lineTo(x2, to);
        context.stroke();
      }
      context.globalAlpha = 1;
    }
    // Offsets that put the lines of several heads between the same two tokens side by side.
    spread() {
      const n = this.model.mapColours.length;
      const step = Math.min(2.4, this.rowHeight * 0.6 / n);
      return this.model.mapColours.map((_, m) => (m - (n - 1) / 2) * step);
    }
    // Behind the tokens of the other column: one field per head, as strong as its fraction.
    paintBoxes(context, focus, { other, ranked }) {
      if (focus.left.size && focus.right.size) return;
      const { mapColours, averaged } = this.model;
      const x = other === "right" ? this.width - this.column + 4 : 4;
      const wide = (this.column - 8) / mapColours.length;
      for (const { index, fractions, fraction } of ranked) {
        const y = this.y(index);
        if (!this.isSeen(y, this.rowHeight)) continue;
        (averaged ? [fraction] : fractions).forEach((weight, m) => {
          if (!(weight >= 4e-3)) return;
          context.globalAlpha = Math.min(0.6, weight * 0.62 + 0.02);
          context.fillStyle = mapColours[m];
          context.fillRect(x + m * wide, y - this.rowHeight / 2 + 0.5, wide, Math.max(1, this.rowHeight - 1));
        });
      }
      context.globalAlpha = 1;
    }
    paintTokens(context, side, focus, targets) {
      const numbers2 = fractionsBeside(side, targets);
      const lineHeight = Math.min(this.rowHeight, this.fontSize + 1) < this.fontSize ? this.fontSize : 0;
      const taken = [];
      context.textBaseline = "middle";
      context.textAlign = side === "left" ? "right" : "left";
      context.direction = "ltr";
      for (const unit of this.namedFirst(side, focus, numbers2)) {
        const y = this.y(unit);
        if (!this.isSeen(y, 20)) continue;
        if (lineHeight && taken.some((other) => Math.abs(other - y) < lineHeight)) continue;
        taken.push(y);
        this.paintName(context, { side, index: unit }, focus, numbers2.get(unit));
      }
      this.paintKinds(context, side);
      context.globalAlpha = 1;
    }
    paintName(context, { side, index }, focus, fraction) {
      const { theme } = this;
      const left = side === "left";
      const edge = left ? this.column - 12 : this.width - this.column + 12;
      const y = this.y(index);
      const isFocus = Boolean(focus?.[side].has(index));
      context.globalAlpha = this.model.takesPart(side, index) ? 1 : 0.35;
      context.font = `${isFocus ? 600 : 400} ${this.fontSize}px ${theme.font}`;
      const room = this.column - 22 - (fraction === void 0 ? 0 : 38);
      const text = this.labels.fit(context, this.model.units.names[index], room);
      context.lineWidth = 3;
      context.lineJoin = "round";
      context.strokeStyle = theme.background;
      if (focus && !isFocus) context.strokeText(text, edge, y + 0.5);
      context.fillStyle = theme.text;
      context.fillText(text, edge, y + 0.5);
      if (fraction === void 0) return;
      context.textAlign = left ? "left" : "right";
      context.font = `400 11.5px ${theme.font}`;
      context.strokeText(percent(fraction), left ? 8 : this.width - 8, y + 0.5);
      context.fillText(percent(fraction), left ? 8 : this.width - 8, y + 0.5);
      context.textAlign = left ? "right" : "left";
    }
    // Bars in the colours of the units' kinds, and stripes where weights are missing.
    paintKinds(context, side) {
      const { model } = this;
      const left = side === "left";
      const inner = left ? this.column : this.width - this.column;
      for (let unit = 0; unit < model.size; unit++) {
        const y = this.y(unit);
        if (!this.isSeen(y, this.rowHeight)) continue;
        context.globalAlpha = model.takesPart(side, unit) ? 1 : 0.3;
        context.fillStyle = kindColour(model.header, model.units.textIds[unit]);
        const tall = Math.max(1, this.rowHeight - 2);
        context.fillRect(left ? inner - 6 : inner + 2, y - tall / 2, 4, tall);
        if (left && model.broken[unit]) paintMissing(context, [inner + 1, y - this.rowHeight / 2, 12, this.rowHeight]);
      }
    }
    // Order in which names claim room when rows are squeezed: the focus, its targets, the rest.
    namedFirst(side, focus, numbers2) {
      const all = this.model.units.names.map((_, unit) => unit);
      if (this.rowHeight >= this.fontSize || !focus) return all;
      return [...focus[side], ...numbers2.keys(), ...all];
    }
  };
  function fractionsBeside(side, targets) {
    if (!targets || targets.other !== side) return /* @__PURE__ */ new Map();
    const strongest = targets.ranked.slice(0, 16).filter((target) => target.fraction >= 0.01);
    return new Map(strongest.map((target) => [target.index, target.fraction]));
  }

  // app/canvas/lines/controls.ts
  var FILTERS = [
    ["all", "all tokens"],
    ["0>0", "A to A"],
    ["0>1", "A to B"],
    ["1>0", "B to A"],
    ["1>1", "B to B"]
  ];
  var LinesControls = class {
    constructor(model, actions) {
      this.model = model;
      this.actions = actions;
      this.layerSelect = numberSelect("Layer", (layer) => actions.goToLayer(layer));
      this.down = button("\u2039", "Layer before", () => actions.goToLayer(model.layer - 1), "step");
      this.up = button("\u203A", "Layer after", () => actions.goToLayer(model.layer + 1), "step");
      this.allHeads = element("button", {
        textContent: "all",
        title: "Show all heads of this layer",
        onclick: () => actions.setHeads(this.everyHead())
      });
      this.slider = element("input", {
        type: "range",
        min: "0",
        max: "100",
        step: "1",
        oninput: () => actions.setThreshold((Number(this.slider.value) / 100) ** 2 / 2)
      });
      this.special = checkbox(
        "Hide special tokens",
        "Leave out what is added to the text, such as [CLS] and [SEP]",
        (isOn) => actions.hideSpecial(isOn)
      );
      this.words = wordsCheckbox((isOn) => actions.showWords(isOn));
      this.mean = checkbox("Mean of heads", "One line for the mean weight of the chosen heads", (isOn) => actions.showMean(isOn));
      this.fit = checkbox("All tokens in one view", "Squeeze the rows; names that fit are shown", (isOn) => actions.fit(isOn));
      this.filterSelect = select("Show lines between sentences", FILTERS, (filter) => actions.setFilter(filter));
      this.filterLabel = element("label", {}, "Show", this.filterSelect);
      this.rows = [
        element(
          "div",
          { className: "controls" },
          element("span", { className: "group" }, "Layer", this.down, this.layerSelect, this.up),
          element("span", { className: "group heads" }, "Heads", this.headBox, this.allHeads)
        ),
        element(
          "div",
          { className: "controls" },
          element("label", { title: "Lines of smaller weight are hidden" }, "Hide weights below", this.slider, this.thresholdText),
          this.special.root,
          this.words.root,
          this.filterLabel,
          this.mean.root,
          this.fit.root
        )
      ];
    }
    model;
    actions;
    /** Two rows. */
    rows;
    layerSelect;
    down;
    up;
    headBox = element("span", { className: "group heads", role: "group", ariaLabel: "Heads" });
    allHeads;
    slider;
    thresholdText = element("output");
    special;
    words;
    mean;
    fit;
    filterSelect;
    filterLabel;
    // `fit`: whether the rows are squeezed.
    refresh(fit) {
      const { model } = this;
      const { header } = model;
      this.refreshLayers();
      this.refreshHeads();
      this.slider.value = String(Math.round(Math.sqrt(model.threshold * 2) * 100));
      this.thresholdText.textContent = percent(model.threshold);
      this.slider.setAttribute("aria-valuetext", percent(model.threshold));
      show(this.filterLabel, header.is_pair);
      this.filterSelect.value = model.filter;
      show(this.special.root, header.text_ids.includes(-1));
      show(this.words.root, header.starts.length < header.tokens.length);
      show(this.fit.root, isLong(model.size));
      this.special.input.checked = model.hideSpecial;
      this.words.input.checked = model.byWord;
      this.mean.input.checked = model.mean;
      this.fit.input.checked = fit;
    }
    refreshLayers() {
      const { header, layer } = this.model;
      const layers = header.num_layers;
      offerNumbers(this.layerSelect, layers);
      this.layerSelect.value = String(layer);
      this.down.disabled = layer === 0;
      this.up.disabled = layer === layers - 1;
      if (header.alone && header.alone.length < layers) {
        disableInFile([this.layerSelect, this.down, this.up], header, `layer ${layer}`);
      }
    }
    refreshHeads() {
      const { header: { colours }, shown } = this.model;
      if (this.headBox.children.length !== colours.length) {
        this.headBox.replaceChildren(...colours.map((colour, head) => this.headButton(colour, head)));
      }
      [...this.headBox.children].forEach((button2, head) => button2.setAttribute("aria-pressed", String(shown.has(head))));
      this.allHeads.disabled = shown.size === colours.length;
    }
    everyHead() {
      return range(this.model.header.colours.length);
    }
    headButton(colour, head) {
      const button2 = element("button", {
        className: "head",
        textContent: head,
        ariaLabel: `Head ${head}`,
        title: `Head ${head}: click shows or hides it, double click shows it alone`
      });
      button2.style.setProperty("--colour", colour);
      button2.style.setProperty("--ink", inkOver(hexRgb(colour)));
      button2.onclick = (event) => {
        if (event.shiftKey) return this.actions.setHeads([head]);
        const next = new Set(this.model.shown);
        if (!next.delete(head)) next.add(head);
        return next.size ? this.actions.setHeads([...next]) : void 0;
      };
      button2.ondblclick = () => {
        const { shown } = this.model;
        const alone2 = shown.size === 1 && shown.has(head);
        this.actions.setHeads(alone2 ? this.everyHead() : [head]);
      };
      return button2;
    }
  };

  // app/canvas/lines/files.ts
  var TABLE_ROWS = 200;
  var COLUMNS = ["attending position", "attending token", "attended position", "attended token", "head", "weight"];
  var LinesFiles = class {
    // `redraw` draws the window's own part again.
    constructor(model, painter, panel, redraw) {
      this.model = model;
      this.painter = painter;
      this.panel = panel;
      this.redraw = redraw;
    }
    model;
    painter;
    panel;
    redraw;
    fileName() {
      return `bertscope-attention-layer-${this.model.header.layer}`;
    }
    picture() {
      const { painter } = this;
      return {
        width: painter.width,
        height: painter.contentHeight,
        ground: painter.theme.background,
        draw: (context) => {
          painter.drawOn(context, 0, painter.contentHeight);
          this.redraw();
        }
      };
    }
    sheet() {
      return { columns: COLUMNS, rows: this.model.drawnLines(Infinity).map((line) => this.row(line)) };
    }
    // The strongest lines, or each token's part in what is in focus.
    table() {
      const focus = this.model.focus();
      const what = `Layer ${this.model.header.layer}, ${this.headWords()}`;
      if (focus) return this.focusTable(what, focus);
      const { total } = this.model.lines;
      return {
        caption: `${what}: the strongest ${Math.min(TABLE_ROWS, total)} of ${total} lines. Each piece's weight is within 0.003.`,
        columns: COLUMNS,
        rows: this.model.drawnLines(TABLE_ROWS).map((line) => {
          const [from, query, to, key, head, weight] = this.row(line);
          return [from, query, to, key, head, weight?.toFixed(3)];
        })
      };
    }
    facts() {
      const { header, heads, units, choice, lines, byWord, threshold, filter, hideSpecial } = this.model;
      const names = (side) => [...choice[side]].map((unit) => units.starts[unit]);
      return {
        what: `Attention of layer ${header.layer}, ${this.headWords()}`,
        layer: header.layer,
        heads,
        unit: byWord ? "words: the sum over the attended pieces, the mean over the attending ones" : "word pieces",
        at_least: threshold,
        between: filter,
        without_special: hideSpecial,
        chosen_attending: names("left"),
        chosen_attended: names("right"),
        lines_in_all: lines.total,
        precision: "each piece's weight is within 0.003",
        ...header.missing ? { not_numbers: header.missing } : {}
      };
    }
    arrays() {
      const { model } = this;
      const lines = model.drawnLines(Infinity);
      const { names, starts } = model.units;
      const of = (values) => ({ shape: [values.length], values });
      return {
        row: of(Int32Array.from(lines, ([, row]) => row)),
        column: of(Int32Array.from(lines, ([, , column]) => column)),
        head: of(Int32Array.from(lines, ([map]) => model.averaged ? -1 : model.heads[map])),
        weight: of(Float32Array.from(lines, ([map, row, column]) => model.mapWeight(map, row, column))),
        names: of(names),
        places: of(Int32Array.from(starts))
      };
    }
    row([map, row, column]) {
      const { model } = this;
      const { names, starts } = model.units;
      const head = model.averaged ? "mean" : model.heads[map];
      return [starts[row], names[row], starts[column], names[column], head, exact(model.mapWeight(map, row, column))];
    }
    focusTable(what, focus) {
      const { units } = this.model;
      const { ranked, number, other } = this.model.targets(focus);
      const heads = this.model.heads.length > 1 ? this.model.heads : [];
      const several = number > 1 ? `; over ${number} tokens` : "";
      return {
        caption: `${what}: ${this.panel.title(focus).textContent}${several}. Each piece's weight is within 0.003.`,
        columns: ["position", other === "right" ? "attended to" : "attends", "sum", "fraction", ...heads.map((head) => `head ${head}`)],
        rows: ranked.map(({ index, fractions, sum, fraction }) => [
          units.starts[index],
          units.names[index],
          sum.toFixed(3),
          fraction.toFixed(3),
          ...heads.length ? fractions.map((part) => part.toFixed(3)) : []
        ])
      };
    }
    headWords() {
      const { heads, averaged } = this.model;
      if (heads.length === 1) return `head ${heads[0]}`;
      return averaged ? `mean of heads ${heads.join(", ")}` : `heads ${heads.join(", ")}`;
    }
  };

  // app/canvas/lines/foot.ts
  var STEPS = [0.02, 0.1, 0.3, 1];
  var Foot = class {
    constructor(model, painter, saving) {
      this.model = model;
      this.painter = painter;
      this.saving = saving;
      this.root.append(saving);
    }
    model;
    painter;
    saving;
    root = element("div", { className: "foot" });
    shown = "";
    // Called after each frame; changes the page only where its text or colours differ.
    refresh() {
      const { header, averaged, mapColours } = this.model;
      const { theme, faint } = this.painter;
      const text = this.note();
      const state = JSON.stringify([text, header.missing, header.is_pair, theme, averaged, mapColours[0], faint]);
      if (state === this.shown) return;
      this.shown = state;
      replaceBefore(
        this.saving,
        element("span", { className: "key" }, "weight", this.scale()),
        ...kindKeys(header),
        element("span", { className: "note", textContent: text }),
        ...brokenNote(header.missing, "no line is drawn")
      );
    }
    note() {
      const { total } = this.model.lines;
      const awaited = this.model.awaited();
      if (awaited.length) return `Head${awaited.length > 1 ? "s" : ""} ${awaited.join(", ")} on the way \u2026`;
      if (this.model.focus() || total <= MAX_LINES) return "";
      return `The ${MAX_LINES.toLocaleString("en")} strongest of ${total.toLocaleString("en")} lines are drawn.`;
    }
    scale() {
      const { averaged, mapColours } = this.model;
      const { theme, faint } = this.painter;
      const scale = element("canvas", { role: "img", ariaLabel: "Key: thicker and darker lines are larger weights" });
      const context = fitCanvas(scale, 168, 16);
      context.font = `11px ${theme.font}`;
      context.textBaseline = "middle";
      STEPS.forEach((weight, k) => {
        context.globalAlpha = opacity(weight) * faint;
        context.strokeStyle = averaged || mapColours.length === 1 ? mapColours[0] : theme.text;
        context.lineWidth = thickness(weight);
        context.beginPath();
        context.moveTo(k * 42 + 1, 8);
        context.lineTo(k * 42 + 13, 8);
        context.stroke();
        context.globalAlpha = 0.75;
        context.fillStyle = theme.text;
        context.fillText(percent(weight), k * 42 + 16, 8.5);
      });
      return scale;
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

  // app/canvas/lines/panel.ts
  var Panel = class {
    constructor(model) {
      this.model = model;
    }
    model;
    root = element("div", { className: "panel" });
    liveRegion = new LiveRegion();
    close() {
      this.liveRegion.cancel();
    }
    refresh() {
      const focus = this.model.focus();
      if (!this.model.heads.length) this.root.replaceChildren(note("The head is on its way."));
      else if (focus) this.describe(focus);
      else {
        this.root.replaceChildren(element("h2", { textContent: "Point at a token" }), note(
          "On the left: what it attends to. On the right: which tokens attend to it. A click keeps it; Shift and a click adds more, on either side, and sums over them. Esc lets go. With the keyboard: arrows, Enter to keep, Space to add, Esc."
        ));
      }
    }
    describe(focus) {
      const { ranked, number, averages } = this.model.targets(focus);
      const title = this.title(focus);
      const text = ranked.length ? this.note(focus, number, averages) : "What is chosen is left out by the choice above.";
      const shown = ranked.slice(0, 8);
      this.root.replaceChildren(
        title,
        note(text),
        ...shown.map((target) => this.row(target, averages)),
        ...totals(focus, ranked.slice(shown.length), ranked, averages)
      );
      const list = ranked.slice(0, 4).map((target) => `${this.shortName(target.index)} ${percent(target.fraction)}`).join(", ");
      this.liveRegion.say(`${title.textContent}: ${list || "nothing shown"}`);
    }
    title(focus) {
      const name = (units) => {
        const [first, ...others] = [...units].sort((a, b) => a - b);
        if (others.length) return [element("span", { textContent: `${units.size} tokens together` })];
        return ["\u201C", element("bdi", { textContent: this.shortName(first, 60) }), "\u201D"];
      };
      const attends = focus.left.size > 1 ? " attend to" : " attends to";
      if (focus.left.size && focus.right.size) {
        return element("h2", {}, ...name(focus.left), `${attends} `, ...name(focus.right));
      }
      if (focus.left.size) return element("h2", {}, ...name(focus.left), attends);
      return element("h2", {}, ...name(focus.right), focus.right.size > 1 ? " are attended to by" : " is attended to by");
    }
    shortName(unit, most = 40) {
      return shorten(legible(this.model.units.names[unit].slice(0, 1e3)), most);
    }
    note(focus, number, averages) {
      const { heads, header, units: { starts }, choice } = this.model;
      const which = heads.length > 1 ? `mean of ${heads.length} heads` : `head ${heads[0]}`;
      const units = [...focus.left, ...focus.right].sort((a, b) => a - b).map((unit) => starts[unit]);
      const list = units.length > 6 ? `${units.slice(0, 6).join(", ")} \u2026` : units.join(", ");
      const kept = choice.size ? " (kept: Esc lets go)" : "";
      const sums = averages ? ". Percentages are the mean over these tokens, numbers their sum" : number > 1 ? ". Summed over the attended tokens" : "";
      return `Layer ${header.layer}, ${which}, token${units.length > 1 ? "s" : ""} ${list}${kept}${sums}`;
    }
    row({ index, fractions, sum, fraction }, averages) {
      const { heads, header, averaged, units } = this.model;
      const bar = element("div", { className: "bar", ariaHidden: "true" });
      fractions.forEach((part, k) => {
        const field = element("span");
        field.style.width = `${100 * part / fractions.length}%`;
        field.style.background = averaged ? header.mean_colour : header.colours[heads[k]];
        bar.append(field);
      });
      const name = element(
        "span",
        { className: "name", title: this.shortName(index, 240) },
        element("bdi", { textContent: this.shortName(index) }),
        " ",
        element("span", { className: "place", textContent: units.starts[index] })
      );
      const row = element("div", { className: "target" }, name, bar, numbers(sum, fraction, averages));
      if (heads.length > 1) row.append(this.strongestHeads(fractions));
      return row;
    }
    strongestHeads(fractions) {
      const { heads, header } = this.model;
      const best = fractions.map((part, k) => [part, heads[k]]).filter(([part]) => !Number.isNaN(part)).sort((a, b) => b[0] - a[0]);
      const worth = best.slice(0, 2).filter(([weight], k) => k === 0 || weight >= 5e-3);
      return element("span", { className: "detail" }, ...worth.map(([weight, head]) => {
        const dot = element("i");
        dot.style.background = header.colours[head];
        return element("span", {}, dot, `head ${head} ${percent(weight)}`);
      }));
    }
  };
  function note(textContent) {
    return element("p", { className: "note", textContent });
  }
  function totals(focus, rest, ranked, averages) {
    const add = (list, name) => list.reduce((sum, target) => sum + target[name], 0);
    const both = focus.left.size > 0 && focus.right.size > 0;
    const out = [];
    if (rest.length && focus.left.size && !both) {
      out.push(element(
        "div",
        { className: "target rest" },
        element("span", { textContent: `${rest.length} others` }),
        element("span"),
        numbers(add(rest, "sum"), add(rest, "fraction"), averages)
      ));
    }
    if (both && ranked.length) {
      const all = add(ranked, "sum");
      out.push(note(`Together ${all.toFixed(3)} of ${ranked.length} (each token gives 1 in all): ${percent(all / ranked.length)}.`));
    } else if (!focus.left.size && ranked.length) {
      out.push(note("Each number is a fraction of the attending token's attention; these do not add up to 100%."));
    }
    return out;
  }
  function numbers(sum, fraction, averages) {
    const cell2 = element("span", { className: "fraction", textContent: percent(fraction) });
    if (averages) cell2.append(element("small", { textContent: sum.toFixed(2) }));
    return cell2;
  }

  // app/canvas/lines/lines.ts
  function component(mounted) {
    return mount(LinesView, mounted, stateEvents(mounted));
  }
  var standAlone = alone(component);
  var LinesView = class {
    frame = new ViewFrame("view", { layout: () => this.layout(), paint: () => this.paint() });
    root = this.frame.root;
    events;
    model = new LinesModel();
    painter = new LinesPainter(this.model);
    panel = new Panel(this.model);
    controls = new LinesControls(this.model, this);
    files = new LinesFiles(this.model, this.painter, this.panel, () => this.draw());
    foot = new Foot(this.model, this.painter, saveButtons(this.files));
    table = new DataTable("Numbers as a table", () => this.files.table());
    spacer = element("div", {}, this.frame.canvas);
    scroller;
    hasMessage = false;
    revision = 0;
    // counts our own choices, to ignore older echoes of the server
    isFitted = false;
    constructor(parent) {
      this.scroller = this.makeScroller();
      this.frame.open(
        parent,
        ...this.controls.rows,
        element(
          "div",
          { className: "body" },
          element(
            "div",
            {},
            element(
              "div",
              { className: "columns" },
              element("span", { textContent: "this token attends \u2026" }),
              element("span", { textContent: "\u2026 to this token" })
            ),
            this.scroller,
            this.foot.root
          ),
          this.panel.root
        ),
        this.table.root,
        this.panel.liveRegion.root
      );
    }
    makeScroller() {
      return element("div", {
        className: "scroller",
        tabIndex: 0,
        role: "application",
        ariaLabel: "Attention lines. Up and down move through the tokens, left and right change the column, Enter keeps a token, Space adds one to the kept ones, Escape lets go. The numbers are in the table below.",
        onscroll: () => this.draw(),
        onpointermove: (event) => this.point(this.hit(event)),
        onpointerleave: () => this.point(null),
        onclick: (event) => this.pick(this.hit(event), event.shiftKey || event.ctrlKey || event.metaKey),
        onmousedown: (event) => {
          if (event.shiftKey) event.preventDefault();
        },
        // selects no text
        onkeydown: (event) => this.key(event)
      }, this.spacer);
    }
    close() {
      this.frame.close();
      this.panel.close();
      this.table.close();
    }
    // ---- what the server sends ----
    update(message) {
      const { model } = this;
      const { header } = message;
      const before = this.hasMessage ? model.header : void 0;
      const isSameText = sameTokens(before, header);
      const isSameLayer = isSameText && before?.layer === header.layer && before.weights === header.weights;
      const hadChoice = model.choice.size > 0;
      if (!before) this.openWith(header.look);
      model.receive(message, isSameLayer);
      this.hasMessage = true;
      if (!isSameText) {
        model.forgetFocus();
        if (!model.hasOwnThreshold) model.threshold = header.tokens.length > 64 ? 0.05 : 0.02;
        this.scroller.scrollTop = 0;
      }
      model.refreshUnits();
      if (!before) model.choice.read(header.look.chosen, model.units.starts);
      else if (hadChoice && !isSameText) this.noteOptions();
      if (header.revision >= this.revision || !isSameText) {
        this.revision = Math.max(this.revision, header.revision);
        model.shown = new Set(header.heads.length ? header.heads : range(header.colours.length));
        model.layer = header.layer;
      }
      if (!isSameLayer) this.painter.labels.forget();
      this.painter.theme = readTheme(this.root);
      this.refreshWaiting();
      this.refreshControls();
      this.select();
      this.layout();
    }
    openWith({ special, words, mean, filter, threshold }) {
      Object.assign(this.model, { hideSpecial: special, byWord: words, mean, filter, hasOwnThreshold: threshold !== null });
      if (threshold !== null) this.model.threshold = Math.max(0, Math.min(0.5, threshold));
    }
    refreshWaiting() {
      this.root.classList.toggle("waiting", this.model.layer !== this.model.header.layer || this.model.awaited().length > 0);
    }
    refreshControls() {
      if (!this.model.header.is_pair) this.model.filter = "all";
      if (!isLong(this.model.size)) this.isFitted = false;
      this.controls.refresh(this.isFitted);
    }
    select() {
      this.model.select();
      this.refreshPanel();
    }
    refreshPanel() {
      this.table.refresh();
      this.panel.refresh();
    }
    // ---- reports ----
    reportSelection() {
      const { model } = this;
      this.revision += 1;
      const heads = [...model.shown].sort((a, b) => a - b);
      const hasAll = heads.length === model.header.colours.length;
      const selection = { layer: model.layer, heads: hasAll ? [] : heads, revision: this.revision };
      this.frame.reporting.run(() => this.events.selection(selection));
    }
    // The options are reported so that they get into the address.
    noteOptions() {
      const { hideSpecial: special, byWord: words, mean, filter, hasOwnThreshold, choice, units } = this.model;
      const threshold = hasOwnThreshold ? this.model.threshold : null;
      const chosen = choice.written(units.starts);
      this.frame.noting.run(() => this.events.options({ special, words, mean, filter, threshold, chosen }));
    }
    // ---- controls ----
    goToLayer(layer) {
      this.model.layer = Math.max(0, Math.min(this.model.header.num_layers - 1, layer));
      this.refreshWaiting();
      this.refreshControls();
      this.reportSelection();
    }
    setHeads(heads) {
      this.model.shown = new Set(heads);
      this.refreshWaiting();
      this.refreshControls();
      this.select();
      this.draw();
      this.reportSelection();
    }
    setThreshold(threshold) {
      Object.assign(this.model, { threshold, hasOwnThreshold: true });
      this.refreshControls();
      this.select();
      this.draw();
      this.noteOptions();
    }
    setFilter(filter) {
      this.model.filter = filter;
      this.select();
      this.draw();
      this.noteOptions();
    }
    hideSpecial(isOn) {
      this.model.hideSpecial = isOn;
      this.changed();
    }
    showWords(isOn) {
      this.model.byWord = isOn;
      this.model.forgetFocus();
      this.painter.labels.forget();
      this.model.refreshUnits();
      this.refreshControls();
      this.changed();
    }
    showMean(isOn) {
      this.model.mean = isOn;
      this.changed();
    }
    fit(isOn) {
      this.isFitted = isOn;
      this.changed();
    }
    changed() {
      this.select();
      this.layout();
      this.noteOptions();
    }
    // ---- drawing ----
    layout() {
      if (!this.hasMessage || !this.root.clientWidth) return;
      this.root.classList.toggle("narrow", this.root.clientWidth < 700);
      this.painter.setRows(this.isFitted);
      this.scroller.style.height = `${this.painter.height + 2}px`;
      this.spacer.style.height = `${this.painter.contentHeight}px`;
      this.painter.setWidth(this.scroller.clientWidth);
      this.draw();
    }
    draw() {
      this.frame.draw();
    }
    paint() {
      const { painter } = this;
      if (!painter.width) return;
      painter.drawOn(fitCanvas(this.frame.canvas, painter.width, painter.height), this.scroller.scrollTop, painter.height);
      this.foot.refresh();
    }
    // ---- pointer and keys ----
    hit(event) {
      const box = this.scroller.getBoundingClientRect();
      return this.painter.hit(event.clientX - box.left, event.clientY - box.top + this.scroller.scrollTop - 1);
    }
    point(place) {
      const { model } = this;
      this.scroller.style.cursor = place ? "pointer" : "default";
      if (place?.side === model.pointed?.side && place?.index === model.pointed?.index) return;
      model.pointed = place;
      if (!model.choice.size) this.refreshPanel();
      this.draw();
    }
    // Chooses a unit alone or, with `adds`, besides the others; nothing without a place.
    pick(place, adds = false) {
      const { choice } = this.model;
      if (!place) choice.clear();
      else if (adds) choice.toggle(place);
      else choice.pickAlone(place);
      this.model.pointed = place;
      this.noteOptions();
      this.refreshPanel();
      this.draw();
    }
    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { size } = this.model;
      const now = this.model.pointed ?? this.model.choice.first;
      const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -size, End: size };
      if (event.key in moves) {
        const next = now ? now.index + moves[event.key] : event.key === "End" ? size - 1 : 0;
        this.moveTo({ side: now?.side ?? "left", index: Math.max(0, Math.min(size - 1, next)) }, event.shiftKey);
      } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        this.moveTo({ side: event.key === "ArrowLeft" ? "left" : "right", index: now?.index ?? 0 }, false);
      } else if (event.key === "Enter") {
        this.pick(now, event.shiftKey);
      } else if (event.key === " ") {
        this.pick(now, true);
      } else if (event.key === "Escape") {
        this.pick(null);
      } else {
        return;
      }
      event.preventDefault();
    }
    // With `adds` the units that are passed are chosen too.
    moveTo(place, adds) {
      if (adds) {
        this.model.choice.add(place);
        this.noteOptions();
      }
      this.model.pointed = place;
      this.scroller.scrollTop = this.painter.scrolledTo(place.index, this.scroller.scrollTop);
      this.refreshPanel();
      this.draw();
    }
  };
  return __toCommonJS(lines_exports);
})();
