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

  // app/tokens/word_steps.js
  var word_steps_exports = {};
  __export(word_steps_exports, {
    default: () => word_steps_default
  });
  function word_steps_default({ parentElement, data }) {
    let root = parentElement.querySelector(".steps");
    if (!root) {
      root = document.createElement("div");
      root.className = "steps";
      parentElement.appendChild(root);
    }
    const rows = [normalization(data)];
    data.pieces.forEach((piece, index) => rows.push(match(data, piece, index)));
    if (data.reason) {
      const reason = document.createElement("p");
      reason.textContent = data.reason;
      rows.push(reason);
    }
    root.replaceChildren(...rows);
  }
  function row(name) {
    const made = document.createElement("div");
    made.className = "row";
    const label = document.createElement("span");
    label.className = "label";
    label.textContent = name;
    const cells = document.createElement("div");
    made.append(label, cells);
    return [made, cells];
  }
  function chip(text, kind) {
    const made = document.createElement("span");
    made.className = kind ? `chip ${kind}` : "chip";
    made.dir = "auto";
    made.textContent = text;
    return made;
  }
  function say(text) {
    const made = document.createElement("em");
    made.textContent = text;
    return made;
  }
  function normalization(data) {
    const [made, cells] = row("in the text");
    cells.appendChild(chip(data.word));
    if (data.isAdded) {
      cells.appendChild(say("a special token: kept whole"));
      return made;
    }
    for (const [name, after] of data.steps) cells.append(say(`\u2192 ${name} \u2192`), chip(after));
    if (data.steps.length && data.steps.at(-1)[1] !== data.normalized) {
      cells.append(say("\u2192 this word \u2192"), chip(data.normalized));
    }
    if (!data.steps.length) cells.appendChild(say("nothing to clean, fold or split"));
    return made;
  }
  function match(data, piece, index) {
    const [made, cells] = row(data.pieces.length > 1 ? `piece ${index + 1}` : "look-up");
    for (const tried of piece.tried) cells.appendChild(chip(tried, "failed"));
    if (piece.more) cells.appendChild(say(`and ${piece.more} shorter ones`));
    if (piece.tried.length) cells.appendChild(say("not in the vocabulary \u2192"));
    const found = chip(piece.token, data.reason ? "found unknown" : "found");
    const id = document.createElement("small");
    id.textContent = `id ${piece.id}`;
    found.appendChild(id);
    cells.appendChild(found);
    return made;
  }
  return __toCommonJS(word_steps_exports);
})();
