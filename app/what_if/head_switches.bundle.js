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

  // app/what_if/head_switches.ts
  var head_switches_exports = {};
  __export(head_switches_exports, {
    default: () => head_switches_default
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
  function keepView(View, name) {
    const views = /* @__PURE__ */ new WeakMap();
    return ({ data, parentElement, setTriggerValue }) => {
      const view = views.get(parentElement) ?? new View(parentElement);
      views.set(parentElement, view);
      view.report = (value) => setTriggerValue(name, value);
      view.update(data);
      return closedByLast(parentElement, () => {
        view.close();
        views.delete(parentElement);
      });
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
  function range(number) {
    return Array.from({ length: number }, (_, k) => k);
  }

  // app/what_if/head_switches.ts
  var PATIENCE_MS = 2e3;
  var Switches = class {
    report = () => {
    };
    root = element("div", { className: "view switches" });
    status = element("p", { className: "status", ariaLive: "polite" });
    count = element("span", { className: "count" });
    allOn = button("All on", "Switch on every head and layer", () => this.set([], []));
    only = button("Only this one", "The next head or layer you click stays on alone", () => this.arm(!this.isOnly));
    layers = 0;
    heads = 0;
    off = /* @__PURE__ */ new Set();
    skipped = /* @__PURE__ */ new Set();
    cells = [];
    skips = [];
    names = [];
    // of the layers
    place = [0, 0];
    // where Tab leads to
    isOnly = false;
    // whether the next click keeps one head alone
    sent = null;
    constructor(parent) {
      parent.appendChild(this.root);
    }
    close() {
      this.root.remove();
    }
    update(data) {
      const isSameShape = data.num_layers === this.layers && data.num_heads === this.heads;
      const sent = this.sent && Date.now() - this.sent.when < PATIENCE_MS ? this.sent.state : null;
      if (sent && isSameShape && JSON.stringify([data.off, data.skipped]) !== sent) return;
      this.sent = null;
      Object.assign(this, { layers: data.num_layers, heads: data.num_heads });
      this.off = new Set(data.off);
      this.skipped = new Set(data.skipped);
      if (!isSameShape) this.build();
      this.refresh();
    }
    build() {
      this.place = [0, 0];
      const grid = element("div", { className: "grid", role: "group", ariaLabel: "Heads, on or off; the arrows move" });
      grid.style.setProperty("--heads", String(this.heads));
      grid.style.setProperty("--cell", this.heads > 8 || this.layers > 12 ? "25px" : "36px");
      grid.append(columnName(""), ...range(this.heads).map((head) => columnName(String(head))), columnName(""));
      this.cells = [];
      this.skips = [];
      this.names = [];
      for (const layer of range(this.layers)) grid.append(...this.row(layer));
      grid.onkeydown = (event) => this.key(event);
      grid.onmouseleave = () => this.tell(null);
      this.root.replaceChildren(element("div", { className: "bar" }, this.allOn, this.only, this.count), grid, this.status);
    }
    row(layer) {
      const name = element("button", {
        type: "button",
        className: "layer",
        textContent: layer,
        title: `Layer ${layer}: all heads off or on; with Shift only these on`,
        ariaLabel: `All heads of layer ${layer}`
      });
      const skip = element("button", {
        type: "button",
        className: "skip",
        textContent: "skip",
        title: `Skip layer ${layer} whole: no attention, no feed-forward`,
        ariaLabel: `Skip layer ${layer} whole`
      });
      const cells = range(this.heads).map((head) => {
        const cell = element("button", { type: "button", className: "cell", role: "switch" });
        cell.dataset.head = nameOf(layer, head);
        return cell;
      });
      this.names.push(name);
      this.skips.push(skip);
      this.cells.push(cells);
      const row = [name, ...cells, skip];
      row.forEach((button2, at) => {
        const place = [layer, at - 1];
        button2.onclick = (event) => this.click(place, event.shiftKey);
        button2.onmouseenter = button2.onfocus = () => this.tell(place);
      });
      return row;
    }
    refresh() {
      this.cells.forEach((cells, layer) => cells.forEach((cell, head) => {
        const isSkipped = this.skipped.has(layer);
        cell.setAttribute("aria-checked", String(!this.off.has(nameOf(layer, head))));
        cell.setAttribute("aria-label", `Layer ${layer} head ${head}${isSkipped ? ", layer skipped" : ""}`);
        cell.classList.toggle("skipped", isSkipped);
      }));
      this.skips.forEach((skip, layer) => skip.setAttribute("aria-pressed", String(this.skipped.has(layer))));
      for (const button2 of [...this.names, ...this.skips, ...this.cells.flat()]) button2.tabIndex = -1;
      this.button(this.place).tabIndex = 0;
      this.allOn.disabled = !this.off.size && !this.skipped.size;
      this.only.setAttribute("aria-pressed", String(this.isOnly));
      const skipped = this.skipped.size ? `, ${this.skipped.size} layer${this.skipped.size > 1 ? "s" : ""} skipped` : "";
      this.count.textContent = `${this.off.size} of ${this.layers * this.heads} heads off${skipped}`;
    }
    // ---- acting ----
    arm(isOnly) {
      this.isOnly = isOnly;
      this.refresh();
    }
    click(place, isOnly) {
      const [layer, column] = this.place = place;
      const only = isOnly || this.isOnly;
      if (column === this.heads) this.set([...this.off], [...toggled(this.skipped, layer)]);
      else if (column < 0) {
        if (only) this.keepOnly((at) => at === layer);
        else this.toggleLayer(layer);
      } else if (only) this.keepOnly((...at) => at[0] === layer && at[1] === column);
      else this.set([...toggled(this.off, nameOf(layer, column))], [...this.skipped]);
      this.tell(place);
    }
    // Switches off all heads but those for which `stays(layer, head)`.
    keepOnly(stays) {
      this.isOnly = false;
      const off = this.places().filter((place) => !stays(...place)).map((place) => nameOf(...place));
      this.set(off, [...this.skipped]);
    }
    toggleLayer(layer) {
      const ofLayer = range(this.heads).map((head) => nameOf(layer, head));
      const anyOn = ofLayer.some((name) => !this.off.has(name));
      const others = [...this.off].filter((name) => !ofLayer.includes(name));
      this.set(anyOn ? [...others, ...ofLayer] : others, [...this.skipped]);
    }
    set(off, skipped) {
      this.off = new Set(off);
      this.skipped = new Set(skipped);
      const names = this.places().map((place) => nameOf(...place));
      const state = { off: names.filter((name) => this.off.has(name)), skipped: skipped.sort((a, b) => a - b) };
      this.sent = { state: JSON.stringify([state.off, state.skipped]), when: Date.now() };
      this.refresh();
      this.report(state);
    }
    places() {
      return range(this.layers).flatMap((layer) => range(this.heads).map((head) => [layer, head]));
    }
    button([layer, column]) {
      return column < 0 ? this.names[layer] : column < this.heads ? this.cells[layer][column] : this.skips[layer];
    }
    key(event) {
      const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in moves)) return;
      event.preventDefault();
      const [down, right] = moves[event.key];
      const layer = Math.max(0, Math.min(this.layers - 1, this.place[0] + down));
      const column = Math.max(-1, Math.min(this.heads, this.place[1] + right));
      this.place = [layer, column];
      this.refresh();
      this.button(this.place).focus();
    }
    tell(place) {
      if (!place) {
        this.status.textContent = "Click a head to switch it, a layer's number for all of its heads; with Shift, only these stay on.";
        return;
      }
      const [layer, column] = place;
      if (column === this.heads) {
        const isSkipped = this.skipped.has(layer);
        this.say(`Layer ${layer}`, ` is ${isSkipped ? "" : "not "}skipped (click: ${isSkipped ? "back in" : "skip"})`);
        return;
      }
      const ofPlace = column < 0 ? range(this.heads) : [column];
      const on = ofPlace.filter((head) => !this.off.has(nameOf(layer, head))).length;
      const [only, next] = [column < 0 ? "only these" : "only this one", on ? "off" : "on"];
      const does = this.isOnly ? `click: ${only} stay${column < 0 ? "" : "s"} on` : `click: ${next}; with Shift: ${only}`;
      if (column < 0) this.say(`Layer ${layer}`, ` has ${on} of ${this.heads} heads on (${does})`);
      else this.say(`Layer ${layer} head ${column}`, ` is ${on ? "on" : "off"} (${does})`);
    }
    say(name, text) {
      this.status.replaceChildren(element("b", { textContent: name }), text);
    }
  };
  var head_switches_default = keepView(Switches, "switched");
  function nameOf(layer, head) {
    return `${layer}.${head}`;
  }
  function columnName(textContent) {
    return element("span", { className: "name", textContent, ariaHidden: "true" });
  }
  function button(textContent, title, onclick) {
    return element("button", { type: "button", textContent, title, onclick });
  }
  function toggled(set, entry) {
    const copy = new Set(set);
    if (!copy.delete(entry)) copy.add(entry);
    return copy;
  }
  return __toCommonJS(head_switches_exports);
})();
