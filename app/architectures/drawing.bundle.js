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

  // app/architectures/drawing.ts
  var drawing_exports = {};
  __export(drawing_exports, {
    default: () => component
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
  function replaceKeepingFocus(root, key, ...children) {
    const { activeElement } = root.getRootNode();
    const focused = activeElement && root.contains(activeElement) ? activeElement.getAttribute(key) : null;
    root.replaceChildren(...children);
    if (focused === null) return;
    const same = [...root.querySelectorAll(`[${key}]`)].find((node) => node.getAttribute(key) === focused);
    same?.focus();
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

  // app/architectures/model.ts
  var LEAST = 0.03;
  function cone(net, level, row) {
    const size = net.weights[0]?.length ?? 0;
    const levels = net.weights.length + 1;
    const seen = Array.from({ length: levels }, () => new Array(size).fill(false));
    if (row >= size) return seen;
    seen[level][row] = true;
    for (let layer = level - 1; layer >= 0; layer--) {
      for (let query = 0; query < size; query++) {
        if (!seen[layer + 1][query]) continue;
        seen[layer][query] = true;
        net.weights[layer][query].forEach((weight, key) => {
          if (weight > 0) seen[layer][key] = true;
        });
      }
    }
    return seen;
  }
  function edges(net, most) {
    const found = [];
    net.weights.forEach((rows, layer) => rows.forEach((row, query) => row.forEach((weight, key) => {
      if (weight >= LEAST * most) found.push({ layer, key, query, weight });
    })));
    return found.sort((a, b) => a.weight - b.weight);
  }
  function touched(net) {
    const size = net.weights[0]?.length ?? 0;
    const found = Array.from({ length: net.weights.length + 1 }, () => new Array(size).fill(false));
    net.weights.forEach((rows, layer) => rows.forEach((row, query) => row.forEach((weight, key) => {
      if (weight > 0) found[layer][key] = found[layer + 1][query] = true;
    })));
    return found;
  }
  function reads(net, layer, query, count) {
    return net.weights[layer][query].map((weight, key) => ({ key, weight })).filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight).slice(0, count);
  }
  function direction(edge) {
    if (edge.key === edge.query) return "itself";
    return edge.key < edge.query ? "left" : "right";
  }
  function ink(weight, most) {
    return Math.min(1, Math.sqrt(weight / most));
  }
  function sees(left, right) {
    return `The guess sees ${left} ${left === 1 ? "token" : "tokens"} to the left and ${right} to the right.`;
  }

  // app/architectures/drawing.ts
  var WIDTH = 300;
  var LABELS = 82;
  var FIRST = 92;
  var LAST = 226;
  var TOP = 16;
  var HIT = 12;
  var LONGEST = 11;
  var LEGEND = [
    ["left", "looks to the left"],
    ["right", "looks to the right"],
    ["itself", "at itself"],
    ["guess", "the guess"]
  ];
  function component({ parentElement, data, setTriggerValue }) {
    let root = parentElement.querySelector(".architectures");
    if (!root) {
      root = element("div", { className: "architectures" });
      parentElement.appendChild(root);
    }
    const pick = (panel, row) => setTriggerValue("picked", { panel, row });
    replaceKeepingFocus(root, "data-network", legend(data), element(
      "div",
      { className: "panels" },
      ...data.panels.map((panel, number) => new Network(panel, data.most, (row) => pick(number, row)).root)
    ));
  }
  function legend({ panels }) {
    const guesses = panels.some((panel) => panel.best.length);
    return element("div", { className: "legend" }, ...LEGEND.filter(([name]) => name !== "guess" || guesses).map(([name, text2]) => element("span", {}, element("i", { className: name }), text2)));
  }
  var Network = class {
    constructor(panel, most, pick) {
      this.panel = panel;
      this.most = most;
      this.pick = pick;
      this.edges = panel.nets.map((net) => edges(net, most));
      this.svg = svg("svg", {
        viewBox: `0 0 ${WIDTH} ${this.height}`,
        tabindex: 0,
        role: "application",
        "data-network": panel.name,
        "aria-label": `${panel.name}: ${panel.rule}. Arrow keys move from vector to vector.`
      });
      this.svg.addEventListener("pointermove", (event) => this.point(this.under(event)));
      this.svg.addEventListener("pointerleave", () => this.point(null));
      this.svg.addEventListener("click", (event) => this.click(event));
      this.svg.addEventListener("keydown", (event) => this.key(event));
      this.root = element(
        "section",
        { className: this.showsPaths ? "panel paths" : "panel", "data-name": panel.name },
        element("h2", { textContent: panel.name }),
        element("p", { className: "rule", textContent: panel.rule }),
        this.svg,
        this.status,
        this.answers(),
        element("p", { className: "note", textContent: panel.note })
      );
      this.paint();
    }
    panel;
    most;
    pick;
    root;
    svg;
    status = element("p", { className: "status", ariaLive: "polite" });
    edges;
    spot = null;
    // ---- places ----
    get step() {
      return this.panel.tokens.length > 16 ? 20 : 24;
    }
    get rows() {
      return Math.max(this.panel.tokens.length, this.panel.place + 1);
    }
    get height() {
      return TOP + this.rows * this.step + (this.panel.after ? 34 : 20);
    }
    y(row, net = 0) {
      const apart = this.panel.nets.length > 1 ? net === 0 ? -4 : 4 : 0;
      return TOP + (row + 0.5) * this.step + apart;
    }
    x(level) {
      return FIRST + level * (LAST - FIRST) / this.levels;
    }
    get levels() {
      return this.panel.nets[0].weights.length;
    }
    // ---- drawing ----
    // Of paths all are shown, also those that do not meet.
    get showsPaths() {
      return this.panel.result !== "";
    }
    get focus() {
      if (this.spot) return [this.spot];
      return this.panel.nets.map((net, number) => ({ net: number, level: this.levels, row: net.reader }));
    }
    paint() {
      const { panel } = this;
      const parts = [];
      panel.nets.forEach((net, number) => parts.push(...this.lines(net, number)));
      panel.tokens.forEach((token, row) => parts.push(this.label(token, row)));
      panel.nets.forEach((net, number) => parts.push(...this.dots(net, number)));
      parts.push(...this.guess());
      if (panel.before) parts.push(text(`+${panel.before}`, LABELS, 11, "more"));
      if (panel.after) parts.push(text(`+${panel.after}`, LABELS, this.height - 22, "more"));
      parts.push(text("input", FIRST, this.height - 5, "axis"), text(`layer ${this.levels - 1}`, LAST, this.height - 5, "axis"));
      this.svg.replaceChildren(...parts);
      this.status.textContent = this.inWords();
    }
    lines(net, number) {
      const chosen = this.focus.find((spot) => spot.net === number);
      const seen = chosen ? cone(net, chosen.level, chosen.row) : null;
      return this.edges[number].map((edge) => {
        const inside = this.showsPaths || (seen?.[edge.layer + 1][edge.query] ?? false);
        const shade = ink(edge.weight, this.most);
        return svg("line", {
          x1: this.x(edge.layer),
          y1: this.y(edge.key, number),
          x2: this.x(edge.layer + 1),
          y2: this.y(edge.query, number),
          class: inside ? direction(edge) : "outside",
          opacity: (inside ? 0.08 + 0.92 * shade : 0.25 * shade).toFixed(3),
          "stroke-width": inside ? (0.7 + 1.3 * shade).toFixed(2) : 0.6
        });
      });
    }
    dots(net, number) {
      const chosen = this.focus.find((spot) => spot.net === number);
      const seen = this.showsPaths ? touched(net) : chosen ? cone(net, chosen.level, chosen.row) : null;
      const found = [];
      for (let level = 0; level <= this.levels; level++) {
        for (let row = 0; row < this.panel.tokens.length; row++) {
          const isFocus = chosen?.level === level && chosen.row === row;
          const kind = isFocus ? "dot focus" : seen?.[level][row] ? "dot seen" : "dot";
          found.push(svg("circle", { cx: this.x(level), cy: this.y(row, number), r: isFocus ? 4 : 2, class: kind }));
        }
      }
      return found;
    }
    label(token, row) {
      const { panel } = this;
      const kind = row === panel.place && panel.best.length ? "token hidden" : row >= panel.unread ? "token unread" : "token";
      const label = text(shorten(legible(token), LONGEST), LABELS, this.y(row) + 4.5 + (panel.nets.length > 1 ? 4 : 0), kind);
      label.setAttribute("data-row", String(row));
      label.append(svg("title", {}, legible(token)));
      return label;
    }
    guess() {
      const { panel } = this;
      if (!panel.best.length) return [];
      const y = panel.nets.length > 1 ? (this.y(panel.place, 0) + this.y(panel.place, 1)) / 2 : this.y(panel.place);
      const arrows = panel.nets.map((net, number) => svg("line", {
        x1: LAST + 5,
        y1: this.y(net.reader, number),
        x2: LAST + 20,
        y2: y,
        class: "guess"
      }));
      const word = text(shorten(legible(panel.best[0][0]), 8), LAST + 24, y + 4.5, "word");
      return [...arrows, word];
    }
    answers() {
      const { panel } = this;
      if (!panel.best.length) return element("p", { className: "result", textContent: panel.result });
      const most = panel.best[0][1];
      const bars = panel.best.map(([word, probability]) => element(
        "li",
        { className: word === panel.token ? "right" : "" },
        element("bdi", { textContent: legible(word), title: legible(word) }),
        element("span", { className: "bar" }, element("i", { style: `width:${100 * probability / most}%` })),
        element("b", { textContent: percent(probability) })
      ));
      const truth = panel.token === null || panel.probability === null ? [] : [element(
        "p",
        { className: "truth" },
        element("bdi", { textContent: shorten(legible(panel.token), 16) }),
        " ",
        element("b", { textContent: percent(panel.probability) }),
        panel.rank === 1 ? ", its first guess" : `, rank ${(panel.rank ?? 0).toLocaleString("en")}`
      )];
      return element("div", { className: "answers" }, element("ol", {}, ...bars), ...truth);
    }
    // ---- pointing ----
    under(event) {
      const box = this.svg.getBoundingClientRect();
      const scale = WIDTH / box.width;
      const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
      let best = null;
      let least = HIT * HIT;
      this.panel.nets.forEach((_, net) => {
        for (let level = 1; level <= this.levels; level++) {
          for (let row = 0; row < this.panel.tokens.length; row++) {
            const distance = (this.x(level) - x) ** 2 + (this.y(row, net) - y) ** 2;
            if (distance < least) [best, least] = [{ net, level, row }, distance];
          }
        }
      });
      return best;
    }
    point(spot) {
      if (JSON.stringify(spot) === JSON.stringify(this.spot)) return;
      this.spot = spot;
      this.paint();
    }
    click(event) {
      const label = event.target instanceof Element ? event.target.closest("[data-row]") : null;
      if (label) this.pick(Number(label.getAttribute("data-row")));
    }
    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const [start] = this.focus;
      const moves = {
        ArrowLeft: [-1, 0],
        ArrowRight: [1, 0],
        ArrowUp: [0, -1],
        ArrowDown: [0, 1]
      };
      const move = moves[event.key];
      if (event.key === "Enter") this.pick(start.row);
      else if (event.key === "Escape") this.point(null);
      else if (!move) return;
      else {
        this.point({
          net: start.net,
          level: Math.max(1, Math.min(this.levels, start.level + move[0])),
          row: Math.max(0, Math.min(this.panel.tokens.length - 1, start.row + move[1]))
        });
      }
      event.preventDefault();
    }
    // What the chosen vector reads, or how many tokens the guess can depend on.
    inWords() {
      const { panel } = this;
      if (this.spot) {
        const { net, level, row } = this.spot;
        const found = reads(panel.nets[net], level - 1, row, 4).map(({ key, weight }) => `${legible(panel.tokens[key])} ${percent(weight)}`);
        return `Layer ${level - 1}, ${legible(panel.tokens[row])} reads ${found.join(" \xB7 ") || "nothing"}`;
      }
      if (!panel.best.length) return "";
      const seen = /* @__PURE__ */ new Set();
      panel.nets.forEach((net) => cone(net, this.levels, net.reader)[0].forEach((is, row) => {
        if (is && row !== panel.place) seen.add(row);
      }));
      const left = [...seen].filter((row) => row < panel.place).length + panel.before;
      const right = seen.size + panel.before - left + ([...seen].some((row) => row > panel.place) ? panel.after : 0);
      return sees(left, right);
    }
  };
  function svg(tag, attributes, content = "") {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
    node.textContent = content;
    return node;
  }
  function text(content, x, y, kind) {
    return svg("text", { x, y, class: kind }, content);
  }
  return __toCommonJS(drawing_exports);
})();
