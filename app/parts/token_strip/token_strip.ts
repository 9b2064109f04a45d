// Draws the strip anew for each set of data; tokens are set as textContent only.

import "./token_strip.css";

import type { Mounted } from "../browser/component";
import { hexRgb, inkOver } from "../browser/colours";
import { element, kept, replaceKeepingFocus } from "../browser/elements";
import { said } from "../browser/text";
import { moveFocus } from "./arrow_keys";
import { colorOf, countText, details, joins, legendEntries, type StripData } from "./facts";

const PREFIX = "##";

export default function component({ parentElement, data, setTriggerValue }: Mounted<StripData>): void {
  const root = kept(parentElement, "strip");
  const scrolled = root.querySelector(".words")?.scrollTop ?? 0;
  const facts = element("div", { className: "facts" });
  const tell = (token: number) => facts.replaceChildren(...factsOf(data, token));
  const buttons = data.tokens.map((_, token) => tokenButton(data, token, tell, () => setTriggerValue("picked", token)));
  const words = element("div", {
    className: "words", role: "listbox", ariaLabel: said("Tokens of the input"), ariaOrientation: "horizontal",
    onmouseleave: () => tell(data.selected),
    onkeydown: (event: KeyboardEvent) => moveFocus(event, buttons),
  }, ...wordBoxes(data, buttons));
  const active = Math.max(0, Math.min(data.selected, buttons.length - 1));
  buttons.forEach((button, token) => { button.tabIndex = token === active ? 0 : -1; });
  replaceKeepingFocus(root, "data-token", legend(data), words, facts);
  tell(data.selected);
  words.scrollTop = scrolled;
  if (root.dataset.selected !== String(data.selected)) show(words, buttons[data.selected]);
  root.dataset.selected = String(data.selected);
}

function tokenButton(data: StripData, token: number, tell: (token: number) => void, onclick: () => void): HTMLButtonElement {
  const name = data.tokens[token];
  const text = element("b", { dir: "auto" });
  if (name.startsWith(PREFIX) && name.length > PREFIX.length) {
    text.append(element("span", { textContent: PREFIX }), name.slice(PREFIX.length));
  } else text.textContent = name;
  return element("button", {
    type: "button", className: data.marked.includes(token) ? "marked" : "", role: "option", "data-token": token,
    ariaSelected: String(token === data.selected), ariaDescription: details(data, token),
    onclick, onmouseenter: () => tell(token), onfocus: () => tell(token),
  }, text, element("small", { textContent: data.ids[token] }));
}

// The pieces of a word in one box.
function wordBoxes(data: StripData, buttons: HTMLButtonElement[]): HTMLElement[] {
  const boxes: HTMLElement[] = [];
  buttons.forEach((button, token) => {
    const tone = colorOf(data, token);
    const style = `--tone: ${tone}; --ink: ${inkOver(hexRgb(tone))}`;
    if (!joins(data, token)) boxes.push(element("div", { className: data.texts[token] < 0 ? "word special" : "word", role: "group", style }));
    boxes[boxes.length - 1].append(button);
  });
  return boxes;
}

function legend(data: StripData): HTMLElement {
  const entries = legendEntries(data).map(([color, name]) => element("span", {}, element("i", { style: `background: ${color}` }), name));
  return element("div", { className: "legend" }, ...entries, element("span", { textContent: countText(data) }));
}

function factsOf(data: StripData, token: number): (Node | string)[] {
  if (token < 0 || token >= data.tokens.length) return [];
  return [element("b", { dir: "auto", textContent: data.tokens[token] }), `  ${details(data, token)}`];
}

// Scrolls a long text, not the page, so that the chosen token is seen.
function show(words: HTMLElement, button: HTMLButtonElement | undefined): void {
  if (!button) return;
  const box = words.getBoundingClientRect();
  const token = button.getBoundingClientRect();
  if (token.top >= box.top && token.bottom <= box.bottom) return;
  words.scrollTop += token.top - box.top - (box.height - token.height) / 2;
}
