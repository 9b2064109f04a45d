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

  // app/probes/drawing.ts
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

  // app/browser/text.ts
  var GRAPHEMES = new Intl.Segmenter(void 0, { granularity: "grapheme" });
  var CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
  var INVISIBLE = /^[\s\u00ad\u115f\u1160\u200b-\u200d\u2060-\u2065\u3164\ufe00-\ufe0f\ufeff\uffa0]*$/u;
  function percent(weight) {
    if (Number.isNaN(weight)) return "NaN";
    const value = 100 * weight;
    const whole = Math.round(value);
    if (Math.abs(value - whole) < 5e-6 && (whole % 100 || weight === whole / 100)) return `${whole}%`;
    const text2 = value.toFixed(1);
    return text2 === "0.0" ? "<0.1%" : text2 === "100.0" ? ">99.9%" : `${text2}%`;
  }
  function letters(text2, most) {
    const graphemes = [];
    for (const { segment } of GRAPHEMES.segment(text2.slice(0, most * 12))) {
      if (graphemes.push(segment) === most) break;
    }
    return graphemes;
  }
  function shorten(text2, most) {
    const kept = letters(text2, most).join("");
    return kept.length < text2.length ? `${kept}\u2026` : text2;
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
    const text2 = new TextEncoder().encode(JSON.stringify(header));
    const padded = Math.ceil(text2.length / 4) * 4;
    const out = new Uint8Array(4 + padded + bytes.length - 4 - length).fill(32, 4, 4 + padded);
    new DataView(out.buffer).setUint32(0, padded, true);
    out.set(text2, 4);
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

  // app/browser/colours.ts
  function onSchemeChange(changed) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  }

  // app/html_file/alone.ts
  function alone(component2) {
    return (place, css, messages) => {
      const root = place.attachShadow({ mode: "open" });
      root.append(element("style", { textContent: css }));
      const held = messages.map(heldBytes);
      let shown2 = held[0];
      const show = (data) => {
        shown2 = data;
        component2({ data, parentElement: root, setStateValue: answer, setTriggerValue: keep });
      };
      const keep = (name, value) => {
        if (name === "picked" && typeof value === "object") shown2 = changeHeader(shown2, value);
      };
      const answer = (name, value) => {
        if (name !== "selection") return;
        const { layer, heads, revision } = value;
        if (layer === void 0) return;
        const message = held.find((bytes) => unpack(bytes).header.layer === layer);
        if (message) show(changeHeader(message, { heads, revision }));
      };
      show(shown2);
      onSchemeChange(() => show(shown2));
    };
  }

  // app/probes/model.ts
  function levels(edges) {
    const found = edges.map(() => 0);
    const order = edges.map((_, place) => place).sort((a, b) => span(edges[a]) - span(edges[b]));
    for (const [rank, place] of order.entries()) {
      const [first, last] = edges[place];
      const taken = /* @__PURE__ */ new Set();
      let lowest = 1;
      for (const other of order.slice(0, rank)) {
        const [from, to] = edges[other];
        if (from >= last || first >= to) continue;
        taken.add(found[other]);
        if (first <= from && to <= last) lowest = Math.max(lowest, found[other] + 1);
      }
      while (taken.has(lowest)) lowest += 1;
      found[place] = lowest;
    }
    return found;
  }
  function span([first, last]) {
    return last - first;
  }
  function centres(widths, gap) {
    let right = gap;
    const middles = widths.map((width) => {
      const middle = right + width / 2;
      right += width + gap;
      return middle;
    });
    return { middles, width: right };
  }
  function isIn([first, last], other) {
    return !other || other.some(([from, to]) => from === first && to === last);
  }
  function describe(data) {
    if (data.kind === "depth") {
      return `Depths at layer ${data.layer}: ${data.words.map((word, place) => `${word} ${data.depths[place].toFixed(1)}`).join(", ")}`;
    }
    if (data.kind === "labels") return `Labels at layer ${data.layer}`;
    const pairs = data.edges.map(([first, last]) => `${data.words[first]}\u2013${data.words[last]}`);
    return `Predicted tree at layer ${data.layer}: ${pairs.join(", ")}`;
  }

  // app/probes/drawing.ts
  var LONGEST = 24;
  var GAP = 12;
  var STEP = 17;
  var CURVE = 8;
  var SIDE = 4;
  var LINE = 30;
  var DEPTH_STEP = 26;
  var MANY = 60;
  function component(mounted) {
    return mount(SentenceView, mounted, {});
  }
  var standAlone = alone(component);
  var SentenceView = class {
    root = element("div", { className: "view probe" });
    events = {};
    constructor(parent) {
      parent.appendChild(this.root);
    }
    update({ header }) {
      this.root.dataset.layer = String(header.layer);
      this.root.replaceChildren(...header.kind === "labels" ? labels(header) : header.kind === "tree" ? tree(header) : depth(header));
    }
    close() {
      this.root.remove();
    }
  };
  function labels(data) {
    const cells = data.words.map((word, place2) => {
      const gold = data.gold?.[place2] ?? null;
      const label = data.labels[place2];
      const kind = gold === null ? "label" : gold === label ? "label right" : "label wrong";
      const name = element("b", { className: kind, textContent: legible(label), dir: "auto" });
      name.style.setProperty("--chance", String(data.chances[place2]));
      const parts = [
        element("span", { className: "word", textContent: legible(word), title: legible(word), dir: "auto" }),
        name,
        element("small", { textContent: percent(data.chances[place2]) })
      ];
      if (data.gold) parts.push(element("small", { className: "gold", textContent: gold === label ? "" : legible(gold ?? ""), dir: "auto" }));
      return element("li", {}, ...parts);
    });
    const list = element("ul", { className: "words", ariaLabel: describe(data) }, ...cells);
    const all = data.gold ? [legend(data, [["right", "as in the file"], ["wrong", "not as in the file"]])] : [];
    const place = data.words.length > MANY ? element("div", { className: "long", tabIndex: 0, role: "group", ariaLabel: "The words; scroll down" }, list) : list;
    return [...all, colored(place, data)];
  }
  function tree(data) {
    const gold = data.gold ?? [];
    const above = data.gold ? gold : data.edges;
    const below = data.gold ? data.edges : [];
    const aboveLevels = levels(above), belowLevels = levels(below);
    const top = highest(aboveLevels) * STEP + 10;
    const { middles, width } = places(data.words);
    const picture = svg(width, top + LINE + (data.gold ? highest(belowLevels) * STEP + 10 : 4), describe(data));
    above.forEach((edge, place) => picture.append(
      arc(edge, middles, top, -aboveLevels[place] * STEP, data.gold ? "gold" : "right")
    ));
    below.forEach((edge, place) => picture.append(
      arc(edge, middles, top + LINE, belowLevels[place] * STEP, isIn(edge, data.gold) ? "right" : "wrong")
    ));
    addWords(picture, data.words, middles, top + LINE / 2 + 1);
    const names = [["gold", "above: the file"], ["right", "below: the probe, as in the file"], ["wrong", "not in the file"]];
    return [...data.gold ? [legend(data, names)] : [], scroller(picture, data)];
  }
  function depth(data) {
    const deepest = Math.ceil(Math.max(1, ...data.depths, ...data.gold ?? []));
    const { middles, width } = places(data.words, 26);
    const start = LINE + 12;
    const y = (value) => start + Math.max(0, value) * DEPTH_STEP;
    const picture = svg(width + 26, y(deepest) + 12, describe(data));
    for (const value of range(deepest + 1)) {
      picture.append(shape("line", { class: "level", x1: 18, x2: width + 26, y1: y(value), y2: y(value) }), text(String(value), 8, y(value) + 4, "level"));
    }
    addWords(picture, data.words, middles, LINE / 2 + 1);
    middles.forEach((middle, place) => {
      const gold = data.gold?.[place];
      picture.append(shape("line", { class: "stem", x1: middle, x2: middle, y1: start - 8, y2: y(data.depths[place]) }));
      if (gold !== void 0) picture.append(shape("circle", { class: "gold", cx: middle, cy: y(gold), r: 8 }));
      picture.append(shape("circle", { class: "right", cx: middle, cy: y(data.depths[place]), r: 5 }));
    });
    return [...data.gold ? [legend(data, [["gold", "the file"], ["right", "the probe"]])] : [], scroller(picture, data)];
  }
  function highest(found) {
    return Math.max(0, ...found);
  }
  function arc([first, last], middles, base, height, kind) {
    const from = middles[first] + SIDE, to = middles[last] - SIDE;
    const sign = Math.sign(height);
    const round = Math.min(CURVE, Math.abs(height), (to - from) / 2);
    const path = `M${from} ${base}v${height - sign * round}q0 ${sign * round} ${round} ${sign * round}H${to - round}q${round} 0 ${round} ${-sign * round}V${base}`;
    return shape("path", { class: `arc ${kind}`, d: path });
  }
  var ruler = () => {
    const context = context2d(element("canvas"));
    context.font = "15px sans-serif";
    return context;
  };
  function shown(word) {
    return shorten(legible(word), LONGEST);
  }
  function places(words, start = 0) {
    const context = ruler();
    const { middles, width } = centres(words.map((word) => context.measureText(shown(word)).width * 1.12 + 2), GAP);
    return { middles: middles.map((middle) => middle + start), width };
  }
  function addWords(picture, words, middles, y) {
    words.forEach((word, place) => picture.append(text(shown(word), middles[place], y + 4, "word")));
  }
  function text(content, x, y, kind) {
    const node = shape("text", { class: kind, x, y, "text-anchor": "middle", direction: "ltr" });
    node.textContent = content;
    return node;
  }
  function svg(width, height, name) {
    return shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name });
  }
  function shape(name, properties) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(properties)) node.setAttribute(key, String(value));
    return node;
  }
  function scroller(picture, data) {
    return colored(element("div", { className: "scroller", tabIndex: 0, role: "group", ariaLabel: "The sentence; scroll sideways where it is long" }, picture), data);
  }
  function colored(node, { colors }) {
    for (const [name, value] of Object.entries(colors)) node.style.setProperty(`--${name}`, value);
    return node;
  }
  function legend(data, names) {
    return colored(element(
      "div",
      { className: "legend" },
      ...names.map(([kind, name]) => element("span", {}, element("i", { className: kind }), name))
    ), data);
  }
  return __toCommonJS(drawing_exports);
})();
