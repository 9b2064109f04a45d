import { showAlone } from "../../html_file/alone.js";
import "../shared/shared.css";
import "./neurons.css";
import { NeuronControls } from "./controls.js";
import { HEAD, ROW } from "./paint.js";
import { element } from "../shared/elements.js";
import { mount } from "../shared/mount.js";
import { asFloats } from "../shared/transport.js";

export function standAlone(place, css, messages) {
  showAlone(component, place, css, messages);
}

export default function component(mounted) {
  const { setStateValue } = mounted;
  return mount(NeuronView, mounted, {
    report: (selection) => setStateValue("selection", selection),
    reportLook: (look) => setStateValue("look", look),
  });
}

class NeuronView extends NeuronControls {
  constructor(parent) {
    super();
    this.root = element("div", { className: "view" });
    parent.append(this.root);
    this.revision = 0; // counts our own choices, so that an older echo of the server is not obeyed
    this.fitted = new Map();
    this.pointed = null; // { key, dimension or null }
    this.build();
    this.scroller.onscroll = () => this.draw();
    this.scroller.onpointermove = (event) => this.point(this.hit(event), event);
    this.scroller.onpointerleave = () => this.point(null);
    this.scroller.onclick = (event) => this.pick(this.hit(event));
    this.scroller.ondblclick = (event) => this.lookFrom(this.hit(event)?.key);
    this.scroller.onkeydown = (event) => this.key(event);
    this.observer = new ResizeObserver(() => this.layout());
    this.observer.observe(this.root);
  }

  close() {
    this.observer.disconnect();
    this.twin.close();
    cancelAnimationFrame(this.frame);
    for (const timer of [this.reporting, this.saying, this.noting]) clearTimeout(timer);
    this.root.remove();
  }

  // ---- what the server sends ----

  update({ header, blocks }) {
    const sameTokens = this.header && this.header.tokens.join("\u0000") === header.tokens.join("\u0000");
    const look = this.header ? null : header.look;
    this.header = header;
    [this.queries, this.keys, this.scores, this.weights] = blocks.map(asFloats);
    this.size = header.tokens.length;
    if (look) this.orderBy = look.order;
    if (!sameTokens) {
      const wanted = look?.query ?? Math.min(1, this.size - 1);
      this.query = Math.max(0, Math.min(this.size - 1, Math.round(wanted)));
      this.fitted = new Map();
      this.pointed = null;
      this.scroller.scrollTop = 0;
    }
    if (header.revision === this.revision || !sameTokens) {
      Object.assign(this, { revision: header.revision, layer: header.layer, head: header.head });
    }
    this.root.classList.toggle("waiting", header.revision !== this.revision);
    this.readColours();
    this.measure();
    this.refreshOptions();
    this.refresh(!sameTokens || this.marked === undefined);
  }

  choose(layer, head) {
    Object.assign(this, { layer, head });
    this.revision += 1;
    this.root.classList.add("waiting");
    this.refreshControls();
    const selection = { layer, heads: [head], revision: this.revision };
    clearTimeout(this.reporting);
    this.reporting = setTimeout(() => this.report(selection), 180);
  }

  // ---- what is shown ----

  // After another query, order or head; `anew` marks the key that gets the most.
  refresh(anew) {
    this.arrange();
    if (anew) this.marked = this.order[0];
    this.refreshControls();
    this.refreshFoot();
    this.say();
    this.twin.refresh();
    this.layout();
  }

  // How one looks is reported, so that it gets into the address.
  noteLook() {
    clearTimeout(this.noting);
    const look = { order: this.orderBy, query: this.query };
    this.noting = setTimeout(() => this.reportLook(look), 400);
  }

  setQuery(query) {
    if (query < 0 || query >= this.size || query === this.query) return;
    this.query = query;
    this.pointed = null;
    this.tooltip.hide();
    this.refresh(this.orderBy === "weight");
    this.show();
    this.noteLook();
  }

  setOrder(order) {
    this.orderBy = order;
    this.refresh(false);
    this.show();
    this.noteLook();
  }

  lookFrom(key) {
    if (key !== undefined) this.setQuery(key);
  }

  // ---- pointer and keys ----

  hit(event) {
    const box = this.scroller.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left - 1, event.clientY - box.top - 1];
    if (y < HEAD) return null;
    const row = Math.floor((y - HEAD + this.scroller.scrollTop) / ROW);
    if (row < 0 || row >= this.size) return null;
    const dimension = Math.floor((x - this.names) / this.cell);
    return { key: this.order[row], dimension: dimension >= 0 && dimension < this.header.width ? dimension : null };
  }

  point(place, event) {
    const isSame = place?.key === this.pointed?.key;
    this.pointed = place;
    this.tell(event);
    if (isSame) return;
    this.say();
    this.draw();
  }

  pick(place) {
    if (!place) return;
    this.marked = place.key;
    this.say();
    this.draw();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -this.size, End: this.size };
    if (event.key in moves) {
      const row = Math.max(0, Math.min(this.size - 1, this.rowOf[this.marked] + moves[event.key]));
      this.pointed = null;
      this.tooltip.hide();
      this.marked = this.order[row];
      this.say();
      this.show();
    } else if (event.key === "ArrowLeft") this.setQuery(this.query - 1);
    else if (event.key === "ArrowRight") this.setQuery(this.query + 1);
    else if (event.key === "Enter") this.setQuery(this.marked);
    else return;
    event.preventDefault();
  }

  // Brings the marked key into view.
  show() {
    const y = this.rowOf[this.marked] * ROW;
    const room = this.height - HEAD;
    const { scrollTop } = this.scroller;
    if (y < scrollTop) this.scroller.scrollTop = y;
    if (y + ROW > scrollTop + room) this.scroller.scrollTop = y + ROW - room + 6;
    this.draw();
  }
}
