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

  // app/architectures/writing.ts
  var writing_exports = {};
  __export(writing_exports, {
    default: () => component
  });

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

  // app/architectures/steps.ts
  function filledAfter(masks, step) {
    const tokens = [...masks.tokens];
    for (const { position, word } of masks.steps.slice(0, step)) tokens[position] = word;
    return tokens;
  }
  function orderOf(masks, step) {
    return new Map(masks.steps.slice(0, step).map(({ position }, number) => [position, number + 1]));
  }
  function lastRead(step) {
    const [first] = step.weights;
    return first.map((_, place) => step.weights.reduce((sum, row) => sum + row[place], 0) / step.weights.length);
  }

  // app/architectures/writing.ts
  var MOST_BEFORE = 24;
  var PACE = 900;
  var views = /* @__PURE__ */ new WeakMap();
  function component({ parentElement, data }) {
    const view = views.get(parentElement) ?? new Player(parentElement);
    views.set(parentElement, view);
    view.update(data);
    return closedByLast(parentElement, () => {
      view.stop();
      views.delete(parentElement);
    });
  }
  var Player = class {
    data = { next: null, masks: null };
    step = 0;
    timer = 0;
    slider = element("input", { type: "range", min: "0", ariaLabel: "Step", oninput: () => this.show(Number(this.slider.value)) });
    count = element("output", {});
    play = element("button", { type: "button", onclick: () => this.toggle() });
    panels = element("div", { className: "panels" });
    constructor(parent) {
      parent.appendChild(element(
        "div",
        { className: "writing" },
        element(
          "div",
          { className: "steps" },
          element("button", { type: "button", textContent: "\u25C0", ariaLabel: "Step back", onclick: () => this.show(this.step - 1) }),
          this.play,
          element("button", { type: "button", textContent: "\u25B6", ariaLabel: "Next step", onclick: () => this.show(this.step + 1) }),
          this.slider,
          this.count
        ),
        this.panels
      ));
    }
    update(data) {
      if (JSON.stringify(data) === JSON.stringify(this.data)) return;
      this.stop();
      this.data = data;
      this.show(this.length);
    }
    stop() {
      clearInterval(this.timer);
      this.timer = 0;
      this.play.textContent = "Play";
    }
    get length() {
      return Math.max(this.data.next?.written.length ?? 0, this.data.masks?.steps.length ?? 0);
    }
    toggle() {
      if (this.timer) {
        this.stop();
        return;
      }
      if (this.step === this.length) this.show(0);
      this.play.textContent = "Pause";
      this.timer = window.setInterval(() => {
        this.show(this.step + 1);
        if (this.step === this.length) this.stop();
      }, PACE);
    }
    show(step) {
      this.step = Math.max(0, Math.min(this.length, step));
      this.slider.max = String(this.length);
      this.slider.value = String(this.step);
      this.count.textContent = `step ${this.step} of ${this.length}`;
      const { next, masks } = this.data;
      this.panels.replaceChildren(...next ? [nextPanel(next, this.step)] : [], ...masks ? [maskPanel(masks, this.step)] : []);
    }
  };
  function nextPanel(next, step) {
    const before = next.before.slice(-MOST_BEFORE).map((token) => chip(token, "before"));
    const shown = next.written.slice(0, step);
    const written = shown.map(({ token, probability }, place) => chip(token, place === shown.length - 1 ? "new written" : "written", probability));
    const last = shown.at(-1);
    return panel(next.name, "one token after another, from the left", [...before, ...written], last ? [line("It chose ", last.token, ` at ${percent(last.probability)} from`), bars(last.best, last.token)] : [line("", "", "")]);
  }
  function maskPanel(masks, step) {
    const { steps } = masks;
    const tokens = filledAfter(masks, step);
    const order = orderOf(masks, step);
    const last = step ? steps[Math.min(step, steps.length) - 1] : null;
    const read = last ? lastRead(last) : [];
    const most = Math.max(...read, 0);
    const from = Math.max(0, masks.places[0] - MOST_BEFORE);
    const chips = tokens.map((token, place) => {
      const when = order.get(place);
      const isOpen = masks.places.includes(place) && when === void 0;
      const kind = last?.position === place ? "new written" : isOpen ? "open" : when === void 0 ? "before" : "written";
      const one = chip(token, kind, when === void 0 ? void 0 : steps[when - 1].probability);
      if (when !== void 0) one.append(element("small", { textContent: String(when) }));
      if (last && most > 0) one.append(element("i", { className: "read", style: `opacity:${(read[place] / most).toFixed(3)}` }));
      return one;
    }).slice(from);
    const open = steps.length - Math.min(step, steps.length) + 1;
    const which = open > 1 ? `the surest of ${open} masks` : "the last mask";
    return panel(masks.name, "a row of masks, the surest first", chips, last ? [line("It put ", last.word, ` at ${percent(last.probability)}, ${which}. Underlined: what that mask looked at, the mean over layers and heads.`)] : [line("", "", `${masks.places.length} masks: their number has to be known beforehand.`)]);
  }
  function panel(name, rule, chips, below) {
    return element(
      "section",
      { "data-name": name },
      element("h2", { textContent: name }),
      element("p", { className: "rule", textContent: rule }),
      element("div", { className: "chips", dir: "auto" }, ...chips),
      ...below
    );
  }
  function chip(token, kind, probability) {
    const shade = probability === void 0 ? "" : `--sure:${Math.round(100 * Math.sqrt(probability))}%`;
    const title = probability === void 0 ? legible(token) : `${legible(token)} ${percent(probability)}`;
    return element("span", { className: `chip ${kind}`, style: shade, title }, element("bdi", { textContent: shorten(legible(token), 18) }));
  }
  function line(before, word, after) {
    return element("p", { className: "said" }, before, element("b", {}, element("bdi", { textContent: legible(word) })), after);
  }
  function bars(best, chosen) {
    return element("ol", {}, ...best.map(([word, probability]) => element(
      "li",
      { className: word === chosen ? "chosen" : "" },
      element("bdi", { textContent: legible(word) }),
      element("span", {}, element("i", { style: `width:${100 * probability}%` })),
      element("b", { textContent: percent(probability) })
    )));
  }
  return __toCommonJS(writing_exports);
})();
