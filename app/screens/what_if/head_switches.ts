// Every head as a switch: rows are layers, columns heads.
// Python hands in what is off; each click reports the whole new state, so that no click is lost.

import "../../parts/canvas/shared/shared.css";
import "./head_switches.css";

import { keepView, type KeptView } from "../../parts/browser/component";
import { element } from "../../parts/browser/elements";
import { onKey } from "../../parts/browser/keys";
import { range } from "../../parts/browser/text";
import { toggled } from "../../parts/canvas/shared/controls";

const PATIENCE_MS = 2000; // after a click, answers to older clicks are not shown

interface Switched {
  /** Heads as layer.head. */
  off: string[];
  skipped: number[];
}

interface SwitchData extends Switched {
  num_layers: number;
  num_heads: number;
}

/** Left of the first head stands the layer's number, right of the last one "skip". */
type Place = [layer: number, column: number];

class Switches implements KeptView<SwitchData, Switched> {
  report: (state: Switched) => void = () => {};
  private readonly root = element("div", { className: "view switches" });
  private readonly status = element("p", { className: "status", ariaLive: "polite" });
  private readonly count = element("span", { className: "count" });
  private readonly allOn = button("All on", "Switch on every head and layer", () => this.set([], []));
  private readonly only = button("Only this one", "The next head or layer you click stays on alone", () => {
    this.isOnly = !this.isOnly;
    this.refresh();
  });
  private layers = 0;
  private heads = 0;
  private off = new Set<string>();
  private skipped = new Set<number>();
  private buttons: HTMLButtonElement[][] = []; // of each layer: its number, its heads, "skip"
  private place: Place = [0, 0]; // where Tab leads to
  private isOnly = false; // whether the next click keeps one head alone
  private sent: { state: string; when: number } | null = null;

  constructor(parent: Node) {
    parent.appendChild(this.root);
  }

  close(): void {
    this.root.remove();
  }

  update(data: SwitchData): void {
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

  private build(): void {
    this.place = [0, 0];
    this.buttons = range(this.layers).map((layer) => this.row(layer));
    const cell = this.heads > 8 || this.layers > 12 ? 25 : 36;
    const grid = element("div", {
      className: "grid", role: "group", ariaLabel: "Heads, on or off; the arrows move", style: `--heads: ${this.heads}; --cell: ${cell}px`,
      onkeydown: (event: KeyboardEvent) => this.key(event), onmouseleave: () => this.tell(null),
    }, ...["", ...range(this.heads), ""].map(columnName), ...this.buttons.flat());
    this.root.replaceChildren(element("div", { className: "bar" }, this.allOn, this.only, this.count), grid, this.status);
  }

  private row(layer: number): HTMLButtonElement[] {
    const name = element("button", {
      type: "button", className: "layer", textContent: layer, title: `Layer ${layer}: all heads off or on; with Shift only these on`,
      ariaLabel: `All heads of layer ${layer}`,
    });
    const skip = element("button", {
      type: "button", className: "skip", textContent: "skip",
      title: `Skip layer ${layer} whole: no attention, no feed-forward`, ariaLabel: `Skip layer ${layer} whole`,
    });
    const cells = range(this.heads).map((head) =>
      element("button", { type: "button", className: "cell", role: "switch", "data-head": nameOf(layer, head) }));
    const row = [name, ...cells, skip];
    row.forEach((button, at) => {
      const place: Place = [layer, at - 1];
      button.onclick = (event) => this.click(place, event.shiftKey);
      button.onmouseenter = button.onfocus = () => this.tell(place);
    });
    return row;
  }

  private refresh(): void {
    for (const [layer, head] of this.places()) {
      const cell = this.button([layer, head]);
      const isSkipped = this.skipped.has(layer);
      cell.setAttribute("aria-checked", String(!this.off.has(nameOf(layer, head))));
      cell.setAttribute("aria-label", `Layer ${layer} head ${head}${isSkipped ? ", layer skipped" : ""}`);
      cell.classList.toggle("skipped", isSkipped);
    }
    this.buttons.forEach((row, layer) => row[row.length - 1].setAttribute("aria-pressed", String(this.skipped.has(layer))));
    for (const button of this.buttons.flat()) button.tabIndex = -1;
    this.button(this.place).tabIndex = 0;
    this.allOn.disabled = !this.off.size && !this.skipped.size;
    this.only.setAttribute("aria-pressed", String(this.isOnly));
    const skipped = this.skipped.size ? `, ${this.skipped.size} layer${this.skipped.size > 1 ? "s" : ""} skipped` : "";
    this.count.textContent = `${this.off.size} of ${this.layers * this.heads} heads off${skipped}`;
  }

  // ---- acting ----

  private click(place: Place, isOnly: boolean): void {
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
  private keepOnly(stays: (...at: Place) => boolean): void {
    this.isOnly = false;
    const off = this.places().filter((place) => !stays(...place)).map((place) => nameOf(...place));
    this.set(off, [...this.skipped]);
  }

  private toggleLayer(layer: number): void {
    const ofLayer = range(this.heads).map((head) => nameOf(layer, head));
    const anyOn = ofLayer.some((name) => !this.off.has(name));
    const others = [...this.off].filter((name) => !ofLayer.includes(name));
    this.set(anyOn ? [...others, ...ofLayer] : others, [...this.skipped]);
  }

  private set(off: string[], skipped: number[]): void {
    this.off = new Set(off);
    this.skipped = new Set(skipped);
    const names = this.places().map((place) => nameOf(...place));
    const state = { off: names.filter((name) => this.off.has(name)), skipped: skipped.sort((a, b) => a - b) };
    this.sent = { state: JSON.stringify([state.off, state.skipped]), when: Date.now() };
    this.refresh();
    this.report(state);
  }

  private places(): Place[] {
    return range(this.layers).flatMap((layer) => range(this.heads).map((head): Place => [layer, head]));
  }

  private button([layer, column]: Place): HTMLButtonElement {
    return this.buttons[layer][column + 1];
  }

  private key(event: KeyboardEvent): void {
    const by = (down: number, right: number) => () => {
      const [layer, column] = this.place;
      this.place = [Math.max(0, Math.min(this.layers - 1, layer + down)), Math.max(-1, Math.min(this.heads, column + right))];
      this.refresh();
      this.button(this.place).focus();
    };
    onKey(event, { ArrowUp: by(-1, 0), ArrowDown: by(1, 0), ArrowLeft: by(0, -1), ArrowRight: by(0, 1) });
  }

  private tell(place: Place | null): void {
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

  private say(name: string, text: string): void {
    this.status.replaceChildren(element("b", { textContent: name }), text);
  }
}

export default keepView(Switches, "switched");

function nameOf(layer: number, head: number): string {
  return `${layer}.${head}`;
}

function columnName(textContent: string | number): HTMLElement {
  return element("span", { className: "name", textContent, ariaHidden: "true" });
}

function button(textContent: string, title: string, onclick: () => void): HTMLButtonElement {
  return element("button", { type: "button", textContent, title, onclick });
}
