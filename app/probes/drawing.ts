// A sentence as the probe of a layer sees it: labels under its words, the tree over them, or how deep
// each stands. Words are set as text only.

import "../canvas/shared/shared.css";
import "./drawing.css";

import type { Mounted } from "../browser/component";
import type { Bytes } from "../browser/data_blocks";
import { context2d, element } from "../browser/elements";
import { legible, percent, range, shorten } from "../browser/text";
import { mount, type MountedView } from "../canvas/shared/mount";
import type { Message } from "../canvas/shared/transport";
import { alone } from "../html_file/alone";
import { centres, describe, isIn, levels, type Depth, type Drawing, type Edge, type Labels, type Tree } from "./model";

const LONGEST = 24; // letters of a word over or under a tree
const GAP = 12; // pixels between two words
const STEP = 17; // pixels from an arc to the next higher one
const CURVE = 8; // radius of an arc's corners
const SIDE = 4; // pixels from the middle of a word to where its arcs begin
const LINE = 30; // height of the words
const DEPTH_STEP = 26;
const MANY = 60; // words beyond which their list scrolls

export default function component(mounted: Mounted<Bytes>): () => void {
  return mount<Drawing, object>(SentenceView, mounted, {});
}

export const standAlone = alone(component);

class SentenceView implements MountedView<Drawing, object> {
  readonly root = element("div", { className: "view probe" });
  events = {};

  constructor(parent: Node) {
    parent.appendChild(this.root);
  }

  update({ header }: Message<Drawing>): void {
    this.root.dataset.layer = String(header.layer);
    this.root.replaceChildren(...(header.kind === "labels" ? labels(header) : header.kind === "tree" ? tree(header) : depth(header)));
  }

  close(): void {
    this.root.remove();
  }
}

// ---- labels ----

function labels(data: Labels): HTMLElement[] {
  const cells = data.words.map((word, place) => {
    const gold = data.gold?.[place] ?? null;
    const label = data.labels[place];
    const kind = gold === null ? "label" : gold === label ? "label right" : "label wrong";
    const name = element("b", { className: kind, textContent: legible(label), dir: "auto" });
    name.style.setProperty("--chance", String(data.chances[place]));
    const parts = [
      element("span", { className: "word", textContent: legible(word), title: legible(word), dir: "auto" }), name,
      element("small", { textContent: percent(data.chances[place]) }),
    ];
    if (data.gold) parts.push(element("small", { className: "gold", textContent: gold === label ? "" : legible(gold ?? ""), dir: "auto" }));
    return element("li", {}, ...parts);
  });
  const list = element("ul", { className: "words", ariaLabel: describe(data) }, ...cells);
  const all = data.gold ? [legend(data, [["right", "as in the file"], ["wrong", "not as in the file"]])] : [];
  // It scrolls where it is long, so that the keyboard must reach it.
  const place = data.words.length > MANY
    ? element("div", { className: "long", tabIndex: 0, role: "group", ariaLabel: "The words; scroll down" }, list) : list;
  return [...all, colored(place, data)];
}

// ---- trees and depths ----

function tree(data: Tree): HTMLElement[] {
  const gold = data.gold ?? [];
  const above = data.gold ? gold : data.edges;
  const below = data.gold ? data.edges : [];
  const aboveLevels = levels(above), belowLevels = levels(below);
  const top = highest(aboveLevels) * STEP + 10;
  const { middles, width } = places(data.words);
  const picture = svg(width, top + LINE + (data.gold ? highest(belowLevels) * STEP + 10 : 4), describe(data));
  above.forEach((edge, place) => picture.append(
    arc(edge, middles, top, -aboveLevels[place] * STEP, data.gold ? "gold" : "right")));
  below.forEach((edge, place) => picture.append(
    arc(edge, middles, top + LINE, belowLevels[place] * STEP, isIn(edge, data.gold) ? "right" : "wrong")));
  addWords(picture, data.words, middles, top + LINE / 2 + 1);
  const names: [string, string][] = [["gold", "above: the file"], ["right", "below: the probe, as in the file"], ["wrong", "not in the file"]];
  return [...(data.gold ? [legend(data, names)] : []), scroller(picture, data)];
}

function depth(data: Depth): HTMLElement[] {
  const deepest = Math.ceil(Math.max(1, ...data.depths, ...(data.gold ?? [])));
  const { middles, width } = places(data.words, 26);
  const start = LINE + 12;
  const y = (value: number) => start + Math.max(0, value) * DEPTH_STEP;
  const picture = svg(width + 26, y(deepest) + 12, describe(data));
  for (const value of range(deepest + 1)) {
    picture.append(shape("line", { class: "level", x1: 18, x2: width + 26, y1: y(value), y2: y(value) }), text(String(value), 8, y(value) + 4, "level"));
  }
  addWords(picture, data.words, middles, LINE / 2 + 1);
  middles.forEach((middle, place) => {
    const gold = data.gold?.[place];
    picture.append(shape("line", { class: "stem", x1: middle, x2: middle, y1: start - 8, y2: y(data.depths[place]) }));
    if (gold !== undefined) picture.append(shape("circle", { class: "gold", cx: middle, cy: y(gold), r: 8 }));
    picture.append(shape("circle", { class: "right", cx: middle, cy: y(data.depths[place]), r: 5 }));
  });
  return [...(data.gold ? [legend(data, [["gold", "the file"], ["right", "the probe"]])] : []), scroller(picture, data)];
}

function highest(found: number[]): number {
  return Math.max(0, ...found);
}

// An arc with round corners from word to word; `height` is below zero above the words.
function arc([first, last]: Edge, middles: number[], base: number, height: number, kind: string): SVGElement {
  const from = middles[first] + SIDE, to = middles[last] - SIDE;
  const sign = Math.sign(height);
  const round = Math.min(CURVE, Math.abs(height), (to - from) / 2);
  const path = `M${from} ${base}v${height - sign * round}q0 ${sign * round} ${round} ${sign * round}H${to - round}q${round} 0 ${round} ${-sign * round}V${base}`;
  return shape("path", { class: `arc ${kind}`, d: path });
}

const ruler = () => {
  const context = context2d(element("canvas"));
  context.font = "15px sans-serif";
  return context;
};

function shown(word: string): string {
  return shorten(legible(word), LONGEST);
}

function places(words: string[], start = 0): { middles: number[]; width: number } {
  const context = ruler();
  // A little more than measured: the page's font may be wider.
  const { middles, width } = centres(words.map((word) => context.measureText(shown(word)).width * 1.12 + 2), GAP);
  return { middles: middles.map((middle) => middle + start), width };
}

function addWords(picture: SVGElement, words: string[], middles: number[], y: number): void {
  words.forEach((word, place) => picture.append(text(shown(word), middles[place], y + 4, "word")));
}

function text(content: string, x: number, y: number, kind: string): SVGElement {
  const node = shape("text", { class: kind, x, y, "text-anchor": "middle", direction: "ltr" });
  node.textContent = content;
  return node;
}

function svg(width: number, height: number, name: string): SVGElement {
  return shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name });
}

function shape(name: string, properties: Record<string, string | number>): SVGElement {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(properties)) node.setAttribute(key, String(value));
  return node;
}

function scroller(picture: SVGElement, data: Drawing): HTMLElement {
  return colored(element("div", { className: "scroller", tabIndex: 0, role: "group", ariaLabel: "The sentence; scroll sideways where it is long" }, picture), data);
}

function colored(node: HTMLElement, { colors }: Drawing): HTMLElement {
  for (const [name, value] of Object.entries(colors)) node.style.setProperty(`--${name}`, value);
  return node;
}

function legend(data: Drawing, names: [string, string][]): HTMLElement {
  return colored(element("div", { className: "legend" },
    ...names.map(([kind, name]) => element("span", {}, element("i", { className: kind }), name))), data);
}
