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

  // app/canvas/overview/overview.ts
  var overview_exports = {};
  __export(overview_exports, {
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
  function select(ariaLabel, options, chosen) {
    const dropdown = element("select", { ariaLabel }, ...options.map(([value, textContent]) => element("option", { value, textContent })));
    dropdown.onchange = () => chosen(dropdown.value);
    return dropdown;
  }
  function show(node, isShown) {
    node.style.display = isShown ? "" : "none";
  }

  // app/canvas/shared/legend.ts
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

  // app/canvas/overview/order.ts
  var ORDERS = [
    ["place", "layer by layer, as in BERT"],
    ["layer", "sorted within each layer"],
    ["all", "sorted over all layers"]
  ];
  function orderHeads(values, layers, heads, order, lowestFirst) {
    const natural = Array.from({ length: layers * heads }, (_, k) => k);
    if (order === "place" || !values) return natural;
    const sign = lowestFirst ? 1 : -1;
    const compare = (a, b) => {
      const [first, second] = [values[a], values[b]];
      if (first === null || second === null) return Number(first === null) - Number(second === null) || a - b;
      return sign * (first - second) || a - b;
    };
    if (order === "all") return natural.sort(compare);
    return Array.from({ length: layers }, (_, layer) => natural.slice(layer * heads, (layer + 1) * heads).sort(compare)).flat();
  }
  function passes(value, limit, lowestFirst) {
    if (limit === null) return true;
    if (value === null) return false;
    return lowestFirst ? value <= limit : value >= limit;
  }
  function rangeOf(values) {
    const known = values.filter((value) => value !== null);
    return known.length ? [Math.min(...known), Math.max(...known)] : null;
  }

  // app/canvas/overview/controls.ts
  var TICKS = [0, 0.1, 0.25, 0.5, 1];
  var OverviewControls = class {
    constructor(model, change, saving) {
      this.model = model;
      this.change = change;
      this.saving = saving;
      this.scale.append(saving);
      this.measureSelect = select("Measure of the heads", [], (measure) => change({ measure, limit: null }));
      this.orderSelect = select("Order of the heads", ORDERS, (order) => change({ order }));
      this.direction = element("button", {
        type: "button",
        className: "step",
        onclick: () => change({ lowest: !model.options.lowest, limit: null })
      });
      this.slider = element("input", {
        type: "range",
        min: "0",
        max: "100",
        step: "1",
        oninput: () => this.setLimit(Number(this.slider.value) / 100)
      });
      this.limitLabel = element("label", { title: "Heads beyond the limit are dimmed" }, "Dim", this.slider, this.limitText);
      this.measured = element("span", { className: "group" }, element("label", {}, "Order", this.orderSelect), this.direction);
      this.row = element(
        "div",
        { className: "controls" },
        element("label", {}, "Measure", this.measureSelect),
        this.measured,
        this.limitLabel
      );
    }
    model;
    change;
    saving;
    row;
    scale = element("div", { className: "scale" });
    measureSelect;
    orderSelect;
    direction;
    slider;
    limitText = element("output");
    limitLabel;
    measured;
    refresh() {
      const { names } = this.model.header;
      const { measure, order, lowest } = this.model.options;
      const known = this.model.knownMeasures;
      if (this.measureSelect.options.length !== known.length + 1) {
        this.measureSelect.replaceChildren(
          element("option", { value: "", textContent: "none" }),
          ...known.map((name) => element("option", { value: name, textContent: names[name].label }))
        );
      }
      this.measureSelect.value = measure;
      this.orderSelect.value = order;
      this.direction.textContent = lowest ? "\u2191" : "\u2193";
      this.direction.title = this.direction.ariaLabel = lowest ? "Lowest first; click for the highest first" : "Highest first; click for the lowest first";
      for (const node of [this.measured, this.limitLabel]) show(node, Boolean(measure));
      this.refreshLimit();
    }
    // fraction: of the way from the least to the largest value; at the slider's start nothing is dimmed.
    setLimit(fraction) {
      const { measure, lowest } = this.model.options;
      const [least, most] = this.ends(measure);
      const limit = lowest ? most - fraction * (most - least) : least + fraction * (most - least);
      this.change({ limit: fraction === 0 ? null : limit });
    }
    ends(measure) {
      return rangeOf(this.model.header.measures[measure]) ?? [0, 0];
    }
    refreshLimit() {
      const { measure, limit, lowest } = this.model.options;
      if (!measure) return;
      const values = this.model.header.measures[measure];
      const [least, most] = this.ends(measure);
      const fraction = limit === null ? 0 : (limit - least) / (most - least || 1);
      this.slider.value = String(Math.round(100 * (limit !== null && lowest ? 1 - fraction : fraction)));
      const left = values.filter((value) => passes(value, limit, lowest)).length;
      const sign = lowest ? "above" : "below";
      this.limitText.textContent = limit === null ? "none" : `${sign} ${this.model.format(limit)}: ${left} of ${values.length} left`;
      this.slider.setAttribute("aria-valuetext", this.limitText.textContent);
      this.slider.setAttribute("aria-label", `Dim heads ${sign}`);
    }
    refreshScale(theme) {
      const { colours, table, header } = this.model;
      const bar = colourBar("Colour scale of the weights, 0 to 100%", theme, {
        width: 190,
        margin: 15,
        colour: (at) => {
          const code = Math.round(255 * at);
          return `rgb(${colours.subarray(code * 3, code * 3 + 3).join(",")})`;
        },
        ticks: TICKS.map((weight) => {
          const code = table.findIndex((value) => value >= weight - 1e-6);
          return [code / 255, weight ? `${Math.round(weight * 100)}%` : "0"];
        })
      });
      replaceBefore(this.saving, "weight", bar, ...brokenNote(header.missing, "such heads have no measures"));
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

  // app/canvas/overview/detail.ts
  var LARGE = 152;
  var Detail = class {
    constructor(model, thumbnails, view) {
      this.model = model;
      this.thumbnails = thumbnails;
      this.tooltip = new Tooltip(view);
    }
    model;
    thumbnails;
    root = element("div", { className: "detail" });
    liveRegion = new LiveRegion();
    tooltip;
    close() {
      this.liveRegion.cancel();
    }
    refresh() {
      const { model } = this;
      const place = model.pointed ?? model.opened;
      const known = Object.keys(model.header.measures).filter((name) => model.valueAt(place, name) !== null);
      this.root.replaceChildren(
        element("h2", {}, title(place), element("small", { textContent: this.state(place) })),
        element(
          "div",
          { className: "large" },
          this.large(place),
          element("p", { textContent: "Each row's token attends to the columns' tokens; the first is at the top left." })
        ),
        this.numbers(place, known)
      );
      this.liveRegion.cancel();
      if (model.pointed) this.liveRegion.say(this.spoken(place, known));
    }
    state(place) {
      const { header, selected, pointed } = this.model;
      const isOpen = place.layer === selected.layer && String(place.head === null ? [] : [place.head]) === String(selected.heads);
      return header.alone ? "" : isOpen ? "open below" : pointed ? "click to open" : "one of the open heads";
    }
    large(place) {
      const large = element("canvas", { ariaHidden: "true" });
      const picture = this.thumbnails.one(place, LARGE);
      const context = fitCanvas(large, LARGE, LARGE);
      paintCells(context, picture, [0, 0, picture.width, picture.width], [0, 0, LARGE, LARGE]);
      this.thumbnails.paintMissing(context, place, [0, 0, LARGE]);
      return large;
    }
    numbers(place, known) {
      const { model } = this;
      const { names, num_tokens: tokens } = model.header;
      const { measure } = model.options;
      const fractions = known.filter((name) => names[name].unit === "fraction").map((name) => {
        const fraction = model.valueAt(place, name) ?? NaN;
        const fill = element("i");
        fill.style.width = `${100 * fraction}%`;
        return element(
          "div",
          { className: name === measure ? "measure chosen" : "measure" },
          element("span", { textContent: names[name].label }),
          element("div", { className: "bar", ariaHidden: "true" }, fill),
          element("span", { textContent: percent(fraction) })
        );
      });
      const others = known.filter((name) => names[name].unit !== "fraction").map((name) => element(
        "span",
        { className: name === measure ? "chosen" : "" },
        `${names[name].label}: ${model.format(model.valueAt(place, name), name)}`
      ));
      const more = element(
        "p",
        { className: "more" },
        ...others,
        element("span", {}, `${tokens} tokens; entropy is at most ${Math.log(tokens).toFixed(2)} nats`)
      );
      return element("div", {}, ...fractions, more);
    }
    spoken(place, known) {
      const { model } = this;
      const { measure } = model.options;
      const first = measure && known.includes(measure) ? [measure] : [];
      const parts = [...first, ...known.filter((name) => name !== measure)].map((name) => `${model.header.names[name].label} ${model.format(model.valueAt(place, name), name)}`);
      return `${title(place)}: ${parts.join(", ")}.`;
    }
    // At the pointer: the chosen measure, or the strongest habits.
    showTip(event) {
      const { model } = this;
      const { pointed, header: { measures, names }, options: { measure } } = model;
      if (!pointed || !event) return this.tooltip.hide();
      const at = (name) => model.valueAt(pointed, name);
      const strongest = Object.keys(measures).filter((name) => names[name].habit && at(name) !== null).sort((a, b) => (at(b) ?? 0) - (at(a) ?? 0)).slice(0, 2);
      const lines = (measure ? [measure] : strongest).map((name) => element("div", {}, `${names[name].label}: `, element("b", { textContent: model.format(at(name), name) })));
      return this.tooltip.show(event.clientX, event.clientY, element("b", { textContent: title(pointed) }), ...lines);
    }
  };
  function title({ layer, head }) {
    return head === null ? `Layer ${layer}, mean of its heads` : `Layer ${layer}, head ${head}`;
  }

  // app/canvas/overview/files.ts
  var OverviewFiles = class {
    constructor(model, grid) {
      this.model = model;
      this.grid = grid;
    }
    model;
    grid;
    fileName() {
      return "bertscope-attention-overview";
    }
    picture() {
      const { grid } = this;
      return {
        width: Math.ceil(grid.width + 4),
        height: Math.ceil(grid.height + 4),
        ground: grid.theme.background,
        draw: (context) => grid.drawOn(context, 2)
      };
    }
    sheet() {
      const { measures, names, num_heads: heads } = this.model.header;
      const shown = Object.keys(measures);
      const unit = (name) => names[name].unit === "fraction" ? "" : ` (${names[name].unit || "number"})`;
      return {
        columns: ["layer", "head", ...shown.map((name) => names[name].label + unit(name))],
        rows: this.model.sequence.filter((head) => !this.model.isLeftOut(head)).map((head) => [Math.floor(head / heads), head % heads, ...shown.map((name) => measures[name][head])])
      };
    }
    table() {
      const { columns, rows } = this.sheet();
      const total = this.model.sequence.length;
      const left = rows.length < total ? `the ${rows.length} of ${total} heads that pass the limit` : `all ${total} heads`;
      return { caption: `Measures of ${left}, in the order of the pictures. Fractions are between 0 and 1.`, columns, rows };
    }
    facts() {
      const { header: { names, num_tokens: tokens, missing }, options: { measure, order, limit } } = this.model;
      return {
        what: "Measures of attention heads",
        tokens,
        order,
        sorted_by: measure ? names[measure].label : null,
        limit,
        ...missing ? { not_numbers: missing } : {}
      };
    }
    // Heads in their natural place; thumbnails as weights, each the largest of its block.
    arrays() {
      const { header: { measures, num_layers: layers, num_heads: heads, size }, codes, table, gaps } = this.model;
      const numbers = Object.entries(measures).map(([name, values]) => [name, {
        shape: [layers, heads],
        values: Float32Array.from(values, (value) => value ?? NaN)
      }]);
      const thumbnails = Float32Array.from(codes, (code) => table[code]);
      for (const [head, flags] of gaps) flags.forEach((flag, at) => {
        if (flag) thumbnails[head * size ** 2 + at] = NaN;
      });
      return { ...Object.fromEntries(numbers), thumbnails: { shape: [layers, heads, size, size], values: thumbnails } };
    }
  };

  // app/canvas/overview/grid.ts
  var GAP = 3;
  var LEFT = 30;
  var TOP = 20;
  var MAX_GRID = 340;
  var CAPTION = 12;
  var AIR = 3;
  var READABLE = 24;
  var DIMMED = 0.16;
  var GridPainter = class {
    // lines of text under a thumbnail
    constructor(model, thumbnails) {
      this.model = model;
      this.thumbnails = thumbnails;
    }
    model;
    thumbnails;
    theme;
    width = 0;
    height = 0;
    columns = 1;
    rows = 0;
    cell = 0;
    // side of a thumbnail
    across = 0;
    // from one thumbnail to the next
    down = 0;
    captions = 0;
    // ---- places ----
    // Sets the size of a thumbnail and the number of columns, for the room there is.
    layout(room) {
      const { header: { num_layers: layers, num_heads: heads }, options: { measure, order } } = this.model;
      const isSorted = order === "all";
      const most = measure ? 52 : 56;
      const fits = Math.min((MAX_GRID - TOP) / layers, (room - LEFT) / heads, most);
      const least = measure ? READABLE + GAP : 15;
      this.cell = Math.max(12, Math.floor(Math.min((room - LEFT) / heads, Math.max(fits, least))) - GAP);
      if (isSorted) this.cell = Math.max(this.cell, 30);
      this.captions = !measure || this.cell < READABLE && !isSorted ? 0 : isSorted ? 2 : 1;
      this.across = this.cell + GAP;
      this.down = this.cell + GAP + (this.captions ? CAPTION * this.captions + AIR * this.captions : 0);
      this.columns = isSorted ? Math.max(1, Math.min(heads, Math.floor((room - LEFT) / this.across))) : heads;
      this.rows = Math.ceil(this.model.sequence.length / this.columns);
      this.width = LEFT + this.columns * this.across;
      this.height = TOP + this.rows * this.down;
    }
    hit(x, y) {
      const column = Math.floor((x - LEFT) / this.across);
      const row = Math.floor((y - TOP) / this.down);
      if (row < 0 || row >= this.rows || column >= this.columns) return null;
      if (column < 0) return this.model.options.order === "all" ? null : { layer: row, head: null };
      return this.model.placeOf(row * this.columns + column);
    }
    // How far a window of some height must be scrolled to show the k-th thumbnail.
    scrolledTo(k, scrollTop, height) {
      const y = this.corner(k)[1];
      if (y + this.down > scrollTop + height) return y + this.down - height;
      return y - TOP < scrollTop ? y - TOP : scrollTop;
    }
    // Top left corner of the k-th place.
    corner(k) {
      return [LEFT + k % this.columns * this.across, TOP + Math.floor(k / this.columns) * this.down];
    }
    // ---- painting ----
    drawOn(context, density) {
      const { model } = this;
      const pictures = this.thumbnails.all(Math.max(1, Math.round(this.cell * density)));
      context.textBaseline = "middle";
      model.sequence.forEach((head, k) => {
        const [x, y] = this.corner(k);
        context.globalAlpha = model.isLeftOut(head) ? DIMMED : 1;
        const { width } = pictures[head];
        paintCells(context, pictures[head], [0, 0, width, width], [x, y, this.cell, this.cell]);
        const heads = model.header.num_heads;
        this.thumbnails.paintMissing(context, { layer: Math.floor(head / heads), head: head % heads }, [x, y, this.cell]);
        this.paintCaptions(context, head, x, y);
      });
      context.globalAlpha = 1;
      this.paintNumbers(context);
      model.sequence.forEach((head, k) => {
        if (model.isOpen(head)) this.ring(context, k, this.theme.primary, 2.5);
      });
      model.sequence.forEach((head, k) => {
        if (model.isPointed(head)) this.ring(context, k, this.theme.text, 1.5);
      });
    }
    // The value, below the name where the place does not tell it.
    paintCaptions(context, head, x, y) {
      if (!this.captions) return;
      const { model } = this;
      const { num_heads: heads } = model.header;
      const lines = [model.format(model.value(head), model.options.measure, true)];
      if (this.captions === 2) lines.unshift(`${Math.floor(head / heads)}\xB7${head % heads}`);
      context.textAlign = "center";
      context.fillStyle = this.theme.text;
      context.font = `10px ${this.theme.font}`;
      lines.forEach((text, line) => {
        context.globalAlpha = (model.isLeftOut(head) ? 0.55 : 1) * (line < lines.length - 1 ? 0.75 : 1);
        context.fillText(text, x + this.cell / 2, y + this.cell + AIR + CAPTION * (line + 0.5));
      });
    }
    // The heads' numbers on top (only where columns are heads) and the layers' on the left.
    paintNumbers(context) {
      const { header: { num_heads: heads, num_layers: layers }, options } = this.model;
      context.font = `11.5px ${this.theme.font}`;
      context.fillStyle = this.theme.text;
      context.textAlign = "left";
      if (options.order === "all") {
        context.fillText("layer \xB7 head", LEFT, TOP / 2);
        return;
      }
      const place = this.model.pointed ?? this.model.opened;
      if (options.order === "place") {
        context.textAlign = "center";
        for (let head = 0; head < heads; head += stride(this.across, heads > 10 ? 17 : 11)) {
          context.globalAlpha = place.head === head ? 1 : 0.7;
          context.fillText(String(head), this.corner(head)[0] + this.cell / 2, TOP / 2);
        }
      } else context.fillText(options.lowest ? "lowest first" : "highest first", LEFT, TOP / 2);
      context.textAlign = "right";
      for (let layer = 0; layer < layers; layer += stride(this.down, 13)) {
        context.globalAlpha = place.layer === layer ? 1 : 0.7;
        context.fillText(String(layer), LEFT - 8, this.corner(layer * heads)[1] + this.cell / 2);
      }
      context.globalAlpha = 1;
    }
    ring(context, k, colour, width) {
      const [x, y] = this.corner(k);
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      context.roundRect(x - 1, y - 1, this.cell + 2, this.cell + 2, 2);
      context.stroke();
    }
  };

  // app/canvas/overview/model.ts
  var OverviewModel = class {
    header;
    options = { measure: "", order: "place", lowest: false, limit: null };
    /** Heads in the shown order, layer * heads + head of each. */
    sequence = [];
    /** What the other views show; no heads for all. */
    selected = { layer: 0, heads: [] };
    pointed = null;
    /** 256 x red, green, blue. */
    colours = new Uint8Array();
    /** The weight of each code. */
    table = new Float32Array();
    /** Of heads with weights that are not numbers: a flag for each cell. */
    gaps = /* @__PURE__ */ new Map();
    codes = new Uint8Array();
    receive({ header, blocks }) {
      this.header = header;
      [this.codes, this.colours] = blocks;
      this.table = asFloats(blocks[2]);
      const cells = header.size ** 2;
      this.gaps = new Map(header.broken.map((head, k) => [head, asFlags(blocks[3], k * cells, cells)]));
      this.selected = { layer: header.layer, heads: header.heads };
    }
    // ---- measures ----
    // Measures of which at least one head has a value.
    get knownMeasures() {
      return Object.keys(this.header.measures).filter((name) => rangeOf(this.header.measures[name]));
    }
    sort() {
      const { header: { num_layers: layers, num_heads: heads, measures }, options } = this;
      if (!this.knownMeasures.includes(options.measure)) Object.assign(options, { measure: "", limit: null });
      if (!options.measure) options.order = "place";
      const values = options.measure ? measures[options.measure] : null;
      this.sequence = orderHeads(values, layers, heads, options.order, options.lowest);
    }
    // The value of one head; null if it has none.
    value(head, name = this.options.measure) {
      return name ? this.header.measures[name][head] : null;
    }
    // The mean over a layer's heads where no head is named.
    valueAt({ layer, head }, name) {
      const { num_heads: heads } = this.header;
      if (head !== null) return this.value(layer * heads + head, name);
      const known = this.header.measures[name].slice(layer * heads, (layer + 1) * heads).filter((value) => value !== null);
      return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
    }
    // Fractions in percent, others with their unit; isShort: without a unit, for a thumbnail.
    format(value, name = this.options.measure, isShort = false) {
      if (value === null) return "\u2013";
      const { unit } = this.header.names[name];
      if (unit === "fraction") return isShort ? `${Math.round(value * 100)}%` : percent(value);
      const digits = value >= 99.5 ? value.toFixed(0) : value >= 9.95 ? value.toFixed(1) : value.toFixed(2);
      return isShort || !unit ? digits : `${digits} ${unit}`;
    }
    // ---- heads ----
    // What the detail shows while nothing is pointed at.
    get opened() {
      return { layer: this.selected.layer, head: this.selected.heads[0] ?? null };
    }
    isLeftOut(head) {
      return Boolean(this.options.measure) && !passes(this.value(head), this.options.limit, this.options.lowest);
    }
    isOpen(head) {
      const { num_heads: heads } = this.header;
      if (Math.floor(head / heads) !== this.selected.layer) return false;
      return !this.selected.heads.length || this.selected.heads.includes(head % heads);
    }
    isPointed(head) {
      const { num_heads: heads } = this.header;
      if (Math.floor(head / heads) !== this.pointed?.layer) return false;
      return this.pointed.head === null || head % heads === this.pointed.head;
    }
    // The head at the k-th place of the sequence; null beyond its end.
    placeOf(k) {
      const { num_heads: heads } = this.header;
      const head = this.sequence[k];
      return head === void 0 ? null : { layer: Math.floor(head / heads), head: head % heads };
    }
    // ---- thumbnails ----
    // The codes of one head, or of the mean of a layer's heads.
    codesOf({ layer, head }) {
      const { size, num_heads: heads } = this.header;
      const map = (h) => this.codes.subarray((layer * heads + h) * size * size, (layer * heads + h + 1) * size * size);
      if (head !== null) return map(head);
      const encode = encoder(this.table);
      const maps = range(heads).map(map);
      return maps[0].map((_, at) => encode(maps.reduce((sum, codes) => sum + this.table[codes[at]], 0) / heads));
    }
    // Boxes of cells that are not numbers: of one head, or of any of a layer's.
    missingOf({ layer, head }) {
      const { size, num_heads: heads } = this.header;
      const gaps = (head === null ? range(heads) : [head]).map((h) => this.gaps.get(layer * heads + h)).filter((flags) => flags !== void 0);
      return gaps.length ? missingBoxes(size, (row, column) => gaps.some((flags) => flags[row * size + column])) : [];
    }
  };

  // app/canvas/overview/thumbnails.ts
  var Thumbnails = class {
    constructor(model) {
      this.model = model;
    }
    model;
    packed = new Uint32Array();
    drawn = null;
    // Called after each message.
    forget() {
      this.packed = Uint32Array.from({ length: 256 }, (_, code) => {
        const [red, green, blue] = this.model.colours.subarray(code * 3, code * 3 + 3);
        return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
      });
      this.drawn = null;
    }
    // All heads in their natural order, at most `pixels` wide.
    all(pixels) {
      if (this.drawn?.pixels !== pixels) {
        const { num_layers: layers, num_heads: heads } = this.model.header;
        const canvases = range(layers * heads).map((k) => this.one({ layer: Math.floor(k / heads), head: k % heads }, pixels));
        this.drawn = { pixels, canvases };
      }
      return this.drawn.canvases;
    }
    // A canvas of a pixel for each cell, at most `pixels` wide. Where a pixel holds several cells it is
    // the largest, so that narrow lines stay.
    one(place, pixels) {
      const { size } = this.model.header;
      const codes = this.model.codesOf(place);
      const side = Math.min(size, pixels);
      const image = new ImageData(side, side);
      const colours = new Uint32Array(image.data.buffer);
      const starts = Array.from({ length: side + 1 }, (_, p) => Math.floor(p * size / side));
      for (let y = 0; y < side; y++) {
        for (let x = 0; x < side; x++) {
          let most = 0;
          for (let row = starts[y]; row < starts[y + 1]; row++) {
            for (let at = row * size + starts[x]; at < row * size + starts[x + 1]; at++) {
              if (codes[at] > most) most = codes[at];
            }
          }
          colours[y * side + x] = this.packed[most];
        }
      }
      const canvas = element("canvas", { width: side, height: side });
      context2d(canvas).putImageData(image, 0, 0);
      return canvas;
    }
    // Stripes over the cells that are not numbers, on a thumbnail at (x, y).
    paintMissing(context, place, [x, y, side]) {
      const cell2 = side / this.model.header.size;
      for (const [left, top, width, height] of this.model.missingOf(place)) {
        paintMissing(context, [x + left * cell2, y + top * cell2, width * cell2, height * cell2]);
      }
    }
  };

  // app/canvas/overview/overview.ts
  var WIDE = 640;
  function component(mounted) {
    return mount(Overview, mounted, {
      picked: (value) => mounted.setTriggerValue("picked", value),
      options: (value) => mounted.setStateValue("look", value)
    });
  }
  var standAlone = alone(component);
  var Overview = class {
    frame = new ViewFrame("view overview", { layout: () => this.layout(), paint: () => this.paint() });
    root = this.frame.root;
    events;
    model = new OverviewModel();
    thumbnails = new Thumbnails(this.model);
    painter = new GridPainter(this.model, this.thumbnails);
    files = new OverviewFiles(this.model, this.painter);
    controls = new OverviewControls(this.model, (options) => this.change(options), saveButtons(this.files));
    table = new DataTable("Numbers of all heads as a table", () => this.files.table());
    holder;
    detail;
    hasMessage = false;
    constructor(parent) {
      const grid = element("div", {
        className: "grid",
        tabIndex: 0,
        role: "application",
        ariaLabel: "All heads. Arrows move, Home and End go to the first and the last, Enter opens the head, Escape lets go. The numbers are in the table below.",
        onpointermove: (event) => this.point(this.hit(event), event),
        onpointerleave: () => this.point(null),
        onclick: (event) => this.pick(this.hit(event)),
        onkeydown: (event) => this.key(event)
      }, this.frame.canvas);
      this.holder = element("div", { className: "frame" }, grid);
      this.detail = new Detail(this.model, this.thumbnails, this.root);
      this.frame.open(
        parent,
        this.controls.row,
        element(
          "div",
          { className: "body" },
          element("div", { className: "left" }, this.holder, this.controls.scale),
          this.detail.root
        ),
        this.table.root,
        this.detail.liveRegion.root
      );
    }
    close() {
      this.frame.close();
      this.table.close();
      this.detail.close();
    }
    update(message) {
      this.model.receive(message);
      if (!this.hasMessage) this.model.options = { ...message.header.look };
      this.hasMessage = true;
      this.painter.theme = readTheme(this.root);
      this.thumbnails.forget();
      this.refresh();
    }
    // Changes the options; they are reported so that they get into the address.
    change(options) {
      Object.assign(this.model.options, options);
      this.refresh();
      const { measure, order, lowest, limit } = this.model.options;
      this.frame.noting.run(() => this.events.options({ measure, order, lowest, limit }));
    }
    refresh() {
      this.model.sort();
      this.controls.refresh();
      this.table.refresh();
      this.layout();
    }
    layout() {
      const room = this.root.clientWidth;
      if (!this.hasMessage || !room) return;
      const isWide = room >= WIDE;
      this.root.classList.toggle("narrow", !isWide);
      this.painter.layout(isWide ? room - 450 : room - 12);
      this.holder.style.width = `${this.painter.width + 16}px`;
      this.controls.scale.style.maxWidth = `${Math.max(300, this.painter.width + 16)}px`;
      this.controls.refreshScale(this.painter.theme);
      this.detail.refresh();
      this.draw();
    }
    draw() {
      this.frame.draw();
    }
    paint() {
      const { painter } = this;
      painter.theme = readTheme(this.root);
      const density = window.devicePixelRatio || 1;
      painter.drawOn(fitCanvas(this.frame.canvas, painter.width + 2, painter.height + 2), density);
    }
    // ---- pointing and picking ----
    hit(event) {
      const box = this.frame.canvas.getBoundingClientRect();
      return this.painter.hit(event.clientX - box.left, event.clientY - box.top);
    }
    point(place, event) {
      const { pointed } = this.model;
      const isSame = place?.layer === pointed?.layer && place?.head === pointed?.head;
      this.model.pointed = place;
      this.detail.showTip(event);
      if (isSame) return;
      this.detail.refresh();
      this.draw();
    }
    pick(place) {
      if (!place) return;
      const picked = { layer: place.layer, heads: place.head === null ? [] : [place.head] };
      this.model.selected = picked;
      this.draw();
      this.events.picked(picked);
    }
    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { model, painter: { columns } } = this;
      const now = model.pointed ?? model.opened;
      const at = model.sequence.indexOf(now.layer * model.header.num_heads + (now.head ?? 0));
      const last = model.sequence.length - 1;
      const moves = {
        ArrowUp: -columns,
        ArrowDown: columns,
        ArrowLeft: -1,
        ArrowRight: 1,
        Home: -at,
        End: last - at
      };
      if (event.key in moves) {
        const next = at + moves[event.key];
        if (next >= 0 && next <= last) {
          this.point(model.placeOf(next));
          this.holder.scrollTop = this.painter.scrolledTo(next, this.holder.scrollTop, this.holder.clientHeight);
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
  };
  return __toCommonJS(overview_exports);
})();
