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

  // app/token_strip/token_strip.ts
  var token_strip_exports = {};
  __export(token_strip_exports, {
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

  // app/browser/colours.ts
  var EQUAL_CONTRAST = 0.179;
  function inkOver(rgb) {
    const [r, g, b] = Array.from(rgb, (c) => c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > EQUAL_CONTRAST ? "#000" : "#fff";
  }
  function hexRgb(hex) {
    return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  }

  // app/token_strip/arrow_keys.ts
  var SAME_ROW = 4;
  function nextToken(key, now, count, cornerOf) {
    const next = neighbour(key, now, count, cornerOf);
    return next === void 0 || next < 0 || next >= count ? void 0 : next;
  }
  function neighbour(key, now, count, cornerOf) {
    switch (key) {
      case "ArrowRight":
        return now + 1;
      case "ArrowLeft":
        return now - 1;
      case "Home":
        return 0;
      case "End":
        return count - 1;
      case "ArrowDown":
        return inOtherRow(now, 1, count, cornerOf);
      case "ArrowUp":
        return inOtherRow(now, -1, count, cornerOf);
      default:
        return void 0;
    }
  }
  function inOtherRow(now, step, count, cornerOf) {
    const from = cornerOf(now);
    let best;
    let bestDistance = Infinity;
    let rowTop;
    for (let token = now + step; token >= 0 && token < count; token += step) {
      const { top, left } = cornerOf(token);
      if (Math.abs(top - from.top) < SAME_ROW) continue;
      rowTop ??= top;
      if (Math.abs(top - rowTop) > SAME_ROW) break;
      const distance = Math.abs(left - from.left);
      if (distance < bestDistance) [best, bestDistance] = [token, distance];
    }
    return best;
  }

  // app/token_strip/facts.ts
  function colorOf({ texts, colors }, token) {
    return texts[token] < 0 ? colors[2] : colors[texts[token]];
  }
  function details({ ids, segments, positions, texts, starts, ends, marked }, token) {
    const place = texts[token] < 0 ? "added" : `characters ${starts[token]} to ${ends[token]} of sentence ${"AB"[texts[token]]}`;
    const crossed = marked.includes(token) ? " \xB7 crossed out" : "";
    return `id ${ids[token]} \xB7 position ${positions[token]} \xB7 segment ${segments[token]} \xB7 ${place}${crossed}`;
  }
  function joins({ words }, token) {
    return token > 0 && words[token] >= 0 && words[token] === words[token - 1];
  }
  function legendEntries({ texts, segments, colors }) {
    const second = texts.indexOf(1);
    const entries = [[colors[0], second < 0 ? "the sentence, segment 0" : "sentence A, segment 0"]];
    if (second >= 0) entries.push([colors[1], `sentence B, segment ${segments[second]}`]);
    if (texts.includes(-1)) entries.push([colors[2], "added special tokens"]);
    return entries;
  }
  function countText({ tokens, words }) {
    const numWords = new Set(words.filter((word) => word >= 0)).size;
    return `${tokens.length} tokens, ${numWords} words; pieces in one box are one word`;
  }

  // app/token_strip/token_strip.ts
  var PREFIX = "##";
  function component({ parentElement, data, setTriggerValue }) {
    let root = parentElement.querySelector(".strip");
    if (!root) {
      root = element("div", { className: "strip" });
      parentElement.appendChild(root);
    }
    const focused = focusedIndex(root);
    const scrolled = root.querySelector(".words")?.scrollTop ?? 0;
    const facts = element("div", { className: "facts" });
    const tell = (token) => facts.replaceChildren(...factsOf(data, token));
    const buttons = data.tokens.map((_, token) => tokenButton(data, token, tell, () => setTriggerValue("picked", token)));
    const words = element("div", {
      className: "words",
      role: "listbox",
      ariaLabel: "Tokens of the input",
      ariaOrientation: "horizontal",
      onmouseleave: () => tell(data.selected),
      onkeydown: (event) => move(event, buttons)
    }, ...wordBoxes(data, buttons));
    const active = Math.max(0, Math.min(data.selected, buttons.length - 1));
    buttons.forEach((button, token) => {
      button.tabIndex = token === active ? 0 : -1;
    });
    root.replaceChildren(legend(data), words, facts);
    tell(data.selected);
    words.scrollTop = scrolled;
    if (root.dataset.selected !== String(data.selected)) show(words, buttons[data.selected]);
    root.dataset.selected = String(data.selected);
    if (focused >= 0) buttons[Math.min(focused, buttons.length - 1)]?.focus();
  }
  function focusedIndex(root) {
    const { activeElement } = root.getRootNode();
    return [...root.querySelectorAll("button")].findIndex((button) => button === activeElement);
  }
  function tokenButton(data, token, tell, onclick) {
    const name = data.tokens[token];
    const text = element("b", { dir: "auto" });
    if (name.startsWith(PREFIX) && name.length > PREFIX.length) {
      text.append(element("span", { textContent: PREFIX }), name.slice(PREFIX.length));
    } else text.textContent = name;
    return element("button", {
      type: "button",
      className: data.marked.includes(token) ? "marked" : "",
      role: "option",
      ariaSelected: String(token === data.selected),
      ariaDescription: details(data, token),
      onclick,
      onmouseenter: () => tell(token),
      onfocus: () => tell(token)
    }, text, element("small", { textContent: data.ids[token] }));
  }
  function wordBoxes(data, buttons) {
    const boxes = [];
    buttons.forEach((button, token) => {
      if (!joins(data, token)) {
        const box = element("div", { className: data.texts[token] < 0 ? "word special" : "word", role: "group" });
        box.style.setProperty("--tone", colorOf(data, token));
        box.style.setProperty("--ink", inkOver(hexRgb(colorOf(data, token))));
        boxes.push(box);
      }
      boxes[boxes.length - 1].append(button);
    });
    return boxes;
  }
  function legend(data) {
    const entries = legendEntries(data).map(([color, name]) => {
      const box = element("i");
      box.style.background = color;
      return element("span", {}, box, name);
    });
    return element("div", { className: "legend" }, ...entries, element("span", { textContent: countText(data) }));
  }
  function factsOf(data, token) {
    if (token < 0 || token >= data.tokens.length) return [];
    return [element("b", { dir: "auto", textContent: data.tokens[token] }), `  ${details(data, token)}`];
  }
  function show(words, button) {
    if (!button) return;
    const box = words.getBoundingClientRect();
    const token = button.getBoundingClientRect();
    if (token.top >= box.top && token.bottom <= box.bottom) return;
    words.scrollTop += token.top - box.top - (box.height - token.height) / 2;
  }
  function move(event, buttons) {
    const now = buttons.findIndex((button) => button === event.target);
    if (now < 0) return;
    const next = nextToken(event.key, now, buttons.length, (token) => buttons[token].getBoundingClientRect());
    if (next === void 0) return;
    event.preventDefault();
    buttons[now].tabIndex = -1;
    buttons[next].tabIndex = 0;
    buttons[next].focus();
  }
  return __toCommonJS(token_strip_exports);
})();
