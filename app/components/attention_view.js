// Lines between two columns of tokens: who looks (left) at whom (right), for the heads of one layer.
// In front of this file stand transport.js, pictures.js, attention_lines.js, attention_paint.js and
// attention_words.js.

const FILTERS = [
  ["all", "all tokens"],
  ["0>0", "A to A"],
  ["0>1", "A to B"],
  ["1>0", "B to A"],
  ["1>1", "B to B"],
];

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

class AttentionView extends AttentionWords {
  constructor(parent) {
    super();
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
}

function same(a, b) {
  return a === b || (a && b && a.side === b.side && a.index === b.index);
}

// Black or white, whichever is read better on a colour #rrggbb.
function inkOn(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.35 ? "#111" : "#fff";
}
