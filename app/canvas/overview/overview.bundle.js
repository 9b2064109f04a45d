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

  // app/canvas/overview/overview.js
  var overview_exports = {};
  __export(overview_exports, {
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
  function percent(weight) {
    if (Number.isNaN(weight)) return "NaN";
    if (weight >= 0.0995) return `${Math.round(weight * 100)}%`;
    return `${(weight * 100).toFixed(1)}%`;
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

  // app/canvas/overview/grid.js
  var GAP = 3;
  var LEFT = 30;
  var TOP = 20;
  var MAX_GRID = 340;
  var CAPTION = 12;
  var AIR = 3;
  var READABLE = 24;
  var DIMMED = 0.16;
  var OverviewGrid = class {
    // The size of a thumbnail and the number of columns, for the room there is.
    measureGrid(room) {
      const { num_layers: layers, num_heads: heads } = this.header;
      const sorted = this.order === "all";
      const most = this.measure ? 52 : 56;
      const fits = Math.min((MAX_GRID - TOP) / layers, (room - LEFT) / heads, most);
      const least = this.measure ? READABLE + GAP : 15;
      this.cell = Math.max(12, Math.floor(Math.min((room - LEFT) / heads, Math.max(fits, least))) - GAP);
      if (sorted) this.cell = Math.max(this.cell, 30);
      this.captions = !this.measure || this.cell < READABLE && !sorted ? 0 : sorted ? 2 : 1;
      this.across = this.cell + GAP;
      this.down = this.cell + GAP + (this.captions ? CAPTION * this.captions + AIR * this.captions : 0);
      this.columns = sorted ? Math.max(1, Math.min(heads, Math.floor((room - LEFT) / this.across))) : heads;
      this.rows = Math.ceil(this.sequence.length / this.columns);
      this.width = LEFT + this.columns * this.across;
      this.height = TOP + this.rows * this.down;
    }
    // One head, or the mean of a layer's heads (head null), as codes.
    codesOf(layer, head) {
      const { size, num_heads: heads } = this.header;
      const map = (h) => this.codes.subarray((layer * heads + h) * size * size, (layer * heads + h + 1) * size * size);
      if (head !== null) return map(head);
      const encode = encoder(this.table);
      const maps = Array.from({ length: heads }, (_, h) => map(h));
      return maps[0].map((_, at) => encode(maps.reduce((sum, m) => sum + this.table[m[at]], 0) / heads));
    }
    // Boxes of cells that are not numbers: of one head, or of any of a layer's (head null).
    missingOf(layer, head) {
      const { size, num_heads: heads } = this.header;
      const own = (head === null ? Array.from({ length: heads }, (_, h) => h) : [head]).map((h) => this.gaps.get(layer * heads + h)).filter(Boolean);
      return own.length ? missingBoxes(size, (row, column) => own.some((flags) => flags[row * size + column])) : [];
    }
    paintMissingOf(context, layer, head, [x, y, side]) {
      const cell = side / this.header.size;
      for (const [left, top, width, height] of this.missingOf(layer, head)) {
        paintMissing(context, x + left * cell, y + top * cell, width * cell, height * cell);
      }
    }
    // Codes as a canvas of a pixel for each cell, at most `pixels` wide. Where a pixel holds several
    // cells it is the largest, so that narrow lines stay.
    thumbnail(codes, pixels) {
      const { size } = this.header;
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
      canvas.getContext("2d").putImageData(image, 0, 0);
      return canvas;
    }
    thumbnails(pixels) {
      if (this.drawn?.pixels !== pixels) {
        const { num_layers: layers, num_heads: heads } = this.header;
        const made = Array.from({ length: layers * heads }, (_, k) => this.thumbnail(this.codesOf(Math.floor(k / heads), k % heads), pixels));
        this.drawn = { pixels, made };
      }
      return this.drawn.made;
    }
    // Top left corner of the k-th place.
    corner(k) {
      return [LEFT + k % this.columns * this.across, TOP + Math.floor(k / this.columns) * this.down];
    }
    drawOn(context, density) {
      const pictures = this.thumbnails(Math.max(1, Math.round(this.cell * density)));
      context.textBaseline = "middle";
      this.sequence.forEach((head, k) => {
        const [x, y] = this.corner(k);
        context.globalAlpha = this.isOut(head) ? DIMMED : 1;
        const { width } = pictures[head];
        paintCells(context, pictures[head], [0, 0, width, width], [x, y, this.cell, this.cell]);
        const heads = this.header.num_heads;
        this.paintMissingOf(context, Math.floor(head / heads), head % heads, [x, y, this.cell]);
        this.paintCaptions(context, head, x, y);
      });
      context.globalAlpha = 1;
      this.paintNumbers(context);
      this.sequence.forEach((head, k) => {
        if (this.isOpen(head)) this.ring(context, k, this.theme.primary, 2.5);
      });
      if (this.pointed) {
        this.sequence.forEach((head, k) => {
          if (this.isPointed(head)) this.ring(context, k, this.theme.text, 1.5);
        });
      }
    }
    // The value, and in front of it the name where the place does not tell it.
    paintCaptions(context, head, x, y) {
      if (!this.captions) return;
      const { num_heads: heads } = this.header;
      const lines = [this.format(this.value(head), true)];
      if (this.captions === 2) lines.unshift(`${Math.floor(head / heads)}\xB7${head % heads}`);
      context.textAlign = "center";
      context.fillStyle = this.theme.text;
      context.font = `10px ${this.theme.font}`;
      lines.forEach((text, line) => {
        context.globalAlpha = (this.isOut(head) ? 0.55 : 1) * (line < lines.length - 1 ? 0.75 : 1);
        context.fillText(text, x + this.cell / 2, y + this.cell + AIR + CAPTION * (line + 0.5));
      });
    }
    // The heads' numbers on top (only where columns are heads) and the layers' on the left.
    paintNumbers(context) {
      const { num_heads: heads, num_layers: layers } = this.header;
      context.font = `11.5px ${this.theme.font}`;
      context.fillStyle = this.theme.text;
      context.textAlign = "left";
      if (this.order === "all") return context.fillText("layer \xB7 head", LEFT, TOP / 2);
      const place = this.pointed ?? this.opened();
      if (this.order === "place") {
        context.textAlign = "center";
        for (let head = 0; head < heads; head += stride(this.across, heads > 10 ? 17 : 11)) {
          context.globalAlpha = place.head === head ? 1 : 0.7;
          context.fillText(head, this.corner(head)[0] + this.cell / 2, TOP / 2);
        }
      } else context.fillText(this.lowest ? "lowest first" : "highest first", LEFT, TOP / 2);
      context.textAlign = "right";
      for (let layer = 0; layer < layers; layer += stride(this.down, 13)) {
        context.globalAlpha = place.layer === layer ? 1 : 0.7;
        context.fillText(layer, LEFT - 8, this.corner(layer * heads)[1] + this.cell / 2);
      }
      context.globalAlpha = 1;
      return void 0;
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

  // app/canvas/overview/detail.js
  var LARGE = 152;
  var TICKS = [0, 0.1, 0.25, 0.5, 1];
  var OverviewDetail = class extends OverviewGrid {
    // A measure's value of one head; null if it has none.
    value(head, name = this.measure) {
      return name ? this.header.measures[name][head] : null;
    }
    // Shares in percent, others with their unit; short: without a unit, for a thumbnail.
    format(value, short = false, name = this.measure) {
      if (value === null) return "\u2013";
      const { unit } = this.header.names[name];
      if (unit === "share") return short ? `${Math.round(value * 100)}%` : percent(value);
      const digits = value >= 99.5 ? value.toFixed(0) : value >= 9.95 ? value.toFixed(1) : value.toFixed(2);
      return short || !unit ? digits : `${digits} ${unit}`;
    }
    // The mean over a layer's heads where no head is named.
    valueAt({ layer, head }, name) {
      const { num_heads: heads } = this.header;
      if (head !== null) return this.value(layer * heads + head, name);
      const known = this.header.measures[name].slice(layer * heads, (layer + 1) * heads).filter((value) => value !== null);
      return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
    }
    title({ layer, head }) {
      return head === null ? `Layer ${layer}, mean of its heads` : `Layer ${layer}, head ${head}`;
    }
    refreshDetail() {
      const place = this.pointed ?? this.opened();
      const { measures, names, num_tokens: tokens } = this.header;
      const large = element("canvas", { ariaHidden: "true" });
      const picture = this.thumbnail(this.codesOf(place.layer, place.head), LARGE);
      const context = fitCanvas(large, LARGE, LARGE);
      paintCells(context, picture, [0, 0, picture.width, picture.width], [0, 0, LARGE, LARGE]);
      this.paintMissingOf(context, place.layer, place.head, [0, 0, LARGE]);
      const isOpen = place.layer === this.selected.layer && String(place.head === null ? [] : [place.head]) === String(this.selected.heads);
      const state = this.header.alone ? "" : isOpen ? "open below" : this.pointed ? "click to open" : "one of the open heads";
      const known = Object.keys(measures).filter((name) => this.valueAt(place, name) !== null);
      const shares = known.filter((name) => names[name].unit === "share").map((name) => {
        const fill = element("i");
        fill.style.width = `${100 * this.valueAt(place, name)}%`;
        return element(
          "div",
          { className: name === this.measure ? "measure chosen" : "measure" },
          element("span", { textContent: names[name].label }),
          element("div", { className: "bar", ariaHidden: "true" }, fill),
          element("span", { textContent: percent(this.valueAt(place, name)) })
        );
      });
      const others = known.filter((name) => names[name].unit !== "share").map((name) => element(
        "span",
        { className: name === this.measure ? "chosen" : "" },
        `${names[name].label}: ${this.format(this.valueAt(place, name), false, name)}`
      ));
      const more = element(
        "p",
        { className: "more" },
        ...others,
        element("span", {}, `${tokens} tokens; entropy is at most ${Math.log(tokens).toFixed(2)} nats`)
      );
      this.detail.replaceChildren(
        element("h4", {}, this.title(place), element("small", { textContent: state })),
        element(
          "div",
          { className: "large" },
          large,
          element("p", { textContent: "Rows look, columns are looked at; first token at the top left." })
        ),
        element("div", {}, ...shares, more)
      );
      clearTimeout(this.saying);
      if (this.pointed) {
        this.saying = setTimeout(() => {
          this.said.textContent = this.spoken(place, known);
        }, 250);
      }
    }
    spoken(place, known) {
      const { names } = this.header;
      const first = this.measure && known.includes(this.measure) ? [this.measure] : [];
      const parts = [...first, ...known.filter((name) => name !== this.measure)].map((name) => `${names[name].label} ${this.format(this.valueAt(place, name), false, name)}`);
      return `${this.title(place)}: ${parts.join(", ")}.`;
    }
    // At the pointer: the chosen measure, or the strongest habits.
    tell(event) {
      if (!this.pointed || !event) return this.tooltip.hide();
      const { measures, names } = this.header;
      const at = (name) => this.valueAt(this.pointed, name);
      const strongest = Object.keys(measures).filter((name) => names[name].habit && at(name) !== null).sort((a, b) => at(b) - at(a)).slice(0, 2);
      const lines = (this.measure ? [this.measure] : strongest).map((name) => element("div", {}, `${names[name].label}: `, element("b", { textContent: this.format(at(name), false, name) })));
      return this.tooltip.show(event.clientX, event.clientY, element("b", { textContent: this.title(this.pointed) }), ...lines);
    }
    refreshScale() {
      const bar = element("canvas", { role: "img", ariaLabel: "Colour scale of the weights, 0 to 100%" });
      const [width, height] = [190, 26];
      const context = fitCanvas(bar, width, height);
      for (let x = 0; x < width - 30; x++) {
        const code = Math.round(255 * x / (width - 31));
        context.fillStyle = `rgb(${this.colours.subarray(code * 3, code * 3 + 3).join(",")})`;
        context.fillRect(x + 10, 0, 1.2, 9);
      }
      context.fillStyle = this.theme.text;
      context.globalAlpha = 0.75;
      context.font = `10.5px ${this.theme.font}`;
      context.textAlign = "center";
      for (const weight of TICKS) {
        const code = this.table.findIndex((value) => value >= weight - 1e-6);
        context.fillText(weight ? `${Math.round(weight * 100)}%` : "0", 10 + code / 255 * (width - 31), 22);
      }
      const broken = brokenNote(this.header.missing, "such heads have no measures");
      this.scale.replaceChildren("weight", bar, ...broken, this.saving);
    }
    // ---- table and files: every head in the shown order, with every measure ----
    sheet() {
      const { measures, names, num_heads: heads } = this.header;
      const shown = Object.keys(measures);
      return {
        columns: ["layer", "head", ...shown.map((name) => names[name].label + (names[name].unit === "share" ? "" : ` (${names[name].unit || "number"})`))],
        rows: this.sequence.filter((head) => !this.isOut(head)).map((head) => [Math.floor(head / heads), head % heads, ...shown.map((name) => measures[name][head])])
      };
    }
    twinTable() {
      const { columns, rows } = this.sheet();
      const total = this.sequence.length;
      const left = rows.length < total ? `the ${rows.length} of ${total} heads that pass the limit` : `all ${total} heads`;
      return { caption: `Measures of ${left}, in the order of the pictures. Shares are between 0 and 1.`, columns, rows };
    }
    fileName() {
      return "bertscope-attention-overview";
    }
    picture() {
      return {
        width: Math.ceil(this.width + 4),
        height: Math.ceil(this.height + 4),
        ground: this.theme.background,
        draw: (context) => this.drawOn(context, 2)
      };
    }
    facts() {
      const { names, num_tokens: tokens } = this.header;
      return {
        what: "Measures of attention heads",
        tokens,
        order: this.order,
        sorted_by: this.measure ? names[this.measure].label : null,
        limit: this.limit,
        ...this.header.missing ? { not_numbers: this.header.missing } : {}
      };
    }
    // Heads are in their natural place here; thumbnails as weights, each the largest of its block.
    arrays() {
      const { measures, num_layers: layers, num_heads: heads, size } = this.header;
      const numbers = Object.entries(measures).map(([name, values]) => [name, {
        shape: [layers, heads],
        values: Float32Array.from(values, (value) => value ?? NaN)
      }]);
      const thumbnails = Float32Array.from(this.codes, (code) => this.table[code]);
      for (const [head, flags] of this.gaps) flags.forEach((flag, at) => {
        if (flag) thumbnails[head * size ** 2 + at] = NaN;
      });
      return { ...Object.fromEntries(numbers), thumbnails: { shape: [layers, heads, size, size], values: thumbnails } };
    }
  };

  // app/canvas/overview/order.js
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
      if (values[a] === null || values[b] === null) return (values[a] === null) - (values[b] === null) || a - b;
      return sign * (values[a] - values[b]) || a - b;
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

  // app/canvas/overview/controls.js
  var OverviewControls = class extends OverviewDetail {
    build() {
      this.measureSelect = element("select", { ariaLabel: "Measure of the heads" });
      this.measureSelect.onchange = () => this.look({ measure: this.measureSelect.value, limit: null });
      this.orderSelect = element(
        "select",
        { ariaLabel: "Order of the heads" },
        ...ORDERS.map(([value, textContent]) => element("option", { value, textContent }))
      );
      this.orderSelect.onchange = () => this.look({ order: this.orderSelect.value });
      this.direction = element("button", { type: "button", className: "step" });
      this.direction.onclick = () => this.look({ lowest: !this.lowest, limit: null });
      this.slider = element("input", { type: "range", min: "0", max: "100", step: "1" });
      this.slider.oninput = () => this.setLimit(Number(this.slider.value) / 100);
      this.limitText = element("output");
      this.limitLabel = element("label", { title: "Heads beyond the limit are dimmed" }, "Dim", this.slider, this.limitText);
      this.measured = element(
        "span",
        { className: "group" },
        element("label", {}, "Order", this.orderSelect),
        this.direction
      );
      this.canvas = element("canvas", { ariaHidden: "true" });
      this.grid = element("div", {
        className: "grid",
        tabIndex: 0,
        role: "application",
        ariaLabel: "All heads. Arrows move, Home and End go to the first and the last, Enter opens the head, Escape lets go. The numbers are in the table below."
      }, this.canvas);
      this.holder = element("div", { className: "frame" }, this.grid);
      this.scale = element("div", { className: "scale" });
      this.detail = element("div", { className: "detail" });
      this.said = element("div", { className: "said", ariaLive: "polite" });
      this.twin = new Twin("Numbers of all heads as a table", () => this.twinTable());
      this.saving = saveButtons(this);
      this.root.append(
        element(
          "div",
          { className: "controls" },
          element("label", {}, "Measure", this.measureSelect),
          this.measured,
          this.limitLabel
        ),
        element(
          "div",
          { className: "body" },
          element("div", { className: "left" }, this.holder, this.scale),
          this.detail
        ),
        this.twin.root,
        this.said
      );
      this.tooltip = new Tooltip(this.root);
    }
    refreshControls() {
      const { measures, names } = this.header;
      const known = Object.keys(measures).filter((name) => rangeOf(measures[name]));
      if (this.measureSelect.options.length !== known.length + 1) {
        this.measureSelect.replaceChildren(
          element("option", { value: "", textContent: "none" }),
          ...known.map((name) => element("option", { value: name, textContent: names[name].label }))
        );
      }
      if (!known.includes(this.measure)) Object.assign(this, { measure: "", limit: null });
      this.measureSelect.value = this.measure;
      this.orderSelect.value = this.order;
      this.direction.textContent = this.lowest ? "\u2191" : "\u2193";
      const says = this.lowest ? "Lowest first; click for the highest first" : "Highest first; click for the lowest first";
      this.direction.title = this.direction.ariaLabel = says;
      this.measured.style.display = this.limitLabel.style.display = this.measure ? "" : "none";
      this.refreshLimit();
    }
    // share: of the way from the least to the largest value; at the slider's start nothing is dimmed.
    setLimit(share) {
      const [least, most] = rangeOf(this.header.measures[this.measure]);
      const limit = this.lowest ? most - share * (most - least) : least + share * (most - least);
      this.look({ limit: share === 0 ? null : limit });
    }
    refreshLimit() {
      if (!this.measure) return;
      const values = this.header.measures[this.measure];
      const [least, most] = rangeOf(values);
      const share = this.limit === null ? 0 : (this.limit - least) / (most - least || 1);
      this.slider.value = Math.round(100 * (this.limit !== null && this.lowest ? 1 - share : share));
      const left = values.filter((value) => passes(value, this.limit, this.lowest)).length;
      const sign = this.lowest ? "above" : "below";
      this.limitText.textContent = this.limit === null ? "none" : `${sign} ${this.format(this.limit)}: ${left} of ${values.length} left`;
      this.slider.setAttribute("aria-valuetext", this.limitText.textContent);
      this.slider.setAttribute("aria-label", `Dim heads ${sign}`);
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

  // app/canvas/overview/overview.js
  var WIDE = 640;
  function standAlone(place, css, messages) {
    showAlone(component, place, css, messages);
  }
  function component(mounted) {
    const { setTriggerValue, setStateValue } = mounted;
    return mount(Overview, mounted, {
      report: (picked) => setTriggerValue("picked", picked),
      reportLook: (look) => setStateValue("look", look)
    });
  }
  var Overview = class extends OverviewControls {
    constructor(parent) {
      super();
      this.root = element("div", { className: "view overview" });
      parent.append(this.root);
      this.pointed = null;
      this.measure = "";
      this.limit = null;
      this.order = "place";
      this.lowest = false;
      this.build();
      this.grid.onpointermove = (event) => this.point(this.hit(event), event);
      this.grid.onpointerleave = () => this.point(null);
      this.grid.onclick = (event) => this.pick(this.hit(event));
      this.grid.onkeydown = (event) => this.key(event);
      this.observer = new ResizeObserver(() => this.layout());
      this.observer.observe(this.root);
    }
    close() {
      this.observer.disconnect();
      this.twin.close();
      cancelAnimationFrame(this.frame);
      clearTimeout(this.saying);
      clearTimeout(this.reporting);
      this.root.remove();
    }
    update({ header, blocks }) {
      const first = !this.header;
      this.header = header;
      this.codes = blocks[0];
      this.colours = blocks[1];
      this.table = asFloats(blocks[2]);
      const cells = header.size ** 2;
      this.gaps = new Map(header.broken.map((head, k) => [head, asFlags(blocks[3], k * cells, cells)]));
      this.packed = Uint32Array.from({ length: 256 }, (_, code) => {
        const [red, green, blue] = this.colours.subarray(code * 3, code * 3 + 3);
        return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
      });
      this.selected = { layer: header.layer, heads: header.heads };
      if (first) Object.assign(this, header.look);
      this.theme = readTheme(this.root);
      this.drawn = null;
      this.refresh();
    }
    // Change how one looks at the heads; the choice is reported, so that it gets into the address.
    look(change) {
      Object.assign(this, change);
      this.refresh();
      clearTimeout(this.reporting);
      const { measure, order, lowest, limit } = this;
      this.reporting = setTimeout(() => this.reportLook({ measure, order, lowest, limit }), 400);
    }
    refresh() {
      this.refreshControls();
      const { num_layers: layers, num_heads: heads, measures } = this.header;
      if (!this.measure) this.order = "place";
      this.sequence = orderHeads(this.measure && measures[this.measure], layers, heads, this.order, this.lowest);
      this.twin.refresh();
      this.layout();
    }
    layout() {
      if (!this.header || !this.root.clientWidth) return;
      const wide = this.root.clientWidth >= WIDE;
      this.root.classList.toggle("narrow", !wide);
      this.measureGrid(wide ? this.root.clientWidth - 450 : this.root.clientWidth - 12);
      this.holder.style.width = `${this.width + 16}px`;
      this.scale.style.maxWidth = `${Math.max(300, this.width + 16)}px`;
      this.refreshScale();
      this.refreshDetail();
      this.draw();
    }
    draw() {
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => {
        this.theme = readTheme(this.root);
        const density = window.devicePixelRatio || 1;
        this.drawOn(fitCanvas(this.canvas, this.width + 2, this.height + 2), density);
      });
    }
    // ---- what is marked ----
    isOut(head) {
      return Boolean(this.measure) && !passes(this.value(head), this.limit, this.lowest);
    }
    isOpen(head) {
      const { num_heads: heads } = this.header;
      if (Math.floor(head / heads) !== this.selected.layer) return false;
      return !this.selected.heads.length || this.selected.heads.includes(head % heads);
    }
    isPointed(head) {
      const { num_heads: heads } = this.header;
      return Math.floor(head / heads) === this.pointed.layer && (this.pointed.head === null || head % heads === this.pointed.head);
    }
    // What the detail shows while nothing is pointed at.
    opened() {
      return { layer: this.selected.layer, head: this.selected.heads[0] ?? null };
    }
    // ---- pointing and picking ----
    placeOf(k) {
      const { num_heads: heads } = this.header;
      const head = this.sequence[k];
      return head === void 0 ? null : { layer: Math.floor(head / heads), head: head % heads };
    }
    hit(event) {
      const box = this.canvas.getBoundingClientRect();
      const column = Math.floor((event.clientX - box.left - LEFT) / this.across);
      const row = Math.floor((event.clientY - box.top - TOP) / this.down);
      if (row < 0 || row >= this.rows || column >= this.columns) return null;
      if (column < 0) return this.order === "all" ? null : { layer: row, head: null };
      return this.placeOf(row * this.columns + column);
    }
    point(place, event) {
      const same = place?.layer === this.pointed?.layer && place?.head === this.pointed?.head;
      this.pointed = place;
      this.tell(event);
      if (same) return;
      this.refreshDetail();
      this.draw();
    }
    pick(place) {
      if (!place) return;
      this.selected = { layer: place.layer, heads: place.head === null ? [] : [place.head] };
      this.draw();
      this.report({ layer: place.layer, heads: this.selected.heads });
    }
    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { num_heads: heads } = this.header;
      const now = this.pointed ?? this.opened();
      const at = this.sequence.indexOf(now.layer * heads + (now.head ?? 0));
      const last = this.sequence.length - 1;
      const moves = {
        ArrowUp: -this.columns,
        ArrowDown: this.columns,
        ArrowLeft: -1,
        ArrowRight: 1,
        Home: -at,
        End: last - at
      };
      if (event.key in moves) {
        const next = at + moves[event.key];
        if (next >= 0 && next <= last) {
          this.point(this.placeOf(next));
          this.scrollTo(next);
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
    // The grid scrolls when sorting makes it long.
    scrollTo(k) {
      const y = this.corner(k)[1];
      const { scrollTop, clientHeight } = this.holder;
      if (y - TOP < scrollTop) this.holder.scrollTop = y - TOP;
      if (y + this.down > scrollTop + clientHeight) this.holder.scrollTop = y + this.down - clientHeight;
    }
  };
  return __toCommonJS(overview_exports);
})();
