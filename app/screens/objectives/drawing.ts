// A text under each objective: rows to choose from, or one in detail. Tokens are set as text only.

import "./drawing.css";

import type { Mounted } from "../../parts/browser/component";
import { element, kept, replaceKeepingFocus } from "../../parts/browser/elements";
import { percent } from "../../parts/browser/text";
import { below, carriesLoss, fateName, fatesOf, firstShown, groupAt, writesAll, type Answer, type Drawing, type Shown } from "./model";

const MOST = 48; // tokens of a row in the overview
const ANSWER = "its answer";

export default function component({ parentElement, data, setTriggerValue }: Mounted<Drawing>): void {
  const root = kept(parentElement, "objectives");
  const parts = data.in_detail ? data.objectives.map(chosen) : rows(data, (name) => setTriggerValue("picked", name));
  replaceKeepingFocus(root, "data-name", legend(data), ...parts);
}

function legend({ objectives, mask }: Drawing): HTMLElement {
  const drawn = fatesOf(objectives);
  return element("div", { className: "legend" },
    ...drawn.map((fate) => element("span", {}, element("i", { className: fate }), fateName(fate, mask, objectives))),
    element("span", {}, element("i", { className: "paid" }), "carries loss"));
}

// ---- the overview ----

function rows(data: Drawing, pick: (name: string) => void): HTMLElement[] {
  return data.objectives.flatMap((one, place) => {
    const group = groupAt(data.objectives, place);
    const title = element("button", {
      type: "button", "data-name": one.name, onclick: () => pick(one.name),
    }, element("b", { textContent: one.title }), element("small", { textContent: one.origin }));
    const row = element("div", {
      className: "row", "data-objective": one.name, onclick: (event: MouseEvent) => {
        if (event.target instanceof Element && !event.target.closest("button")) pick(one.name);
      },
    }, title, one.error ? element("p", { className: "error", textContent: one.error }) : flow(one));
    return group ? [element("h2", { textContent: group }), row] : [row];
  });
}

function flow(one: Shown): HTMLElement {
  const first = firstShown(one, MOST), dots = () => element("span", { className: "token", textContent: "\u2026" });
  const reads = one.reads.slice(first, first + MOST).map((read, number) => {
    const place = first + number, note = below(one, place);
    return element("span", { className: carriesLoss(one, place) ? "token paid" : "token" }, cell(read.text, read.fate),
      ...(note ? [element("small", { textContent: note, dir: "auto" })] : []));
  });
  if (first > 0) reads.unshift(dots());
  if (one.reads.length > first + MOST) reads.push(dots());
  const lines = [element("div", { className: "flow" }, ...reads)];
  if (one.verdict) lines.push(element("div", { className: "flow out" }, arrow(), element("b", { textContent: one.verdict })));
  if (one.direction) lines.push(element("div", { className: "flow out" }, element("small", { textContent: `drawn: ${one.direction}` })));
  if (writesAll(one)) {
    lines.push(element("div", { className: "flow out" }, arrow(), element("span", { className: "token paid" }, cell("the whole text", ""))));
  } else if (one.writes.length) {
    const written = one.writes.slice(0, MOST).map((text) => element("span", { className: "token paid" }, cell(text, "")));
    if (one.writes.length > MOST) written.push(dots());
    lines.push(element("div", { className: "flow out" }, arrow(), ...written));
  }
  return element("div", {}, ...lines);
}

function arrow(): HTMLElement {
  return element("span", { className: "arrow", textContent: "\u2192", ariaLabel: "must come out" });
}

function cell(text: string, fate: string): HTMLElement {
  const name = fate === "gap" ? "deleted" : text;
  return element("span", { className: `cell ${fate}`, textContent: fate === "gap" ? "\u2038" : text, title: name, dir: "auto" });
}

// ---- one in detail ----

// Takes over the focus of its row in the overview: it has the same name.
function chosen(one: Shown): HTMLElement {
  return element("div", { "data-name": one.name, tabIndex: -1, role: "group", ariaLabel: one.title }, detail(one));
}

function detail(one: Shown): HTMLElement {
  if (one.error) return element("p", { className: "error", textContent: one.error });
  const answers = new Map(one.answers.map((answer) => [answer.place, answer]));
  const text = band("The text", one.original.map((token) => column([cell(token, "")])));
  const read = (reader: string) => band(`The ${reader} reads`, one.reads.map(({ text, fate }) => column([cell(text, fate)])));
  if (one.writes.length) {
    return element("div", { className: "detail" }, text, read("encoder"),
      band("The decoder reads", one.decoder_reads.map((text, place) => column(
        [cell(text, ""), goal(one.writes[place]), ...guesses(answers.get(place))])),
      ["", "and must write", ...answerNames(answers)]));
  }
  if (one.verdict) {
    return element("div", { className: "detail" }, text, read("network"),
      band("It must say", [column([goal(one.verdict), ...guesses(answers.get(0))])]));
  }
  const hasChange = one.reads.some(({ text }, place) => text !== one.original[place]);
  const columns = one.reads.map(({ text, fate, target }, place) => column([
    ...(hasChange ? [cell(one.original[place], "")] : []), cell(text, fate),
    ...(one.order.length ? [element("small", { className: "when", textContent: one.order[place] ? `${one.order[place]}.` : "" })] : []),
    target ? goal(target) : element("span", { className: "cell none" }), ...guesses(answers.get(place)),
  ]));
  const names = [...(hasChange ? ["The text"] : []), "The network reads", ...(one.order.length ? ["order"] : []), "must come out"];
  return element("div", { className: "detail" }, band(names[0], columns, ["", ...names.slice(1), ...answerNames(answers)]));
}

function answerNames(answers: Map<number, Answer>): string[] {
  return answers.size ? [ANSWER, "\u2212ln p"] : [];
}

// Columns of tokens that wrap, with the names of their lines on the left.
function band(title: string, columns: HTMLElement[], names: string[] = [""]): HTMLElement {
  const labels = names.map((name, line) => element(line ? "small" : "b", { textContent: line ? name : title, className: name === ANSWER ? "tall" : "" }));
  return element("section", { className: "band" }, element("div", { className: "names" }, ...labels), element("div", { className: "columns" }, ...columns));
}

function column(cells: HTMLElement[]): HTMLElement {
  return element("div", { className: "column" }, ...cells);
}

function goal(text: string): HTMLElement {
  return element("span", { className: text === "original" ? "cell goal usual" : "cell goal", textContent: text, title: text, dir: "auto" });
}

function guesses(answer: Answer | undefined): HTMLElement[] {
  if (!answer) return [];
  const best = answer.best.map(([text, probability]) => element("span", { className: text === answer.target ? "right" : "", title: text },
    element("bdi", { textContent: text }), ` ${percent(probability)}`));
  return [element("span", { className: "guesses" }, ...best), element("b", { className: "cost", textContent: answer.loss.toFixed(2) })];
}
