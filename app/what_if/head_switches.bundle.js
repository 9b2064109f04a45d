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

  // app/what_if/head_switches.js
  var head_switches_exports = {};
  __export(head_switches_exports, {
    default: () => head_switches_default
  });

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
  var LETTERS = new Intl.Segmenter(void 0, { granularity: "grapheme" });

  // app/what_if/head_switches.js
  var views = /* @__PURE__ */ new WeakMap();
  var PATIENCE_MS = 2e3;
  function head_switches_default(component) {
    const { data, parentElement, setTriggerValue } = component;
    let view = views.get(parentElement);
    if (!view) {
      view = new Switches(parentElement);
      views.set(parentElement, view);
    }
    view.report = (state) => setTriggerValue("switched", state);
    view.update(data);
    return () => {
      view.root.remove();
      views.delete(parentElement);
    };
  }
  var Switches = class {
    constructor(parent) {
      this.root = element("div", { className: "view switches" });
      parent.append(this.root);
      this.place = [0, 0];
      this.isOnly = false;
      this.told = element("p", { className: "told", ariaLive: "polite" });
    }
    update(data) {
      const shape = `${data.num_layers} ${data.num_heads}`;
      const sent = this.sent && Date.now() - this.sent.when < PATIENCE_MS ? this.sent.state : null;
      if (sent && shape === this.shape && JSON.stringify([data.off, data.skipped]) !== sent) return;
      this.sent = null;
      Object.assign(this, { layers: data.num_layers, heads: data.num_heads });
      this.off = new Set(data.off);
      this.skipped = new Set(data.skipped);
      if (shape !== this.shape) this.build();
      this.shape = shape;
      this.refresh();
    }
    build() {
      this.place = [0, 0];
      const button = (text, title, act) => {
        const made = element("button", { type: "button", textContent: text, title });
        made.onclick = act;
        return made;
      };
      this.allOn = button("All on", "Switch on every head and layer", () => this.set([], []));
      this.only = button("Only this one", "The next head or layer you click stays on alone", () => this.arm(!this.isOnly));
      this.count = element("span", { className: "count" });
      const grid = element("div", { className: "grid", role: "group", ariaLabel: "Heads, on or off; the arrows move" });
      grid.style.setProperty("--heads", this.heads);
      grid.style.setProperty("--cell", this.heads > 8 || this.layers > 12 ? "25px" : "36px");
      grid.append(element("span", { className: "name", ariaHidden: "true" }));
      for (let head = 0; head < this.heads; head++) {
        grid.append(element("span", { className: "name", textContent: head, ariaHidden: "true" }));
      }
      grid.append(element("span", { className: "name", ariaHidden: "true" }));
      this.cells = [];
      this.skips = [];
      for (let layer = 0; layer < this.layers; layer++) grid.append(...this.row(layer));
      grid.onkeydown = (event) => this.key(event);
      grid.onmouseleave = () => this.tell(null);
      const bar = element("div", { className: "bar" }, this.allOn, this.only, this.count);
      this.root.replaceChildren(bar, grid, this.told);
    }
    row(layer) {
      const name = element("button", {
        type: "button",
        className: "layer",
        textContent: layer,
        title: `Layer ${layer}: all heads off or on; with Shift only these on`,
        ariaLabel: `All heads of layer ${layer}`,
        tabIndex: -1
      });
      name.onclick = (event) => event.shiftKey || this.isOnly ? this.keepOnly((at) => at === layer) : this.toggleLayer(layer);
      const skip = element("button", {
        type: "button",
        className: "skip",
        textContent: "skip",
        tabIndex: -1,
        title: `Skip layer ${layer} whole: no attention, no feed-forward`,
        ariaLabel: `Skip layer ${layer} whole`
      });
      skip.onclick = () => this.set([...this.off], [...toggled(this.skipped, layer)]);
      this.skips.push(skip);
      const cells = Array.from({ length: this.heads }, (_, head) => {
        const cell = element("button", { type: "button", className: "cell", role: "switch" });
        cell.dataset.head = `${layer}.${head}`;
        cell.onclick = (event) => this.click(layer, head, event.shiftKey);
        cell.onmouseenter = cell.onfocus = () => this.tell([layer, head]);
        return cell;
      });
      this.cells.push(cells);
      return [name, ...cells, skip];
    }
    refresh() {
      const isSkipped = (layer) => this.skipped.has(layer);
      this.cells.forEach((cells, layer) => cells.forEach((cell, head) => {
        const isOn = !this.off.has(`${layer}.${head}`);
        cell.setAttribute("aria-checked", isOn);
        cell.setAttribute("aria-label", `Layer ${layer} head ${head}${isSkipped(layer) ? ", layer skipped" : ""}`);
        cell.classList.toggle("skipped", isSkipped(layer));
        cell.tabIndex = layer === this.place[0] && head === this.place[1] ? 0 : -1;
      }));
      this.skips.forEach((skip, layer) => skip.setAttribute("aria-pressed", isSkipped(layer)));
      this.allOn.disabled = !this.off.size && !this.skipped.size;
      this.only.setAttribute("aria-pressed", this.isOnly);
      const skipped = this.skipped.size ? `, ${this.skipped.size} layer${this.skipped.size > 1 ? "s" : ""} skipped` : "";
      this.count.textContent = `${this.off.size} of ${this.layers * this.heads} heads off${skipped}`;
    }
    // ---- acting ----
    arm(isOnly) {
      this.isOnly = isOnly;
      this.refresh();
    }
    click(layer, head, isOnly) {
      this.place = [layer, head];
      if (isOnly || this.isOnly) {
        this.keepOnly((...at) => at[0] === layer && at[1] === head);
      } else {
        this.set([...toggled(this.off, `${layer}.${head}`)], [...this.skipped]);
      }
      this.tell([layer, head]);
    }
    // Switch off all heads but those for which `stays(layer, head)`.
    keepOnly(stays) {
      this.isOnly = false;
      this.set(this.names().filter((name) => !stays(...name.split(".").map(Number))), [...this.skipped]);
    }
    toggleLayer(layer) {
      const own = this.cells[layer].map((cell) => cell.dataset.head);
      const anyOn = own.some((name) => !this.off.has(name));
      const others = [...this.off].filter((name) => !own.includes(name));
      this.set(anyOn ? [...others, ...own] : others, [...this.skipped]);
    }
    set(off, skipped) {
      this.off = new Set(off);
      this.skipped = new Set(skipped);
      const state = { off: this.names().filter((name) => this.off.has(name)), skipped: skipped.sort((a, b) => a - b) };
      this.sent = { state: JSON.stringify([state.off, state.skipped]), when: Date.now() };
      this.refresh();
      this.report(state);
    }
    names() {
      return this.cells.flat().map((cell) => cell.dataset.head);
    }
    key(event) {
      const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      if (!(event.key in moves)) return;
      event.preventDefault();
      const [down, right] = moves[event.key];
      const layer = Math.max(0, Math.min(this.layers - 1, this.place[0] + down));
      const head = Math.max(0, Math.min(this.heads - 1, this.place[1] + right));
      this.place = [layer, head];
      this.refresh();
      this.cells[layer][head].focus();
    }
    tell(place) {
      if (!place) {
        this.told.textContent = "Click a head to switch it, a layer's number for all of its heads; with Shift, only these stay on.";
        return;
      }
      const [layer, head] = place;
      const isOn = !this.off.has(`${layer}.${head}`);
      const does = this.isOnly ? "click: only this one stays on" : `click: ${isOn ? "off" : "on"}; with Shift: only this one`;
      this.told.replaceChildren(
        element("b", { textContent: `Layer ${layer} head ${head}` }),
        ` is ${isOn ? "on" : "off"} (${does})`
      );
    }
  };
  function toggled(set, entry) {
    const copy = new Set(set);
    if (!copy.delete(entry)) copy.add(entry);
    return copy;
  }
  return __toCommonJS(head_switches_exports);
})();
