// Lines between two columns of tokens: who looks (left) at whom (right), for the heads of one layer.
// transport.js and pictures.js stand in front of this file: unpack, element, fitCanvas, savePicture ...

const MAX_LINES = 20000; // strongest first; the foot says so when there are more
const MAX_HEIGHT = 660; // of the window on the tokens, in pixels
const LINE_STEPS = [0.02, 0.1, 0.3, 1]; // weights shown in the key
const FILTERS = [
  ["all", "all tokens"],
  ["0>0", "A to A"],
  ["0>1", "A to B"],
  ["1>0", "B to A"],
  ["1>1", "B to B"],
];

const opacity = (weight) => Math.min(1, 0.1 + 0.9 * Math.pow(weight, 0.55));
const thickness = (weight) => 0.8 + 2.6 * weight;

const views = new WeakMap();

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  let view = views.get(parentElement);
  if (!view) {
    view = new AttentionView(parentElement);
    views.set(parentElement, view);
  }
  view.report = (selection) => setStateValue("selection", selection);
  view.update(unpack(data));
  return () => {
    view.close();
    views.delete(parentElement);
  };
}

class AttentionView {
  constructor(parent) {
    this.root = element("div", { className: "view" });
    parent.append(this.root);
    this.revision = 0; // counts our own choices, so that an older echo of the server is not obeyed
    this.shown = new Set();
    this.pinned = null; // { side: "left" | "right", index }
    this.pointed = null;
    this.filter = "all";
    this.hideSpecial = false;
    this.mean = false;
    this.fit = false;
    this.threshold = null;
    this.build();
    this.observer = new ResizeObserver(() => this.layout());
    this.observer.observe(this.root);
  }

  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.reporting);
    clearTimeout(this.saying);
    this.root.remove();
  }

  // ---- what the server sends ----

  update({ header, blocks }) {
    const sameTokens = this.header && this.header.tokens.join("\u0000") === header.tokens.join("\u0000");
    const sameLayer = sameTokens && this.header.layer === header.layer;
    this.header = header;
    this.size = header.tokens.length;
    this.codes = blocks[0];
    this.table = asFloats(blocks[1]);
    if (!sameTokens) {
      this.pinned = this.pointed = null;
      if (this.threshold === null || !this.touchedThreshold) this.threshold = this.size > 64 ? 0.05 : 0.02;
      if (this.scroller) this.scroller.scrollTop = 0;
    }
    if (header.revision === this.revision || !sameTokens) {
      this.revision = header.revision;
      const all = header.colours.map((_, head) => head);
      this.shown = new Set(header.heads.length ? header.heads : all);
      this.layer = header.layer;
    }
    this.root.classList.toggle("waiting", this.layer !== header.layer);
    if (!sameTokens || !sameLayer) this.labels = new Map();
    this.theme = readTheme(this.root);
    this.refreshControls();
    this.select();
    this.layout();
  }

  choose() {
    this.revision += 1;
    const heads = [...this.shown].sort((a, b) => a - b);
    const all = heads.length === this.header.colours.length;
    clearTimeout(this.reporting);
    const selection = { layer: this.layer, heads: all ? [] : heads, revision: this.revision };
    this.reporting = setTimeout(() => this.report(selection), 180);
  }

  // ---- controls ----

  build() {
    this.layerSelect = element("select", { ariaLabel: "Layer" });
    this.layerSelect.onchange = () => this.goToLayer(Number(this.layerSelect.value));
    this.down = element("button", { className: "step", textContent: "\u2039", ariaLabel: "Layer before" });
    this.up = element("button", { className: "step", textContent: "\u203a", ariaLabel: "Layer after" });
    this.down.onclick = () => this.goToLayer(this.layer - 1);
    this.up.onclick = () => this.goToLayer(this.layer + 1);
    this.headBox = element("span", { className: "group heads", role: "group", ariaLabel: "Heads" });
    this.allHeads = element("button", { textContent: "all", title: "Show all heads of this layer" });
    this.allHeads.onclick = () => this.setHeads(this.header.colours.map((_, head) => head));

    this.slider = element("input", { type: "range", min: "0", max: "100", step: "1" });
    this.thresholdText = element("output");
    this.slider.oninput = () => {
      this.touchedThreshold = true;
      this.threshold = (this.slider.value / 100) ** 2 / 2; // fine steps where most weights are
      this.refreshControls();
      this.select();
      this.draw();
    };
    const box = (name, text, title) => {
      const input = element("input", { type: "checkbox" });
      input.onchange = () => {
        this[name] = input.checked;
        this.select();
        this.layout();
      };
      const label = element("label", { title }, input, text);
      label.input = input;
      return label;
    };
    this.specialBox = box("hideSpecial", "Hide [CLS] and [SEP]", "Leave out the added special tokens");
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
    };
    this.filterLabel = element("label", {}, "Show", this.filterSelect);

    this.canvas = element("canvas", { ariaHidden: "true" });
    this.spacer = element("div", {}, this.canvas);
    this.scroller = element("div", {
      className: "scroller",
      tabIndex: 0,
      role: "application",
      ariaLabel:
        "Attention lines. Up and down move through the tokens, left and right change the column, " +
        "Enter keeps a token, Escape lets go.",
    }, this.spacer);
    this.scroller.onscroll = () => this.draw();
    this.scroller.onpointermove = (event) => this.point(this.hit(event));
    this.scroller.onpointerleave = () => this.point(null);
    this.scroller.onclick = (event) => this.pin(this.hit(event));
    this.scroller.onkeydown = (event) => this.key(event);

    this.panel = element("div", { className: "panel" });
    this.said = element("div", { className: "said", ariaLive: "polite" });
    this.foot = element("div", { className: "foot" });
    this.saving = element("span", { className: "saving" }, "Save picture");
    for (const format of ["svg", "png"]) {
      const button = element("button", {
        textContent: format.toUpperCase(), title: `All rows of this view as ${format.toUpperCase()}` });
      button.onclick = () => this.save(format);
      this.saving.append(button);
    }
    this.root.append(
      element("div", { className: "controls" },
        element("span", { className: "group" }, "Layer", this.down, this.layerSelect, this.up),
        element("span", { className: "group heads" }, "Heads", this.headBox, this.allHeads)),
      element("div", { className: "controls" },
        element("label", { title: "Lines of smaller weight are hidden" },
          "Hide weights below", this.slider, this.thresholdText),
        this.specialBox, this.filterLabel, this.meanBox, this.fitBox),
      element("div", { className: "body" },
        element("div", {},
          element("div", { className: "columns" },
            element("span", { textContent: "this token looks \u2026" }),
            element("span", { textContent: "\u2026 at this token" })),
          this.scroller, this.foot),
        this.panel),
      this.said,
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
    this.fitBox.style.display = this.size * 19 > MAX_HEIGHT ? "" : "none";
    if (this.size * 19 <= MAX_HEIGHT) this.fit = this.fitBox.input.checked = false;
  }

  headButton(colour, head) {
    const button = element("button", {
      className: "head",
      textContent: head,
      title: `Head ${head}: click shows or hides it, double click shows it alone`,
      ariaLabel: `Head ${head}`,
    });
    button.style.setProperty("--colour", colour);
    button.style.setProperty("--ink", inkOn(colour));
    button.onclick = (event) => {
      if (event.shiftKey) return this.setHeads([head]);
      const next = new Set(this.shown);
      if (next.has(head)) next.delete(head);
      else next.add(head);
      return next.size ? this.setHeads([...next]) : undefined;
    };
    button.ondblclick = () => {
      const alone = this.shown.size === 1 && this.shown.has(head);
      // The two clicks before have undone each other, or did nothing to a lone head.
      this.setHeads(alone ? this.header.colours.map((_, i) => i) : [head]);
    };
    return button;
  }

  setHeads(heads) {
    this.shown = new Set(heads);
    this.refreshControls();
    this.select();
    this.draw();
    this.choose();
  }

  goToLayer(layer) {
    this.layer = Math.max(0, Math.min(this.header.num_layers - 1, layer));
    this.root.classList.toggle("waiting", this.layer !== this.header.layer);
    this.refreshControls();
    this.choose();
  }

  // ---- which lines ----

  takesPart(side, index) {
    if (this.hideSpecial && this.header.text_ids[index] === -1) return false;
    if (this.filter === "all") return true;
    const wanted = Number(this.filter[side === "left" ? 0 : 2]);
    return this.header.segment_ids[index] === wanted;
  }

  select() {
    const { size, codes, table } = this;
    this.heads = [...this.shown].sort((a, b) => a - b);
    this.averaged = this.mean && this.heads.length > 1;
    const maps = this.averaged ? [this.meanCodes()] : this.heads.map((head) =>
      codes.subarray(head * size * size, (head + 1) * size * size));
    this.maps = maps;
    this.mapColours = this.averaged ? [this.header.mean_colour] : this.heads.map((h) => this.header.colours[h]);
    const rows = this.header.tokens.map((_, i) => this.takesPart("left", i));
    const columns = this.header.tokens.map((_, j) => this.takesPart("right", j));
    const lowest = Math.max(1, table.findIndex((weight) => weight >= this.threshold));
    // A counting sort by code: draws faint lines first, and keeps the strongest when there are many.
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
    visit((code) => { counts[code + 1] += 1; });
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
    const { size, codes, table, heads } = this;
    const out = new Uint8Array(size * size);
    const encode = encoder(table);
    for (let at = 0; at < out.length; at++) {
      let sum = 0;
      for (const head of heads) sum += table[codes[head * size * size + at]];
      out[at] = encode(sum / heads.length);
    }
    return out;
  }

  weight(head, row, column) {
    return this.table[this.codes[(head * this.size + row) * this.size + column]];
  }

  // ---- layout and drawing ----

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
    this.width = this.scroller.clientWidth; // again: a scroll bar may have come or gone
    this.column = Math.max(84, Math.min(190, this.width * 0.3));
    this.labels = new Map();
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
    const focus = this.pinned ?? this.pointed;
    if (focus) this.paintRow(context, focus);
    this.paintLines(context, focus);
    if (focus) this.paintBoxes(context, focus);
    this.paintTokens(context, "left", focus);
    this.paintTokens(context, "right", focus);
  }

  save(format) {
    const height = Math.ceil(this.size * this.rowHeight + 2 * this.top);
    savePicture(format, `bertscope-attention-layer-${this.header.layer}`, this.width, height,
      this.theme.background, (context) => this.drawOn(context, 0, height));
    this.draw();
  }

  paintRow(context, focus) {
    context.fillStyle = this.theme.secondary;
    const x = focus.side === "left" ? 0 : this.width - this.column;
    const height = Math.max(this.rowHeight, 14);
    context.beginPath();
    context.roundRect(x + 2, this.y(focus.index) - height / 2, this.column - 4, height, 4);
    context.fill();
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
      if (focus && (focus.side === "left" ? row[k] : column[k]) !== focus.index) continue;
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
    const n = this.maps.length;
    const step = Math.min(2.4, (this.rowHeight * 0.6) / n);
    return this.maps.map((_, m) => (m - (n - 1) / 2) * step);
  }

  // Behind the tokens of the other column: one field per head, as strong as its weight.
  paintBoxes(context, focus) {
    const other = focus.side === "left" ? "right" : "left";
    const x = other === "right" ? this.width - this.column + 4 : 4;
    const wide = (this.column - 8) / this.maps.length;
    for (let k = 0; k < this.size; k++) {
      const y = this.y(k);
      if (y < -this.rowHeight || y > this.seen + this.rowHeight || !this.takesPart(other, k)) continue;
      if (!this.takesPart(focus.side, focus.index)) continue;
      const at = focus.side === "left" ? focus.index * this.size + k : k * this.size + focus.index;
      this.maps.forEach((map, m) => {
        const weight = this.table[map[at]];
        if (weight < 0.004) return;
        context.globalAlpha = Math.min(0.6, weight * 0.62 + 0.02);
        context.fillStyle = this.mapColours[m];
        context.fillRect(x + m * wide, y - this.rowHeight / 2 + 0.5, wide, Math.max(1, this.rowHeight - 1));
      });
    }
    context.globalAlpha = 1;
  }

  paintTokens(context, side, focus) {
    const left = side === "left";
    const inner = left ? this.column : this.width - this.column;
    const isFocus = (k) => focus && focus.side === side && focus.index === k;
    const numbers = this.numbersBeside(side, focus);
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
      // A thin ground in the page's colour keeps names legible on strong fields.
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
      context.fillStyle = this.kindColour(k);
      const tall = Math.max(1, this.rowHeight - 2);
      context.fillRect(left ? inner - 6 : inner + 2, y - tall / 2, 4, tall);
    }
    context.globalAlpha = 1;
  }

  // The shares worth printing beside the tokens that the focus is tied to.
  numbersBeside(side, focus) {
    if (!focus || focus.side === side) return new Map();
    const strongest = this.targets(focus).slice(0, 16).filter((target) => target.mean >= 0.01);
    return new Map(strongest.map((target) => [target.index, target.mean]));
  }

  // Order in which names claim room when rows are squeezed: the focus, what it is tied to, the rest.
  namedFirst(side, focus, numbers) {
    const all = this.header.tokens.map((_, k) => k);
    if (this.rowHeight >= this.fontSize || !focus) return all;
    return focus.side === side ? [focus.index, ...all] : [...numbers.keys(), ...all];
  }

  label(context, index, room, bold) {
    const key = `${index} ${room} ${bold}`;
    const known = this.labels.get(key);
    if (known !== undefined) return known;
    // Long tokens are cut by what a reader counts as letters; the panel has the whole.
    const letters = [...this.header.tokens[index]].slice(0, 80);
    let text = letters.join("");
    if (context.measureText(text).width > room || this.header.tokens[index].length > 160) {
      while (letters.length && context.measureText(`${letters.join("")}\u2026`).width > room) letters.pop();
      text = `${letters.join("")}\u2026`;
    }
    this.labels.set(key, text);
    return text;
  }

  kindColour(index) {
    const text = this.header.text_ids[index];
    return text === -1 ? this.header.kinds.special : text === 1 ? this.header.kinds.b : this.header.kinds.a;
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
    if (this.pinned) return;
    this.refreshPanel();
    this.draw();
  }

  pin(place) {
    this.pinned = place && !same(place, this.pinned) ? place : null;
    this.pointed = place;
    this.refreshPanel();
    this.draw();
  }

  key(event) {
    const now = this.pinned ?? this.pointed;
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -this.size, End: this.size };
    if (event.key in moves) {
      const start = now ? now.index + moves[event.key] : moves[event.key] < 0 ? this.size - 1 : 0;
      const index = Math.max(0, Math.min(this.size - 1, start));
      this.moveTo({ side: now?.side ?? "left", index });
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      this.moveTo({ side: event.key === "ArrowLeft" ? "left" : "right", index: now?.index ?? 0 });
    } else if (event.key === "Enter" || event.key === " ") {
      this.pin(this.pinned ? null : now);
      this.pointed = now;
    } else if (event.key === "Escape") {
      this.pinned = this.pointed = null;
      this.refreshPanel();
      this.draw();
    } else {
      return;
    }
    event.preventDefault();
  }

  moveTo(place) {
    if (this.pinned) this.pinned = place;
    this.pointed = place;
    const y = this.top + place.index * this.rowHeight;
    const { scrollTop } = this.scroller;
    if (y < scrollTop) this.scroller.scrollTop = y - this.top;
    if (y + this.rowHeight > scrollTop + this.height) this.scroller.scrollTop = y + this.rowHeight + this.top - this.height;
    this.refreshPanel();
    this.draw();
  }

  // ---- words and numbers ----

  targets(focus) {
    const other = focus.side === "left" ? "right" : "left";
    const found = [];
    if (!this.takesPart(focus.side, focus.index)) return found;
    for (let k = 0; k < this.size; k++) {
      if (!this.takesPart(other, k)) continue;
      const [row, column] = focus.side === "left" ? [focus.index, k] : [k, focus.index];
      const weights = this.heads.map((head) => this.weight(head, row, column));
      const sum = weights.reduce((a, b) => a + b, 0);
      found.push({ index: k, weights, mean: sum / weights.length });
    }
    return found.sort((a, b) => b.mean - a.mean);
  }

  refreshPanel() {
    const focus = this.pinned ?? this.pointed;
    if (!focus) {
      this.panel.replaceChildren(
        element("h4", { textContent: "Point at a token" }),
        element("p", { className: "note", textContent:
          "On the left: where it looks. On the right: which tokens look at it. " +
          "Click keeps it; click again or press Esc to let go. " +
          "With the keyboard: arrows, Enter, Esc." }),
      );
      return;
    }
    const left = focus.side === "left";
    const token = this.header.tokens[focus.index];
    const everything = this.targets(focus);
    const found = everything.slice(0, 8);
    const many = this.heads.length > 1;
    const title = element("h4", {}, "\u201c", element("bdi", { textContent: shorten(token, 60) }),
      left ? "\u201d looks at" : "\u201d is looked at by");
    const note = !found.length ? "This token is left out by the choice above."
      : `Layer ${this.header.layer}, ${many ? `mean of ${this.heads.length} heads` : `head ${this.heads[0]}`}` +
        `, token ${focus.index}${this.pinned ? " (kept: Esc lets go)" : ""}`;
    this.panel.replaceChildren(title, element("p", { className: "note", textContent: note }),
      ...found.map((target) => this.targetRow(target, many)));
    if (left && everything.length > found.length) {
      const rest = everything.slice(found.length).reduce((sum, target) => sum + target.mean, 0);
      this.panel.append(element("div", { className: "target rest" },
        element("span", { textContent: `${everything.length - found.length} others` }), element("span"),
        element("span", { className: "share", textContent: percent(rest) })));
    }
    if (!left && found.length) {
      this.panel.append(element("p", { className: "note", textContent:
        "Each number is a share of the looking token's attention; these do not add up to 100%." }));
    }
    const list = found.slice(0, 4).map((t) => `${this.header.tokens[t.index]} ${percent(t.mean)}`).join(", ");
    clearTimeout(this.saying);
    this.saying = setTimeout(() => {
      this.said.textContent = `${shorten(token, 60)} ${left ? "looks at" : "is looked at by"}: ${list || "nothing shown"}`;
    }, 200);
  }

  targetRow({ index, weights, mean }, many) {
    const bar = element("div", { className: "bar", ariaHidden: "true" });
    weights.forEach((weight, k) => {
      const part = element("span");
      part.style.width = `${(100 * weight) / weights.length}%`;
      part.style.background = this.averaged ? this.header.mean_colour : this.header.colours[this.heads[k]];
      bar.append(part);
    });
    const name = element("span", { className: "name", title: shorten(this.header.tokens[index], 200) },
      element("bdi", { textContent: shorten(this.header.tokens[index], 40) }), " ",
      element("span", { className: "place", textContent: index }));
    const row = element("div", { className: "target" }, name, bar,
      element("span", { className: "share", textContent: percent(mean) }));
    if (many) {
      const best = weights.map((weight, k) => [weight, this.heads[k]]).sort((a, b) => b[0] - a[0]);
      const worth = best.slice(0, 2).filter(([weight], k) => k === 0 || weight >= 0.005);
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
    const focus = this.pinned ?? this.pointed;
    const text = !focus && more > 0
      ? `The ${MAX_LINES.toLocaleString("en")} strongest of ${this.total.toLocaleString("en")} lines are drawn.`
      : "";
    const state = JSON.stringify([text, this.header.is_pair, this.theme, this.averaged, this.mapColours[0], this.faint]);
    if (state === this.footState) return;
    this.footState = state;
    const kinds = [["a", this.header.is_pair ? "sentence A" : "text"], ["b", "sentence B"], ["special", "added by BERT"]];
    const keys = kinds.filter(([kind]) => kind !== "b" || this.header.is_pair).map(([kind, words]) => {
      const square = element("b");
      square.style.background = this.header.kinds[kind];
      return element("span", { className: "key" }, square, words);
    });
    const scale = element("canvas", { ariaLabel: "Key: thicker and darker lines are larger weights" });
    const context = fitCanvas(scale, 168, 16);
    context.font = `11px ${this.theme.font}`;
    context.textBaseline = "middle";
    LINE_STEPS.forEach((weight, k) => {
      context.globalAlpha = opacity(weight) * this.faint;
      context.strokeStyle = this.averaged || this.maps.length === 1 ? this.mapColours[0] : this.theme.text;
      context.lineWidth = thickness(weight);
      context.beginPath();
      context.moveTo(k * 42 + 1, 8);
      context.lineTo(k * 42 + 13, 8);
      context.stroke();
      context.globalAlpha = 0.75;
      context.fillStyle = this.theme.text;
      context.fillText(percent(weight), k * 42 + 16, 8.5);
    });
    this.foot.replaceChildren(element("span", { className: "key" }, "weight", scale), ...keys,
      element("span", { className: "note", textContent: text }), this.saving);
  }
}

function same(a, b) {
  return a === b || (a && b && a.side === b.side && a.index === b.index);
}

function shorten(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most).join("")}\u2026` : text;
}

// Black or white, whichever is read better on a colour #rrggbb.
function inkOn(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.35 ? "#111" : "#fff";
}
