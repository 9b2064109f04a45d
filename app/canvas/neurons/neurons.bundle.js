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

  // app/canvas/neurons/neurons.js
  var neurons_exports = {};
  __export(neurons_exports, {
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
  function percent(weight) {
    if (Number.isNaN(weight)) return "NaN";
    if (weight >= 0.0995) return `${Math.round(weight * 100)}%`;
    return `${(weight * 100).toFixed(1)}%`;
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

  // app/canvas/shared/levels.js
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

  // app/canvas/shared/canvas.js
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
  function inkOver(rgb) {
    const [r, g, b] = Array.from(rgb, (c) => c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.35 ? "#111" : "#fff";
  }

  // app/canvas/neurons/paint.js
  var ROW = 22;
  var STRIP = 15;
  var HEAD = 92;
  var GAP = 10;
  var NeuronPainter = class {
    // ---- numbers ----
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
    // The order of the rows and the ends of the scales, for the present query.
    arrange() {
      const { width } = this.header;
      const places = Array.from({ length: this.size }, (_, key) => key);
      const rank = (key) => Number.isNaN(this.weight(key)) ? Infinity : this.weight(key);
      this.order = this.orderBy === "text" ? places : places.sort((a, b) => rank(b) - rank(a) || a - b);
      this.rowOf = new Int32Array(this.size);
      this.order.forEach((key, row) => {
        this.rowOf[key] = row;
      });
      let [most, mostScore] = [0, 0];
      for (let key = 0; key < this.size; key++) {
        mostScore = larger(mostScore, this.score(key));
        for (let k = 0; k < width; k++) most = larger(most, this.product(key, k));
      }
      [this.productTop, this.scoreTop] = [most || 1, mostScore || 1];
    }
    // One scale for all queries and keys of the head, so that tokens can be compared.
    measure() {
      let most = 0;
      for (const list of [this.queries, this.keys]) for (const value of list) most = larger(most, value);
      this.vectorTop = most || 1;
    }
    // ---- colours ----
    readColours() {
      this.theme = readTheme(this.root);
      const isDark = inkOver(rgbOf(this.theme.background)) === "#fff";
      this.stops = (isDark ? this.header.dark : this.header.light).map(hexRgb);
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
    layout() {
      if (!this.header || !this.root.clientWidth) return;
      this.width = this.root.clientWidth - 2;
      const narrow = this.width < 620;
      this.names = narrow ? 92 : 150;
      this.numbers = narrow ? 50 : 92;
      this.bars = narrow ? 62 : 130;
      this.strip = Math.max(60, this.width - this.names - this.numbers - this.bars - 3 * GAP - 18);
      const rows = Math.min(this.size, 20);
      this.height = HEAD + rows * ROW + 6;
      this.scroller.style.height = `${this.height}px`;
      this.spacer.style.height = `${HEAD + this.size * ROW + 6}px`;
      this.draw();
    }
    get cell() {
      return this.strip / this.header.width;
    }
    get scoreX() {
      return this.names + this.strip + GAP;
    }
    get weightX() {
      return this.scoreX + this.numbers + GAP;
    }
    draw() {
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => {
        if (!this.width) return;
        this.readColours();
        this.drawOn(fitCanvas(this.canvas, this.width, this.height));
      });
    }
    drawOn(context) {
      const scrolled = this.scroller.scrollTop;
      context.textBaseline = "middle";
      const first = Math.floor(scrolled / ROW);
      const last = Math.min(this.size, Math.ceil((scrolled + this.height - HEAD) / ROW));
      for (let row = first; row < last; row++) this.paintRow(context, this.order[row], HEAD + row * ROW - scrolled);
      context.fillStyle = this.theme.background;
      context.fillRect(0, 0, this.width, HEAD);
      this.paintHead(context);
    }
    // ---- the head: names of the columns, the query, the key that is looked at ----
    paintHead(context) {
      const write = (text, x, align = "left") => {
        context.textAlign = align;
        context.fillText(text, x, 12);
      };
      context.font = `11.5px ${this.theme.font}`;
      context.fillStyle = this.theme.text;
      context.globalAlpha = 0.7;
      const { width } = this.header;
      write("token", 14);
      write(fitText(context, `dimensions 0 to ${width - 1} of the head`, this.strip), this.names);
      write(this.numbers < 60 ? "score" : `q\xB7k / \u221A${width}`, this.scoreX + this.numbers, "right");
      write("weight", this.weightX);
      context.globalAlpha = 1;
      const key = this.shownKey;
      this.paintVector(context, "q", this.query, this.queries, 22);
      this.paintVector(context, "k", key, this.keys, 44);
      context.fillStyle = this.theme.border;
      context.fillRect(0, HEAD - 24, this.width, 1);
      context.fillStyle = this.theme.text;
      context.globalAlpha = 0.7;
      context.font = `11.5px ${this.theme.font}`;
      context.textAlign = "left";
      const said = `q \xD7 k with every key, ${this.orderBy === "text" ? "in the order of the text" : "most attention first"}`;
      context.fillText(fitText(context, said, this.width - 20), 14, HEAD - 11);
      context.globalAlpha = 1;
    }
    paintVector(context, letter, token, values, y) {
      const { width } = this.header;
      context.textAlign = "left";
      context.font = `italic 600 13px ${this.theme.font}`;
      context.fillStyle = this.theme.text;
      context.fillText(letter, 14, y + ROW / 2);
      this.paintName(context, token, 28, y, letter === "q");
      this.paintStrip(context, y, (k) => values[token * width + k], this.vectorTop);
    }
    // ---- a row ----
    paintRow(context, key, y) {
      const isMarked = key === this.marked;
      const isPointed = key === this.pointed?.key;
      if (isMarked || isPointed) {
        context.globalAlpha = isMarked ? 0.16 : 0.08;
        context.fillStyle = this.theme.primary;
        context.fillRect(0, y, this.width, ROW);
        context.globalAlpha = 1;
      }
      context.fillStyle = kindColour(this.header, this.header.text_ids[key]);
      context.fillRect(4, y + 4, 4, ROW - 8);
      this.paintName(context, key, 14, y, isMarked);
      this.paintStrip(context, y, (k) => this.product(key, k), this.productTop);
      this.paintScore(context, this.score(key), y);
      this.paintWeight(context, this.weight(key), y);
    }
    paintName(context, token, x, y, isBold) {
      context.textAlign = "left";
      context.font = `${isBold ? 600 : 400} 12.5px ${this.theme.font}`;
      context.fillStyle = this.theme.text;
      const room = this.names - x - 34;
      const cut = `${room} ${isBold} ${token}`;
      let text = this.fitted.get(cut);
      if (text === void 0) {
        text = fitText(context, legible(this.header.tokens[token].slice(0, 400)), room);
        this.fitted.set(cut, text);
      }
      context.fillText(text, x, y + ROW / 2 + 0.5);
      context.textAlign = "right";
      context.font = `10.5px ${this.theme.font}`;
      context.globalAlpha = 0.6;
      context.fillText(String(token), this.names - 8, y + ROW / 2 + 0.5);
      context.globalAlpha = 1;
    }
    paintStrip(context, y, value, top) {
      const gap = this.cell >= 5 ? 0.6 : 0;
      for (let k = 0; k < this.header.width; k++) {
        context.fillStyle = this.colour(value(k), top);
        context.fillRect(this.names + k * this.cell, y + (ROW - STRIP) / 2, this.cell - gap + (gap ? 0 : 0.3), STRIP);
      }
    }
    paintScore(context, score, y) {
      const room = this.numbers < 60 ? 0 : this.numbers - 46;
      if (room && !Number.isNaN(score)) {
        const [middle, reach] = [this.scoreX + room / 2, score / this.scoreTop * (room / 2)];
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
        context.fillStyle = this.header.accent;
        context.fillRect(this.weightX, y + 5, Math.max(0.7, weight * room), ROW - 10);
      }
      this.paintNumber(context, Number.isNaN(weight) ? "NaN" : percent(weight), this.weightX + this.bars, y);
    }
    paintNumber(context, text, x, y) {
      context.textAlign = "right";
      context.font = `12px ${this.theme.font}`;
      context.fillStyle = this.theme.text;
      context.fillText(text, x, y + ROW / 2 + 0.5);
    }
  };
  function larger(most, value) {
    const size = Math.abs(value);
    return size > most && size < Infinity ? size : most;
  }
  function hexRgb(hex) {
    return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  }
  function rgbOf(colour) {
    const context = element("canvas", { width: 1, height: 1 }).getContext("2d");
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return context.getImageData(0, 0, 1, 1).data;
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

  // app/canvas/neurons/words.js
  var TOLD = 3;
  var NeuronWords = class extends NeuronPainter {
    // The key whose vector is shown in full: the pointed one, else the marked one.
    get shownKey() {
      return this.pointed?.key ?? this.marked;
    }
    name(token) {
      return shorten(legible(this.header.tokens[token]), 60);
    }
    // Dimensions in the order of the size of their products.
    strongest(key) {
      const places = Array.from({ length: this.header.width }, (_, k) => k);
      const size = (k) => Math.abs(this.product(key, k));
      return places.sort((a, b) => size(b) - size(a) || a - b).slice(0, TOLD);
    }
    tell(event) {
      const place = this.pointed;
      if (!place || !event) return this.tooltip.hide();
      const { tokens, width } = this.header;
      const lines = [];
      if (place.dimension !== null) {
        const [q, k] = [this.queries[this.query * width + place.dimension], this.keys[place.key * width + place.dimension]];
        const text = `${number(q)} \xD7 ${number(k)} = ${number(this.product(place.key, place.dimension))}`;
        lines.push(element("div", {}, `dimension ${place.dimension}: `, element("b", { textContent: text })));
      }
      lines.push(element(
        "div",
        {},
        "score ",
        element("b", { textContent: number(this.score(place.key)) }),
        ", weight ",
        element("b", { textContent: exactWeight(this.weight(place.key)) })
      ));
      return this.tooltip.show(
        event.clientX,
        event.clientY,
        tokenInTip(tokens[this.query]),
        " looks at ",
        tokenInTip(tokens[place.key]),
        ...lines
      );
    }
    say() {
      const key = this.shownKey;
      const { width } = this.header;
      const [score, weight] = [this.score(key), this.weight(key)];
      const bdi = (token) => element("bdi", { textContent: `\u201C${this.name(token)}\u201D` });
      const strong = (text2) => element("b", { textContent: text2 });
      const dimensions = this.strongest(key).map((k) => `${k} (${number(this.product(key, k))})`).join(", ");
      this.line.replaceChildren(
        bdi(this.query),
        " looks at ",
        bdi(key),
        ": the products sum to ",
        strong(number(score * Math.sqrt(width))),
        `, divided by \u221A${width} that is the score `,
        strong(number(score)),
        ", and its share of the softmax over all keys is ",
        strong(exactWeight(weight)),
        `. Largest products: dimensions ${dimensions}.`
      );
      clearTimeout(this.saying);
      const text = `${this.name(this.query)} looks at ${this.name(key)}: score ${number(score)}, weight ${exactWeight(weight)}`;
      this.saying = setTimeout(() => {
        this.said.textContent = text;
      }, 200);
    }
    // ---- the table ----
    twinTable() {
      return {
        caption: `${this.title()}: every key, ${this.orderBy === "text" ? "in the order of the text" : "most attention first"}.`,
        columns: ["key", "score", "weight", "largest products (dimension: value)"],
        rows: this.order.map((key) => [
          `${key} ${this.header.tokens[key]}`,
          shownNumber(this.score(key)),
          shownNumber(this.weight(key)),
          this.strongest(key).map((k) => `${k}: ${number(this.product(key, k))}`).join(", ")
        ])
      };
    }
    title() {
      const { layer, head } = this.header;
      return `Layer ${layer} head ${head}, \u201C${this.name(this.query)}\u201D (token ${this.query}) looks`;
    }
    // ---- files: all keys in the shown order, the picture as it is seen ----
    fileName() {
      const { layer, head } = this.header;
      return `bertscope-neurons-layer-${layer}-head-${head}-token-${this.query}`;
    }
    picture() {
      return {
        width: this.width,
        height: this.height,
        ground: this.theme.background,
        draw: (context) => this.drawOn(context)
      };
    }
    sheet() {
      const dimensions = Array.from({ length: this.header.width }, (_, k) => k);
      return {
        columns: ["position", "key", "score", "weight", ...dimensions.map((k) => `q_k_${k}`)],
        rows: this.order.map((key) => [
          key,
          this.header.tokens[key],
          exact(this.score(key)),
          exact(this.weight(key)),
          ...dimensions.map((k) => exact(this.product(key, k)))
        ])
      };
    }
    facts() {
      const { layer, head, tokens } = this.header;
      return { what: "query times key, score, weight", layer, head, query: this.query, token: tokens[this.query] };
    }
    arrays() {
      const { width, tokens } = this.header;
      const row = (list, length) => list.slice(this.query * length, (this.query + 1) * length);
      const products = Float32Array.from({ length: this.size * width }, (_, at) => this.product(Math.floor(at / width), at % width));
      return {
        query: { shape: [width], values: row(this.queries, width) },
        keys: { shape: [this.size, width], values: this.keys },
        products: { shape: [this.size, width], values: products },
        scores: { shape: [this.size], values: row(this.scores, this.size) },
        weights: { shape: [this.size], values: row(this.weights, this.size) },
        tokens: { shape: [this.size], values: tokens },
        query_position: { shape: [1], values: Int32Array.of(this.query) }
      };
    }
  };
  function number(value) {
    return Number.isNaN(value) ? "not a number" : value.toFixed(Math.abs(value) < 0.1 ? 4 : 3);
  }
  function exactWeight(weight) {
    return Number.isNaN(weight) ? "not a number" : weight.toFixed(6);
  }
  function shownNumber(value) {
    return Number.isNaN(value) ? "NaN" : value.toFixed(4);
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
    for (const [width, number2] of fields) {
      for (let byte = 0; byte < width; byte++) out.push(number2 >>> 8 * byte & 255);
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
  function round(number2) {
    return Math.round(number2 * 100) / 100;
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

  // app/canvas/neurons/controls.js
  var NeuronControls = class extends NeuronWords {
    build() {
      this.layerSelect = this.select("Layer", (layer) => this.choose(layer, this.head));
      this.headSelect = this.select("Head", (head) => this.choose(this.layer, head));
      this.querySelect = this.select("Token that looks", (query) => this.setQuery(query));
      this.before = this.step("\u2039", "Token before (left arrow)", () => this.setQuery(this.query - 1));
      this.after = this.step("\u203A", "Token after (right arrow)", () => this.setQuery(this.query + 1));
      this.orderSelect = element(
        "select",
        { ariaLabel: "Order of the keys" },
        element("option", { value: "weight", textContent: "most attention first" }),
        element("option", { value: "text", textContent: "as in the text" })
      );
      this.orderSelect.onchange = () => this.setOrder(this.orderSelect.value);
      this.canvas = element("canvas", { ariaHidden: "true" });
      this.spacer = element("div", {}, this.canvas);
      this.scroller = element("div", {
        className: "scroller",
        tabIndex: 0,
        role: "application",
        ariaLabel: "Neurons. Left and right change the token that looks, up and down the key, Page keys by ten, Home and End to the first and last, Enter lets the key look. The numbers are in the table below."
      }, this.spacer);
      this.line = element("div", { className: "note line sum" });
      this.said = element("div", { className: "said", ariaLive: "polite" });
      this.foot = element("div", { className: "foot" });
      this.twin = new Twin("Numbers as a table", () => this.twinTable());
      this.saving = saveButtons(this);
      this.root.append(
        element(
          "div",
          { className: "controls" },
          element("label", {}, "Layer", this.layerSelect),
          element("label", {}, "Head", this.headSelect),
          element("span", { className: "group" }, "Token that looks", this.before, this.querySelect, this.after),
          element("label", {}, "Keys", this.orderSelect)
        ),
        this.scroller,
        this.line,
        this.foot,
        this.twin.root,
        this.said
      );
      this.tooltip = new Tooltip(this.root);
    }
    select(ariaLabel, chosen) {
      const made = element("select", { ariaLabel });
      made.onchange = () => chosen(Number(made.value));
      return made;
    }
    step(textContent, title, onclick) {
      return element("button", { type: "button", className: "step", textContent, title, ariaLabel: title, onclick });
    }
    // The choices that the checkpoint and the text give.
    refreshOptions() {
      const numbered = (many) => Array.from({ length: many }, (_, k) => element("option", { value: k, textContent: k }));
      const { num_layers: layers, num_heads: heads, tokens } = this.header;
      if (this.layerSelect.length !== layers) this.layerSelect.replaceChildren(...numbered(layers));
      if (this.headSelect.length !== heads) this.headSelect.replaceChildren(...numbered(heads));
      this.querySelect.replaceChildren(...tokens.map((token, place) => element("option", { value: place, textContent: `${place} ${shorten(legible(token), 24)}` })));
    }
    refreshControls() {
      this.layerSelect.value = this.layer;
      this.headSelect.value = this.head;
      onlyHere([this.layerSelect, this.headSelect], this.header, `layer ${this.layer} head ${this.head}`);
      this.querySelect.value = this.query;
      this.orderSelect.value = this.orderBy;
      this.before.disabled = this.query === 0;
      this.after.disabled = this.query === this.size - 1;
    }
    refreshFoot() {
      const hasNaN = [this.queries, this.keys, this.scores, this.weights].some((list) => list.some(Number.isNaN));
      const broken = hasNaN ? [element(
        "span",
        { className: "key broken" },
        "Red cells are not numbers (NaN): this checkpoint's weights are damaged."
      )] : [];
      this.foot.replaceChildren(
        this.scale("q, k", this.vectorTop),
        this.scale("q \xD7 k", this.productTop),
        ...kindKeys(this.header),
        ...broken,
        this.saving
      );
    }
    scale(name, top) {
      const [width, height] = [128, 24];
      const bar = element("canvas", { role: "img", ariaLabel: `Colours of ${name} from ${-top.toPrecision(2)} to ${top.toPrecision(2)}` });
      const context = fitCanvas(bar, width, height);
      const length = width - 40;
      for (let x = 0; x < length; x++) {
        context.fillStyle = this.colour(2 * x / (length - 1) - 1, 1);
        context.fillRect(20 + x, 0, 1.3, 9);
      }
      context.fillStyle = this.theme.text;
      context.font = `10.5px ${this.theme.font}`;
      context.textAlign = "center";
      for (const at of [-1, 0, 1]) {
        const text = at ? `${at < 0 ? "\u2212" : ""}${Number(top.toPrecision(2))}` : "0";
        context.fillText(text, 20 + (at + 1) / 2 * length, 20);
      }
      return element("span", { className: "key" }, name, bar);
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

  // app/canvas/neurons/neurons.js
  function standAlone(place, css, messages) {
    showAlone(component, place, css, messages);
  }
  function component(mounted) {
    const { setStateValue } = mounted;
    return mount(NeuronView, mounted, {
      report: (selection) => setStateValue("selection", selection),
      reportLook: (look) => setStateValue("look", look)
    });
  }
  var NeuronView = class extends NeuronControls {
    constructor(parent) {
      super();
      this.root = element("div", { className: "view" });
      parent.append(this.root);
      this.revision = 0;
      this.fitted = /* @__PURE__ */ new Map();
      this.pointed = null;
      this.build();
      this.scroller.onscroll = () => this.draw();
      this.scroller.onpointermove = (event) => this.point(this.hit(event), event);
      this.scroller.onpointerleave = () => this.point(null);
      this.scroller.onclick = (event) => this.pick(this.hit(event));
      this.scroller.ondblclick = (event) => this.lookFrom(this.hit(event)?.key);
      this.scroller.onkeydown = (event) => this.key(event);
      this.observer = new ResizeObserver(() => this.layout());
      this.observer.observe(this.root);
    }
    close() {
      this.observer.disconnect();
      this.twin.close();
      cancelAnimationFrame(this.frame);
      for (const timer of [this.reporting, this.saying, this.noting]) clearTimeout(timer);
      this.root.remove();
    }
    // ---- what the server sends ----
    update({ header, blocks }) {
      const sameTokens = this.header && this.header.tokens.join("\0") === header.tokens.join("\0");
      const look = this.header ? null : header.look;
      this.header = header;
      [this.queries, this.keys, this.scores, this.weights] = blocks.map(asFloats);
      this.size = header.tokens.length;
      if (look) this.orderBy = look.order;
      if (!sameTokens) {
        const wanted = look?.query ?? Math.min(1, this.size - 1);
        this.query = Math.max(0, Math.min(this.size - 1, Math.round(wanted)));
        this.fitted = /* @__PURE__ */ new Map();
        this.pointed = null;
        this.scroller.scrollTop = 0;
      }
      if (header.revision === this.revision || !sameTokens) {
        Object.assign(this, { revision: header.revision, layer: header.layer, head: header.head });
      }
      this.root.classList.toggle("waiting", header.revision !== this.revision);
      this.readColours();
      this.measure();
      this.refreshOptions();
      this.refresh(!sameTokens || this.marked === void 0);
    }
    choose(layer, head) {
      Object.assign(this, { layer, head });
      this.revision += 1;
      this.root.classList.add("waiting");
      this.refreshControls();
      const selection = { layer, heads: [head], revision: this.revision };
      clearTimeout(this.reporting);
      this.reporting = setTimeout(() => this.report(selection), 180);
    }
    // ---- what is shown ----
    // After another query, order or head; `anew` marks the key that gets the most.
    refresh(anew) {
      this.arrange();
      if (anew) this.marked = this.order[0];
      this.refreshControls();
      this.refreshFoot();
      this.say();
      this.twin.refresh();
      this.layout();
    }
    // How one looks is reported, so that it gets into the address.
    noteLook() {
      clearTimeout(this.noting);
      const look = { order: this.orderBy, query: this.query };
      this.noting = setTimeout(() => this.reportLook(look), 400);
    }
    setQuery(query) {
      if (query < 0 || query >= this.size || query === this.query) return;
      this.query = query;
      this.pointed = null;
      this.tooltip.hide();
      this.refresh(this.orderBy === "weight");
      this.show();
      this.noteLook();
    }
    setOrder(order) {
      this.orderBy = order;
      this.refresh(false);
      this.show();
      this.noteLook();
    }
    lookFrom(key) {
      if (key !== void 0) this.setQuery(key);
    }
    // ---- pointer and keys ----
    hit(event) {
      const box = this.scroller.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left - 1, event.clientY - box.top - 1];
      if (y < HEAD) return null;
      const row = Math.floor((y - HEAD + this.scroller.scrollTop) / ROW);
      if (row < 0 || row >= this.size) return null;
      const dimension = Math.floor((x - this.names) / this.cell);
      return { key: this.order[row], dimension: dimension >= 0 && dimension < this.header.width ? dimension : null };
    }
    point(place, event) {
      const isSame = place?.key === this.pointed?.key;
      this.pointed = place;
      this.tell(event);
      if (isSame) return;
      this.say();
      this.draw();
    }
    pick(place) {
      if (!place) return;
      this.marked = place.key;
      this.say();
      this.draw();
    }
    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -this.size, End: this.size };
      if (event.key in moves) {
        const row = Math.max(0, Math.min(this.size - 1, this.rowOf[this.marked] + moves[event.key]));
        this.pointed = null;
        this.tooltip.hide();
        this.marked = this.order[row];
        this.say();
        this.show();
      } else if (event.key === "ArrowLeft") this.setQuery(this.query - 1);
      else if (event.key === "ArrowRight") this.setQuery(this.query + 1);
      else if (event.key === "Enter") this.setQuery(this.marked);
      else return;
      event.preventDefault();
    }
    // Brings the marked key into view.
    show() {
      const y = this.rowOf[this.marked] * ROW;
      const room = this.height - HEAD;
      const { scrollTop } = this.scroller;
      if (y < scrollTop) this.scroller.scrollTop = y;
      if (y + ROW > scrollTop + room) this.scroller.scrollTop = y + ROW - room + 6;
      this.draw();
    }
  };
  return __toCommonJS(neurons_exports);
})();
