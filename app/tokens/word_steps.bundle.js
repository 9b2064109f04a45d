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

  // app/tokens/word_steps.ts
  var word_steps_exports = {};
  __export(word_steps_exports, {
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

  // app/tokens/word_steps.ts
  function component({ parentElement, data }) {
    let root = parentElement.querySelector(".steps");
    if (!root) {
      root = element("div", { className: "steps" });
      parentElement.appendChild(root);
    }
    const reason = data.reason ? [element("p", { textContent: data.reason })] : [];
    root.replaceChildren(normalization(data), ...data.pieces.map((piece, index) => match(data, piece, index)), ...reason);
  }
  function normalization({ word, normalized, isAdded, steps }) {
    if (isAdded) return row("in the text", chip(word), say("a special token: kept whole"));
    const last = steps.at(-1);
    return row(
      "in the text",
      chip(word),
      ...steps.flatMap(([name, after]) => [say(`\u2192 ${name} \u2192`), chip(after)]),
      ...last && last[1] !== normalized ? [say("\u2192 this word \u2192"), chip(normalized)] : [],
      ...last ? [] : [say("nothing to clean, fold or split")]
    );
  }
  function match({ pieces, reason }, { token, id, tried, more }, index) {
    const matched = chip(token, reason ? "found unknown" : "found");
    matched.append(element("small", { textContent: `id ${id}` }));
    return row(
      pieces.length > 1 ? `piece ${index + 1}` : "look-up",
      ...tried.map((candidate) => chip(candidate, "failed")),
      ...more ? [say(`and ${more} shorter ones`)] : [],
      ...tried.length ? [say("not in the vocabulary \u2192")] : [],
      matched
    );
  }
  function row(name, ...cells) {
    return element(
      "div",
      { className: "row" },
      element("span", { className: "label", textContent: name }),
      element("div", {}, ...cells)
    );
  }
  function chip(textContent, kind = "") {
    return element("span", { className: kind ? `chip ${kind}` : "chip", dir: "auto", textContent });
  }
  function say(textContent) {
    return element("em", { textContent });
  }
  return __toCommonJS(word_steps_exports);
})();
