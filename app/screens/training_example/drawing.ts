// A training example, stage below stage: sentences, pieces, what is hidden, what is read, the guesses
// and what they cost. Tokens are set as text only.

import "./drawing.css";

import { closingFirst, type Mounted } from "../../parts/browser/component";
import { element, kept } from "../../parts/browser/elements";
import { decimal, percent, range } from "../../parts/browser/text";
import { barHeight, coin, kindOf, nats, perLine, type Example, type Guess } from "./model";

const CELL = 62; // pixels of a token, at least
const LABELS = 132; // pixels of the stages' names
const NARROW = 640; // pixels of a drawing in which they have fewer
const NARROW_LABELS = 92;
const BAR = 64; // pixels of the largest loss
const LONG = 3; // lines of tokens from which on the losses are drawn lower
const LONG_BAR = 36;
const KINDS = { "A": "a", "B": "b", "": "special" } as const; // whose colour a sentence has

export default closingFirst(({ parentElement, data }: Mounted<Example>) => {
  const root = kept(parentElement, "example");
  let drawn = 0;
  const draw = () => {
    const width = root.clientWidth || 900;
    const labels = width < NARROW ? NARROW_LABELS : LABELS;
    const count = perLine(data.tokens.length, width - labels, CELL);
    if (count === drawn) return;
    drawn = count;
    root.style.setProperty("--labels", `${labels}px`);
    root.replaceChildren(documents(data), ...lines(data, count), pair(data));
  };
  const observer = new ResizeObserver(draw);
  observer.observe(root);
  draw();
  return () => observer.disconnect();
});

// ---- the document ----

function documents(data: Example): HTMLElement {
  const own = data.sentences.filter((one) => one.document === 0);
  const other = data.sentences.filter((one) => one.document !== 0);
  const row = (sentences: Example["sentences"]) => element("div", { className: "sentences" },
    ...sentences.map((one) => element("span", { className: `sentence ${one.part.toLowerCase()}`, dir: "auto", style: `--tone: ${data.colors[KINDS[one.part]]}` },
      ...(one.part ? [element("b", { textContent: one.part })] : []), one.text,
      ...(one.part && one.num_kept < one.num_tokens ? [element("i", { textContent: ` (${one.num_tokens - one.num_kept} pieces cut off)` })] : []))));
  return stage("1  Document", "two parts of it become A and B", element("div", {},
    row(own), element("p", { className: "coin", textContent: coin(data) }),
    ...(other.length ? [row(other)] : [])));
}

function stage(title: string, note: string, content: HTMLElement): HTMLElement {
  return element("section", { className: "stage" }, label(title, note), content);
}

function label(title: string, note: string): HTMLElement {
  return element("div", { className: "label" }, element("b", { textContent: title }), element("small", { textContent: note }));
}

// ---- the tokens ----

function lines(data: Example, count: number): HTMLElement[] {
  const places = range(data.tokens.length);
  return range(Math.ceil(places.length / count)).map((at) => line(data, places.slice(at * count, (at + 1) * count), count, at === 0));
}

function line(data: Example, places: number[], count: number, isFirst: boolean): HTMLElement {
  const bar = data.tokens.length >= LONG * count ? LONG_BAR : BAR;
  const guesses = new Map(data.guesses.map((guess) => [guess.position, guess]));
  const rows: [string, string, (place: number) => HTMLElement][] = [
    ["2  Word pieces", "segment 0 and 1", (place) => piece(data, place, data.tokens[place])],
    ["3  Chosen", "to be predicted", (place) => fate(data, guesses.get(place))],
    ["4  BERT reads", "nobody tells it which", (place) => read(data, place, guesses.get(place))],
    ["5  Its guess", "at chosen places only", (place) => guess(guesses.get(place))],
    ["6  What it costs", "\u2212ln p of the right piece", (place) => cost(data, guesses.get(place), bar)],
  ];
  const grid = element("div", {
    className: "line", style: `grid-template-columns: var(--labels) repeat(${count}, minmax(0, 1fr))`,
  });
  // Where nothing is chosen BERT reads the pieces as they are; the first line names the stages all the same.
  const shown = isFirst || places.some((place) => guesses.has(place)) ? rows : rows.slice(0, 1);
  for (const [title, note, cell] of shown) {
    grid.append(isFirst ? label(title, note) : element("div", { className: "label again" }, element("b", { textContent: title.slice(0, 1) })));
    grid.append(...places.map(cell), ...Array.from({ length: count - places.length }, () => element("span")));
  }
  return grid;
}

function piece(data: Example, place: number, text: string): HTMLElement {
  const kind = kindOf(data, place);
  return element("span", { className: `cell ${kind}`, style: `--tone: ${data.colors[kind]}`, textContent: text, title: text, dir: "auto" });
}

function fate(data: Example, guess: Guess | undefined): HTMLElement {
  if (!guess) return element("span", { className: "cell empty" });
  const names = { mask: data.mask, kept: "kept", random: "random" };
  return element("span", { className: `cell fate ${guess.became}`, textContent: names[guess.became] });
}

function read(data: Example, place: number, guess: Guess | undefined): HTMLElement {
  const text = data.input_tokens[place];
  return element("span", { className: `cell reads ${guess?.became ?? ""}`, textContent: text, title: text, dir: "auto" });
}

function guess(found: Guess | undefined): HTMLElement {
  return element("span", { className: "guesses" }, ...(found?.best ?? []).map(([text, probability]) =>
    element("span", { className: text === found?.token ? "right" : "", title: text },
      element("bdi", { textContent: text }), ` ${percent(probability)}`)));
}

function cost(data: Example, found: Guess | undefined, bar: number): HTMLElement {
  if (!found) return element("span", { className: "cost" });
  const height = Math.round(Math.max(2, bar * barHeight(found.loss, data.guesses)));
  return element("span", { className: "cost" },
    element("small", { textContent: nats(found.loss) }),
    element("i", { className: found.became, style: `height: ${height}px` }),
    element("b", { textContent: found.token, title: found.token, dir: "auto" }));
}

// ---- the pair ----

function pair(data: Example): HTMLElement {
  const { pair_logits: logits, pair_probabilities: p, nsp_loss: loss } = data;
  if (!logits || !p || loss === null) {
    return stage("7  The pair", "", element("p", { className: "coin", textContent: "This checkpoint has no next-sentence head." }));
  }
  const right = data.is_random ? 1 : 0;
  const bar = (name: string, place: 0 | 1) => element("div", { className: `answer ${place === right ? "right" : ""}` },
    element("span", { textContent: name }),
    element("span", { className: "track" }, element("i", { style: `width: ${(100 * p[place]).toFixed(1)}%` })),
    element("b", { textContent: percent(p[place]) }),
    element("small", { textContent: `logit ${decimal(logits[place], 2).replace("-", "\u2212")}` }));
  return stage("7  The pair", `${data.tokens[0]} \u2192 pooler \u2192 two logits`, element("div", { className: "pair" },
    bar("B follows A", 0), bar("B is random", 1),
    element("p", { className: "coin", textContent: `\u2212ln p of the right answer: ${nats(loss)}` })));
}
