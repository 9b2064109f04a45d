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

  // app/token_strip/token_strip.js
  var token_strip_exports = {};
  __export(token_strip_exports, {
    default: () => token_strip_default
  });
  var PREFIX = "##";
  function token_strip_default({ parentElement, data, setTriggerValue }) {
    let root = parentElement.querySelector(".strip");
    const focused = root && parentElement.activeElement ? focusedIndex(parentElement) : -1;
    if (!root) {
      root = element("div", "strip");
      parentElement.appendChild(root);
    }
    const scrolled = root.querySelector(".words")?.scrollTop ?? 0;
    const words = element("div", "words");
    words.setAttribute("role", "listbox");
    words.setAttribute("aria-label", "Tokens of the input");
    words.setAttribute("aria-orientation", "horizontal");
    const facts = element("div", "facts");
    const marked = new Set(data.marked);
    const buttons = [];
    let word = null;
    data.tokens.forEach((token, i) => {
      const joins = i > 0 && data.words[i] >= 0 && data.words[i] === data.words[i - 1];
      if (!joins) {
        word = element("div", "word");
        word.setAttribute("role", "group");
        word.style.setProperty("--tone", color(data, i));
        word.classList.toggle("special", data.texts[i] < 0);
        words.appendChild(word);
      }
      const button = element("button");
      button.type = "button";
      button.setAttribute("role", "option");
      button.setAttribute("aria-selected", String(i === data.selected));
      button.setAttribute("aria-label", describe(data, i));
      button.classList.toggle("marked", marked.has(i));
      const text = element("b");
      text.dir = "auto";
      if (token.startsWith(PREFIX) && token.length > PREFIX.length) {
        const prefix = element("span");
        prefix.textContent = PREFIX;
        text.append(prefix, token.slice(PREFIX.length));
      } else {
        text.textContent = token;
      }
      const id = element("small");
      id.textContent = data.ids[i];
      button.append(text, id);
      button.addEventListener("mouseenter", () => tell(facts, data, i));
      button.addEventListener("focus", () => tell(facts, data, i));
      button.addEventListener("click", () => setTriggerValue("picked", i));
      word.appendChild(button);
      buttons.push(button);
    });
    const active = Math.max(0, Math.min(data.selected, buttons.length - 1));
    buttons.forEach((button, i) => button.tabIndex = i === active ? 0 : -1);
    words.addEventListener("mouseleave", () => tell(facts, data, data.selected));
    words.addEventListener("keydown", (event) => move(event, buttons));
    root.replaceChildren(legend(data), words, facts);
    tell(facts, data, data.selected);
    words.scrollTop = scrolled;
    if (root.dataset.selected !== String(data.selected)) show(words, buttons[data.selected]);
    root.dataset.selected = data.selected;
    if (focused >= 0 && buttons.length) buttons[Math.min(focused, buttons.length - 1)].focus();
  }
  function show(words, button) {
    if (!button) return;
    const box = words.getBoundingClientRect();
    const token = button.getBoundingClientRect();
    if (token.top >= box.top && token.bottom <= box.bottom) return;
    words.scrollTop += token.top - box.top - (box.height - token.height) / 2;
  }
  function element(name, className) {
    const made = document.createElement(name);
    if (className) made.className = className;
    return made;
  }
  function focusedIndex(parent) {
    return [...parent.querySelectorAll("button")].indexOf(parent.activeElement);
  }
  function color(data, i) {
    return data.texts[i] < 0 ? data.colors[2] : data.colors[data.texts[i]];
  }
  function legend(data) {
    const row = element("div", "legend");
    const isPair = data.texts.includes(1);
    const entries = [[data.colors[0], isPair ? "sentence A, segment 0" : "the sentence, segment 0"]];
    if (isPair) {
      const segment = data.segments[data.texts.indexOf(1)];
      entries.push([data.colors[1], `sentence B, segment ${segment}`]);
    }
    if (data.texts.includes(-1)) entries.push([data.colors[2], "added special tokens"]);
    for (const [tone, name] of entries) {
      const entry = element("span");
      const box = element("i");
      box.style.background = tone;
      entry.append(box, name);
      row.appendChild(entry);
    }
    const counts = element("span");
    const numWords = new Set(data.words.filter((word) => word >= 0)).size;
    counts.textContent = `${data.tokens.length} tokens, ${numWords} words; pieces in one box are one word`;
    row.appendChild(counts);
    return row;
  }
  function describe(data, i) {
    return `${data.tokens[i]}: ${details(data, i)}`;
  }
  function details(data, i) {
    const place = data.texts[i] < 0 ? "added" : `characters ${data.starts[i]} to ${data.ends[i]} of sentence ${"AB"[data.texts[i]]}`;
    return `id ${data.ids[i]} \xB7 position ${data.positions[i]} \xB7 segment ${data.segments[i]} \xB7 ${place}`;
  }
  function tell(facts, data, i) {
    facts.replaceChildren();
    if (i < 0 || i >= data.tokens.length) return;
    const name = element("b");
    name.dir = "auto";
    name.textContent = data.tokens[i];
    facts.append(name, `  ${details(data, i)}`);
  }
  function move(event, buttons) {
    const now = buttons.indexOf(event.target.closest("button"));
    if (now < 0) return;
    const steps = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: buttons.length - 1 };
    const rows = { ArrowDown: 1, ArrowUp: -1 };
    let next = steps[event.key];
    if (event.key in rows) next = inOtherRow(buttons, now, rows[event.key]);
    if (next === void 0 || next < 0 || next >= buttons.length) return;
    event.preventDefault();
    buttons[now].tabIndex = -1;
    buttons[next].tabIndex = 0;
    buttons[next].focus();
  }
  function inOtherRow(buttons, now, step) {
    const from = buttons[now].getBoundingClientRect();
    let best;
    let bestDistance = Infinity;
    let rowTop = null;
    for (let i = now + step; i >= 0 && i < buttons.length; i += step) {
      const box = buttons[i].getBoundingClientRect();
      if (Math.abs(box.top - from.top) < 4) continue;
      rowTop ??= box.top;
      if (Math.abs(box.top - rowTop) > 4) break;
      const distance = Math.abs(box.left - from.left);
      if (distance < bestDistance) [best, bestDistance] = [i, distance];
    }
    return best;
  }
  return __toCommonJS(token_strip_exports);
})();
