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

  // app/objectives/drawing.ts
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
  function percent(weight) {
    if (Number.isNaN(weight)) return "NaN";
    const value = 100 * weight;
    const whole = Math.round(value);
    if (Math.abs(value - whole) < 5e-6 && (whole % 100 || weight === whole / 100)) return `${whole}%`;
    const text = value.toFixed(1);
    return text === "0.0" ? "<0.1%" : text === "100.0" ? ">99.9%" : `${text}%`;
  }

  // app/objectives/model.ts
  var NAMES = [
    ["mask", ""],
    ["kept", "kept"],
    ["random", "random"],
    ["sentinel", "sentinel"],
    ["replaced", "replaced"],
    ["moved", "moved"],
    ["predicted", "predicted"]
  ];
  function fatesOf(objectives) {
    const drawn = new Set(objectives.flatMap((one) => one.reads.map(({ fate }) => fate)));
    if (drawn.has("lucky")) drawn.add("kept");
    if (drawn.has("replaced") && drawn.has("random")) drawn.delete("replaced");
    return NAMES.map(([fate]) => fate).filter((fate) => drawn.has(fate));
  }
  function fateName(fate, mask, objectives) {
    const drawn = (wanted) => objectives.some((one) => one.reads.some((read) => read.fate === wanted));
    if (fate === "mask") return mask;
    if (fate === "random" && drawn("replaced")) return "random or made up";
    if (fate === "kept" && drawn("lucky")) return drawn("kept") ? "kept or guessed right" : "guessed right";
    return NAMES.find(([known]) => known === fate)?.[1] ?? fate;
  }
  function groupAt(objectives, place) {
    const { group } = objectives[place];
    return place > 0 && objectives[place - 1].group === group ? "" : group;
  }
  function below(objective, place) {
    const { fate, target } = objective.reads[place];
    const when = objective.order[place];
    if (when) return `${when}.`;
    if (!target || target === "original") return "";
    return fate === "kept" || fate === "predicted" ? "" : target;
  }
  function firstShown({ reads }, most) {
    const changed = reads.findIndex(({ fate }) => fate !== "");
    return Math.max(0, Math.min(changed - 4, reads.length - most));
  }
  function writesAll({ writes, original }) {
    return writes.length > 0 && writes.length === original.length && writes.every((text, place) => text === original[place]);
  }
  function carriesLoss(objective, place) {
    return objective.reads[place].target !== "" || objective.verdict !== "" && place === 0;
  }

  // app/objectives/drawing.ts
  var MOST = 48;
  var ANSWER = "its answer";
  function component({ parentElement, data, setTriggerValue }) {
    let root = parentElement.querySelector(".objectives");
    if (!root) {
      root = element("div", { className: "objectives" });
      parentElement.appendChild(root);
    }
    const parts = data.in_detail ? data.objectives.map(chosen) : rows(data, (name) => setTriggerValue("picked", name));
    replaceKeepingFocus(root, "data-name", legend(data), ...parts);
  }
  function legend({ objectives, mask }) {
    const drawn = fatesOf(objectives);
    return element(
      "div",
      { className: "legend" },
      ...drawn.map((fate) => element("span", {}, element("i", { className: fate }), fateName(fate, mask, objectives))),
      element("span", {}, element("i", { className: "paid" }), "carries loss")
    );
  }
  function rows(data, pick) {
    return data.objectives.flatMap((one, place) => {
      const group = groupAt(data.objectives, place);
      const title = element("button", {
        type: "button",
        "data-name": one.name,
        onclick: () => pick(one.name)
      }, element("b", { textContent: one.title }), element("small", { textContent: one.origin }));
      const row = element("div", {
        className: "row",
        "data-objective": one.name,
        onclick: (event) => {
          if (event.target instanceof Element && !event.target.closest("button")) pick(one.name);
        }
      }, title, one.error ? element("p", { className: "error", textContent: one.error }) : flow(one));
      return group ? [element("h2", { textContent: group }), row] : [row];
    });
  }
  function flow(one) {
    const first = firstShown(one, MOST), dots = () => element("span", { className: "token", textContent: "\u2026" });
    const reads = one.reads.slice(first, first + MOST).map((read, number) => {
      const place = first + number, note = below(one, place);
      return element(
        "span",
        { className: carriesLoss(one, place) ? "token paid" : "token" },
        cell(read.text, read.fate),
        ...note ? [element("small", { textContent: note, dir: "auto" })] : []
      );
    });
    if (first > 0) reads.unshift(dots());
    if (one.reads.length > first + MOST) reads.push(dots());
    const lines = [element("div", { className: "flow" }, ...reads)];
    if (one.verdict) lines.push(element("div", { className: "flow out" }, arrow(), element("b", { textContent: one.verdict })));
    if (one.direction) lines.push(element("div", { className: "flow out" }, element("small", { textContent: `drawn: ${one.direction}` })));
    if (writesAll(one)) {
      lines.push(element("div", { className: "flow out" }, arrow(), element("span", { className: "token paid" }, cell("the whole text", ""))));
    } else if (one.writes.length) {
      const written = one.writes.slice(0, MOST).map((text) => element("span", { className: "token paid" }, cell(text, "")));
      if (one.writes.length > MOST) written.push(dots());
      lines.push(element("div", { className: "flow out" }, arrow(), ...written));
    }
    return element("div", {}, ...lines);
  }
  function arrow() {
    return element("span", { className: "arrow", textContent: "\u2192", ariaLabel: "must come out" });
  }
  function cell(text, fate) {
    const name = fate === "gap" ? "deleted" : text;
    return element("span", { className: `cell ${fate}`, textContent: fate === "gap" ? "\u2038" : text, title: name, dir: "auto" });
  }
  function chosen(one) {
    return element("div", { "data-name": one.name, tabIndex: -1, role: "group", ariaLabel: one.title }, detail(one));
  }
  function detail(one) {
    if (one.error) return element("p", { className: "error", textContent: one.error });
    const answers = new Map(one.answers.map((answer) => [answer.place, answer]));
    if (one.writes.length) {
      return element(
        "div",
        { className: "detail" },
        band("The text", one.original.map((text) => column([cell(text, "")]))),
        band("The encoder reads", one.reads.map(({ text, fate }) => column([cell(text, fate)]))),
        band(
          "The decoder reads",
          one.decoder_reads.map((text, place) => column(
            [cell(text, ""), goal(one.writes[place]), ...guesses(answers.get(place))]
          )),
          ["", "and must write", ...answerNames(answers)]
        )
      );
    }
    if (one.verdict) {
      return element(
        "div",
        { className: "detail" },
        band("The text", one.original.map((text) => column([cell(text, "")]))),
        band("The network reads", one.reads.map(({ text, fate }) => column([cell(text, fate)]))),
        band("It must say", [column([goal(one.verdict), ...guesses(answers.get(0))])])
      );
    }
    const hasChange = one.reads.some(({ text }, place) => text !== one.original[place]);
    const columns = one.reads.map(({ text, fate, target }, place) => column([
      ...hasChange ? [cell(one.original[place], "")] : [],
      cell(text, fate),
      ...one.order.length ? [element("small", { className: "when", textContent: one.order[place] ? `${one.order[place]}.` : "" })] : [],
      target ? goal(target) : element("span", { className: "cell none" }),
      ...guesses(answers.get(place))
    ]));
    const names = [...hasChange ? ["The text"] : [], "The network reads", ...one.order.length ? ["order"] : [], "must come out"];
    return element("div", { className: "detail" }, band(names[0], columns, ["", ...names.slice(1), ...answerNames(answers)]));
  }
  function answerNames(answers) {
    return answers.size ? [ANSWER, "\u2212ln p"] : [];
  }
  function band(title, columns, names = [""]) {
    const labels = names.map((name, line) => element(line ? "small" : "b", { textContent: line ? name : title, className: name === ANSWER ? "tall" : "" }));
    return element("section", { className: "band" }, element("div", { className: "names" }, ...labels), element("div", { className: "columns" }, ...columns));
  }
  function column(cells) {
    return element("div", { className: "column" }, ...cells);
  }
  function goal(text) {
    return element("span", { className: text === "original" ? "cell goal usual" : "cell goal", textContent: text, title: text, dir: "auto" });
  }
  function guesses(answer) {
    if (!answer) return [];
    const best = answer.best.map(([text, probability]) => element(
      "span",
      { className: text === answer.target ? "right" : "", title: text },
      element("bdi", { textContent: text }),
      ` ${percent(probability)}`
    ));
    return [element("span", { className: "guesses" }, ...best), element("b", { className: "cost", textContent: answer.loss.toFixed(2) })];
  }
  return __toCommonJS(drawing_exports);
})();
