// One row of normalisation steps, then one row for each piece with the candidates that failed.

import "./word_steps.css";

import type { Mounted } from "../browser/component";
import { element, kept } from "../browser/elements";
import { said } from "../browser/text";

interface Piece {
  token: string;
  id: number;
  /** Candidates that failed, the longest first. */
  tried: string[];
  /** Of those, how many more there are. */
  more: number;
}

interface StepsData {
  word: string;
  normalized: string;
  /** Whether the word is a special token. */
  isAdded: boolean;
  /** Name of each step and the text after it. */
  steps: [string, string][];
  pieces: Piece[];
  /** Why the word is unknown; empty if it is not. */
  reason: string;
}

export default function component({ parentElement, data }: Mounted<StepsData>): void {
  const root = kept(parentElement, "steps");
  const reason = data.reason ? [element("p", { textContent: data.reason })] : [];
  root.replaceChildren(normalization(data), ...data.pieces.map((piece, index) => match(data, piece, index)), ...reason);
}

function normalization({ word, normalized, isAdded, steps }: StepsData): HTMLElement {
  if (isAdded) return row(said("in the text"), chip(word), say(said("a special token: kept whole")));
  const last = steps.at(-1);
  return row(said("in the text"), chip(word),
    ...steps.flatMap(([name, after]) => [say(`\u2192 ${said(name)} \u2192`), chip(after)]),
    ...(last && last[1] !== normalized ? [say(`\u2192 ${said("this word")} \u2192`), chip(normalized)] : []),
    ...(last ? [] : [say(said("nothing to clean, fold or split"))]));
}

function match({ pieces, reason }: StepsData, { token, id, tried, more }: Piece, index: number): HTMLElement {
  const matched = chip(token, reason ? "found unknown" : "found");
  matched.append(element("small", { textContent: `id ${id}` }));
  return row(pieces.length > 1 ? said("piece {number}", { number: index + 1 }) : said("look-up"),
    ...tried.map((candidate) => chip(candidate, "failed")),
    ...(more ? [say(said("and {number} shorter ones", { number: more }))] : []),
    ...(tried.length ? [say(`${said("not in the vocabulary")} \u2192`)] : []),
    matched);
}

function row(name: string, ...cells: HTMLElement[]): HTMLElement {
  return element("div", { className: "row" },
    element("span", { className: "label", textContent: name }), element("div", {}, ...cells));
}

function chip(textContent: string, kind = ""): HTMLElement {
  return element("span", { className: kind ? `chip ${kind}` : "chip", dir: "auto", textContent });
}

function say(textContent: string): HTMLElement {
  return element("em", { textContent });
}
