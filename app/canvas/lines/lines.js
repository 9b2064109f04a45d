// Lines between two columns of tokens: who looks (left) at whom (right), for the heads of one layer.

import { showAlone } from "../../html_file/alone.js";
import "../shared/shared.css";
import "./lines.css";
import { AttentionControls } from "./controls.js";
import { readTheme } from "../shared/canvas.js";
import { element } from "../shared/elements.js";
import { mount } from "../shared/mount.js";
import { asFloats } from "../shared/transport.js";

export function standAlone(place, css, messages) {
  showAlone(component, place, css, messages);
}

export default function component(mounted) {
  const { setStateValue } = mounted;
  return mount(AttentionView, mounted, {
    report: (selection) => setStateValue("selection", selection),
    reportLook: (look) => setStateValue("look", look),
  });
}

class AttentionView extends AttentionControls {
  constructor(parent) {
    super();
    this.root = element("div", { className: "view" });
    parent.append(this.root);
    this.revision = 0; // counts our own choices, so that an older echo of the server is not obeyed
    this.shown = new Set();
    this.clearChoice();
    this.pointed = null; // { side: "left" | "right", index }
    this.fit = false;
    this.build();
    this.scroller.onscroll = () => this.draw();
    this.scroller.onpointermove = (event) => this.point(this.hit(event));
    this.scroller.onpointerleave = () => this.point(null);
    this.scroller.onclick = (event) => this.pick(this.hit(event), event.shiftKey || event.ctrlKey || event.metaKey);
    this.scroller.onmousedown = (event) => event.shiftKey && event.preventDefault(); // selects no text
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
    const sameTokens = this.header && this.header.tokens.join("\u0000") === header.tokens.join("\u0000");
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
    if (!sameLayer) this.given = new Map(); // heads that are known: head -> { codes, gaps }
    this.keepHeads(header, blocks[0], blocks[2]);
    if (!sameTokens) {
      this.clearChoice();
      this.pointed = null;
      if (!this.touchedThreshold) this.threshold = header.tokens.length > 64 ? 0.05 : 0.02;
      if (this.scroller) this.scroller.scrollTop = 0;
    }
    this.refreshUnits();
    if (first) this.readChoice(header.look.chosen);
    else if (hadChoice && !sameTokens) this.noteLook(); // what was chosen is gone
    if (header.revision === this.revision || !sameTokens) {
      this.revision = header.revision;
      const all = header.colours.map((_, head) => head);
      this.shown = new Set(header.heads.length ? header.heads : all);
      this.layer = header.layer;
    }
    this.refreshWaiting();
    if (!sameTokens || !sameLayer) this.labels = new Map();
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
    this.labels = new Map();
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
    return index === undefined ? null : { side, index };
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
}

function same(a, b) {
  return a === b || (a && b && a.side === b.side && a.index === b.index);
}
