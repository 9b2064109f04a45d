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

  // app/canvas/lines/lines.js
  var lines_exports = {};
  __export(lines_exports, {
    default: () => component,
    standAlone: () => standAlone
  });

  // app/canvas/shared/transport.js
  function unpack(bytes) {
    const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
    const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength);
    const length = view.getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + length)));
    const start = 4 + length;
    const blocks = header.blocks.map(([from, size]) => whole.subarray(start + from, start + from + size));
    return { header, blocks };
  }
  async function inflate({ header, blocks }) {
    const whole = await Promise.all(blocks.map(async (block, k) => {
      if (!header.blocks[k][2]) return block;
      const stream = new Blob([block]).stream().pipeThrough(new DecompressionStream("deflate"));
      return new Uint8Array(await new Response(stream).arrayBuffer());
    }));
    return { header, blocks: whole };
  }
  function asFloats(block) {
    return new Float32Array(block.buffer, block.byteOffset, block.byteLength / 4);
  }
  function asFlags(block, first, number) {
    return Uint8Array.from({ length: number }, (_, k) => block[first + k >> 3] >> 7 - (first + k & 7) & 1);
  }
  function encoder(table) {
    const middles = table.slice(1).map((weight, k) => (weight + table[k]) / 2);
    return (weight) => {
      let [low, high] = [0, 255];
      while (low < high) {
        const middle = low + high >> 1;
        if (weight < middles[middle]) high = middle;
        else low = middle + 1;
      }
      return low;
    };
  }

  // app/html_file/alone.js
  function showAlone(component2, place, css, messages) {
    const root = place.attachShadow({ mode: "open" });
    const style = document.createElement("style");
    style.textContent = css;
    root.append(style);
    const held = messages.map(heldBytes);
    const heard = (name, value) => {
      if (name !== "selection" || value.layer === void 0) return;
      const found = held.find((bytes) => unpack(bytes).header.layer === value.layer);
      if (found) show(withHeader(found, { heads: value.heads, revision: value.revision }));
    };
    const show = (data) => component2({ data, parentElement: root, setStateValue: heard, setTriggerValue: () => {
    } });
    show(held[0]);
  }
  function heldBytes(id) {
    return Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
  }
  function withHeader(bytes, values) {
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

  // app/canvas/shared/elements.js
  function element(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in node && name !== "list") node[name] = value;
      else node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }
  function percent(weight) {
    if (Number.isNaN(weight)) return "NaN";
    if (weight >= 0.0995) return `${Math.round(weight * 100)}%`;
    return `${(weight * 100).toFixed(1)}%`;
  }
  function exact(value) {
    return Number.isFinite(value) ? Number(value.toPrecision(7)) : null;
  }
  function onlyHere(controls, header, what) {
    if (!header.alone) return;
    for (const control of controls) Object.assign(control, { disabled: true, title: `This file holds ${what} only` });
  }
  function letters(text, most) {
    const found = [];
    for (const { segment } of LETTERS.segment(text.slice(0, most * 12))) {
      if (found.push(segment) === most) break;
    }
    return found;
  }
  var LETTERS = new Intl.Segmenter(void 0, { granularity: "grapheme" });
  function shorten(text, most) {
    const kept = letters(text, most).join("");
    return kept.length < text.length ? `${kept}\u2026` : text;
  }
  var TURNING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
  var NOTHING_SEEN = /^[\s\u00ad\u115f\u1160\u200b-\u200d\u2060-\u2065\u3164\ufe00-\ufe0f\ufeff\uffa0]*$/u;
  function legible(token) {
    const named = token.toWellFormed().replace(TURNING, signName).replace(/(\p{M}{3})\p{M}+/gu, "$1");
    if (!named) return "(empty)";
    return NOTHING_SEEN.test(named) ? named.slice(0, 60).replace(/[^]/gu, signName) : named;
  }
  function signName(sign) {
    return `\u2039U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u203A`;
  }
  function brokenNote(missing, instead) {
    return missing ? [element("span", { className: "key broken", textContent: `${missing} Red stripes mark them; ${instead}.` })] : [];
  }

  // app/canvas/shared/levels.js
  function unitsOf(header, byWord) {
    const starts = byWord ? header.starts : header.tokens.map((_, place) => place);
    const pick = (list) => starts.map((start) => list[start]);
    return {
      byWord,
      starts,
      names: byWord ? header.words : header.tokens,
      textIds: pick(header.text_ids),
      segmentIds: pick(header.segment_ids),
      size: starts.length
    };
  }
  function mergeToWords(read, size, starts) {
    const count = starts.length;
    const wordOf = new Uint16Array(size);
    starts.forEach((start, word) => wordOf.fill(word, start));
    const out = new Float32Array(count * count);
    for (let row = 0, at = 0; row < size; row++) {
      const first = wordOf[row] * count;
      for (let column = 0; column < size; column++, at++) out[first + wordOf[column]] += read(at);
    }
    starts.forEach((start, word) => {
      const pieces = (starts[word + 1] ?? size) - start;
      if (pieces > 1) for (let k = word * count; k < (word + 1) * count; k++) out[k] /= pieces;
    });
    return out;
  }
  function kindColour(header, textId) {
    return textId === -1 ? header.kinds.special : textId === 1 ? header.kinds.b : header.kinds.a;
  }
  function kindKeys(header) {
    const kinds = [["a", header.is_pair ? "sentence A" : "text"], ["b", "sentence B"], ["special", "added special tokens"]];
    return kinds.filter(([kind]) => kind !== "b" || header.is_pair).map(([kind, words]) => {
      const square = element("b");
      square.style.background = header.kinds[kind];
      return element("span", { className: "key" }, square, words);
    });
  }

  // app/canvas/lines/bundles.js
  var AttentionLines = class {
    // The heads that the server has sent of this layer: codes, and flags of what is not a number.
    keepHeads({ sent, broken, tokens }, codes, bits) {
      const cells = tokens.length ** 2;
      sent.forEach((head, k) => {
        const number = broken.indexOf(head);
        this.given.set(head, {
          codes: codes.subarray(k * cells, (k + 1) * cells),
          gaps: number < 0 ? null : asFlags(bits, number * cells, cells)
        });
      });
    }
    // Pieces as the server sent them, or words: maps of a head's codes, exact values (words), gaps.
    refreshUnits() {
      const { header, given, table } = this;
      this.units = unitsOf(header, this.byWord);
      this.size = this.units.size;
      this.maps = this.byWord ? /* @__PURE__ */ new Map() : given;
      if (!this.byWord) return;
      const encode = quickEncoder(table);
      for (const [head, { codes, gaps }] of given) {
        const read = gaps ? (at) => gaps[at] ? NaN : table[codes[at]] : (at) => table[codes[at]];
        const values = mergeToWords(read, header.tokens.length, this.units.starts).map((weight) => Math.min(1, weight));
        this.maps.set(head, {
          values,
          codes: Uint8Array.from(values, (weight) => encode(weight || 0)),
          gaps: gaps && Uint8Array.from(values, Number.isNaN)
        });
      }
    }
    takesPart(side, unit) {
      if (this.hideSpecial && this.units.textIds[unit] === -1) return false;
      if (this.filter === "all") return true;
      const wanted = Number(this.filter[side === "left" ? 0 : 2]);
      return this.units.segmentIds[unit] === wanted;
    }
    // Heads that are shown and have not come yet.
    awaited() {
      return [...this.shown].filter((head) => !this.given.has(head)).sort((a, b) => a - b);
    }
    select() {
      const { size, table } = this;
      this.heads = [...this.shown].filter((head) => this.maps.has(head)).sort((a, b) => a - b);
      this.averaged = this.mean && this.heads.length > 1;
      const maps = this.averaged ? [this.meanCodes()] : this.heads.map((head) => this.maps.get(head).codes);
      this.mapColours = this.averaged ? [this.header.mean_colour] : this.heads.map((h) => this.header.colours[h]);
      this.broken = this.heads.some((head) => this.maps.get(head).gaps) ? this.units.names.map((_, i) => this.isBroken(i)) : [];
      const rows = this.units.names.map((_, i) => this.takesPart("left", i));
      const columns = this.units.names.map((_, j) => this.takesPart("right", j));
      const lowest = Math.max(1, table.findIndex((weight) => weight >= this.threshold));
      const counts = new Uint32Array(257);
      const visit = (see) => {
        maps.forEach((map, m) => {
          for (let i = 0; i < size; i++) {
            if (!rows[i]) continue;
            for (let j = 0, at = i * size; j < size; j++, at++) {
              if (map[at] >= lowest && columns[j]) see(map[at], m, i, j);
            }
          }
        });
      };
      visit((code) => {
        counts[code + 1] += 1;
      });
      for (let code = 1; code < 257; code++) counts[code] += counts[code - 1];
      const total = counts[256];
      const lines = { code: new Uint8Array(total), map: new Uint8Array(total), row: new Uint16Array(total), column: new Uint16Array(total) };
      visit((code, m, i, j) => {
        const at = counts[code]++;
        lines.code[at] = code;
        lines.map[at] = m;
        lines.row[at] = i;
        lines.column[at] = j;
      });
      this.lines = lines;
      this.total = total;
      this.refreshPanel();
    }
    meanCodes() {
      const { table } = this;
      const encode = quickEncoder(table);
      const maps = this.heads.map((head) => this.maps.get(head));
      return Uint8Array.from({ length: this.size ** 2 }, (_, at) => {
        if (maps.some(({ gaps }) => gaps?.[at])) return 0;
        return encode(maps.reduce((sum, { codes }) => sum + table[codes[at]], 0) / maps.length);
      });
    }
    // NaN where the checkpoint gave no number.
    weight(head, row, column) {
      const { values, codes, gaps } = this.maps.get(head);
      const at = row * this.size + column;
      if (values) return values[at];
      return gaps?.[at] ? NaN : this.table[codes[at]];
    }
    // Whether a token's row of any shown head holds something that is not a number.
    isBroken(row) {
      return this.heads.some((head) => {
        const { gaps } = this.maps.get(head);
        return gaps?.subarray(row * this.size, (row + 1) * this.size).includes(1);
      });
    }
    // Of a line's map: one head, or the mean of the shown ones.
    mapWeight(map, row, column) {
      if (!this.averaged) return this.weight(this.heads[map], row, column);
      return this.heads.reduce((sum, head) => sum + this.weight(head, row, column), 0) / this.heads.length;
    }
  };
  function quickEncoder(table) {
    const encode = encoder(table);
    const known = Uint8Array.from({ length: 4096 }, (_, k) => encode((k / 4095) ** 2));
    return (weight) => known[Math.round(4095 * Math.sqrt(Math.min(1, weight)))];
  }

  // app/canvas/lines/choice.js
  var AttentionChoice = class extends AttentionLines {
    get anyChosen() {
      return this.chosen.left.size + this.chosen.right.size > 0;
    }
    clearChoice() {
      this.chosen = { left: /* @__PURE__ */ new Set(), right: /* @__PURE__ */ new Set() };
    }
    // As the address has it: places of tokens, "l2.5r7"; at most a hundred on a side.
    writtenChoice() {
      return ["left", "right"].map((side) => {
        const places = [...this.chosen[side]].slice(0, 100).map((unit) => this.units.starts[unit]);
        return places.length ? side[0] + places.join(".") : "";
      }).join("");
    }
    // Tokens that are not there are left out.
    readChoice(written) {
      this.clearChoice();
      for (const [, letter, places] of written.matchAll(/([lr])([\d.]+)/g)) {
        const units = places.split(".").map((place) => this.units.starts.indexOf(Number(place)));
        this.chosen[letter === "l" ? "left" : "right"] = new Set(units.filter((unit) => unit >= 0));
      }
    }
    // What the view is about: the chosen tokens, else the pointed one; null for everything.
    focus() {
      if (this.anyChosen) return this.chosen;
      if (!this.pointed) return null;
      const { side, index } = this.pointed;
      return { left: new Set(side === "left" ? [index] : []), right: new Set(side === "right" ? [index] : []) };
    }
    // Choose a token alone (or let it go), or with `add` put it to the others (or take it away).
    pick(place, add) {
      if (!place) this.clearChoice();
      else {
        const own = this.chosen[place.side];
        const had = own.has(place.index);
        if (!add) {
          const alone = had && this.chosen.left.size + this.chosen.right.size === 1;
          this.clearChoice();
          if (!alone) this.chosen[place.side].add(place.index);
        } else if (had) own.delete(place.index);
        else own.add(place.index);
      }
      this.pointed = place;
      this.noteLook();
      this.refreshPanel();
      this.draw();
    }
    isInFocus(focus, row, column) {
      return (!focus.left.size || focus.left.has(row)) && (!focus.right.size || focus.right.has(column));
    }
    // The tokens on the other side and what flows between each of them and all in focus; with tokens
    // in focus on both sides, those on the left and what each gives to those on the right.
    // sum: over the tokens in focus, the mean of the heads; share: the part of a looking token's
    // attention, which for several looking tokens is the mean over them; shares: that of each head.
    targets(focus) {
      const both = focus.left.size > 0 && focus.right.size > 0;
      const fromLeft = focus.left.size > 0;
      const own = fromLeft && !both ? "left" : "right";
      const other = own === "left" ? "right" : "left";
      const summed = [...focus[own]].filter((unit) => this.takesPart(own, unit));
      const listed = both ? [...focus.left] : this.units.names.map((_, k) => k);
      if (!summed.length || !this.heads.length) return { other, number: 0, found: [] };
      const divisor = own === "left" ? summed.length : 1;
      const found = listed.filter((k) => this.takesPart(other, k)).map((index) => {
        const weights = this.heads.map((head) => {
          let sum2 = 0;
          for (const unit of summed) sum2 += own === "left" ? this.weight(head, unit, index) : this.weight(head, index, unit);
          return sum2;
        });
        const sum = weights.reduce((a, b) => a + b, 0) / weights.length;
        return { index, sum, share: sum / divisor, shares: weights.map((weight) => weight / divisor) };
      });
      const rank = ({ sum }) => Number.isNaN(sum) ? -1 : sum;
      return { other, number: summed.length, averages: divisor > 1, found: found.sort((a, b) => rank(b) - rank(a)) };
    }
  };

  // app/canvas/shared/canvas.js
  var NOT_A_NUMBER = [214, 40, 90];
  var STRIPES = 5;
  function readTheme(node) {
    const style = getComputedStyle(node);
    const read = (name, other) => style.getPropertyValue(name).trim() || other;
    return {
      text: read("--st-text-color", "#222"),
      background: read("--st-background-color", "#fff"),
      secondary: read("--st-secondary-background-color", "#f0f2f6"),
      primary: read("--st-primary-color", "#3366cc"),
      border: read("--st-border-color", "#ccc"),
      font: read("--st-font", "sans-serif")
    };
  }
  function fitCanvas(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
  }
  function fitText(context, text, room) {
    const parts = letters(text, 80);
    const start = parts.join("");
    if (start.length === text.length && context.measureText(text).width <= room) return text;
    let [low, high] = [0, parts.length];
    while (low < high) {
      const middle = low + high + 1 >> 1;
      if (context.measureText(`${parts.slice(0, middle).join("")}\u2026`).width <= room) low = middle;
      else high = middle - 1;
    }
    return `${parts.slice(0, low).join("")}\u2026`;
  }
  function inkOver(rgb) {
    const [r, g, b] = Array.from(rgb, (c) => c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.35 ? "#111" : "#fff";
  }
  function paintMissing(context, x, y, width, height) {
    context.fillStyle = `rgb(${NOT_A_NUMBER.join(",")})`;
    context.fillRect(x, y, width, height);
    context.strokeStyle = "#fff";
    context.lineWidth = 1.2;
    context.beginPath();
    for (let sum = Math.ceil((x + y + 1) / STRIPES) * STRIPES; sum < x + y + width + height; sum += STRIPES) {
      const [from, to] = [Math.max(x, sum - y - height), Math.min(x + width, sum - y)];
      context.moveTo(from, sum - from);
      context.lineTo(to, sum - to);
    }
    context.stroke();
  }

  // app/canvas/lines/paint.js
  var MAX_LINES = 2e4;
  var MAX_HEIGHT = 660;
  var LINE_STEPS = [0.02, 0.1, 0.3, 1];
  var opacity = (weight) => Math.min(1, 0.1 + 0.9 * Math.pow(weight, 0.55));
  var thickness = (weight) => 0.8 + 2.6 * weight;
  var AttentionPainter = class extends AttentionChoice {
    layout() {
      if (!this.header || !this.root.clientWidth) return;
      this.root.classList.toggle("narrow", this.root.clientWidth < 700);
      this.width = this.scroller.clientWidth;
      const roomy = this.size <= 24 ? 26 : this.size <= 32 ? 22 : 19;
      this.rowHeight = this.fit ? Math.max(1.2, (MAX_HEIGHT - 12) / this.size) : roomy;
      this.fontSize = this.rowHeight >= 22 ? 14 : 12.5;
      this.top = 6;
      const content = Math.ceil(this.size * this.rowHeight + 2 * this.top);
      this.height = Math.min(MAX_HEIGHT, content);
      this.scroller.style.height = `${this.height + 2}px`;
      this.spacer.style.height = `${content}px`;
      this.width = this.scroller.clientWidth;
      this.column = Math.max(84, Math.min(190, this.width * 0.3));
      this.labels = /* @__PURE__ */ new Map();
      this.draw();
    }
    draw() {
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => this.paint());
    }
    y(index) {
      return this.top + (index + 0.5) * this.rowHeight - this.offset;
    }
    paint() {
      if (!this.width || !this.lines) return;
      this.drawOn(fitCanvas(this.canvas, this.width, this.height), this.scroller.scrollTop, this.height);
      this.refreshFoot();
    }
    // Draw the rows from `offset` on, as many as fit into `height`.
    drawOn(context, offset, height) {
      this.offset = offset;
      this.seen = height;
      const focus = this.focus();
      if (focus) this.paintRows(context, focus);
      this.paintLines(context, focus);
      const found = focus && this.targets(focus);
      if (focus) this.paintBoxes(context, focus, found);
      this.paintTokens(context, "left", focus, found);
      this.paintTokens(context, "right", focus, found);
      if (this.anyChosen && this.pointed) this.paintCursor(context);
    }
    // Grounds of the tokens in focus.
    paintRows(context, focus) {
      context.fillStyle = this.theme.secondary;
      const height = Math.max(this.rowHeight, 14);
      for (const side of ["left", "right"]) {
        const x = side === "left" ? 0 : this.width - this.column;
        for (const unit of focus[side]) {
          context.beginPath();
          context.roundRect(x + 2, this.y(unit) - height / 2, this.column - 4, height, 4);
          context.fill();
        }
      }
    }
    // Where the next key or click acts, while other tokens are chosen.
    paintCursor(context) {
      const height = Math.max(this.rowHeight, 14);
      const x = this.pointed.side === "left" ? 0 : this.width - this.column;
      context.strokeStyle = this.theme.primary;
      context.lineWidth = 1.5;
      context.beginPath();
      context.roundRect(x + 2, this.y(this.pointed.index) - height / 2, this.column - 4, height, 4);
      context.stroke();
    }
    // Fainter and thinner when lines would cover everything: [opacity, thickness], each at most 1.
    ink(focus) {
      const thin = Math.max(0.35, Math.min(1, this.rowHeight / 13));
      if (focus) return [1, thin];
      const { code } = this.lines;
      let sum = 0;
      for (let k = Math.max(0, this.total - MAX_LINES); k < this.total; k++) {
        const weight = this.table[code[k]];
        sum += opacity(weight) * thickness(weight) * thin;
      }
      const cover = sum / (this.size * this.rowHeight);
      return [Math.max(0.2, Math.min(1, Math.pow(0.7 / cover, 0.6))), thin];
    }
    paintLines(context, focus) {
      const { code, map, row, column } = this.lines;
      const [x1, x2] = [this.column, this.width - this.column];
      const spread = this.spread();
      const [faint, thin] = this.ink(focus);
      this.faint = faint;
      context.lineCap = "round";
      const last = this.total;
      const first = focus ? 0 : Math.max(0, last - MAX_LINES);
      let style = -1;
      for (let k = first; k < last; k++) {
        if (focus && !this.isInFocus(focus, row[k], column[k])) continue;
        const from = this.y(row[k]) + spread[map[k]];
        const to = this.y(column[k]) + spread[map[k]];
        if (Math.max(from, to) < 0 || Math.min(from, to) > this.seen) continue;
        const next = code[k] * 256 + map[k];
        if (next !== style) {
          style = next;
          const weight = this.table[code[k]];
          context.globalAlpha = opacity(weight) * faint;
          context.lineWidth = thickness(weight) * thin * (focus ? 1.15 : 1);
          context.strokeStyle = this.mapColours[map[k]];
        }
        context.beginPath();
        context.moveTo(x1, from);
        context.lineTo(x2, to);
        context.stroke();
      }
      context.globalAlpha = 1;
    }
    // Lines of several heads between the same two tokens lie side by side, not on top of each other.
    spread() {
      const n = this.mapColours.length;
      const step = Math.min(2.4, this.rowHeight * 0.6 / n);
      return this.mapColours.map((_, m) => (m - (n - 1) / 2) * step);
    }
    // Behind the tokens of the other column: one field per head, as strong as its share.
    paintBoxes(context, focus, { other, found }) {
      if (focus.left.size && focus.right.size) return;
      const x = other === "right" ? this.width - this.column + 4 : 4;
      const wide = (this.column - 8) / this.mapColours.length;
      for (const { index, shares, share } of found) {
        const y = this.y(index);
        if (y < -this.rowHeight || y > this.seen + this.rowHeight) continue;
        (this.averaged ? [share] : shares).forEach((weight, m) => {
          if (!(weight >= 4e-3)) return;
          context.globalAlpha = Math.min(0.6, weight * 0.62 + 0.02);
          context.fillStyle = this.mapColours[m];
          context.fillRect(x + m * wide, y - this.rowHeight / 2 + 0.5, wide, Math.max(1, this.rowHeight - 1));
        });
      }
      context.globalAlpha = 1;
    }
    paintTokens(context, side, focus, targets) {
      const left = side === "left";
      const inner = left ? this.column : this.width - this.column;
      const isFocus = (k) => Boolean(focus?.[side].has(k));
      const numbers = this.numbersBeside(side, targets);
      const wanted = this.namedFirst(side, focus, numbers);
      const lineHeight = Math.min(this.rowHeight, this.fontSize + 1) < this.fontSize ? this.fontSize : 0;
      const taken = [];
      context.textBaseline = "middle";
      context.textAlign = left ? "right" : "left";
      context.direction = "ltr";
      const edge = left ? inner - 12 : inner + 12;
      for (const k of wanted) {
        const y = this.y(k);
        if (y < -20 || y > this.seen + 20) continue;
        if (lineHeight && taken.some((other) => Math.abs(other - y) < lineHeight)) continue;
        taken.push(y);
        const part = this.takesPart(side, k);
        context.globalAlpha = part ? 1 : 0.35;
        context.font = `${isFocus(k) ? 600 : 400} ${this.fontSize}px ${this.theme.font}`;
        const room = this.column - 22 - (numbers.has(k) ? 38 : 0);
        const text = this.label(context, k, room, isFocus(k));
        context.lineWidth = 3;
        context.lineJoin = "round";
        context.strokeStyle = this.theme.background;
        if (focus && !isFocus(k)) context.strokeText(text, edge, y + 0.5);
        context.fillStyle = this.theme.text;
        context.fillText(text, edge, y + 0.5);
        if (!numbers.has(k)) continue;
        context.textAlign = left ? "left" : "right";
        context.font = `400 11.5px ${this.theme.font}`;
        context.strokeText(percent(numbers.get(k)), left ? 8 : this.width - 8, y + 0.5);
        context.fillText(percent(numbers.get(k)), left ? 8 : this.width - 8, y + 0.5);
        context.textAlign = left ? "right" : "left";
      }
      for (let k = 0; k < this.size; k++) {
        const y = this.y(k);
        if (y < -this.rowHeight || y > this.seen + this.rowHeight) continue;
        context.globalAlpha = this.takesPart(side, k) ? 1 : 0.3;
        context.fillStyle = kindColour(this.header, this.units.textIds[k]);
        const tall = Math.max(1, this.rowHeight - 2);
        context.fillRect(left ? inner - 6 : inner + 2, y - tall / 2, 4, tall);
        if (left && this.broken[k]) paintMissing(context, inner + 1, y - this.rowHeight / 2, 12, this.rowHeight);
      }
      context.globalAlpha = 1;
    }
    // The shares worth printing beside the tokens that the focus is tied to.
    numbersBeside(side, targets) {
      if (!targets || targets.other !== side) return /* @__PURE__ */ new Map();
      const strongest = targets.found.slice(0, 16).filter((target) => target.share >= 0.01);
      return new Map(strongest.map((target) => [target.index, target.share]));
    }
    // Order in which names claim room when rows are squeezed: the focus, what it is tied to, the rest.
    namedFirst(side, focus, numbers) {
      const all = this.units.names.map((_, k) => k);
      if (this.rowHeight >= this.fontSize || !focus) return all;
      return [...focus[side], ...numbers.keys(), ...all];
    }
    label(context, index, room, bold) {
      const key = `${index} ${room} ${bold}`;
      let text = this.labels.get(key);
      if (text === void 0) {
        text = fitText(context, legible(this.units.names[index].slice(0, 400)), room);
        this.labels.set(key, text);
      }
      return text;
    }
  };

  // app/canvas/lines/words.js
  var AttentionWords = class extends AttentionPainter {
    refreshPanel() {
      this.twin?.refresh();
      const focus = this.focus();
      if (!this.heads.length) {
        this.panel.replaceChildren(element("p", { className: "note", textContent: "The head is on its way." }));
        return;
      }
      if (!focus) {
        this.panel.replaceChildren(
          element("h4", { textContent: "Point at a token" }),
          element("p", { className: "note", textContent: "On the left: where it looks. On the right: which tokens look at it. A click keeps it; Shift and a click adds more, on either side, and sums over them. Esc lets go. With the keyboard: arrows, Enter to keep, Space to add, Esc." })
        );
        return;
      }
      const { found, number, averages } = this.targets(focus);
      const many = this.heads.length > 1;
      const note = !found.length ? "What is chosen is left out by the choice above." : this.panelNote(focus, number, averages);
      const shown = found.slice(0, 8);
      this.panel.replaceChildren(
        this.panelTitle(focus),
        element("p", { className: "note", textContent: note }),
        ...shown.map((target) => this.targetRow(target, many, averages)),
        ...this.totals(focus, found.slice(shown.length), found, averages)
      );
      const list = found.slice(0, 4).map((t) => `${this.shortName(t.index)} ${percent(t.share)}`).join(", ");
      clearTimeout(this.saying);
      this.saying = setTimeout(() => {
        this.said.textContent = `${this.panel.querySelector("h4").textContent}: ${list || "nothing shown"}`;
      }, 200);
    }
    shortName(unit, most = 40) {
      return shorten(legible(this.units.names[unit].slice(0, 1e3)), most);
    }
    panelTitle(focus) {
      const name = (units) => {
        const [first, ...others] = [...units].sort((a, b) => a - b);
        if (others.length) return [element("span", { textContent: `${units.size} tokens together` })];
        return ["\u201C", element("bdi", { textContent: this.shortName(first, 60) }), "\u201D"];
      };
      const plural = focus.left.size > 1;
      if (focus.left.size && focus.right.size) {
        return element("h4", {}, ...name(focus.left), plural ? " look at " : " looks at ", ...name(focus.right));
      }
      if (focus.left.size) return element("h4", {}, ...name(focus.left), plural ? " look at" : " looks at");
      return element("h4", {}, ...name(focus.right), focus.right.size > 1 ? " are looked at by" : " is looked at by");
    }
    panelNote(focus, number, averages) {
      const heads = this.heads.length > 1 ? `mean of ${this.heads.length} heads` : `head ${this.heads[0]}`;
      const units = [...focus.left, ...focus.right].sort((a, b) => a - b).map((unit) => this.units.starts[unit]);
      const list = units.length > 6 ? `${units.slice(0, 6).join(", ")} \u2026` : units.join(", ");
      const kept = this.anyChosen ? " (kept: Esc lets go)" : "";
      const sums = averages ? ". Percentages are the mean over these tokens, numbers their sum" : number > 1 ? ". Summed over what is looked at" : "";
      return `Layer ${this.header.layer}, ${heads}, token${units.length > 1 ? "s" : ""} ${list}${kept}${sums}`;
    }
    // What the rows do not list, and the sum over all.
    totals(focus, rest, found, averages) {
      const add = (list, name) => list.reduce((sum, target) => sum + target[name], 0);
      const both = focus.left.size > 0 && focus.right.size > 0;
      const out = [];
      if (rest.length && focus.left.size && !both) {
        out.push(element(
          "div",
          { className: "target rest" },
          element("span", { textContent: `${rest.length} others` }),
          element("span"),
          this.numbers(add(rest, "sum"), add(rest, "share"), averages)
        ));
      }
      if (both && found.length) {
        const all = add(found, "sum");
        out.push(element("p", { className: "note", textContent: `Together ${all.toFixed(3)} of ${found.length} (each token gives 1 in all): ${percent(all / found.length)}.` }));
      } else if (!focus.left.size && found.length) {
        out.push(element("p", { className: "note", textContent: "Each number is a share of the looking token's attention; these do not add up to 100%." }));
      }
      return out;
    }
    numbers(sum, share, averages) {
      const made = element("span", { className: "share", textContent: percent(share) });
      if (averages) made.append(element("small", { textContent: sum.toFixed(2) }));
      return made;
    }
    targetRow({ index, shares, sum, share }, many, averages) {
      const bar = element("div", { className: "bar", ariaHidden: "true" });
      shares.forEach((part, k) => {
        const field = element("span");
        field.style.width = `${100 * part / shares.length}%`;
        field.style.background = this.averaged ? this.header.mean_colour : this.header.colours[this.heads[k]];
        bar.append(field);
      });
      const name = element(
        "span",
        { className: "name", title: this.shortName(index, 240) },
        element("bdi", { textContent: this.shortName(index) }),
        " ",
        element("span", { className: "place", textContent: this.units.starts[index] })
      );
      const row = element("div", { className: "target" }, name, bar, this.numbers(sum, share, averages));
      if (many) {
        const best = shares.map((part, k) => [part, this.heads[k]]).filter(([part]) => !Number.isNaN(part)).sort((a, b) => b[0] - a[0]);
        const worth = best.slice(0, 2).filter(([weight], k) => k === 0 || weight >= 5e-3);
        row.append(element("span", { className: "detail" }, ...worth.map(([weight, head]) => {
          const dot = element("i");
          dot.style.background = this.header.colours[head];
          return element("span", {}, dot, `head ${head} ${percent(weight)}`);
        })));
      }
      return row;
    }
    refreshFoot() {
      const more = this.total - MAX_LINES;
      const awaited = this.awaited();
      const text = awaited.length ? `Head${awaited.length > 1 ? "s" : ""} ${awaited.join(", ")} on the way \u2026` : !this.focus() && more > 0 ? `The ${MAX_LINES.toLocaleString("en")} strongest of ${this.total.toLocaleString("en")} lines are drawn.` : "";
      const { missing } = this.header;
      const state = JSON.stringify([text, missing, this.header.is_pair, this.theme, this.averaged, this.mapColours[0], this.faint]);
      if (state === this.footState) return;
      this.footState = state;
      const scale = element("canvas", { role: "img", ariaLabel: "Key: thicker and darker lines are larger weights" });
      const context = fitCanvas(scale, 168, 16);
      context.font = `11px ${this.theme.font}`;
      context.textBaseline = "middle";
      LINE_STEPS.forEach((weight, k) => {
        context.globalAlpha = opacity(weight) * this.faint;
        context.strokeStyle = this.averaged || this.mapColours.length === 1 ? this.mapColours[0] : this.theme.text;
        context.lineWidth = thickness(weight);
        context.beginPath();
        context.moveTo(k * 42 + 1, 8);
        context.lineTo(k * 42 + 13, 8);
        context.stroke();
        context.globalAlpha = 0.75;
        context.fillStyle = this.theme.text;
        context.fillText(percent(weight), k * 42 + 16, 8.5);
      });
      this.foot.replaceChildren(
        element("span", { className: "key" }, "weight", scale),
        ...kindKeys(this.header),
        element("span", { className: "note", textContent: text }),
        ...brokenNote(missing, "no line is drawn"),
        this.saving
      );
    }
  };

  // app/canvas/lines/files.js
  var TABLE_ROWS = 200;
  var LINE_COLUMNS = ["place", "looks", "place looked at", "looked at", "head", "weight"];
  var AttentionFiles = class extends AttentionWords {
    // The drawn lines, the strongest first: [map, row, column] of each.
    drawnLines(most) {
      const { map, row, column } = this.lines;
      const focus = this.focus();
      const first = focus ? 0 : Math.max(0, this.total - MAX_LINES);
      const out = [];
      for (let k = this.total - 1; k >= first && out.length < most; k--) {
        if (!focus || this.isInFocus(focus, row[k], column[k])) out.push([map[k], row[k], column[k]]);
      }
      return out;
    }
    lineRow([map, row, column]) {
      const { names, starts } = this.units;
      const head = this.averaged ? "mean" : this.heads[map];
      return [starts[row], names[row], starts[column], names[column], head, exact(this.mapWeight(map, row, column))];
    }
    sheet() {
      return {
        columns: LINE_COLUMNS,
        rows: this.drawnLines(Infinity).map((line) => this.lineRow(line))
      };
    }
    twinTable() {
      const focus = this.focus();
      const what = `Layer ${this.header.layer}, ${this.headWords()}`;
      if (focus) return this.sumTable(what, focus);
      return {
        caption: `${what}: the strongest ${Math.min(TABLE_ROWS, this.total)} of ${this.total} lines. Weights are within 0.003.`,
        columns: LINE_COLUMNS,
        rows: this.drawnLines(TABLE_ROWS).map((line) => this.lineRow(line).map((v, k) => k === 5 ? v.toFixed(3) : v))
      };
    }
    // Every token's part in what is in focus.
    sumTable(what, focus) {
      const { found, number, other } = this.targets(focus);
      const heads = this.heads.length > 1 ? this.heads : [];
      const verb = other === "right" ? "is looked at" : "looks";
      const several = number > 1 ? `; over ${number} tokens` : "";
      return {
        caption: `${what}: ${this.panelTitle(focus).textContent}${several}. Weights are within 0.003.`,
        columns: ["place", verb, "sum", "share", ...heads.map((head) => `head ${head}`)],
        rows: found.map(({ index, shares, sum, share }) => [
          this.units.starts[index],
          this.units.names[index],
          sum.toFixed(3),
          share.toFixed(3),
          ...heads.length ? shares.map((part) => part.toFixed(3)) : []
        ])
      };
    }
    headWords() {
      if (this.heads.length === 1) return `head ${this.heads[0]}`;
      return this.averaged ? `mean of heads ${this.heads.join(", ")}` : `heads ${this.heads.join(", ")}`;
    }
    fileName() {
      return `bertscope-attention-layer-${this.header.layer}`;
    }
    picture() {
      const height = Math.ceil(this.size * this.rowHeight + 2 * this.top);
      return {
        width: this.width,
        height,
        ground: this.theme.background,
        draw: (context) => {
          this.drawOn(context, 0, height);
          this.draw();
        }
      };
    }
    facts() {
      const names = (side) => [...this.chosen[side]].map((unit) => this.units.starts[unit]);
      return {
        what: `Attention of layer ${this.header.layer}, ${this.headWords()}`,
        layer: this.header.layer,
        heads: this.heads,
        unit: this.byWord ? "words: the sum over the pieces looked at, the mean over those that look" : "word pieces",
        at_least: this.threshold,
        between: this.filter,
        without_special: this.hideSpecial,
        chosen_looking: names("left"),
        chosen_looked_at: names("right"),
        lines_in_all: this.total,
        precision: "each weight is within 0.003",
        ...this.header.missing ? { not_numbers: this.header.missing } : {}
      };
    }
    arrays() {
      const lines = this.drawnLines(Infinity);
      const { names, starts } = this.units;
      const of = (values) => ({ shape: [values.length], values });
      return {
        row: of(Int32Array.from(lines, ([, row]) => row)),
        column: of(Int32Array.from(lines, ([, , column]) => column)),
        head: of(Int32Array.from(lines, ([map]) => this.averaged ? -1 : this.heads[map])),
        weight: of(Float32Array.from(lines, ([map, row, column]) => this.mapWeight(map, row, column))),
        names: of(names),
        places: of(Int32Array.from(starts))
      };
    }
  };

  // app/canvas/shared/data_table.js
  var Twin = class {
    // make() returns { caption, columns: [string], rows: [[string | number]] }.
    constructor(summary, make) {
      this.make = make;
      this.holder = element("div", { className: "holder", tabIndex: 0, role: "region", ariaLabel: summary });
      this.root = element("details", { className: "twin" }, element("summary", { textContent: summary }), this.holder);
      this.root.addEventListener("toggle", () => this.refresh());
    }
    // Called whenever the picture changes; costs nothing while closed, and once in 150 ms while open.
    refresh() {
      clearTimeout(this.waiting);
      if (this.root.open) this.waiting = setTimeout(() => this.fill(), 150);
    }
    fill() {
      const { caption, columns, rows } = this.make();
      const cell = (tag, value, scope) => {
        const bdi = element("bdi", { textContent: typeof value === "string" ? shorten(legible(value), 120) : value ?? "\u2013" });
        const made = element(tag, {}, bdi);
        if (scope) made.scope = scope;
        if (typeof value === "number") made.className = "number";
        return made;
      };
      const body = rows.map(([first, ...others]) => element("tr", {}, cell("th", first, "row"), ...others.map((value) => cell("td", value))));
      this.holder.replaceChildren(element(
        "table",
        {},
        element("caption", { textContent: caption }),
        element("thead", {}, element("tr", {}, ...columns.map((name) => cell("th", name, "col")))),
        element("tbody", {}, ...body)
      ));
    }
    close() {
      clearTimeout(this.waiting);
    }
  };

  // app/canvas/shared/npz.js
  function npz(arrays) {
    const files = Object.entries(arrays).map(([name, array]) => {
      const bytes = npy(array);
      return { name: new TextEncoder().encode(`${name}.npy`), bytes, crc: crc32(bytes) };
    });
    const parts = [];
    const directory = [];
    let at = 0;
    for (const { name, bytes, crc } of files) {
      const common = [
        [2, 20],
        [2, 2048],
        [2, 0],
        [2, 0],
        [2, 33],
        [4, crc],
        [4, bytes.length],
        [4, bytes.length],
        [2, name.length],
        [2, 0]
      ];
      const header = littleEndian([[4, 67324752], ...common]);
      directory.push(littleEndian([[4, 33639248], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]]), name);
      parts.push(header, name, bytes);
      at += header.length + name.length + bytes.length;
    }
    const length = directory.reduce((sum, part) => sum + part.length, 0);
    const end = littleEndian([
      [4, 101010256],
      [2, 0],
      [2, 0],
      [2, files.length],
      [2, files.length],
      [4, length],
      [4, at],
      [2, 0]
    ]);
    return new Blob([...parts, ...directory, end], { type: "application/zip" });
  }
  function npy({ shape, values }) {
    const [kind, data] = Array.isArray(values) ? unicode(values) : [values instanceof Float32Array ? "<f4" : "<i4", new Uint8Array(values.buffer, values.byteOffset, values.byteLength)];
    const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
    const text = `{'descr': '${kind}', 'fortran_order': False, 'shape': (${sizes}), }`;
    const header = text.padEnd(Math.ceil((10 + text.length + 1) / 64) * 64 - 11, " ") + "\n";
    const out = new Uint8Array(10 + header.length + data.length);
    out.set([147, 78, 85, 77, 80, 89, 1, 0, header.length & 255, header.length >> 8]);
    out.set(new TextEncoder().encode(header), 10);
    out.set(data, 10 + header.length);
    return out;
  }
  function unicode(strings) {
    const signs = strings.map((text) => Array.from(text.toWellFormed(), (sign) => sign.codePointAt(0)));
    const width = Math.max(1, ...signs.map((codes) => codes.length));
    const out = new Uint32Array(strings.length * width);
    signs.forEach((codes, row) => out.set(codes, row * width));
    return [`<U${width}`, new Uint8Array(out.buffer)];
  }
  function littleEndian(fields) {
    const out = [];
    for (const [width, number] of fields) {
      for (let byte = 0; byte < width; byte++) out.push(number >>> 8 * byte & 255);
    }
    return new Uint8Array(out);
  }
  var CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >>> 1 ^ 3988292384 : crc >>> 1;
    return crc;
  });
  function crc32(bytes) {
    let crc = 4294967295;
    for (const byte of bytes) crc = crc >>> 8 ^ CRC_TABLE[(crc ^ byte) & 255];
    return (crc ^ 4294967295) >>> 0;
  }

  // app/canvas/shared/pictures.js
  var MAX_SHAPES = 4096;
  var SvgContext = class {
    constructor(width, height) {
      Object.assign(this, { width, height, parts: [], path: "", globalAlpha: 1, lineWidth: 1 });
      Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", font: "10px sans-serif", textAlign: "left" });
      this.ruler = document.createElement("canvas").getContext("2d");
    }
    measureText(text) {
      this.ruler.font = this.font;
      return this.ruler.measureText(text);
    }
    beginPath() {
      this.path = "";
    }
    moveTo(x, y) {
      this.path += `M${round(x)} ${round(y)}`;
    }
    lineTo(x, y) {
      this.path += `L${round(x)} ${round(y)}`;
    }
    roundRect(x, y, width, height) {
      this.path += `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
    }
    stroke() {
      this.add("path", {
        d: this.path,
        fill: "none",
        stroke: this.strokeStyle,
        "stroke-width": round(this.lineWidth),
        "stroke-opacity": round(this.globalAlpha),
        "stroke-linecap": "round"
      });
    }
    fill() {
      this.add("path", { d: this.path, fill: this.fillStyle, "fill-opacity": round(this.globalAlpha) });
    }
    fillRect(x, y, width, height) {
      this.add("rect", {
        x: round(x),
        y: round(y),
        width: round(width),
        height: round(height),
        fill: this.fillStyle,
        "fill-opacity": round(this.globalAlpha)
      });
    }
    fillText(text, x, y) {
      this.text(text, x, y, { fill: this.fillStyle, "fill-opacity": round(this.globalAlpha) });
    }
    strokeText(text, x, y) {
      this.text(text, x, y, {
        fill: "none",
        stroke: this.strokeStyle,
        "stroke-width": round(this.lineWidth),
        "stroke-opacity": round(this.globalAlpha),
        "stroke-linejoin": "round"
      });
    }
    turnedText(text, x, y, angle) {
      this.text(text, x, y, {
        fill: this.fillStyle,
        "fill-opacity": round(this.globalAlpha),
        transform: `rotate(${round(angle)} ${round(x)} ${round(y)})`
      });
    }
    // A field of cells: shapes while there are few, else pixels inside the file; see paintCells.
    cells(source, [sx, sy, sw, sh], [x, y, width, height]) {
      const [left, top] = [Math.floor(sx), Math.floor(sy)];
      const [wide, high] = [Math.ceil(sx + sw) - left, Math.ceil(sy + sh) - top];
      this.parts.push(`<svg x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" viewBox="${sx} ${sy} ${sw} ${sh}" preserveAspectRatio="none">`);
      if (wide * high <= MAX_SHAPES) {
        const { data } = source.getContext("2d").getImageData(left, top, wide, high);
        for (let k = 0; k < wide * high; k++) {
          this.add("rect", {
            x: left + k % wide,
            y: top + Math.floor(k / wide),
            width: 1,
            height: 1,
            fill: `rgb(${data.subarray(k * 4, k * 4 + 3).join(",")})`,
            "shape-rendering": "crispEdges"
          });
        }
      } else {
        const copy = document.createElement("canvas");
        Object.assign(copy, { width: wide, height: high });
        copy.getContext("2d").drawImage(source, left, top, wide, high, 0, 0, wide, high);
        this.add("image", {
          href: copy.toDataURL("image/png"),
          x: left,
          y: top,
          width: wide,
          height: high,
          preserveAspectRatio: "none",
          style: "image-rendering:pixelated"
        });
      }
      this.parts.push("</svg>");
    }
    text(text, x, y, paint) {
      const anchor = { left: "start", right: "end", center: "middle" }[this.textAlign];
      this.add("text", {
        x: round(x),
        y: round(y),
        style: `font:${this.font}`,
        "text-anchor": anchor,
        "dominant-baseline": "central",
        ...paint
      }, text);
    }
    add(tag, attributes, text) {
      const written = Object.entries(attributes).map(([name, value]) => `${name}="${xml(String(value))}"`);
      this.parts.push(`<${tag} ${written.join(" ")}${text === void 0 ? "/>" : `>${xml(text)}</${tag}>`}`);
    }
    toString() {
      const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
      return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>
${this.parts.join("\n")}
</svg>
`;
    }
  };
  function round(number) {
    return Math.round(number * 100) / 100;
  }
  function xml(text) {
    return String(text).toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\uFFFD").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  }
  function savePicture(format, name, width, height, ground, draw) {
    if (format === "svg") {
      const context2 = new SvgContext(width, height);
      context2.fillStyle = ground;
      context2.fillRect(0, 0, width, height);
      draw(context2);
      return download(new Blob([String(context2)], { type: "image/svg+xml" }), `${name}.svg`);
    }
    const canvas = document.createElement("canvas");
    const scale = Math.min(2, 16e3 / height, 16e3 / width);
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.fillStyle = ground;
    context.fillRect(0, 0, width, height);
    draw(context);
    return canvas.toBlob((blob) => download(blob, `${name}.png`), "image/png");
  }
  function download(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
  }

  // app/canvas/shared/saving.js
  function saveButtons(view) {
    const make = {
      SVG: () => picture("svg"),
      PNG: () => picture("png"),
      CSV: () => keep(csv(view.sheet()), "text/csv"),
      JSON: () => {
        const { columns, rows } = view.sheet();
        return keep(JSON.stringify({ ...view.facts(), columns, rows }, null, 1), "application/json");
      },
      NPZ: () => download(npz(view.arrays()), `${view.fileName()}.npz`)
    };
    const picture = (format) => {
      const { width, height, ground, draw } = view.picture();
      savePicture(format, view.fileName(), width, height, ground, draw);
    };
    const keep = (text, type) => {
      const ending = { "text/csv": "csv", "application/json": "json" }[type];
      download(new Blob([text], { type }), `${view.fileName()}.${ending}`);
    };
    const titles = { SVG: "picture", PNG: "picture at twice the size", CSV: "table", JSON: "table", NPZ: "NumPy arrays" };
    const buttons = Object.entries(make).map(([name, save]) => {
      const button = element("button", { type: "button", textContent: name, title: `Save what is shown: ${titles[name]}` });
      button.onclick = save;
      return button;
    });
    return element("span", { className: "saving", role: "group", ariaLabel: "Save what is shown" }, "Save", ...buttons);
  }
  function csv({ columns, rows }) {
    return `\uFEFF${[columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n")}\r
`;
  }
  function csvCell(value) {
    if (typeof value !== "string") return value === null ? "" : String(value);
    const text = /^[=+\-@\t\r]./s.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  // app/canvas/lines/controls.js
  var FILTERS = [
    ["all", "all tokens"],
    ["0>0", "A to A"],
    ["0>1", "A to B"],
    ["1>0", "B to A"],
    ["1>1", "B to B"]
  ];
  var AttentionControls = class extends AttentionFiles {
    build() {
      this.layerSelect = element("select", { ariaLabel: "Layer" });
      this.layerSelect.onchange = () => this.goToLayer(Number(this.layerSelect.value));
      this.down = element("button", { className: "step", textContent: "\u2039", ariaLabel: "Layer before" });
      this.up = element("button", { className: "step", textContent: "\u203A", ariaLabel: "Layer after" });
      this.down.onclick = () => this.goToLayer(this.layer - 1);
      this.up.onclick = () => this.goToLayer(this.layer + 1);
      this.headBox = element("span", { className: "group heads", role: "group", ariaLabel: "Heads" });
      this.allHeads = element("button", { textContent: "all", title: "Show all heads of this layer" });
      this.allHeads.onclick = () => this.setHeads(this.header.colours.map((_, head) => head));
      this.slider = element("input", { type: "range", min: "0", max: "100", step: "1" });
      this.thresholdText = element("output");
      this.slider.oninput = () => {
        this.touchedThreshold = true;
        this.threshold = (this.slider.value / 100) ** 2 / 2;
        this.refreshControls();
        this.select();
        this.draw();
        this.noteLook();
      };
      const box = (name, text, title) => {
        const input = element("input", { type: "checkbox" });
        input.onchange = () => {
          this[name] = input.checked;
          if (name === "byWord") this.changeUnits();
          this.select();
          this.layout();
          this.noteLook();
        };
        const label = element("label", { title }, input, text);
        label.input = input;
        return label;
      };
      this.specialBox = box("hideSpecial", "Hide special tokens", "Leave out what is added to the text, such as [CLS] and [SEP]");
      this.wordBox = box(
        "byWord",
        "Whole words",
        "Sum over the pieces of a word that is looked at, mean over the pieces of one that looks"
      );
      this.meanBox = box("mean", "Mean of heads", "One line for the mean weight of the chosen heads");
      this.fitBox = box("fit", "All tokens in one view", "Squeeze the rows; names that fit are shown");
      this.filterSelect = element("select", { ariaLabel: "Between sentences" });
      for (const [value, text] of FILTERS) {
        this.filterSelect.append(element("option", { value, textContent: text }));
      }
      this.filterSelect.onchange = () => {
        this.filter = this.filterSelect.value;
        this.select();
        this.draw();
        this.noteLook();
      };
      this.filterLabel = element("label", {}, "Show", this.filterSelect);
      this.canvas = element("canvas", { ariaHidden: "true" });
      this.spacer = element("div", {}, this.canvas);
      this.scroller = element("div", {
        className: "scroller",
        tabIndex: 0,
        role: "application",
        ariaLabel: "Attention lines. Up and down move through the tokens, left and right change the column, Enter keeps a token, Space adds one to the kept ones, Escape lets go. The numbers are in the table below."
      }, this.spacer);
      this.panel = element("div", { className: "panel" });
      this.said = element("div", { className: "said", ariaLive: "polite" });
      this.foot = element("div", { className: "foot" });
      this.saving = saveButtons(this);
      this.twin = new Twin("Numbers as a table", () => this.twinTable());
      this.root.append(
        element(
          "div",
          { className: "controls" },
          element("span", { className: "group" }, "Layer", this.down, this.layerSelect, this.up),
          element("span", { className: "group heads" }, "Heads", this.headBox, this.allHeads)
        ),
        element(
          "div",
          { className: "controls" },
          element(
            "label",
            { title: "Lines of smaller weight are hidden" },
            "Hide weights below",
            this.slider,
            this.thresholdText
          ),
          this.specialBox,
          this.wordBox,
          this.filterLabel,
          this.meanBox,
          this.fitBox
        ),
        element(
          "div",
          { className: "body" },
          element(
            "div",
            {},
            element(
              "div",
              { className: "columns" },
              element("span", { textContent: "this token looks \u2026" }),
              element("span", { textContent: "\u2026 at this token" })
            ),
            this.scroller,
            this.foot
          ),
          this.panel
        ),
        this.twin.root,
        this.said
      );
    }
    refreshControls() {
      const { num_layers: layers, colours, is_pair: isPair } = this.header;
      if (this.layerSelect.options.length !== layers) {
        const options = Array.from({ length: layers }, (_, i) => element("option", { value: i, textContent: i }));
        this.layerSelect.replaceChildren(...options);
      }
      this.layerSelect.value = this.layer;
      this.down.disabled = this.layer === 0;
      this.up.disabled = this.layer === layers - 1;
      if (this.header.alone?.length < layers) {
        onlyHere([this.layerSelect, this.down, this.up], this.header, `layer ${this.layer}`);
      }
      if (this.headBox.children.length !== colours.length) {
        this.headBox.replaceChildren(...colours.map((colour, head) => this.headButton(colour, head)));
      }
      [...this.headBox.children].forEach((button, head) => {
        button.setAttribute("aria-pressed", String(this.shown.has(head)));
      });
      this.allHeads.disabled = this.shown.size === colours.length;
      this.slider.value = Math.round(Math.sqrt(this.threshold * 2) * 100);
      this.thresholdText.textContent = percent(this.threshold);
      this.slider.setAttribute("aria-valuetext", percent(this.threshold));
      this.filterLabel.hidden = !isPair;
      this.filterLabel.style.display = isPair ? "" : "none";
      if (!isPair) this.filter = this.filterSelect.value = "all";
      this.specialBox.style.display = this.header.text_ids.includes(-1) ? "" : "none";
      this.wordBox.style.display = this.header.starts.length < this.header.tokens.length ? "" : "none";
      for (const [box, name] of [[this.specialBox, "hideSpecial"], [this.wordBox, "byWord"], [this.meanBox, "mean"]]) {
        box.input.checked = this[name];
      }
      this.filterSelect.value = this.filter;
      this.fitBox.style.display = this.size * 19 > MAX_HEIGHT ? "" : "none";
      if (this.size * 19 <= MAX_HEIGHT) this.fit = this.fitBox.input.checked = false;
    }
    headButton(colour, head) {
      const button = element("button", {
        className: "head",
        textContent: head,
        title: `Head ${head}: click shows or hides it, double click shows it alone`,
        ariaLabel: `Head ${head}`
      });
      button.style.setProperty("--colour", colour);
      button.style.setProperty("--ink", inkOn(colour));
      button.onclick = (event) => {
        if (event.shiftKey) return this.setHeads([head]);
        const next = new Set(this.shown);
        if (next.has(head)) next.delete(head);
        else next.add(head);
        return next.size ? this.setHeads([...next]) : void 0;
      };
      button.ondblclick = () => {
        const alone = this.shown.size === 1 && this.shown.has(head);
        this.setHeads(alone ? this.header.colours.map((_, i) => i) : [head]);
      };
      return button;
    }
    setHeads(heads) {
      this.shown = new Set(heads);
      this.refreshWaiting();
      this.refreshControls();
      this.select();
      this.draw();
      this.choose();
    }
    goToLayer(layer) {
      this.layer = Math.max(0, Math.min(this.header.num_layers - 1, layer));
      this.refreshWaiting();
      this.refreshControls();
      this.choose();
    }
  };
  function inkOn(colour) {
    return inkOver([1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
  }

  // app/canvas/shared/mount.js
  var mountedViews = /* @__PURE__ */ new WeakMap();
  function mount(View, { data, parentElement }, reports) {
    let view = mountedViews.get(parentElement);
    if (!view) {
      view = new View(parentElement);
      mountedViews.set(parentElement, view);
    }
    Object.assign(view, reports);
    const turn = view.turn = (view.turn ?? 0) + 1;
    const show = (message2) => {
      if (view.turn !== turn || mountedViews.get(parentElement) !== view) return;
      view.update(message2);
      view.root.removeAttribute("aria-busy");
    };
    const message = unpack(data);
    if (message.header.blocks.some(([, , isDeflated]) => isDeflated)) {
      view.root.setAttribute("aria-busy", "true");
      inflate(message).then(show);
    } else show(message);
    return () => {
      view.close();
      mountedViews.delete(parentElement);
    };
  }

  // app/canvas/lines/lines.js
  function standAlone(place, css, messages) {
    showAlone(component, place, css, messages);
  }
  function component(mounted) {
    const { setStateValue } = mounted;
    return mount(AttentionView, mounted, {
      report: (selection) => setStateValue("selection", selection),
      reportLook: (look) => setStateValue("look", look)
    });
  }
  var AttentionView = class extends AttentionControls {
    constructor(parent) {
      super();
      this.root = element("div", { className: "view" });
      parent.append(this.root);
      this.revision = 0;
      this.shown = /* @__PURE__ */ new Set();
      this.clearChoice();
      this.pointed = null;
      this.fit = false;
      this.build();
      this.scroller.onscroll = () => this.draw();
      this.scroller.onpointermove = (event) => this.point(this.hit(event));
      this.scroller.onpointerleave = () => this.point(null);
      this.scroller.onclick = (event) => this.pick(this.hit(event), event.shiftKey || event.ctrlKey || event.metaKey);
      this.scroller.onmousedown = (event) => event.shiftKey && event.preventDefault();
      this.scroller.onkeydown = (event) => this.key(event);
      this.observer = new ResizeObserver(() => this.layout());
      this.observer.observe(this.root);
    }
    close() {
      this.observer.disconnect();
      cancelAnimationFrame(this.frame);
      clearTimeout(this.reporting);
      clearTimeout(this.saying);
      clearTimeout(this.noting);
      this.twin.close();
      this.root.remove();
    }
    // ---- what the server sends ----
    update({ header, blocks }) {
      const sameTokens = this.header && this.header.tokens.join("\0") === header.tokens.join("\0");
      const sameLayer = sameTokens && this.header.layer === header.layer && this.header.weights === header.weights;
      const first = !this.header;
      const hadChoice = this.anyChosen;
      if (first) {
        const { special, words, mean, filter, threshold } = header.look;
        Object.assign(this, { hideSpecial: special, byWord: words, mean, filter });
        this.threshold = threshold === null ? null : Math.max(0, Math.min(0.5, threshold));
        this.touchedThreshold = threshold !== null;
      }
      this.header = header;
      this.table = asFloats(blocks[1]);
      if (!sameLayer) this.given = /* @__PURE__ */ new Map();
      this.keepHeads(header, blocks[0], blocks[2]);
      if (!sameTokens) {
        this.clearChoice();
        this.pointed = null;
        if (!this.touchedThreshold) this.threshold = header.tokens.length > 64 ? 0.05 : 0.02;
        if (this.scroller) this.scroller.scrollTop = 0;
      }
      this.refreshUnits();
      if (first) this.readChoice(header.look.chosen);
      else if (hadChoice && !sameTokens) this.noteLook();
      if (header.revision === this.revision || !sameTokens) {
        this.revision = header.revision;
        const all = header.colours.map((_, head) => head);
        this.shown = new Set(header.heads.length ? header.heads : all);
        this.layer = header.layer;
      }
      this.refreshWaiting();
      if (!sameTokens || !sameLayer) this.labels = /* @__PURE__ */ new Map();
      this.theme = readTheme(this.root);
      this.refreshControls();
      this.select();
      this.layout();
    }
    refreshWaiting() {
      this.root.classList.toggle("waiting", this.layer !== this.header.layer || this.awaited().length > 0);
    }
    choose() {
      this.revision += 1;
      const heads = [...this.shown].sort((a, b) => a - b);
      const all = heads.length === this.header.colours.length;
      clearTimeout(this.reporting);
      const selection = { layer: this.layer, heads: all ? [] : heads, revision: this.revision };
      this.reporting = setTimeout(() => this.report(selection), 180);
    }
    // Pieces to words or back: places mean others now.
    changeUnits() {
      this.clearChoice();
      this.pointed = null;
      this.labels = /* @__PURE__ */ new Map();
      this.refreshUnits();
      this.refreshControls();
    }
    // How one looks is reported, so that it gets into the address.
    noteLook() {
      clearTimeout(this.noting);
      const { hideSpecial: special, byWord: words, mean, filter } = this;
      const threshold = this.touchedThreshold ? this.threshold : null;
      const chosen = this.writtenChoice();
      this.noting = setTimeout(() => this.reportLook({ special, words, mean, filter, threshold, chosen }), 400);
    }
    // ---- pointing ----
    hit(event) {
      const box = this.scroller.getBoundingClientRect();
      const x = event.clientX - box.left;
      const y = event.clientY - box.top + this.scroller.scrollTop - this.top - 1;
      const index = Math.floor(y / this.rowHeight);
      if (index < 0 || index >= this.size) return null;
      if (x <= this.column + 6) return { side: "left", index };
      if (x >= this.width - this.column - 6) return { side: "right", index };
      return null;
    }
    point(place) {
      this.scroller.style.cursor = place ? "pointer" : "default";
      if (same(place, this.pointed)) return;
      this.pointed = place;
      if (!this.anyChosen) this.refreshPanel();
      this.draw();
    }
    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const now = this.pointed ?? this.firstChosen();
      const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -this.size, End: this.size };
      if (event.key in moves) {
        const next = now ? now.index + moves[event.key] : event.key === "End" ? this.size - 1 : 0;
        this.moveTo({ side: now?.side ?? "left", index: Math.max(0, Math.min(this.size - 1, next)) }, event.shiftKey);
      } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        this.moveTo({ side: event.key === "ArrowLeft" ? "left" : "right", index: now?.index ?? 0 }, false);
      } else if (event.key === "Enter") {
        this.pick(now, event.shiftKey);
      } else if (event.key === " ") {
        this.pick(now, true);
      } else if (event.key === "Escape") {
        this.pick(null);
      } else {
        return;
      }
      event.preventDefault();
    }
    firstChosen() {
      const side = this.chosen.left.size ? "left" : "right";
      const [index] = this.chosen[side];
      return index === void 0 ? null : { side, index };
    }
    // With `add` the tokens that are passed are chosen too.
    moveTo(place, add) {
      if (add) {
        this.chosen[place.side].add(place.index);
        this.noteLook();
      }
      this.pointed = place;
      const y = this.top + place.index * this.rowHeight;
      const { scrollTop } = this.scroller;
      if (y < scrollTop) this.scroller.scrollTop = y - this.top;
      if (y + this.rowHeight > scrollTop + this.height) this.scroller.scrollTop = y + this.rowHeight + this.top - this.height;
      this.refreshPanel();
      this.draw();
    }
  };
  function same(a, b) {
    return a === b || a && b && a.side === b.side && a.index === b.index;
  }
  return __toCommonJS(lines_exports);
})();
