/* Made by `npm run build`; do not edit. */
"use strict";
var bundle = (() => {
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __export = (target, all) => {
    for (var name2 in all)
      __defProp(target, name2, { get: all[name2], enumerable: true });
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

  // app/inside_layer/drawing.ts
  var drawing_exports = {};
  __export(drawing_exports, {
    default: () => component,
    standAlone: () => standAlone
  });

  // app/browser/elements.ts
  function element(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name2, value] of Object.entries(properties)) {
      if (name2 in node && name2 !== "list") Reflect.set(node, name2, value);
      else node.setAttribute(name2, String(value));
    }
    node.append(...children);
    return node;
  }
  function replaceKeepingFocus(root, key, ...children) {
    const { activeElement } = root.getRootNode();
    const focused = activeElement && root.contains(activeElement) ? activeElement.getAttribute(key) : null;
    root.replaceChildren(...children);
    if (focused === null) return;
    const same = [...root.querySelectorAll(`[${key}]`)].find((node) => node.getAttribute(key) === focused);
    same?.focus();
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
  function onSchemeChange(changed) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
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

  // app/canvas/shared/canvas.ts
  function readTheme(node) {
    const style = getComputedStyle(node);
    const read = (name2, other) => style.getPropertyValue(name2).trim() || other;
    return {
      text: read("--st-text-color", "#222"),
      background: read("--st-background-color", "#fff"),
      secondary: read("--st-secondary-background-color", "#f0f2f6"),
      primary: read("--st-primary-color", "#3366cc"),
      border: read("--st-border-color", "#ccc"),
      font: read("--st-font", "sans-serif")
    };
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
      const keep = (name2, value) => {
        if (name2 === "picked" && typeof value === "object") shown = changeHeader(shown, value);
      };
      const answer = (name2, value) => {
        if (name2 !== "selection") return;
        const { layer, heads, revision } = value;
        if (layer === void 0) return;
        const message = held.find((bytes) => unpack(bytes).header.layer === layer);
        if (message) show(changeHeader(message, { heads, revision }));
      };
      show(shown);
      onSchemeChange(() => show(shown));
    };
  }

  // app/inside_layer/model.ts
  var MOST_CELLS = 64;
  var FULL_COLOUR = 0.98;
  function cellsOf(vector, most = MOST_CELLS) {
    const count = Math.min(most, vector.length);
    return Array.from({ length: count }, (_, cell) => {
      const first = Math.floor(cell * vector.length / count);
      const end = Math.floor((cell + 1) * vector.length / count);
      let sum = 0;
      for (let dim = first; dim < end; dim++) sum += vector[dim];
      return { first, last: end - 1, mean: sum / (end - first) };
    });
  }
  function peaksOf(activations, most = 2 * MOST_CELLS) {
    return cellsOf(activations, most).map(({ first, last }) => {
      let peak = activations[first];
      for (let at = first; at <= last; at++) if (Math.abs(activations[at]) > Math.abs(peak)) peak = activations[at];
      return { first, last, mean: peak };
    });
  }
  function fullColour(strips) {
    const sizes = strips.flat().map(({ mean }) => Math.abs(mean)).sort((a, b) => a - b);
    return sizes[Math.floor(FULL_COLOUR * (sizes.length - 1))] || 1;
  }
  function step(value, full) {
    return Math.round((Math.max(-1, Math.min(1, value / full)) + 1) * 127);
  }
  var SheetModel = class {
    constructor(header, blocks) {
      this.header = header;
      const flat = asFloats(blocks[0]);
      let start = 0;
      this.vectors = header.widths.map((width) => flat.subarray(start, start += width));
      const strips = /* @__PURE__ */ new Map();
      for (const row of header.rows) {
        if (row.vector === void 0 || !row.scale) continue;
        const cells = row.kind === "neurons" ? peaksOf(this.vectors[row.vector]) : cellsOf(this.vectors[row.vector]);
        strips.set(row.scale, [...strips.get(row.scale) ?? [], cells]);
      }
      for (const [scale, cells] of strips) this.full.set(scale, fullColour(cells));
    }
    header;
    vectors;
    full = /* @__PURE__ */ new Map();
    fullOf(scale) {
      return this.full.get(scale) ?? 1;
    }
    // The head that is open at first: the one with the largest share, or else the longest vector.
    get firstHead() {
      const heads = this.header.rows.filter((row) => row.head !== void 0);
      const size = ({ share: share2, norm }) => Math.abs(share2 ?? norm ?? 0);
      return heads.reduce((best, row) => best && size(best) >= size(row) ? best : row, null)?.head ?? -1;
    }
    // The largest share of a row, which gets the longest bar.
    get largestShare() {
      return Math.max(1e-9, ...this.header.rows.map(({ share: share2 }) => Math.abs(share2 ?? 0)));
    }
    // From which row to which a residual connection leads.
    get residuals() {
      const found = [];
      let from = -1;
      this.header.rows.forEach(({ residual }, at) => {
        const ways = (residual ?? "").split(" ");
        if (ways.includes("to") && from >= 0) found.push([from, at]);
        if (ways.includes("from")) from = at;
      });
      return found;
    }
  };
  function sharesOf({ word, against }) {
    const quoted = (one) => `\u201C${shorten(legible(one), 12)}\u201D`;
    if (word === null) return "";
    return against === null ? `share of ${quoted(word)}` : `share of ${quoted(word)} \u2212\xA0${quoted(against)}`;
  }
  function signed(value, digits = 2) {
    const text = Math.abs(value).toFixed(digits);
    if (Number(text) === 0) return text;
    return `${value < 0 ? "\u2212" : "+"}${text}`;
  }
  function short(value) {
    const size = Math.abs(value);
    const text = size >= 100 ? size.toFixed(0) : size >= 10 ? size.toFixed(1) : size.toFixed(2);
    return value < 0 && Number(text) !== 0 ? `\u2212${text}` : text;
  }

  // app/inside_layer/strips.ts
  var STEPS = 255;
  var MOST_NUMBERS = 16;
  function strip(cells, full, text, look, className = "") {
    const canvas = element("canvas", {
      className: `strip ${className}`,
      width: cells.length,
      height: 1,
      role: "img",
      ariaLabel: text.name,
      onpointermove: (event) => {
        const { left, width } = canvas.getBoundingClientRect();
        const at = Math.max(0, Math.min(cells.length - 1, Math.floor((event.clientX - left) / width * cells.length)));
        look.tip.show(event.clientX, event.clientY, ...inTip(cells[at], text));
      },
      onpointerleave: () => look.tip.hide()
    });
    const context = context2d(canvas);
    const image = context.createImageData(cells.length, 1);
    cells.forEach(({ mean }, at) => {
      const colour = 3 * ((look.isDark ? STEPS : 0) + step(mean, full));
      image.data.set([...look.colours.subarray(colour, colour + 3), 255], 4 * at);
    });
    context.putImageData(image, 0, 0);
    return canvas;
  }
  function inTip(cell, text) {
    const numbers = text.numbers?.(cell) ?? [];
    const shown = numbers.slice(0, MOST_NUMBERS).map(short).join("  ");
    const more = numbers.length > MOST_NUMBERS ? ` \u2026 (${numbers.length})` : "";
    return [
      element("b", { textContent: text.what(cell) }),
      ...numbers.length > 1 ? [element("div", { textContent: shown + more })] : []
    ];
  }
  function dims({ first, last }, noun = "dimension") {
    return first === last ? `${noun} ${first}` : `${noun}s ${first} to ${last}`;
  }

  // app/inside_layer/all_tokens.ts
  var LONGEST = 18;
  function allTokens(header, blocks, look, pick) {
    const { stages, tokens, positions } = header;
    const [bands, norms2, cosines] = blocks.map((block, at) => at < 3 ? asFloats(block) : new Float32Array());
    const count = tokens.length;
    const width = bands.length / (stages.length * count);
    const cells = (stage, row) => Array.from({ length: width }, (_, band) => ({
      first: band,
      last: band,
      mean: bands[(stage * count + row) * width + band]
    }));
    const isWrite = (stage) => stage % 2 === 1;
    const full = [0, 1].map((kind) => fullColour(stages.flatMap((_, stage) => isWrite(stage) === Boolean(kind) ? tokens.map((__, row) => cells(stage, row)) : [])));
    const grid = element("div", { className: "all", role: "table", ariaLabel: header.name, style: `--stages: ${stages.length}` });
    grid.append(element(
      "div",
      { role: "row" },
      element("span", { role: "columnheader", className: "heading", textContent: "token" }),
      ...stages.map((stage) => element("span", { role: "columnheader", className: "heading", textContent: stage })),
      element("span", { role: "columnheader", className: "heading", textContent: "fire" })
    ));
    const number = (values, stage, row) => values[stage * count + row];
    tokens.forEach((token, row) => {
      const kind = { 0: "a", 1: "b" }[header.text_ids[row]] ?? "special";
      const button = element("button", {
        type: "button",
        className: `token ${kind}`,
        title: `Follow ${legible(token)} (token ${positions[row]})`,
        ariaPressed: String(positions[row] === header.selected),
        onclick: () => pick(positions[row]),
        "data-position": positions[row]
      }, element("bdi", { textContent: shorten(legible(token), LONGEST) }));
      button.style.setProperty("--tone", header.colors[kind]);
      const stageCells = stages.map((stage, at) => {
        const text = `${short(number(norms2, at, row))}${at ? `  ${short(number(cosines, at, row))}` : ""}`;
        const what = { name: `${stage} of ${legible(token)}`, what: (cell) => `${stage}, part ${cell.first + 1} of ${width}: mean ${short(cell.mean)}` };
        return element(
          "div",
          { role: "cell" },
          strip(cells(at, row), full[Number(isWrite(at))], what, look, "small"),
          element("small", { textContent: text })
        );
      });
      grid.append(element(
        "div",
        { role: "row", className: isFolded(positions, row) ? "folded" : "" },
        element("div", { role: "rowheader" }, button),
        ...stageCells,
        element("div", { role: "cell" }, element("small", { textContent: header.firing[row].toLocaleString("en") }))
      ));
    });
    return grid;
  }
  function isFolded(positions, row) {
    return positions[row] !== (row ? positions[row - 1] + 1 : 0);
  }

  // app/inside_layer/sheet.ts
  var SHOWN_SOURCES = 4;
  var LONGEST2 = 24;
  function sheet(model, look, open, toggle) {
    const { header } = model;
    const grid = element("div", { className: "sheet" }, ...heading(model));
    let line = 2;
    const lines = [];
    for (const row of header.rows) {
      const first = line;
      const below = [
        ...row.head !== void 0 && row.head === open ? [headSteps(model, row, look)] : [],
        ...row.cards ? [cards(row.cards, model)] : []
      ];
      for (const parts of [cellsOfRow(model, row, look, open, toggle), ...below.map((one) => [one])]) {
        for (const part of parts) part.style.setProperty("--row", String(line));
        grid.append(...parts);
        line += 3;
      }
      lines.push(first);
    }
    for (const [from, to] of model.residuals) {
      grid.append(element("div", { className: "rail", ariaHidden: "true", style: `grid-row: ${lines[from] + 1} / ${lines[to] + 2}` }));
    }
    return grid;
  }
  function heading(model) {
    const { rows } = model.header;
    const hasShares = rows.some(({ share: share2 }) => share2 !== null && share2 !== void 0);
    const names = [
      ["norms", rows.some(({ cosine }) => typeof cosine === "number") ? "length, cosine" : "length"],
      ["text", rows.some(({ said }) => said) ? "what BERT would say" : ""],
      ["share", hasShares ? sharesOf(model.header) : ""]
    ];
    return names.filter(([, text]) => text).map(([place, text]) => element("div", { className: `heading ${place}`, style: "grid-row: 1", textContent: text }));
  }
  function cellsOfRow(model, row, look, open, toggle) {
    const parts = [];
    if (row.title) {
      parts.push(element("div", { className: "stage" }, element("b", { textContent: row.title }), element("small", { textContent: row.note })));
    }
    if (row.entries) return [...parts, row.kind === "pair" ? pairs(row.entries) : logits(row.entries)];
    parts.push(norms(row, open, toggle));
    if ((row.residual ?? "").includes("to")) parts.push(element("i", { className: "plus", textContent: "+", ariaLabel: "added to what was there" }));
    if (row.vector !== void 0) parts.push(stripOf(model, row, look));
    const text = textOf(row);
    if (text) parts.push(text);
    if (typeof row.share === "number") parts.push(share(row.share, model.largestShare, row.share_of));
    return parts;
  }
  function norms(row, open, toggle) {
    const numbers = element(
      "span",
      {},
      ...row.norm === void 0 ? [] : [short(row.norm)],
      ...typeof row.cosine === "number" ? [element("small", { textContent: ` ${short(row.cosine)}` })] : []
    );
    numbers.title = [
      row.norm === void 0 ? "" : `length (L2 norm) ${row.norm.toFixed(3)}`,
      typeof row.cosine === "number" ? `cosine ${row.cosine.toFixed(3)} with the vector before the block` : ""
    ].filter(Boolean).join(", ");
    if (row.head === void 0) {
      return element("div", { className: "norms" }, ...row.label ? [element("em", { textContent: row.label })] : [], numbers);
    }
    const { head } = row;
    const isOpen = head === open;
    const button = element("button", {
      type: "button",
      className: "opener",
      textContent: `${isOpen ? "\u25BE" : "\u25B8"} ${row.label ?? ""}`,
      ariaExpanded: String(isOpen),
      onclick: () => toggle(head),
      title: isOpen ? "Close its steps" : "Open its steps: query, keys, scores, weights, mix"
    });
    button.dataset.head = String(head);
    return element("div", { className: "norms" }, button, numbers);
  }
  function stripOf(model, row, look) {
    const vector = model.vectors[row.vector ?? 0];
    const isNeurons = row.kind === "neurons";
    const cells = isNeurons ? peaksOf(vector) : cellsOf(vector);
    const name2 = [row.title, row.label].filter(Boolean).join(", ") || "vector";
    return strip(cells, model.fullOf(row.scale ?? ""), isNeurons ? peakText(vector, name2) : meanText(vector, name2), look, row.scale);
  }
  function meanText(vector, name2) {
    return {
      name: `${name2}: ${vector.length} numbers`,
      what: (cell) => `${dims(cell)}: ${cell.first === cell.last ? "" : "mean "}${short(cell.mean)}`,
      numbers: ({ first, last }) => [...vector.subarray(first, last + 1)]
    };
  }
  function peakText(vector, name2) {
    const strongest = ({ first, last, mean }) => {
      const at = vector.subarray(first, last + 1).indexOf(mean);
      return `${dims({ first, last, mean }, "neuron")}: ${first === last ? "" : `strongest ${first + at}, `}${short(mean)}`;
    };
    return { name: `${name2} of ${vector.length} neurons`, what: strongest };
  }
  function textOf({ said, sources }) {
    if (sources) {
      return element(
        "div",
        { className: "text" },
        element("small", { textContent: "reads " }),
        ...sources.slice(0, SHOWN_SOURCES).map(({ token, weight, position }) => pair(token, weight, ` (token ${position})`))
      );
    }
    if (!said) return null;
    return element("div", { className: "text said" }, ...said.words.map((word, at) => pair(word, said.probabilities[at])));
  }
  function pair(token, fraction, place = "") {
    return element("span", { title: legible(token) + place }, element("bdi", { textContent: name(token) }), element("small", { textContent: ` ${percent(fraction)}` }));
  }
  function name(token) {
    return shorten(legible(token), LONGEST2);
  }
  function share(value, largest, of) {
    const width = 46 * Math.abs(value) / largest;
    const bar = element("i", { className: value < 0 ? "minus" : "more", style: `width: ${width.toFixed(1)}px` });
    return element(
      "div",
      { className: "share" },
      element("span", { className: "track" }, bar),
      signed(value),
      ...of ? [element("small", { textContent: of })] : []
    );
  }
  function headSteps(model, row, look) {
    const { sources = [], query = 0, mix = 0, label } = row;
    const width = model.vectors[query].length;
    const keys = sources.map(({ key }) => cellsOf(model.vectors[key]));
    const queries = cellsOf(model.vectors[query]);
    const values = sources.map(({ value }) => cellsOf(model.vectors[value]));
    const mixed = cellsOf(model.vectors[mix]);
    const compared = fullColour([queries, ...keys]);
    const fetched = fullColour([...values, mixed]);
    const draw = (cells, full, vector, what) => strip(cells, full, meanText(model.vectors[vector], what), look, "small");
    const hasShares = sources.some(({ share: one }) => one !== null);
    const line = (source, at) => element(
      "tr",
      {},
      element("th", { scope: "row", title: legible(source.token) }, element("bdi", { textContent: name(source.token) }), element("small", { textContent: ` ${source.position}` })),
      element("td", {}, draw(keys[at], compared, source.key, `key of ${source.token}`)),
      element("td", { className: "number", textContent: signed(source.score) }),
      element("td", {}, weightBar(source.weight)),
      element("td", {}, draw(values[at], fetched, source.value, `value of ${source.token}`)),
      ...hasShares ? [element("td", { className: "number", textContent: signed(source.share ?? 0) })] : []
    );
    const columns = ["token", "key", "score", "weight", "value", ...hasShares ? ["share"] : []];
    return element(
      "div",
      { className: "steps" },
      element(
        "table",
        {},
        element("thead", {}, element("tr", {}, ...columns.map(columnHead))),
        element(
          "tbody",
          {},
          element(
            "tr",
            { className: "query" },
            element("th", { scope: "row", textContent: "query" }),
            element("td", {}, draw(queries, compared, query, "query")),
            element("td", { colSpan: columns.length - 2 }, `query \xB7 key / \u221A${width} = score, softmax over the tokens that it may see = weight`)
          ),
          ...sources.map(line),
          element(
            "tr",
            { className: "query" },
            element("th", { scope: "row", textContent: "mix" }),
            element("td", { colSpan: 3 }, `weights \xB7 values, of all tokens; the output projection makes of it what ${label ?? "the head"} writes`),
            element("td", {}, draw(mixed, fetched, mix, "mix of values")),
            ...hasShares ? [element("td", {})] : []
          )
        )
      )
    );
  }
  var NUMBERS = ["score", "share", "product", "bias", "logit"];
  function columnHead(title) {
    return element("th", { scope: "col", className: NUMBERS.includes(title) ? "number" : "", textContent: title });
  }
  function weightBar(weight) {
    return element("span", { className: "weight" }, element("i", { style: `width: ${(54 * weight).toFixed(1)}px` }), percent(weight));
  }
  function cards(list, model) {
    const largest = Math.max(1e-9, ...list.map(({ share: one }) => Math.abs(one ?? 0)));
    const word = model.header.word;
    return element("div", { className: "cards" }, ...list.map((card) => element(
      "div",
      { className: "card" },
      element(
        "div",
        {},
        element("b", { textContent: `neuron ${card.neuron}` }),
        element("span", { textContent: signed(card.activation), title: "its activation" }),
        ...card.share === null ? [] : [share(card.share, largest)]
      ),
      ...card.words.length ? [element("div", { className: "pushes", title: word === null ? "" : "the words whose logits it raises most" }, "\u2192 ", ...joined(card.words))] : []
    )));
  }
  function joined(words) {
    return words.flatMap((word, at) => [...at ? [", "] : [], element("bdi", { textContent: name(word), title: legible(word) })]);
  }
  function logits(entries) {
    const columns = ["word", "product", "bias", "logit", "probability"];
    return element(
      "table",
      { className: "logits" },
      element("thead", {}, element("tr", {}, ...columns.map(columnHead))),
      element("tbody", {}, ...entries.map(({ word, product = 0, bias = 0, logit, probability }) => element(
        "tr",
        {},
        element("th", { scope: "row", title: legible(word) }, element("bdi", { textContent: name(word) })),
        element("td", { className: "number", textContent: signed(product) }),
        element("td", { className: "number", textContent: signed(bias) }),
        element("td", { className: "number", textContent: signed(logit) }),
        element("td", {}, probabilityBar(probability))
      )))
    );
  }
  function pairs(entries) {
    return element(
      "table",
      { className: "logits" },
      element("thead", {}, element("tr", {}, ...["answer", "logit", "probability"].map(columnHead))),
      element("tbody", {}, ...entries.map(({ word, logit, probability }) => element(
        "tr",
        {},
        element("th", { scope: "row", textContent: word }),
        element("td", { className: "number", textContent: signed(logit) }),
        element("td", {}, probabilityBar(probability))
      )))
    );
  }
  function probabilityBar(probability) {
    return element("span", { className: "weight wide" }, element("i", { style: `width: ${(150 * probability).toFixed(1)}px` }), percent(probability));
  }

  // app/inside_layer/drawing.ts
  function component(mounted) {
    return mount(Drawing, mounted, {
      picked: (position) => mounted.setTriggerValue("picked", position)
    });
  }
  var standAlone = alone(component);
  var Drawing = class {
    root = element("div", { className: "view layer" });
    events;
    content = element("div");
    tip = new Tooltip(this.root);
    /** The head whose steps are open; null until one was chosen. */
    openHead = null;
    constructor(parent) {
      this.root.prepend(this.content);
      parent.appendChild(this.root);
    }
    close() {
      this.root.remove();
    }
    update({ header, blocks }) {
      this.tip.hide();
      const ground = rgbOf(readTheme(this.root).background);
      const look = { isDark: ground[0] + ground[1] + ground[2] < 384, colours: blocks[blocks.length - 1], tip: this.tip };
      this.content.ariaLabel = header.name;
      this.content.role = "group";
      if (header.kind === "all") {
        const table = allTokens(header, blocks, look, (position) => this.events.picked(position));
        replaceKeepingFocus(this.content, "data-position", table);
      } else this.show(new SheetModel(header, blocks), look);
    }
    show(model, look) {
      const open = this.openHead ?? model.firstHead;
      const toggle = (head) => {
        this.openHead = head === open ? -1 : head;
        this.show(model, look);
      };
      replaceKeepingFocus(this.content, "data-head", sheet(model, look, open, toggle));
    }
  };
  return __toCommonJS(drawing_exports);
})();
