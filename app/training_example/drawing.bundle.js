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

  // app/training_example/drawing.ts
  var drawing_exports = {};
  __export(drawing_exports, {
    default: () => drawing_default
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
  function closingFirst(open) {
    return (mounted) => {
      lastOf.get(mounted.parentElement)?.();
      return closedByLast(mounted.parentElement, open(mounted));
    };
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
  function percent(weight) {
    if (Number.isNaN(weight)) return "NaN";
    const value = 100 * weight;
    const whole = Math.round(value);
    if (Math.abs(value - whole) < 5e-6 && (whole % 100 || weight === whole / 100)) return `${whole}%`;
    const text = value.toFixed(1);
    return text === "0.0" ? "<0.1%" : text === "100.0" ? ">99.9%" : `${text}%`;
  }

  // app/training_example/model.ts
  function coin({ is_random: random, is_lone: lone }) {
    if (!random) return "The coin says: B is what follows A.";
    return lone ? "One sentence is left, so B is from another document." : "The coin says: B is from another document.";
  }
  function kindOf({ text_ids: texts }, place) {
    return texts[place] < 0 ? "special" : texts[place] === 1 ? "b" : "a";
  }
  function perLine(count, width, cell) {
    const most = Math.max(4, Math.floor(width / cell));
    const lines2 = Math.ceil(count / most);
    return Math.ceil(count / lines2);
  }
  function barHeight(loss, guesses) {
    return loss / Math.max(3, ...guesses.map((guess2) => guess2.loss));
  }
  function nats(value) {
    return value.toFixed(3);
  }

  // app/training_example/drawing.ts
  var CELL = 62;
  var LABELS = 132;
  var NARROW = 640;
  var NARROW_LABELS = 92;
  var BAR = 64;
  var LONG = 3;
  var LONG_BAR = 36;
  var drawing_default = closingFirst(({ parentElement, data }) => {
    let root = parentElement.querySelector(".example");
    if (!root) {
      root = element("div", { className: "example" });
      parentElement.appendChild(root);
    }
    const place = root;
    let drawn = 0;
    const draw = () => {
      const width = place.clientWidth || 900;
      const labels = width < NARROW ? NARROW_LABELS : LABELS;
      const count = perLine(data.tokens.length, width - labels, CELL);
      if (count === drawn) return;
      drawn = count;
      place.style.setProperty("--labels", `${labels}px`);
      place.replaceChildren(documents(data), ...lines(data, count), pair(data));
    };
    const observer = new ResizeObserver(draw);
    observer.observe(place);
    draw();
    return () => observer.disconnect();
  });
  function documents(data) {
    const own = data.sentences.filter((one) => one.document === 0);
    const other = data.sentences.filter((one) => one.document !== 0);
    const row = (sentences) => element(
      "div",
      { className: "sentences" },
      ...sentences.map((one) => element(
        "span",
        { className: `sentence ${one.part.toLowerCase()}`, dir: "auto", style: tone(data, one.part) },
        ...one.part ? [element("b", { textContent: one.part })] : [],
        one.text,
        ...one.part && one.num_kept < one.num_tokens ? [element("i", { textContent: ` (${one.num_tokens - one.num_kept} pieces cut off)` })] : []
      ))
    );
    return stage("1  Document", "two parts of it become A and B", element(
      "div",
      {},
      row(own),
      element("p", { className: "coin", textContent: coin(data) }),
      ...other.length ? [row(other)] : []
    ));
  }
  function stage(title, note, content) {
    return element("section", { className: "stage" }, label(title, note), content);
  }
  function label(title, note) {
    return element("div", { className: "label" }, element("b", { textContent: title }), element("small", { textContent: note }));
  }
  function tone(data, part) {
    const color = part === "A" ? data.colors.a : part === "B" ? data.colors.b : data.colors.special;
    return `--tone: ${color}`;
  }
  function lines(data, count) {
    const found = [];
    for (let start = 0; start < data.tokens.length; start += count) {
      found.push(line(data, start, Math.min(start + count, data.tokens.length), count, start === 0));
    }
    return found;
  }
  function line(data, start, end, count, isFirst) {
    const places = Array.from({ length: end - start }, (_, index) => start + index);
    const bar = data.tokens.length >= LONG * count ? LONG_BAR : BAR;
    const guesses = new Map(data.guesses.map((guess2) => [guess2.position, guess2]));
    const rows = [
      ["2  Word pieces", "segment 0 and 1", (place) => piece(data, place, data.tokens[place])],
      ["3  Chosen", "to be predicted", (place) => fate(data, guesses.get(place))],
      ["4  BERT reads", "nobody tells it which", (place) => read(data, place, guesses.get(place))],
      ["5  Its guess", "at chosen places only", (place) => guess(guesses.get(place))],
      ["6  What it costs", "\u2212ln p of the right piece", (place) => cost(data, guesses.get(place), bar)]
    ];
    const grid = element("div", {
      className: "line",
      style: `grid-template-columns: var(--labels) repeat(${count}, minmax(0, 1fr))`
    });
    const shown = isFirst || places.some((place) => guesses.has(place)) ? rows : rows.slice(0, 1);
    for (const [title, note, cell] of shown) {
      grid.append(isFirst ? label(title, note) : element("div", { className: "label again" }, element("b", { textContent: title.slice(0, 1) })));
      grid.append(...places.map(cell), ...Array.from({ length: count - places.length }, () => element("span")));
    }
    return grid;
  }
  function piece(data, place, text) {
    const kind = kindOf(data, place);
    return element("span", { className: `cell ${kind}`, style: `--tone: ${data.colors[kind]}`, textContent: text, title: text, dir: "auto" });
  }
  function fate(data, guess2) {
    if (!guess2) return element("span", { className: "cell empty" });
    const names = { mask: data.mask, kept: "kept", random: "random" };
    return element("span", { className: `cell fate ${guess2.became}`, textContent: names[guess2.became] });
  }
  function read(data, place, guess2) {
    const text = data.input_tokens[place];
    return element("span", { className: `cell reads ${guess2?.became ?? ""}`, textContent: text, title: text, dir: "auto" });
  }
  function guess(found) {
    const list = element("span", { className: "guesses" });
    for (const [text, probability] of found?.best ?? []) {
      const isRight = text === found?.token;
      list.append(element(
        "span",
        { className: isRight ? "right" : "", title: text },
        element("bdi", { textContent: text }),
        ` ${percent(probability)}`
      ));
    }
    return list;
  }
  function cost(data, found, bar) {
    if (!found) return element("span", { className: "cost" });
    const height = Math.round(Math.max(2, bar * barHeight(found.loss, data.guesses)));
    return element(
      "span",
      { className: "cost" },
      element("small", { textContent: nats(found.loss) }),
      element("i", { className: found.became, style: `height: ${height}px` }),
      element("b", { textContent: found.token, title: found.token, dir: "auto" })
    );
  }
  function pair(data) {
    const { pair_logits: logits, pair_probabilities: p, nsp_loss: loss } = data;
    if (!logits || !p || loss === null) {
      return stage("7  The pair", "", element("p", { className: "coin", textContent: "This checkpoint has no next-sentence head." }));
    }
    const right = data.is_random ? 1 : 0;
    const bar = (name, place) => element(
      "div",
      { className: `answer ${place === right ? "right" : ""}` },
      element("span", { textContent: name }),
      element("span", { className: "track" }, element("i", { style: `width: ${(100 * p[place]).toFixed(1)}%` })),
      element("b", { textContent: percent(p[place]) }),
      element("small", { textContent: `logit ${logits[place].toFixed(2).replace("-", "\u2212")}` })
    );
    return stage("7  The pair", `${data.tokens[0]} \u2192 pooler \u2192 two logits`, element(
      "div",
      { className: "pair" },
      bar("B follows A", 0),
      bar("B is random", 1),
      element("p", { className: "coin", textContent: `\u2212ln p of the right answer: ${nats(loss)}` })
    ));
  }
  return __toCommonJS(drawing_exports);
})();
