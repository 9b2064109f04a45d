// The rows of one token: strips with their lengths, the heads and what they read, neurons, logits.

import { element, type Child } from "../../parts/browser/elements";
import { decimal, legible, percent, shorten } from "../../parts/browser/text";
import { cellsOf, fullColour, peaksOf, sharesOf, short, signed, type Card, type Cell, type Entry, type Row, type SheetModel, type Source } from "./model";
import { dims, strip, type Look, type StripText } from "./strips";

const SHOWN_SOURCES = 4; // in a head's row; all of them where it is open
const LONGEST = 24; // letters of a token

export function sheet(model: SheetModel, look: Look, open: Set<number>, toggle: (head: number) => void): HTMLElement {
  const { header } = model;
  const grid = element("div", { className: "sheet" }, ...heading(model));
  let line = 2; // three lines of the grid for each row: in a narrow one title and text have their own
  const lines: number[] = [];
  for (const row of header.rows) {
    lines.push(line);
    const { head = -1 } = row;
    if (head >= 0 && !open.has(-1)) continue;
    const below = [
      ...(head >= 0 && open.has(head) ? [headSteps(model, row, look)] : []),
      ...(row.cards ? [cards(row.cards, model)] : []),
    ];
    for (const parts of [cellsOfRow(model, row, look, open, toggle), ...below.map((one) => [one])]) {
      for (const part of parts) part.style.setProperty("--row", String(line));
      grid.append(...parts);
      line += 3;
    }
  }
  for (const [from, to] of model.residuals) {
    grid.append(element("div", { className: "rail", ariaHidden: "true", style: `grid-row: ${lines[from] + 1} / ${lines[to] + 2}` }));
  }
  return grid;
}

function heading(model: SheetModel): HTMLElement[] {
  const { rows } = model.header;
  const hasShares = rows.some(({ share }) => share !== null && share !== undefined);
  const names: [string, string][] = [
    ["norms", rows.some(({ cosine }) => typeof cosine === "number") ? "length, cosine" : "length"],
    ["text", rows.some(({ said }) => said) ? "what BERT would say" : ""],
    ["share", hasShares ? sharesOf(model.header) : ""],
  ];
  return names.filter(([, text]) => text).map(([place, text]) => element("div", { className: `heading ${place}`, style: "grid-row: 1", textContent: text }));
}

function cellsOfRow(model: SheetModel, row: Row, look: Look, open: Set<number>, toggle: (head: number) => void): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (row.title) {
    parts.push(element("div", { className: "stage" }, element("b", { textContent: row.title }), element("small", { textContent: row.note })));
  }
  if (row.entries) return [...parts, logits(row.entries, row.kind === "pair")];
  parts.push(norms(row, open, toggle));
  if ((row.residual ?? "").includes("to")) parts.push(element("i", { className: "plus", textContent: "+", ariaLabel: "added to what was there" }));
  if (row.vector !== undefined) parts.push(stripOf(model, row, look));
  const text = textOf(row);
  if (text) parts.push(text);
  if (typeof row.share === "number") parts.push(share(row.share, model.largestShare, row.share_of));
  return parts;
}

function norms(row: Row, open: Set<number>, toggle: (head: number) => void): HTMLElement {
  const numbers = element("span", {}, ...(row.norm === undefined ? [] : [short(row.norm)]),
    ...(typeof row.cosine === "number" ? [element("small", { textContent: ` ${short(row.cosine)}` })] : []));
  numbers.title = [
    row.norm === undefined ? "" : `length (L2 norm) ${row.norm.toFixed(3)}`,
    typeof row.cosine === "number" ? `cosine ${decimal(row.cosine, 3)} with the vector before the block` : "",
  ].filter(Boolean).join(", ");
  if (row.head === undefined) {
    return element("div", { className: "norms" }, ...(row.label ? [element("em", { textContent: row.label })] : []), numbers);
  }
  const { head } = row;
  const isOpen = open.has(head);
  const button = element("button", {
    type: "button", className: "opener", textContent: `${isOpen ? "\u25be" : "\u25b8"} ${row.label ?? ""}`, ariaExpanded: String(isOpen),
    onclick: () => toggle(head), title: head < 0 ? "Show or hide the heads" : "Show or hide its steps: query, keys, scores, weights, mix",
  });
  button.dataset.head = String(head);
  return element("div", { className: "norms" }, button, numbers);
}

function stripOf(model: SheetModel, row: Row, look: Look): HTMLElement {
  const vector = model.vectors[row.vector ?? 0];
  const isNeurons = row.kind === "neurons";
  const cells = isNeurons ? peaksOf(vector) : cellsOf(vector);
  const name = [row.title, row.label].filter(Boolean).join(", ") || "vector";
  return strip(cells, model.fullOf(row.scale ?? ""), isNeurons ? peakText(vector, name) : meanText(vector, name), look, row.scale);
}

function meanText(vector: Float32Array, name: string): StripText {
  return {
    name: `${name}: ${vector.length} numbers`,
    what: (cell) => `${dims(cell)}: ${cell.first === cell.last ? "" : "mean "}${short(cell.mean)}`,
    numbers: ({ first, last }) => [...vector.subarray(first, last + 1)],
  };
}

function peakText(vector: Float32Array, name: string): StripText {
  const strongest = ({ first, last, mean }: Cell) => {
    const at = vector.subarray(first, last + 1).indexOf(mean);
    return `${dims({ first, last, mean }, "neuron")}: ${first === last ? "" : `strongest ${first + at}, `}${short(mean)}`;
  };
  return { name: `${name} of ${vector.length} neurons`, what: strongest };
}

function textOf({ said, sources }: Row): HTMLElement | null {
  if (sources) {
    return element("div", { className: "text" }, element("small", { textContent: "reads " }),
      ...sources.slice(0, SHOWN_SOURCES).map(({ token, weight, position }) => pair(token, weight, ` (token ${position})`)));
  }
  if (!said) return null;
  return element("div", { className: "text said" }, ...said.words.map((word, at) => pair(word, said.probabilities[at])));
}

function pair(token: string, fraction: number, place = ""): HTMLElement {
  return element("span", { title: legible(token) + place }, element("bdi", { textContent: name(token) }), element("small", { textContent: ` ${percent(fraction)}` }));
}

function name(token: string): string {
  return shorten(legible(token), LONGEST);
}

function share(value: number, largest: number, of?: string): HTMLElement {
  const width = (46 * Math.abs(value)) / largest;
  const bar = element("i", { className: value < 0 ? "minus" : "more", style: `width: ${width.toFixed(1)}px` });
  return element("div", { className: "share" }, element("span", { className: "track" }, bar), signed(value),
    ...(of ? [element("small", { textContent: of })] : []));
}

// ---- a head, step by step ----

function headSteps(model: SheetModel, row: Row, look: Look): HTMLElement {
  const { sources = [], query = 0, mix = 0, label } = row;
  const width = model.vectors[query].length;
  const keys = sources.map(({ key }) => cellsOf(model.vectors[key]));
  const queries = cellsOf(model.vectors[query]);
  const values = sources.map(({ value }) => cellsOf(model.vectors[value]));
  const mixed = cellsOf(model.vectors[mix]);
  const compared = fullColour([queries, ...keys]);
  const fetched = fullColour([...values, mixed]);
  const draw = (cells: Cell[], full: number, vector: number, what: string) =>
    strip(cells, full, meanText(model.vectors[vector], what), look, "small");
  const hasShares = sources.some(({ share: one }) => one !== null);
  const line = (source: Source, at: number) => element("tr", {},
    element("th", { scope: "row", title: legible(source.token) }, element("bdi", { textContent: name(source.token) }), element("small", { textContent: ` ${source.position}` })),
    element("td", {}, draw(keys[at], compared, source.key, `key of ${source.token}`)),
    element("td", { className: "number", textContent: signed(source.score) }),
    element("td", {}, bar(source.weight, 54, "weight")),
    element("td", {}, draw(values[at], fetched, source.value, `value of ${source.token}`)),
    ...(hasShares ? [element("td", { className: "number", textContent: signed(source.share ?? 0) })] : []));
  const columns = ["token", "key", "score", "weight", "value", ...(hasShares ? ["share"] : [])];
  return element("div", { className: "steps" },
    element("table", {},
      element("thead", {}, element("tr", {}, ...columns.map(columnHead))),
      element("tbody", {},
        element("tr", { className: "query" }, element("th", { scope: "row", textContent: "query" }), element("td", {}, draw(queries, compared, query, "query")),
          element("td", { colSpan: columns.length - 2 }, `query \u00b7 key / \u221a${width} = score, softmax over the tokens that it may see = weight`)),
        ...sources.map(line),
        element("tr", { className: "query" }, element("th", { scope: "row", textContent: "mix" }),
          element("td", { colSpan: 3 }, `weights \u00b7 values, of all tokens; the output projection makes of it what ${label ?? "the head"} writes`),
          element("td", {}, draw(mixed, fetched, mix, "mix of values")), ...(hasShares ? [element("td", {})] : [])))));
}

const NUMBERS = ["score", "share", "product", "bias", "logit"];

function columnHead(title: string): HTMLElement {
  return element("th", { scope: "col", className: NUMBERS.includes(title) ? "number" : "", textContent: title });
}

// ---- neurons, logits, the pair ----

function cards(list: Card[], model: SheetModel): HTMLElement {
  const largest = Math.max(1e-9, ...list.map(({ share: one }) => Math.abs(one ?? 0)));
  const word = model.header.word;
  return element("div", { className: "cards" }, ...list.map((card) => element("div", { className: "card" },
    element("div", {}, element("b", { textContent: `neuron ${card.neuron}` }), element("span", { textContent: signed(card.activation), title: "its activation" }),
      ...(card.share === null ? [] : [share(card.share, largest)])),
    ...(card.words.length ? [element("div", { className: "pushes", title: word === null ? "" : "the words whose logits it raises most" }, "\u2192 ", ...joined(card.words))] : []))));
}

function joined(words: string[]): Child[] {
  return words.flatMap((word, at) => [...(at ? [", "] : []), element("bdi", { textContent: name(word), title: legible(word) })]);
}

// Words of the decoder with the parts of their logits, or the answers of the head that judges pairs.
function logits(entries: Entry[], isPair: boolean): HTMLElement {
  const numbers = isPair ? ["logit"] as const : ["product", "bias", "logit"] as const;
  return element("table", { className: "logits" },
    element("thead", {}, element("tr", {}, ...[isPair ? "answer" : "word", ...numbers, "probability"].map(columnHead))),
    element("tbody", {}, ...entries.map((entry) => element("tr", {},
      element("th", { scope: "row", title: legible(entry.word) }, element("bdi", { textContent: isPair ? entry.word : name(entry.word) })),
      ...numbers.map((part) => element("td", { className: "number", textContent: signed(entry[part] ?? 0) })),
      element("td", {}, bar(entry.probability, 150, "weight wide"))))));
}

function bar(fraction: number, pixels: number, className: string): HTMLElement {
  return element("span", { className }, element("i", { style: `width: ${(pixels * fraction).toFixed(1)}px` }), percent(fraction));
}
