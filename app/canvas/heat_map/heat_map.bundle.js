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

  // app/canvas/heat_map/heat_map.ts
  var heat_map_exports = {};
  __export(heat_map_exports, {
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
  function stride(step, room) {
    const needed = Math.max(1, Math.ceil(room / step));
    const power = 10 ** Math.floor(Math.log10(needed));
    return [1, 2, 5, 10].map((times) => times * power).find((every) => every >= needed) ?? needed;
  }
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
  function missingBoxes(size, isMissing) {
    const boxes = [];
    let open = /* @__PURE__ */ new Map();
    for (let row = 0; row < size; row++) {
      const here = /* @__PURE__ */ new Map();
      for (let column = 0; column < size; column++) {
        if (!isMissing(row, column)) continue;
        const left = column;
        while (column < size && isMissing(row, column)) column++;
        const name = `${left} ${column}`;
        const box = open.get(name) ?? [left, row, column - left, 0];
        if (!box[3]) boxes.push(box);
        box[3] += 1;
        here.set(name, box);
      }
      open = here;
    }
    return boxes;
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

  // app/canvas/heat_map/order.ts
  var ROW_ORDERS = [
    ["text", "as in the text"],
    ["chosen", "by the marked column"],
    ["entropy", "the most focused first"]
  ];
  var COLUMN_ORDERS = [
    ["text", "as in the text"],
    ["chosen", "by the marked row"],
    ["received", "the most attended to first"]
  ];
  function orderRows(weights, size, by, chosen) {
    if (by === "entropy") return ascending(size, (row) => entropyOf(weights, size, row));
    if (by === "chosen" && chosen !== null) return ascending(size, (row) => -weights[row * size + chosen]);
    return ascending(size, (row) => row);
  }
  function orderColumns(weights, size, by, chosen) {
    if (by === "received") {
      const sums = new Float64Array(size);
      for (let at = 0; at < size * size; at++) sums[at % size] += weights[at];
      return ascending(size, (column) => -sums[column]);
    }
    if (by === "chosen" && chosen !== null) return ascending(size, (column) => -weights[chosen * size + column]);
    return ascending(size, (column) => column);
  }
  function ascending(size, value) {
    const values = Float64Array.from({ length: size }, (_, k) => value(k));
    const last = (k) => Number.isNaN(values[k]) ? 1 : 0;
    return Uint16Array.from({ length: size }, (_, k) => k).sort((a, b) => last(a) - last(b) || (last(a) ? 0 : values[a] - values[b]) || a - b);
  }
  function entropyOf(weights, size, row) {
    let sum = 0;
    for (let at = row * size; at < (row + 1) * size; at++) {
      if (!(weights[at] <= 0)) sum -= weights[at] * Math.log(weights[at]);
    }
    return sum;
  }

  // app/canvas/heat_map/controls.ts
  var TICKS = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1];
  var TICK_DISTANCE = 0.145;
  var MapControls = class {
    constructor(model, painter, actions, saving) {
      this.model = model;
      this.painter = painter;
      this.actions = actions;
      this.saving = saving;
      this.foot.append(saving);
      this.allLayers = button("all", "The mean over all layers", () => actions.choose({ layers: range(model.header.num_layers) }));
      this.allHeads = button("all", "The mean over all heads", () => actions.choose({ heads: range(model.header.num_heads) }));
      this.rowSelect = select("Order of the rows", ROW_ORDERS, (by) => actions.sortRows(by));
      this.columnSelect = select("Order of the columns", COLUMN_ORDERS, (by) => actions.sortColumns(by));
      this.words = wordsCheckbox((isOn) => actions.showWords(isOn));
      const zoomIn = button("+", "Zoom in (key +)", () => actions.zoomBy(1.6), "step");
      this.zoomOut = button("\u2212", "Zoom out (key \u2212)", () => actions.zoomBy(1 / 1.6), "step");
      this.whole = button("whole", "The whole map (key 0, or double click)", () => actions.zoomBy(0));
      this.rows = [
        element(
          "div",
          { className: "controls" },
          element("span", { className: "group heads" }, "Layers", this.layerBox, this.allLayers)
        ),
        element(
          "div",
          { className: "controls" },
          element("span", { className: "group heads" }, "Heads", this.headBox, this.allHeads)
        ),
        element(
          "div",
          { className: "controls" },
          element("label", {}, "Rows", this.rowSelect),
          element("label", {}, "Columns", this.columnSelect),
          this.words.root,
          element("span", { className: "group" }, "Zoom", this.zoomOut, zoomIn, this.whole)
        )
      ];
    }
    model;
    painter;
    actions;
    saving;
    rows;
    title = element("h2", { className: "title" });
    foot = element("div", { className: "foot" });
    layerBox = element("span", { className: "group heads", role: "group", ariaLabel: "Layers of the mean" });
    headBox = element("span", { className: "group heads", role: "group", ariaLabel: "Heads of the mean" });
    allLayers;
    allHeads;
    rowSelect;
    columnSelect;
    words;
    zoomOut;
    whole;
    refresh() {
      const { model, actions } = this;
      const { header } = model;
      const { num_layers: layers, num_heads: heads } = header;
      refreshChips(this.layerBox, layers, model.layers, "Layer", (next) => actions.choose({ layers: next }));
      refreshChips(this.headBox, heads, model.heads, "Head", (next) => actions.choose({ heads: next }));
      this.allLayers.disabled = model.layers.size === layers;
      this.allHeads.disabled = model.heads.size === heads;
      this.allLayers.hidden = layers === 1;
      this.allHeads.hidden = heads === 1;
      show(this.words.root, header.starts.length < header.tokens.length);
      this.words.input.checked = model.byWord;
      this.rowSelect.value = model.rowsBy;
      this.columnSelect.value = model.columnsBy;
      this.refreshZoom();
      this.title.textContent = header.title;
      const chips = [...this.layerBox.children, ...this.headBox.children];
      disableInFile([...chips, this.allLayers, this.allHeads], header, "this map");
    }
    refreshZoom() {
      this.zoomOut.disabled = this.whole.disabled = this.model.window.isWhole;
    }
    refreshFoot() {
      const { header } = this.model;
      const isMean = header.layers.length > 1 || header.heads.length !== 1;
      const broken = brokenNote(header.missing, isMean ? "a mean that includes one has no value" : "they have no colour");
      replaceBefore(this.saving, element("span", { className: "key" }, "weight", this.scale()), ...kindKeys(header), ...broken);
    }
    scale() {
      const { scaleTop, theme } = this.painter;
      const ticks = [];
      for (const weight of [0, ...TICKS.filter((tick) => tick <= scaleTop)]) {
        const at = Math.sqrt(weight / scaleTop);
        if (!ticks.length || at - ticks[ticks.length - 1][0] >= TICK_DISTANCE) ticks.push([at, String(weight)]);
      }
      return colourBar(`Colour scale from 0 to ${scaleTop.toPrecision(2)}`, theme, {
        width: 200,
        margin: 10,
        ticks,
        colour: (at) => `rgb(${this.painter.colour(at).join(",")})`
      });
    }
  };
  function refreshChips(box, number, chosen, name, pick) {
    if (box.children.length !== number) {
      box.replaceChildren(...range(number).map((k) => {
        const title = `${name} ${k}: a click shows it alone, Shift or Ctrl and a click adds it or takes it away`;
        return element("button", { type: "button", className: "chip", textContent: k, title, ariaLabel: `${name} ${k}` });
      }));
    }
    [...box.children].forEach((chip, k) => {
      chip.setAttribute("aria-pressed", String(chosen.has(k)));
      chip.onclick = (event) => {
        if (!(event.shiftKey || event.ctrlKey || event.metaKey)) return pick([k]);
        const next = new Set(chosen);
        if (!next.delete(k)) next.add(k);
        return next.size ? pick([...next].sort((a, b) => a - b)) : void 0;
      };
    });
  }

  // app/canvas/heat_map/files.ts
  var WHOLE_TABLE = 24;
  var STRONGEST = 5;
  var MapFiles = class {
    constructor(model, painter) {
      this.model = model;
      this.painter = painter;
    }
    model;
    painter;
    fileName() {
      const { layers, heads } = this.model.header;
      return `bertscope-attention-map-layer-${layers.join("-")}${heads.length ? `-head-${heads.join("-")}` : ""}`.slice(0, 120);
    }
    picture() {
      const { painter } = this;
      return {
        width: painter.width,
        height: painter.height,
        ground: painter.theme.background,
        draw: (context) => {
          context.textBaseline = "middle";
          painter.drawOn(context, 2);
        }
      };
    }
    sheet() {
      const { rows, columns } = this.model;
      return {
        columns: ["attending token", ...Array.from(columns, (unit) => this.label(unit))],
        rows: Array.from(rows, (row) => [this.label(row), ...Array.from(columns, (column) => this.number(row, column))])
      };
    }
    table() {
      const { header: { title }, size, weights, rows } = this.model;
      if (size <= WHOLE_TABLE) {
        const { columns, rows: numbers } = this.sheet();
        return {
          caption: `${title}: each row's token attends to the columns' tokens.`,
          columns,
          rows: numbers.map((row) => row.map((value) => typeof value === "number" ? value.toFixed(4) : value))
        };
      }
      return {
        caption: `${title}: the ${STRONGEST} strongest of each row; the files have all ${size} x ${size}.`,
        columns: ["attending token", ...range(STRONGEST).map((k) => `strongest ${k + 1}`)],
        rows: Array.from(rows, (row) => {
          const best = orderColumns(weights, size, "chosen", row).slice(0, STRONGEST);
          return [this.label(row), ...Array.from(best, (column) => `${this.label(column)}: ${this.number(row, column)?.toFixed(4) ?? "NaN"}`)];
        })
      };
    }
    facts() {
      const { layers, heads, title, missing } = this.model.header;
      const unit = this.model.byWord ? "words: the sum over the attended pieces, the mean over the attending ones" : "word pieces";
      return { what: title, layers, heads: heads.length ? heads : "all", unit, ...missing ? { not_numbers: missing } : {} };
    }
    arrays() {
      const { size, units: { names }, rows, columns } = this.model;
      const values = new Float32Array(size * size);
      rows.forEach((_, row) => columns.forEach((__, column) => {
        values[row * size + column] = this.model.weightAt({ row, column });
      }));
      return {
        attention: { shape: [size, size], values },
        attending: { shape: [size], values: Array.from(rows, (row) => names[row]) },
        attended: { shape: [size], values: Array.from(columns, (column) => names[column]) },
        row_order: { shape: [size], values: Int32Array.from(rows) },
        column_order: { shape: [size], values: Int32Array.from(columns) }
      };
    }
    label(unit) {
      const { names, starts } = this.model.units;
      return `${starts[unit]} ${names[unit]}`;
    }
    number(row, column) {
      return exact(this.model.weights[row * this.model.size + column]);
    }
  };

  // app/canvas/heat_map/window.ts
  var CLOSEST = 4;
  var MapWindow = class {
    constructor(size) {
      this.size = size;
      this.span = size;
    }
    size;
    left = 0;
    top = 0;
    /** Cells on a side. */
    span;
    reset() {
      this.left = this.top = 0;
      this.span = this.size;
    }
    get isWhole() {
      return this.span >= this.size;
    }
    contains(x, y) {
      return x >= this.left && y >= this.top && x < this.left + this.span && y < this.top + this.span;
    }
    // For the address: first row, first column, cells on a side. Empty for the whole map.
    written() {
      return this.isWhole ? "" : [this.top, this.left, this.span].map((at) => String(Math.round(at * 10) / 10)).join("-");
    }
    // Reads what `written` gives, as far as the map reaches.
    open(written) {
      if (!written) return;
      const [top, left, span] = written.split("-").map(Number);
      this.span = this.limited(span);
      Object.assign(this, { top, left });
      this.stayInside();
    }
    // Changes the scale; the point (x, y), in cells, stays where it is.
    zoom(factor, x = this.left + this.span / 2, y = this.top + this.span / 2) {
      const span = this.limited(this.span / factor);
      this.left = x - (x - this.left) * span / this.span;
      this.top = y - (y - this.top) * span / this.span;
      this.span = span;
      this.stayInside();
    }
    pan(x, y) {
      this.left += x;
      this.top += y;
      this.stayInside();
    }
    // Brings a cell into the window, with a little of what is around it.
    show(row, column) {
      const edge = Math.min(1, this.span / 8);
      this.left = Math.min(column - edge, Math.max(this.left, column + 1 + edge - this.span));
      this.top = Math.min(row - edge, Math.max(this.top, row + 1 + edge - this.span));
      this.stayInside();
    }
    limited(span) {
      return Math.max(Math.min(CLOSEST, this.size), Math.min(this.size, span));
    }
    stayInside() {
      const most = this.size - this.span;
      this.left = Math.max(0, Math.min(most, this.left));
      this.top = Math.max(0, Math.min(most, this.top));
    }
  };

  // app/canvas/heat_map/model.ts
  var MapModel = class {
    header;
    /** 256 x red, green, blue. */
    colours = new Uint8Array();
    layers = /* @__PURE__ */ new Set();
    heads = /* @__PURE__ */ new Set();
    byWord = false;
    rowsBy = "text";
    columnsBy = "text";
    units;
    weights = new Float32Array();
    /** The unit of each row and column as shown. */
    rows = new Uint16Array();
    columns = new Uint16Array();
    window = new MapWindow(0);
    marked = null;
    pointed = null;
    received = new Float32Array();
    get size() {
      return this.units.size;
    }
    // The cell that words and frames are about.
    get place() {
      return this.marked ?? this.pointed;
    }
    receive({ header, blocks }) {
      this.header = header;
      this.received = asFloats(blocks[0]);
      this.colours = blocks[1];
    }
    // Shows the layers and heads of the message as chosen.
    adoptSelection() {
      const { layers, heads, num_heads: count } = this.header;
      this.layers = new Set(layers);
      this.heads = new Set(heads.length ? heads : range(count));
    }
    // Sets the units, word pieces or words, and the weights between them.
    refreshUnits() {
      this.units = unitsOf(this.header, this.byWord);
      this.weights = this.byWord ? mergeToWords((at) => this.received[at], this.header.tokens.length, this.units.starts) : this.received;
    }
    openWindow(seen) {
      this.window = new MapWindow(this.size);
      this.window.open(seen);
    }
    // To sort by a row or a column, one must be marked.
    markIfNeeded() {
      if ((this.rowsBy === "chosen" || this.columnsBy === "chosen") && !this.marked) this.marked = { row: 0, column: 0 };
    }
    // Orders rows and columns; the marked cell stays that of the same units.
    sort() {
      const { size, marked } = this;
      const isPlaced = this.rows.length === size;
      const before = marked && isPlaced ? { row: this.rows[marked.row], column: this.columns[marked.column] } : marked;
      this.columns = orderColumns(this.weights, size, this.columnsBy, before?.row ?? null);
      this.rows = orderRows(this.weights, size, this.rowsBy, before?.column ?? null);
      if (before) this.marked = { row: this.rows.indexOf(before.row), column: this.columns.indexOf(before.column) };
    }
    weightAt({ row, column }) {
      return this.weights[this.rows[row] * this.size + this.columns[column]];
    }
    // The names of a cell's query and key.
    namesAt({ row, column }) {
      return [this.units.names[this.rows[row]], this.units.names[this.columns[column]]];
    }
  };

  // app/canvas/heat_map/pyramid.ts
  function halve(levels, side) {
    const half = Math.ceil(side / 2);
    const out = new Float32Array(half * half);
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        const [level, at] = [levels[y * side + x], (y >> 1) * half + (x >> 1)];
        if (!(level <= out[at])) out[at] = Number.isNaN(out[at]) ? NaN : level;
      }
    }
    return [out, half];
  }

  // app/canvas/heat_map/painter.ts
  var LABEL = 12;
  var MIN_TOP = 0.05;
  var NUMBERED = 30;
  var MapPainter = class {
    constructor(model) {
      this.model = model;
    }
    model;
    theme;
    /** Of the canvas. */
    width = 0;
    labels = new FittedNames();
    /** Weight at the end of the colour scale. */
    scaleTop = 1;
    side = 0;
    // of the map
    margin = 0;
    // for the names, on the left and on top
    images = [];
    missing = [];
    // ---- images ----
    // Makes the image of the whole map in its present order, one pixel for each cell.
    makeImages() {
      const { size, weights, rows, columns } = this.model;
      let most = 0;
      for (const weight of weights) if (weight > most) most = weight;
      this.scaleTop = Math.max(MIN_TOP, most);
      const levels = new Float32Array(size * size);
      for (let y = 0, at = 0; y < size; y++) {
        const first = rows[y] * size;
        for (let x = 0; x < size; x++, at++) levels[at] = Math.sqrt(weights[first + columns[x]] / this.scaleTop);
      }
      this.images = [this.toImage(levels, size)];
      this.missing = levels.some(Number.isNaN) ? missingBoxes(size, (row, column) => Number.isNaN(levels[row * size + column])) : [];
      for (let [small, side] = [levels, size]; side > 64; ) {
        [small, side] = halve(small, side);
        this.images.push(this.toImage(small, side));
      }
    }
    toImage(levels, side) {
      const canvas = element("canvas", { width: side, height: side });
      const image = new ImageData(side, side);
      for (let at = 0; at < levels.length; at++) {
        image.data.set(Number.isNaN(levels[at]) ? NOT_A_NUMBER : this.colour(levels[at]), at * 4);
        image.data[at * 4 + 3] = 255;
      }
      context2d(canvas).putImageData(image, 0, 0);
      return canvas;
    }
    // level: 0 to 1, the root of a weight over the end of the scale.
    colour(level) {
      const code = Math.max(0, Math.min(255, Math.round(level * 255)));
      return this.model.colours.subarray(code * 3, code * 3 + 3);
    }
    // ---- places ----
    // Sets the sizes for the room there is; `canvas` measures the names.
    layout(room, canvas) {
      const { size } = this.model;
      this.margin = this.nameRoom(Math.min(124, Math.max(74, room * 0.2)), context2d(canvas));
      const side = Math.min(room - this.margin - 6, Math.max(200, Math.min(640, size * (size <= 14 ? 38 : 30))));
      this.side = Math.max(120, Math.floor(side));
      this.width = this.margin + this.side + 4;
    }
    // The map is square.
    get height() {
      return this.width;
    }
    get cell() {
      return this.side / this.model.window.span;
    }
    // A point of the canvas in cells; null outside of the map.
    hit(x, y) {
      const { window: window2 } = this.model;
      const place = { x: (x - this.margin) / this.cell + window2.left, y: (y - this.margin) / this.cell + window2.top };
      return window2.contains(place.x, place.y) ? place : null;
    }
    // Pixels for names and their marks, on both sides: as the longest needs, at most `most`.
    nameRoom(most, context) {
      context.font = `600 12.5px ${this.theme.font}`;
      let longest = 0;
      for (const name of this.model.units.names) {
        longest = Math.max(longest, context.measureText(legible(name.slice(0, 60))).width);
        if (longest > most) return most;
      }
      return Math.min(most, Math.max(48, Math.ceil(longest) + 40));
    }
    // Where the shown row or column k begins, in pixels of the canvas.
    x(k) {
      return this.margin + (k - this.model.window.left) * this.cell;
    }
    y(k) {
      return this.margin + (k - this.model.window.top) * this.cell;
    }
    get end() {
      return this.margin + this.side;
    }
    // Shown rows or columns inside the window, from `start`.
    seen(start) {
      const last = Math.min(this.model.size - 1, Math.ceil(start + this.model.window.span) - 1);
      return Array.from({ length: last - Math.floor(start) + 1 }, (_, k) => Math.floor(start) + k);
    }
    // ---- painting ----
    drawOn(context, density) {
      const { left, top, span } = this.model.window;
      const { margin, side, cell: cell2 } = this;
      const level = Math.min(this.images.length - 1, Math.max(0, Math.ceil(-Math.log2(cell2 * density))));
      const from = [left, top, span, span].map((at) => at / 2 ** level);
      paintCells(context, this.images[level], from, [margin, margin, side, side]);
      this.paintMissing(context);
      context.textBaseline = "middle";
      this.paintGaps(context);
      this.paintNumbers(context);
      this.paintMark(context);
      this.paintNames(context, true);
      this.paintNames(context, false);
    }
    // Over the cells that are not numbers, as far as they are seen.
    paintMissing(context) {
      const clip = (at) => Math.max(this.margin, Math.min(this.end, at));
      for (const [left, top, width, height] of this.missing) {
        const [x1, x2, y1, y2] = [this.x(left), this.x(left + width), this.y(top), this.y(top + height)].map(clip);
        if (x2 > x1 && y2 > y1) paintMissing(context, [x1, y1, x2 - x1, y2 - y1]);
      }
    }
    // Lines between cells that are large enough to bear them.
    paintGaps(context) {
      if (this.cell < 9) return;
      const { window: window2 } = this.model;
      context.fillStyle = this.theme.background;
      for (const k of this.seen(window2.left)) {
        if (this.x(k) > this.margin) context.fillRect(this.x(k) - 0.5, this.margin, 1, this.side);
      }
      for (const k of this.seen(window2.top)) {
        if (this.y(k) > this.margin && this.y(k) < this.end) context.fillRect(this.margin, this.y(k) - 0.5, this.side, 1);
      }
    }
    paintNumbers(context) {
      if (this.cell < NUMBERED) return;
      const { window: window2 } = this.model;
      context.textAlign = "center";
      context.font = `${Math.min(13, this.cell / 2.9)}px ${this.theme.font}`;
      for (const row of this.seen(window2.top)) {
        for (const column of this.seen(window2.left)) {
          const [x, y] = [this.x(column) + this.cell / 2, this.y(row) + this.cell / 2];
          if (this.isInside(x, y)) this.paintNumber(context, this.model.weightAt({ row, column }), x, y);
        }
      }
      context.globalAlpha = 1;
    }
    paintNumber(context, weight, x, y) {
      const isMissing = Number.isNaN(weight);
      context.globalAlpha = weight < 5e-3 ? 0.5 : 1;
      if (isMissing) {
        context.fillStyle = `rgb(${NOT_A_NUMBER.join(",")})`;
        context.fillRect(x - this.cell * 0.36, y - this.cell * 0.22, this.cell * 0.72, this.cell * 0.44);
      }
      context.fillStyle = inkOver(isMissing ? NOT_A_NUMBER : this.colour(Math.sqrt(weight / this.scaleTop)));
      context.fillText(isMissing ? "NaN" : weight.toFixed(this.cell > 60 ? 4 : 2), x, y + 0.5);
    }
    isInside(x, y) {
      const { margin, end } = this;
      return x >= margin + 6 && x <= end - 6 && y >= margin + 6 && y <= end - 6;
    }
    // Frames around the row and the column that are marked, and around their cell.
    paintMark(context) {
      const { marked, place } = this.model;
      if (!place) return;
      const clip = (from, to) => [Math.max(this.margin, from), Math.min(this.end, to)];
      const [x1, x2] = clip(this.x(place.column), this.x(place.column + 1));
      const [y1, y2] = clip(this.y(place.row), this.y(place.row + 1));
      context.globalAlpha = marked ? 1 : 0.55;
      if (y2 > y1) this.frame(context, [this.margin, y1, this.side, y2 - y1], 1);
      if (x2 > x1) this.frame(context, [x1, this.margin, x2 - x1, this.side], 1);
      context.globalAlpha = 1;
      if (x2 > x1 && y2 > y1) this.frame(context, [x1, y1, x2 - x1, y2 - y1], 2);
    }
    frame(context, [x, y, width, height], line) {
      if (width <= 0 || height <= 0) return;
      for (const [colour, extra] of [[this.theme.background, 2], [this.model.header.accent, 0]]) {
        context.fillStyle = colour;
        const thick = line + extra;
        context.fillRect(x - thick / 2, y - thick / 2, width + thick, thick);
        context.fillRect(x - thick / 2, y + height - thick / 2, width + thick, thick);
        context.fillRect(x - thick / 2, y - thick / 2, thick, height + thick);
        context.fillRect(x + width - thick / 2, y - thick / 2, thick, height + thick);
      }
    }
    // Names of the rows on the left, of the columns turned on top. As many as fit; the marked and
    // the pointed one always.
    paintNames(context, ofRows) {
      const { model } = this;
      const order = ofRows ? model.rows : model.columns;
      const start = (k) => ofRows ? this.y(k) : this.x(k);
      const every = stride(this.cell, LABEL + 0.5);
      const first = [model.marked, model.pointed].filter((place) => place !== null).map((place) => ofRows ? place.row : place.column);
      const taken = [];
      const named = (k, isFirst) => {
        const at = start(k + 0.5);
        if (at < this.margin - 0.5 || at > this.end + 0.5) return;
        if (taken.some((other) => Math.abs(other - at) < LABEL)) return;
        taken.push(at);
        this.paintName(context, ofRows, order[k], at, isFirst);
      };
      first.forEach((k) => named(k, true));
      const visible = this.seen(ofRows ? model.window.top : model.window.left);
      visible.filter((k) => k % every === 0).forEach((k) => named(k, false));
      for (const k of visible) {
        const from = Math.max(this.margin, start(k));
        const to = Math.min(this.end, start(k + 1));
        if (to <= from) continue;
        context.fillStyle = kindColour(model.header, model.units.textIds[order[k]]);
        const gap = this.cell >= 5 ? 0.5 : 0;
        if (ofRows) context.fillRect(this.margin - 6, from + gap, 4, to - from - 2 * gap);
        else context.fillRect(from + gap, this.margin - 6, to - from - 2 * gap, 4);
      }
    }
    paintName(context, ofRows, unit, at, isFirst) {
      const size = this.cell >= 18 ? 12.5 : 11;
      context.font = `${isFirst ? 600 : 400} ${size}px ${this.theme.font}`;
      context.fillStyle = this.theme.text;
      const number = String(this.model.units.starts[unit]);
      const room = this.margin - 16;
      const text = this.labels.fit(context, this.model.units.names[unit], room - (isFirst ? context.measureText(` ${number}`).width : 0));
      if (ofRows) {
        context.textAlign = "right";
        context.fillText(text, this.margin - 10, at + 0.5);
        if (isFirst) {
          context.globalAlpha = 0.7;
          context.textAlign = "left";
          context.fillText(number, 2, at + 0.5);
          context.globalAlpha = 1;
        }
      } else {
        context.textAlign = "left";
        turnedText(context, text, at + 0.5, this.margin - 10, -90);
      }
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

  // app/canvas/heat_map/words.ts
  var MapWords = class {
    constructor(model, root) {
      this.model = model;
      this.tooltip = new Tooltip(root);
    }
    model;
    line = element("div", { className: "note line" });
    liveRegion = new LiveRegion();
    tooltip;
    close() {
      this.liveRegion.cancel();
    }
    hideTip() {
      this.tooltip.hide();
    }
    // The pointed cell, beside the pointer; hides the tooltip if no cell is pointed at.
    showTip(x, y) {
      const { pointed, units, rows, columns } = this.model;
      if (!pointed) return this.tooltip.hide();
      const [query, key] = this.model.namesAt(pointed);
      const weight = this.model.weightAt(pointed);
      const number = Number.isNaN(weight) ? "not a number (NaN)" : weight.toFixed(6);
      const places = [rows[pointed.row], columns[pointed.column]].map((unit) => units.starts[unit]);
      return this.tooltip.show(
        x,
        y,
        tokenInTip(query),
        " attends to ",
        tokenInTip(key),
        element("div", {}, element("b", { textContent: number }), ` \xB7 tokens ${places.join(" \u2192 ")}`)
      );
    }
    say() {
      const { place, marked } = this.model;
      if (!place) {
        this.line.replaceChildren("Point at a cell for its number; click marks its row and column.");
        return;
      }
      const [query, key] = this.model.namesAt(place).map((name) => shorten(legible(name), 60));
      const weight = this.model.weightAt(place);
      const number = Number.isNaN(weight) ? "not a number" : weight.toFixed(6);
      const bdi = (text) => element("bdi", { textContent: `\u201C${text}\u201D` });
      this.line.replaceChildren(
        bdi(query),
        " attends to ",
        bdi(key),
        ": ",
        element("b", { textContent: number }),
        marked ? " (marked; Esc or a click lets go)" : ""
      );
      this.liveRegion.say(`${query} attends to ${key}: ${number}`);
    }
  };

  // app/canvas/heat_map/heat_map.ts
  function component(mounted) {
    return mount(HeatMap, mounted, stateEvents(mounted));
  }
  var standAlone = alone(component);
  var HeatMap = class {
    frame = new ViewFrame("view", { layout: () => this.layout(), paint: () => this.paint() });
    root = this.frame.root;
    events;
    model = new MapModel();
    painter = new MapPainter(this.model);
    files = new MapFiles(this.model, this.painter);
    controls = new MapControls(this.model, this.painter, this, saveButtons(this.files));
    table = new DataTable("Numbers as a table", () => this.files.table());
    field;
    words;
    hasMessage = false;
    revision = 0;
    // counts our own choices, to ignore older echoes of the server
    drag = null;
    constructor(parent) {
      this.field = this.makeField();
      this.words = new MapWords(this.model, this.root);
      this.frame.open(
        parent,
        ...this.controls.rows,
        this.controls.title,
        this.field,
        this.words.line,
        this.controls.foot,
        this.table.root,
        this.words.liveRegion.root
      );
    }
    makeField() {
      const field = element("div", {
        className: "field",
        tabIndex: 0,
        role: "application",
        ariaLabel: "Heat map. Arrows move the marked cell, Page keys by ten, Home and End to the edges, plus and minus zoom, 0 shows the whole map, Escape lets go. The numbers are in the table below.",
        onpointermove: (event) => this.move(event),
        onpointerleave: () => this.point(null),
        onpointerdown: (event) => this.press(event),
        onpointerup: (event) => this.release(event),
        onlostpointercapture: (event) => {
          if (event.pointerId === this.drag?.pointer) this.drag = null;
        },
        ondblclick: () => this.zoomBy(0),
        onkeydown: (event) => this.key(event)
      }, this.frame.canvas);
      field.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      return field;
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
      const isFirst = !this.hasMessage;
      const isSameText = sameTokens(isFirst ? void 0 : model.header, header);
      const wasZoomed = !isFirst && !model.window.isWhole;
      model.receive(message);
      this.hasMessage = true;
      if (header.revision >= this.revision || !isSameText) {
        this.revision = Math.max(this.revision, header.revision);
        model.adoptSelection();
      }
      this.root.classList.toggle("waiting", header.revision !== this.revision);
      if (!isSameText) model.marked = model.pointed = null;
      if (isFirst) {
        const { rows: rowsBy, columns: columnsBy, words: byWord } = header.look;
        Object.assign(model, { rowsBy, columnsBy, byWord });
        model.markIfNeeded();
      }
      this.painter.theme = readTheme(this.root);
      this.refreshUnits(!isSameText, isFirst ? header.look.seen : "");
      if (!isSameText && wasZoomed) this.noteOptions();
    }
    choose({ layers, heads }) {
      const { model } = this;
      if (layers) model.layers = new Set(layers);
      if (heads) model.heads = new Set(heads);
      this.revision += 1;
      this.root.classList.add("waiting");
      this.controls.refresh();
      const hasAll = model.heads.size === model.header.num_heads;
      const selection = { layers: [...model.layers], heads: hasAll ? [] : [...model.heads], revision: this.revision };
      this.frame.reporting.run(() => this.events.selection(selection));
    }
    // ---- what is shown ----
    // The options are reported so that they get into the address.
    noteOptions() {
      this.frame.noting.run(() => {
        const { rowsBy: rows, columnsBy: columns, byWord: words, window: window2 } = this.model;
        this.events.options({ rows, columns, words, seen: window2.written() });
      });
    }
    showWords(isOn) {
      this.model.byWord = isOn;
      this.noteOptions();
      this.model.marked = this.model.pointed = null;
      this.refreshUnits(true);
    }
    // `anew`: the units are others; `seen`: the part of the map to open.
    refreshUnits(anew, seen = "") {
      this.model.refreshUnits();
      if (anew) {
        this.model.openWindow(seen);
        this.painter.labels.forget();
      }
      this.sort();
      this.layout();
    }
    sort() {
      this.model.sort();
      this.painter.makeImages();
      this.controls.refresh();
      this.controls.refreshFoot();
      this.words.say();
      this.table.refresh();
    }
    sortRows(by) {
      this.model.rowsBy = by;
      this.sortAnew();
    }
    sortColumns(by) {
      this.model.columnsBy = by;
      this.sortAnew();
    }
    sortAnew() {
      this.model.markIfNeeded();
      this.sort();
      this.draw();
      this.noteOptions();
    }
    // 0 for the whole map; x and y in cells, else around the marked cell.
    zoomBy(factor, x, y) {
      const { window: window2, place } = this.model;
      if (factor) window2.zoom(factor, x ?? (place ? place.column + 0.5 : void 0), y ?? (place ? place.row + 0.5 : void 0));
      else window2.reset();
      this.controls.refreshZoom();
      this.draw();
      this.noteOptions();
    }
    layout() {
      if (!this.hasMessage || !this.root.clientWidth) return;
      this.painter.layout(this.root.clientWidth, this.frame.canvas);
      this.draw();
    }
    draw() {
      this.field.classList.toggle("zoomed", !this.model.window.isWhole);
      this.frame.draw();
    }
    paint() {
      const { painter } = this;
      if (!painter.width) return;
      painter.theme = readTheme(this.root);
      painter.drawOn(fitCanvas(this.frame.canvas, painter.width, painter.height), window.devicePixelRatio || 1);
    }
    // ---- pointer ----
    place(event) {
      const box = this.frame.canvas.getBoundingClientRect();
      const at = this.painter.hit(event.clientX - box.left, event.clientY - box.top);
      return at && { ...at, row: Math.floor(at.y), column: Math.floor(at.x) };
    }
    move(event) {
      const { drag } = this;
      if (!drag) return this.point(this.place(event), event);
      if (event.pointerId !== drag.pointer) return;
      if (Math.abs(event.clientX - drag.x) + Math.abs(event.clientY - drag.y) > 4) drag.isMoved = true;
      if (!drag.isMoved) return;
      const { cell: cell2 } = this.painter;
      this.model.window.pan((drag.lastX - event.clientX) / cell2, (drag.lastY - event.clientY) / cell2);
      Object.assign(drag, { lastX: event.clientX, lastY: event.clientY });
      this.words.hideTip();
      this.draw();
    }
    point(place, event) {
      const { pointed } = this.model;
      const isSame = place?.row === pointed?.row && place?.column === pointed?.column;
      this.model.pointed = place && { row: place.row, column: place.column };
      if (event) this.words.showTip(event.clientX, event.clientY);
      else if (!place) this.words.hideTip();
      if (isSame) return;
      this.words.say();
      this.draw();
    }
    press(event) {
      if (event.button !== 0 || this.drag) return;
      this.field.setPointerCapture(event.pointerId);
      const [x, y] = [event.clientX, event.clientY];
      this.drag = { pointer: event.pointerId, x, y, lastX: x, lastY: y, isMoved: false };
    }
    release(event) {
      const { drag } = this;
      if (!drag || event.pointerId !== drag.pointer) return;
      this.drag = null;
      if (drag.isMoved) return this.noteOptions();
      const place = this.place(event);
      const { marked } = this.model;
      const again = place && marked && place.row === marked.row && place.column === marked.column;
      return this.mark(again || !place ? null : { row: place.row, column: place.column });
    }
    // Zooms; when the whole map is visible, the wheel scrolls the page again.
    wheel(event) {
      const place = this.place(event);
      if (!place || event.deltaY > 0 && this.model.window.isWhole) return;
      event.preventDefault();
      this.words.hideTip();
      this.zoomBy(Math.exp(-Math.max(-240, Math.min(240, event.deltaY)) / 300), place.x, place.y);
    }
    // ---- marking and keys ----
    mark(place) {
      const { model } = this;
      model.marked = place;
      if (place && (model.rowsBy === "chosen" || model.columnsBy === "chosen")) this.sort();
      this.words.say();
      this.draw();
    }
    key(event) {
      const { size } = this.model;
      const moves = {
        ArrowUp: [-1, 0],
        ArrowDown: [1, 0],
        ArrowLeft: [0, -1],
        ArrowRight: [0, 1],
        PageUp: [-10, 0],
        PageDown: [10, 0],
        Home: [0, -size],
        End: [0, size]
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
      const { model } = this;
      const start = model.place;
      const inside = (k) => Math.max(0, Math.min(model.size - 1, k));
      this.mark(start ? { row: inside(start.row + down), column: inside(start.column + right) } : { row: 0, column: 0 });
      if (!model.marked) return;
      const seen = model.window.written();
      model.window.show(model.marked.row, model.marked.column);
      if (model.window.written() !== seen) this.noteOptions();
    }
  };
  return __toCommonJS(heat_map_exports);
})();
