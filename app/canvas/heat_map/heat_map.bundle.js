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

  // app/canvas/heat_map/heat_map.js
  var heat_map_exports = {};
  __export(heat_map_exports, {
    default: () => component,
    standAlone: () => standAlone
  });

  // app/canvas/shared/transport.js
  function unpack(bytes) {
    const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
    const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength);
    const length = view.getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + length)));
    const start = 4 + length;
    const blocks = header.blocks.map(([from, size]) => whole.subarray(start + from, start + from + size));
    return { header, blocks };
  }
  async function inflate({ header, blocks }) {
    const whole = await Promise.all(blocks.map(async (block, k) => {
      if (!header.blocks[k][2]) return block;
      const stream = new Blob([block]).stream().pipeThrough(new DecompressionStream("deflate"));
      return new Uint8Array(await new Response(stream).arrayBuffer());
    }));
    return { header, blocks: whole };
  }
  function asFloats(block) {
    return new Float32Array(block.buffer, block.byteOffset, block.byteLength / 4);
  }

  // app/html_file/alone.js
  function showAlone(component2, place, css, messages) {
    const root = place.attachShadow({ mode: "open" });
    const style = document.createElement("style");
    style.textContent = css;
    root.append(style);
    const held = messages.map(heldBytes);
    const heard = (name, value) => {
      if (name !== "selection" || value.layer === void 0) return;
      const found = held.find((bytes) => unpack(bytes).header.layer === value.layer);
      if (found) show(withHeader(found, { heads: value.heads, revision: value.revision }));
    };
    const show = (data) => component2({ data, parentElement: root, setStateValue: heard, setTriggerValue: () => {
    } });
    show(held[0]);
  }
  function heldBytes(id) {
    return Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
  }
  function withHeader(bytes, values) {
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
  function exact(value) {
    return Number.isFinite(value) ? Number(value.toPrecision(7)) : null;
  }
  function onlyHere(controls, header, what) {
    if (!header.alone) return;
    for (const control of controls) Object.assign(control, { disabled: true, title: `This file holds ${what} only` });
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
  function brokenNote(missing, instead) {
    return missing ? [element("span", { className: "key broken", textContent: `${missing} Red stripes mark them; ${instead}.` })] : [];
  }

  // app/canvas/shared/canvas.js
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
  function inkOver(rgb) {
    const [r, g, b] = Array.from(rgb, (c) => c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.35 ? "#111" : "#fff";
  }
  function stride(step, room) {
    const needed = Math.max(1, Math.ceil(room / step));
    const power = 10 ** Math.floor(Math.log10(needed));
    return [1, 2, 5, 10].map((times) => times * power).find((every) => every >= needed);
  }
  function paintMissing(context, x, y, width, height) {
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

  // app/canvas/shared/levels.js
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
    const count2 = starts.length;
    const wordOf = new Uint16Array(size);
    starts.forEach((start, word) => wordOf.fill(word, start));
    const out = new Float32Array(count2 * count2);
    for (let row = 0, at = 0; row < size; row++) {
      const first = wordOf[row] * count2;
      for (let column = 0; column < size; column++, at++) out[first + wordOf[column]] += read(at);
    }
    starts.forEach((start, word) => {
      const pieces = (starts[word + 1] ?? size) - start;
      if (pieces > 1) for (let k = word * count2; k < (word + 1) * count2; k++) out[k] /= pieces;
    });
    return out;
  }
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

  // app/canvas/shared/pictures.js
  var MAX_SHAPES = 4096;
  var SvgContext = class {
    constructor(width, height) {
      Object.assign(this, { width, height, parts: [], path: "", globalAlpha: 1, lineWidth: 1 });
      Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", font: "10px sans-serif", textAlign: "left" });
      this.ruler = document.createElement("canvas").getContext("2d");
    }
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
    roundRect(x, y, width, height) {
      this.path += `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
    }
    stroke() {
      this.add("path", {
        d: this.path,
        fill: "none",
        stroke: this.strokeStyle,
        "stroke-width": round(this.lineWidth),
        "stroke-opacity": round(this.globalAlpha),
        "stroke-linecap": "round"
      });
    }
    fill() {
      this.add("path", { d: this.path, fill: this.fillStyle, "fill-opacity": round(this.globalAlpha) });
    }
    fillRect(x, y, width, height) {
      this.add("rect", {
        x: round(x),
        y: round(y),
        width: round(width),
        height: round(height),
        fill: this.fillStyle,
        "fill-opacity": round(this.globalAlpha)
      });
    }
    fillText(text, x, y) {
      this.text(text, x, y, { fill: this.fillStyle, "fill-opacity": round(this.globalAlpha) });
    }
    strokeText(text, x, y) {
      this.text(text, x, y, {
        fill: "none",
        stroke: this.strokeStyle,
        "stroke-width": round(this.lineWidth),
        "stroke-opacity": round(this.globalAlpha),
        "stroke-linejoin": "round"
      });
    }
    turnedText(text, x, y, angle) {
      this.text(text, x, y, {
        fill: this.fillStyle,
        "fill-opacity": round(this.globalAlpha),
        transform: `rotate(${round(angle)} ${round(x)} ${round(y)})`
      });
    }
    // A field of cells: shapes while there are few, else pixels inside the file; see paintCells.
    cells(source, [sx, sy, sw, sh], [x, y, width, height]) {
      const [left, top] = [Math.floor(sx), Math.floor(sy)];
      const [wide, high] = [Math.ceil(sx + sw) - left, Math.ceil(sy + sh) - top];
      this.parts.push(`<svg x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" viewBox="${sx} ${sy} ${sw} ${sh}" preserveAspectRatio="none">`);
      if (wide * high <= MAX_SHAPES) {
        const { data } = source.getContext("2d").getImageData(left, top, wide, high);
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
        const copy = document.createElement("canvas");
        Object.assign(copy, { width: wide, height: high });
        copy.getContext("2d").drawImage(source, left, top, wide, high, 0, 0, wide, high);
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
    text(text, x, y, paint) {
      const anchor = { left: "start", right: "end", center: "middle" }[this.textAlign];
      this.add("text", {
        x: round(x),
        y: round(y),
        style: `font:${this.font}`,
        "text-anchor": anchor,
        "dominant-baseline": "central",
        ...paint
      }, text);
    }
    add(tag, attributes, text) {
      const written = Object.entries(attributes).map(([name, value]) => `${name}="${xml(String(value))}"`);
      this.parts.push(`<${tag} ${written.join(" ")}${text === void 0 ? "/>" : `>${xml(text)}</${tag}>`}`);
    }
    toString() {
      const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
      return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>
${this.parts.join("\n")}
</svg>
`;
    }
  };
  function paintCells(context, source, from, to) {
    if (context instanceof SvgContext) return context.cells(source, from, to);
    context.imageSmoothingEnabled = false;
    return context.drawImage(source, ...from, ...to);
  }
  function round(number) {
    return Math.round(number * 100) / 100;
  }
  function xml(text) {
    return String(text).toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\uFFFD").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  }
  function savePicture(format, name, width, height, ground, draw) {
    if (format === "svg") {
      const context2 = new SvgContext(width, height);
      context2.fillStyle = ground;
      context2.fillRect(0, 0, width, height);
      draw(context2);
      return download(new Blob([String(context2)], { type: "image/svg+xml" }), `${name}.svg`);
    }
    const canvas = document.createElement("canvas");
    const scale = Math.min(2, 16e3 / height, 16e3 / width);
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.fillStyle = ground;
    context.fillRect(0, 0, width, height);
    draw(context);
    return canvas.toBlob((blob) => download(blob, `${name}.png`), "image/png");
  }
  function download(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
  }

  // app/canvas/heat_map/paint.js
  var LABEL = 12;
  var MIN_TOP = 0.05;
  var MAP_TICKS = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1];
  var NUMBERED = 30;
  var AttentionMapPainter = class {
    // The image of the whole map in its present order, one pixel for each cell.
    makeImages() {
      const { size } = this.units;
      let most = 0;
      for (const weight of this.weights) if (weight > most) most = weight;
      this.scaleTop = Math.max(MIN_TOP, most);
      const levels = new Float32Array(size * size);
      for (let y = 0, at = 0; y < size; y++) {
        const first = this.rows[y] * size;
        for (let x = 0; x < size; x++, at++) levels[at] = Math.sqrt(this.weights[first + this.columns[x]] / this.scaleTop);
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
        const known = levels[at] === levels[at];
        image.data.set(known ? this.colour(levels[at]) : NOT_A_NUMBER, at * 4);
        image.data[at * 4 + 3] = 255;
      }
      canvas.getContext("2d").putImageData(image, 0, 0);
      return canvas;
    }
    colour(level) {
      const code = Math.max(0, Math.min(255, Math.round(level * 255)));
      return this.colours.subarray(code * 3, code * 3 + 3);
    }
    layout() {
      if (!this.header || !this.root.clientWidth) return;
      const { size } = this.units;
      const room = this.root.clientWidth;
      this.margin = this.nameRoom(Math.min(124, Math.max(74, room * 0.2)));
      const side = Math.min(room - this.margin - 6, Math.max(200, Math.min(640, size * (size <= 14 ? 38 : 30))));
      this.side = Math.max(120, Math.floor(side));
      this.width = this.margin + this.side + 4;
      this.height = this.margin + this.side + 4;
      this.draw();
    }
    // Pixels for names and their marks, on both sides: as the longest needs, at most `most`.
    nameRoom(most) {
      const context = this.canvas.getContext("2d");
      context.font = `600 12.5px ${this.theme.font}`;
      let longest = 0;
      for (const name of this.units.names) {
        longest = Math.max(longest, context.measureText(legible(name.slice(0, 60))).width);
        if (longest > most) return most;
      }
      return Math.min(most, Math.max(48, Math.ceil(longest) + 40));
    }
    draw() {
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => {
        if (!this.side) return;
        this.theme = readTheme(this.root);
        this.drawOn(fitCanvas(this.canvas, this.width, this.height), window.devicePixelRatio || 1);
      });
    }
    get cell() {
      return this.side / this.window.span;
    }
    // Where display row or column k begins, in pixels of the canvas.
    x(k) {
      return this.margin + (k - this.window.left) * this.cell;
    }
    y(k) {
      return this.margin + (k - this.window.top) * this.cell;
    }
    // Display rows or columns that are seen, from start.
    seen(start) {
      const last = Math.min(this.units.size - 1, Math.ceil(start + this.window.span) - 1);
      return Array.from({ length: last - Math.floor(start) + 1 }, (_, k) => Math.floor(start) + k);
    }
    drawOn(context, density) {
      const { left, top, span } = this.window;
      const { margin, side, cell } = this;
      const level = Math.min(this.images.length - 1, Math.max(0, Math.ceil(-Math.log2(cell * density))));
      const image = this.images[level];
      const from = [left, top, span, span].map((at) => at / 2 ** level);
      paintCells(context, image, from, [margin, margin, side, side]);
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
      const end = this.margin + this.side;
      const clip = (at) => Math.max(this.margin, Math.min(end, at));
      for (const [left, top, width, height] of this.missing) {
        const [x1, x2, y1, y2] = [this.x(left), this.x(left + width), this.y(top), this.y(top + height)].map(clip);
        if (x2 > x1 && y2 > y1) paintMissing(context, x1, y1, x2 - x1, y2 - y1);
      }
    }
    // Lines between cells that are large enough to bear them.
    paintGaps(context) {
      if (this.cell < 9) return;
      context.fillStyle = this.theme.background;
      const end = this.margin + this.side;
      for (const k of this.seen(this.window.left)) {
        if (this.x(k) > this.margin) context.fillRect(this.x(k) - 0.5, this.margin, 1, this.side);
      }
      for (const k of this.seen(this.window.top)) {
        if (this.y(k) > this.margin && this.y(k) < end) context.fillRect(this.margin, this.y(k) - 0.5, this.side, 1);
      }
    }
    paintNumbers(context) {
      if (this.cell < NUMBERED) return;
      const { size } = this.units;
      context.textAlign = "center";
      context.font = `${Math.min(13, this.cell / 2.9)}px ${this.theme.font}`;
      for (const row of this.seen(this.window.top)) {
        for (const column of this.seen(this.window.left)) {
          const [x, y] = [this.x(column) + this.cell / 2, this.y(row) + this.cell / 2];
          if (!this.isInside(x, y)) continue;
          const weight = this.weights[this.rows[row] * size + this.columns[column]];
          const known = weight === weight;
          context.fillStyle = inkOver(known ? this.colour(Math.sqrt(weight / this.scaleTop)) : NOT_A_NUMBER);
          context.globalAlpha = weight < 5e-3 ? 0.5 : 1;
          if (!known) {
            const ink = context.fillStyle;
            context.fillStyle = `rgb(${NOT_A_NUMBER.join(",")})`;
            context.fillRect(x - this.cell * 0.36, y - this.cell * 0.22, this.cell * 0.72, this.cell * 0.44);
            context.fillStyle = ink;
          }
          context.fillText(known ? weight.toFixed(this.cell > 60 ? 4 : 2) : "NaN", x, y + 0.5);
        }
      }
      context.globalAlpha = 1;
    }
    isInside(x, y) {
      const end = this.margin + this.side;
      return x >= this.margin + 6 && x <= end - 6 && y >= this.margin + 6 && y <= end - 6;
    }
    // Frames around the row and the column that are marked, and around their cell.
    paintMark(context) {
      const place = this.marked ?? this.pointed;
      if (!place) return;
      const end = this.margin + this.side;
      const clip = (from, to) => [Math.max(this.margin, from), Math.min(end, to)];
      const [x1, x2] = clip(this.x(place.column), this.x(place.column + 1));
      const [y1, y2] = clip(this.y(place.row), this.y(place.row + 1));
      const frame = (x, y, width, height, line) => {
        if (width <= 0 || height <= 0) return;
        for (const [colour, extra] of [[this.theme.background, 2], [this.header.accent, 0]]) {
          context.fillStyle = colour;
          const thick = line + extra;
          context.fillRect(x - thick / 2, y - thick / 2, width + thick, thick);
          context.fillRect(x - thick / 2, y + height - thick / 2, width + thick, thick);
          context.fillRect(x - thick / 2, y - thick / 2, thick, height + thick);
          context.fillRect(x + width - thick / 2, y - thick / 2, thick, height + thick);
        }
      };
      context.globalAlpha = this.marked ? 1 : 0.55;
      if (y2 > y1) frame(this.margin, y1, this.side, y2 - y1, 1);
      if (x2 > x1) frame(x1, this.margin, x2 - x1, this.side, 1);
      context.globalAlpha = 1;
      if (x2 > x1 && y2 > y1) frame(x1, y1, x2 - x1, y2 - y1, 2);
    }
    // Names of the rows on the left, of the columns turned on top. As many as fit; the marked and
    // the pointed one always, on the page's ground.
    paintNames(context, ofRows) {
      const start = ofRows ? this.window.top : this.window.left;
      const order = ofRows ? this.rows : this.columns;
      const middle = (k) => ofRows ? this.y(k + 0.5) : this.x(k + 0.5);
      const end = this.margin + this.side;
      const every = stride(this.cell, LABEL + 0.5);
      const first = [this.marked, this.pointed].filter(Boolean).map((place) => ofRows ? place.row : place.column);
      const taken = [];
      const named = (k, isFirst) => {
        const at = middle(k);
        if (at < this.margin - 0.5 || at > end + 0.5) return;
        if (taken.some((other) => Math.abs(other - at) < LABEL)) return;
        taken.push(at);
        this.paintName(context, ofRows, order[k], at, isFirst);
      };
      first.forEach((k) => named(k, true));
      const visible = this.seen(start);
      visible.filter((k) => k % every === 0).forEach((k) => named(k, false));
      for (const k of visible) {
        const from = Math.max(this.margin, ofRows ? this.y(k) : this.x(k));
        const to = Math.min(end, ofRows ? this.y(k + 1) : this.x(k + 1));
        if (to <= from) continue;
        context.fillStyle = kindColour(this.header, this.units.textIds[order[k]]);
        const gap = this.cell >= 5 ? 0.5 : 0;
        if (ofRows) context.fillRect(this.margin - 6, from + gap, 4, to - from - 2 * gap);
        else context.fillRect(from + gap, this.margin - 6, to - from - 2 * gap, 4);
      }
    }
    paintName(context, ofRows, unit, at, isFirst) {
      const size = this.cell >= 18 ? 12.5 : 11;
      context.font = `${isFirst ? 600 : 400} ${size}px ${this.theme.font}`;
      context.fillStyle = this.theme.text;
      const number = String(this.units.starts[unit]);
      const room = this.margin - 16;
      const text = this.name(context, unit, room - (isFirst ? context.measureText(` ${number}`).width : 0), isFirst);
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
    name(context, unit, room, isFirst) {
      const key = `${unit} ${Math.round(room)} ${context.font} ${isFirst}`;
      let text = this.names.get(key);
      if (text === void 0) {
        text = fitText(context, legible(this.units.names[unit].slice(0, 400)), room);
        this.names.set(key, text);
      }
      return text;
    }
  };
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

  // app/canvas/heat_map/order.js
  var ROW_ORDERS = [
    ["text", "as in the text"],
    ["chosen", "by the marked column"],
    ["entropy", "the most focused first"]
  ];
  var COLUMN_ORDERS = [
    ["text", "as in the text"],
    ["chosen", "by the marked row"],
    ["received", "the most looked at first"]
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

  // app/canvas/shared/tooltip.js
  var Tooltip = class {
    // `root` is positioned; the box stays inside its width.
    constructor(root) {
      this.root = root;
      this.box = element("div", { className: "tip", ariaHidden: "true" });
      root.append(this.box);
    }
    // x and y are those of a pointer event (of the window); `children` are strings or elements.
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

  // app/canvas/heat_map/words.js
  var WHOLE_TABLE = 24;
  var STRONGEST = 5;
  var AttentionMapWords = class extends AttentionMapPainter {
    weightAt(place) {
      return this.weights[this.rows[place.row] * this.units.size + this.columns[place.column]];
    }
    nameAt(place) {
      return [this.units.names[this.rows[place.row]], this.units.names[this.columns[place.column]]];
    }
    tell(x, y) {
      if (!this.pointed) return this.tooltip.hide();
      const [looks, looked] = this.nameAt(this.pointed);
      const weight = this.weightAt(this.pointed);
      const number = Number.isNaN(weight) ? "not a number (NaN)" : weight.toFixed(6);
      const places = [this.rows[this.pointed.row], this.columns[this.pointed.column]].map((u) => this.units.starts[u]);
      return this.tooltip.show(
        x,
        y,
        tokenInTip(looks),
        ` looks at `,
        tokenInTip(looked),
        element("div", {}, element("b", { textContent: number }), ` \xB7 tokens ${places.join(" \u2192 ")}`)
      );
    }
    say() {
      const place = this.marked ?? this.pointed;
      if (!place) {
        this.line.replaceChildren("Point at a cell for its number; click marks its row and column.");
        return;
      }
      const [looks, looked] = this.nameAt(place).map((name) => shorten(legible(name), 60));
      const weight = this.weightAt(place);
      const number = Number.isNaN(weight) ? "not a number" : weight.toFixed(6);
      const bdi = (text) => element("bdi", { textContent: `\u201C${text}\u201D` });
      this.line.replaceChildren(
        bdi(looks),
        " looks at ",
        bdi(looked),
        ": ",
        element("b", { textContent: number }),
        this.marked ? " (marked; Esc or a click lets go)" : ""
      );
      clearTimeout(this.saying);
      this.saying = setTimeout(() => {
        this.said.textContent = `${looks} looks at ${looked}: ${number}`;
      }, 200);
    }
    kindOfScale() {
      return this.units.byWord ? "words: the sum over the pieces looked at, the mean over those that look" : "word pieces";
    }
    // ---- the table ----
    twinTable() {
      const { names, starts, size } = this.units;
      const label = (unit) => `${starts[unit]} ${names[unit]}`;
      const of = (row, column) => exact(this.weights[row * size + column]);
      if (size <= WHOLE_TABLE) {
        return {
          caption: `${this.header.title}: each row is a token that looks, each column one that is looked at.`,
          columns: ["looks", ...Array.from(this.columns, label)],
          rows: Array.from(this.rows, (row) => [label(row), ...Array.from(this.columns, (column) => of(row, column)?.toFixed(4))])
        };
      }
      const ranks = Array.from({ length: STRONGEST }, (_, k) => `strongest ${k + 1}`);
      return {
        caption: `${this.header.title}: the ${STRONGEST} strongest of each row; the files have all ${size} x ${size}.`,
        columns: ["looks", ...ranks],
        rows: Array.from(this.rows, (row) => {
          const best = orderColumns(this.weights, size, "chosen", row).slice(0, STRONGEST);
          return [label(row), ...Array.from(best, (column) => `${label(column)}: ${of(row, column)?.toFixed(4) ?? "NaN"}`)];
        })
      };
    }
    // ---- files: all rows and columns in the shown order, the picture as it is seen ----
    fileName() {
      const { layers, heads } = this.header;
      return `bertscope-attention-map-layer-${layers.join("-")}${heads.length ? `-head-${heads.join("-")}` : ""}`.slice(0, 120);
    }
    picture() {
      return {
        width: this.width,
        height: this.height,
        ground: this.theme.background,
        draw: (context) => {
          context.textBaseline = "middle";
          this.drawOn(context, 2);
        }
      };
    }
    sheet() {
      const { names, starts, size } = this.units;
      const label = (unit) => `${starts[unit]} ${names[unit]}`;
      return {
        columns: ["looks", ...Array.from(this.columns, label)],
        rows: Array.from(this.rows, (row) => [label(row), ...Array.from(this.columns, (column) => exact(this.weights[row * size + column]))])
      };
    }
    facts() {
      const { layers, heads, title, missing } = this.header;
      return {
        what: title,
        layers,
        heads: heads.length ? heads : "all",
        unit: this.kindOfScale(),
        ...missing ? { not_numbers: missing } : {}
      };
    }
    arrays() {
      const { size, names } = this.units;
      const values = new Float32Array(size * size);
      this.rows.forEach((row, y) => this.columns.forEach((column, x) => {
        values[y * size + x] = this.weights[row * size + column];
      }));
      return {
        attention: { shape: [size, size], values },
        looks: { shape: [size], values: Array.from(this.rows, (row) => names[row]) },
        looked_at: { shape: [size], values: Array.from(this.columns, (column) => names[column]) },
        row_order: { shape: [size], values: Int32Array.from(this.rows) },
        column_order: { shape: [size], values: Int32Array.from(this.columns) }
      };
    }
  };

  // app/canvas/shared/data_table.js
  var Twin = class {
    // make() returns { caption, columns: [string], rows: [[string | number]] }.
    constructor(summary, make) {
      this.make = make;
      this.holder = element("div", { className: "holder", tabIndex: 0, role: "region", ariaLabel: summary });
      this.root = element("details", { className: "twin" }, element("summary", { textContent: summary }), this.holder);
      this.root.addEventListener("toggle", () => this.refresh());
    }
    // Called whenever the picture changes; costs nothing while closed, and once in 150 ms while open.
    refresh() {
      clearTimeout(this.waiting);
      if (this.root.open) this.waiting = setTimeout(() => this.fill(), 150);
    }
    fill() {
      const { caption, columns, rows } = this.make();
      const cell = (tag, value, scope) => {
        const bdi = element("bdi", { textContent: typeof value === "string" ? shorten(legible(value), 120) : value ?? "\u2013" });
        const made = element(tag, {}, bdi);
        if (scope) made.scope = scope;
        if (typeof value === "number") made.className = "number";
        return made;
      };
      const body = rows.map(([first, ...others]) => element("tr", {}, cell("th", first, "row"), ...others.map((value) => cell("td", value))));
      this.holder.replaceChildren(element(
        "table",
        {},
        element("caption", { textContent: caption }),
        element("thead", {}, element("tr", {}, ...columns.map((name) => cell("th", name, "col")))),
        element("tbody", {}, ...body)
      ));
    }
    close() {
      clearTimeout(this.waiting);
    }
  };

  // app/canvas/shared/npz.js
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
    const signs = strings.map((text) => Array.from(text.toWellFormed(), (sign) => sign.codePointAt(0)));
    const width = Math.max(1, ...signs.map((codes) => codes.length));
    const out = new Uint32Array(strings.length * width);
    signs.forEach((codes, row) => out.set(codes, row * width));
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

  // app/canvas/shared/saving.js
  function saveButtons(view) {
    const make = {
      SVG: () => picture("svg"),
      PNG: () => picture("png"),
      CSV: () => keep(csv(view.sheet()), "text/csv"),
      JSON: () => {
        const { columns, rows } = view.sheet();
        return keep(JSON.stringify({ ...view.facts(), columns, rows }, null, 1), "application/json");
      },
      NPZ: () => download(npz(view.arrays()), `${view.fileName()}.npz`)
    };
    const picture = (format) => {
      const { width, height, ground, draw } = view.picture();
      savePicture(format, view.fileName(), width, height, ground, draw);
    };
    const keep = (text, type) => {
      const ending = { "text/csv": "csv", "application/json": "json" }[type];
      download(new Blob([text], { type }), `${view.fileName()}.${ending}`);
    };
    const titles = { SVG: "picture", PNG: "picture at twice the size", CSV: "table", JSON: "table", NPZ: "NumPy arrays" };
    const buttons = Object.entries(make).map(([name, save]) => {
      const button = element("button", { type: "button", textContent: name, title: `Save what is shown: ${titles[name]}` });
      button.onclick = save;
      return button;
    });
    return element("span", { className: "saving", role: "group", ariaLabel: "Save what is shown" }, "Save", ...buttons);
  }
  function csv({ columns, rows }) {
    return `\uFEFF${[columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n")}\r
`;
  }
  function csvCell(value) {
    if (typeof value !== "string") return value === null ? "" : String(value);
    const text = /^[=+\-@\t\r]./s.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  // app/canvas/heat_map/controls.js
  var AttentionMapControls = class extends AttentionMapWords {
    build() {
      this.layerBox = element("span", { className: "group heads", role: "group", ariaLabel: "Layers of the mean" });
      this.headBox = element("span", { className: "group heads", role: "group", ariaLabel: "Heads of the mean" });
      this.allLayers = this.button("all", "The mean over all layers", () => this.choose({ layers: count(this.header.num_layers) }));
      this.allHeads = this.button("all", "The mean over all heads", () => this.choose({ heads: count(this.header.num_heads) }));
      this.rowSelect = this.select("Order of the rows", ROW_ORDERS, (by) => this.sortBy("rowsBy", by));
      this.columnSelect = this.select("Order of the columns", COLUMN_ORDERS, (by) => this.sortBy("columnsBy", by));
      const box = element("input", { type: "checkbox" });
      box.onchange = () => this.setLevel(box.checked);
      this.wordBox = element("label", {
        title: "Sum over the pieces of a word that is looked at, mean over the pieces of one that looks"
      }, box, "Whole words");
      this.zoomIn = this.button("+", "Zoom in (key +)", () => this.zoomBy(1.6));
      this.zoomOut = this.button("\u2212", "Zoom out (key \u2212)", () => this.zoomBy(1 / 1.6));
      this.whole = this.button("whole", "The whole map (key 0, or double click)", () => this.zoomBy(0));
      for (const button of [this.zoomIn, this.zoomOut]) button.classList.add("step");
      this.canvas = element("canvas", { ariaHidden: "true" });
      this.field = element("div", {
        className: "field",
        tabIndex: 0,
        role: "application",
        ariaLabel: "Heat map. Arrows move the marked cell, Page keys by ten, Home and End to the edges, plus and minus zoom, 0 shows the whole map, Escape lets go. The numbers are in the table below."
      }, this.canvas);
      this.line = element("div", { className: "note line" });
      this.said = element("div", { className: "said", ariaLive: "polite" });
      this.foot = element("div", { className: "foot" });
      this.twin = new Twin("Numbers as a table", () => this.twinTable());
      this.saving = saveButtons(this);
      this.heading = element("h4", { className: "title" });
      this.root.append(
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
          this.wordBox,
          element("span", { className: "group" }, "Zoom", this.zoomOut, this.zoomIn, this.whole)
        ),
        this.heading,
        this.field,
        this.line,
        this.foot,
        this.twin.root,
        this.said
      );
      this.tooltip = new Tooltip(this.root);
    }
    button(textContent, title, onclick) {
      return element("button", { type: "button", textContent, title, ariaLabel: title, onclick });
    }
    select(ariaLabel, options, chosen) {
      const made = element(
        "select",
        { ariaLabel },
        ...options.map(([value, textContent]) => element("option", { value, textContent }))
      );
      made.onchange = () => chosen(made.value);
      return made;
    }
    refreshControls() {
      const { num_layers: layers, num_heads: heads } = this.header;
      this.chips(this.layerBox, layers, this.layers, "Layer", (next) => this.choose({ layers: next }));
      this.chips(this.headBox, heads, this.heads, "Head", (next) => this.choose({ heads: next }));
      this.allLayers.disabled = this.layers.size === layers;
      this.allHeads.disabled = this.heads.size === heads;
      this.allLayers.hidden = layers === 1;
      this.allHeads.hidden = heads === 1;
      const hasPieces = this.header.starts.length < this.header.tokens.length;
      this.wordBox.style.display = hasPieces ? "" : "none";
      this.wordBox.firstChild.checked = this.byWord;
      this.rowSelect.value = this.rowsBy;
      this.columnSelect.value = this.columnsBy;
      this.zoomOut.disabled = this.whole.disabled = this.window.isWhole;
      this.heading.textContent = this.header.title;
      onlyHere([...this.layerBox.children, ...this.headBox.children, this.allLayers, this.allHeads], this.header, "this map");
    }
    // A row of buttons of which several may be pressed; a plain click takes one alone.
    chips(box, number, chosen, name, pick) {
      if (box.children.length !== number) {
        box.replaceChildren(...count(number).map((k) => {
          const title = `${name} ${k}: a click shows it alone, Shift or Ctrl and a click adds it or takes it away`;
          const chip = element("button", { type: "button", className: "chip", textContent: k, title, ariaLabel: `${name} ${k}` });
          return chip;
        }));
      }
      [...box.children].forEach((chip, k) => {
        chip.setAttribute("aria-pressed", String(chosen.has(k)));
        chip.onclick = (event) => {
          if (!(event.shiftKey || event.ctrlKey || event.metaKey)) return pick([k]);
          const next = new Set(chosen);
          if (next.has(k)) next.delete(k);
          else next.add(k);
          return next.size ? pick([...next].sort((a, b) => a - b)) : void 0;
        };
      });
    }
    refreshFoot() {
      const bar = element("canvas", { role: "img", ariaLabel: `Colour scale from 0 to ${this.scaleTop.toPrecision(2)}` });
      const [width, height] = [200, 24];
      const context = fitCanvas(bar, width, height);
      for (let x = 0; x < width - 20; x++) {
        context.fillStyle = `rgb(${this.colour(x / (width - 21)).join(",")})`;
        context.fillRect(x + 10, 0, 1.3, 9);
      }
      context.fillStyle = this.theme.text;
      context.font = `10.5px ${this.theme.font}`;
      context.textAlign = "center";
      let last = -99;
      for (const weight of [0, ...MAP_TICKS.filter((tick) => tick <= this.scaleTop)]) {
        const x = 10 + Math.sqrt(weight / this.scaleTop) * (width - 21);
        if (x - last < 26) continue;
        context.fillText(String(weight), x, 20);
        last = x;
      }
      const isMean = this.header.layers.length > 1 || this.header.heads.length !== 1;
      const broken = brokenNote(this.header.missing, isMean ? "a mean with one of them is none" : "they have no colour");
      this.foot.replaceChildren(element("span", { className: "key" }, "weight", bar), ...kindKeys(this.header), ...broken, this.saving);
    }
  };
  function count(number) {
    return Array.from({ length: number }, (_, k) => k);
  }

  // app/canvas/heat_map/window.js
  var CLOSEST = 4;
  var MapWindow = class {
    constructor(size) {
      this.size = size;
      this.reset();
    }
    reset() {
      this.left = this.top = 0;
      this.span = this.size;
    }
    // What is seen, as a short text: first row, first column, cells on a side. Empty for the whole map.
    written() {
      return this.isWhole ? "" : [this.top, this.left, this.span].map((at) => String(Math.round(at * 10) / 10)).join("-");
    }
    // See what such a text says, as far as the map reaches.
    open(written) {
      if (!written) return;
      const [top, left, span] = written.split("-").map(Number);
      this.span = Math.max(Math.min(CLOSEST, this.size), Math.min(this.size, span));
      Object.assign(this, { top, left });
      this.stayInside();
    }
    get isWhole() {
      return this.span >= this.size;
    }
    // Change the scale; the cell at (x, y), in cells, stays where it is.
    zoom(factor, x = this.left + this.span / 2, y = this.top + this.span / 2) {
      const span = Math.max(Math.min(CLOSEST, this.size), Math.min(this.size, this.span / factor));
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
    // Bring a cell into the window, with a little of what is around it.
    show(row, column) {
      const edge = Math.min(1, this.span / 8);
      this.left = Math.min(column - edge, Math.max(this.left, column + 1 + edge - this.span));
      this.top = Math.min(row - edge, Math.max(this.top, row + 1 + edge - this.span));
      this.stayInside();
    }
    stayInside() {
      const most = this.size - this.span;
      this.left = Math.max(0, Math.min(most, this.left));
      this.top = Math.max(0, Math.min(most, this.top));
    }
  };

  // app/canvas/shared/mount.js
  var mountedViews = /* @__PURE__ */ new WeakMap();
  function mount(View, { data, parentElement }, reports) {
    let view = mountedViews.get(parentElement);
    if (!view) {
      view = new View(parentElement);
      mountedViews.set(parentElement, view);
    }
    Object.assign(view, reports);
    const turn = view.turn = (view.turn ?? 0) + 1;
    const show = (message2) => {
      if (view.turn !== turn || mountedViews.get(parentElement) !== view) return;
      view.update(message2);
      view.root.removeAttribute("aria-busy");
    };
    const message = unpack(data);
    if (message.header.blocks.some(([, , isDeflated]) => isDeflated)) {
      view.root.setAttribute("aria-busy", "true");
      inflate(message).then(show);
    } else show(message);
    return () => {
      view.close();
      mountedViews.delete(parentElement);
    };
  }

  // app/canvas/heat_map/heat_map.js
  function standAlone(place, css, messages) {
    showAlone(component, place, css, messages);
  }
  function component(mounted) {
    const { setStateValue } = mounted;
    return mount(AttentionMap, mounted, {
      report: (selection) => setStateValue("selection", selection),
      reportLook: (look) => setStateValue("look", look)
    });
  }
  var AttentionMap = class extends AttentionMapControls {
    constructor(parent) {
      super();
      this.root = element("div", { className: "view" });
      parent.append(this.root);
      this.revision = 0;
      this.byWord = false;
      this.rowsBy = this.columnsBy = "text";
      this.marked = this.pointed = null;
      this.build();
      this.field.onpointermove = (event) => this.move(event);
      this.field.onpointerleave = () => this.point(null);
      this.field.onpointerdown = (event) => this.press(event);
      this.field.onpointerup = (event) => this.release(event);
      this.field.onpointercancel = () => {
        this.dragged = null;
      };
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
      const sameTokens = this.header && this.header.tokens.join("\0") === header.tokens.join("\0");
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
      if (!sameTokens && wasZoomed) this.noteLook();
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
        rows: this.rowsBy,
        columns: this.columnsBy,
        words: this.byWord,
        seen: this.window.written()
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
      this.weights = this.byWord ? mergeToWords((at) => this.given[at], this.header.tokens.length, this.units.starts) : this.given;
      if (anew) {
        this.window = new MapWindow(this.units.size);
        this.window.open(seen);
        this.names = /* @__PURE__ */ new Map();
      }
      this.sort();
      this.layout();
    }
    sort() {
      const { size } = this.units;
      const placed = this.rows?.length === size;
      const before = this.marked && (placed ? { row: this.rows[this.marked.row], column: this.columns[this.marked.column] } : this.marked);
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
      if (by === "chosen" && !this.marked) this.marked = { row: 0, column: 0 };
      this.sort();
      this.draw();
      this.noteLook();
    }
    zoomBy(factor, x, y) {
      if (factor) {
        const centre = this.marked ?? this.pointed;
        this.window.zoom(factor, x ?? (centre ? centre.column + 0.5 : void 0), y ?? (centre ? centre.row + 0.5 : void 0));
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
      if (!place || event.deltaY > 0 && this.window.isWhole) return;
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
        ArrowUp: [-1, 0],
        ArrowDown: [1, 0],
        ArrowLeft: [0, -1],
        ArrowRight: [0, 1],
        PageUp: [-10, 0],
        PageDown: [10, 0],
        Home: [0, -this.units.size],
        End: [0, this.units.size]
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
  };
  return __toCommonJS(heat_map_exports);
})();
