// The page of a live file: texts are typed, a worker computes, and the app's views show it.

import lines from "../parts/canvas/lines/lines";
import heatMap from "../parts/canvas/heat_map/heat_map";
import overview from "../parts/canvas/overview/overview";
import { onSchemeChange } from "../parts/browser/colours";
import type { Mounted } from "../parts/browser/component";
import { element } from "../parts/browser/elements";
import type { Bytes } from "../parts/browser/data_blocks";
import { legible, percent, placesOf } from "../parts/browser/text";
import { changeHeader } from "../parts/canvas/shared/transport";
import door, { type Deed } from "../parts/door/door";
import glance, { type OpenedPart } from "../parts/walk/drawing";
import tokenStrip from "../parts/token_strip/token_strip";
import wordSteps from "../parts/token_strip/word_steps";
import { placesOfWords, shownAtDoor, type DoorLook } from "./door";
import type { GlanceLook } from "./glance";
import { Guide } from "./guide";
import type { Language } from "./lesson";
import { stripOf, type Choice, type Heads, type Look } from "./messages";
import type { Guess, Opened, Question, Result } from "./reader";
import { MOST_CHARACTERS, readState, START, writeState, type State } from "./state";
import type { Answer, Asked } from "./worker";

type PageName = "glance" | "tokens" | "attention" | "masked-words" | "pairs";

/** What the file holds beside the weights. */
interface Settings extends Look {
  hash: string;
  /** Addresses of the worker and of the weights, where they are not in the file. */
  files: { worker: string; weights: string; size: number } | null;
  /** What is shown, in this order. */
  pages: PageName[];
  /** CSS of each view, by its name. */
  styles: Record<"door" | "glance" | "strip" | "steps" | "overview" | "lines" | "map", string>;
  /** What the door has of all texts; null where the network guesses no words. */
  door: DoorLook | null;
  glance: Omit<GlanceLook, "pages" | "kinds" | "accent" | "decoding">;
  examples: { name: string; first: string; second: string | null; hidden: number[] | null }[];
  /** The lessons of each language; none in a file. */
  guide: Language[];
}

const TITLES: Record<PageName, string> = {
  "glance": "BERT at a glance", "tokens": "Word pieces", "attention": "Attention of all heads", "masked-words": "Masked words",
  "pairs": "Next sentence",
};
// What a click on a part of BERT at a glance opens.
const PAGE_OF_PART: Record<string, PageName> = {
  pieces: "tokens", input: "tokens", attention: "attention", layers: "attention", pair: "pairs", words: "masked-words",
};
const REST = 300; // milliseconds after a change before a lesson's answer is computed anew
const SLOW = 300; // milliseconds after which it is said that the network computes
const BESIDE = "(min-width: 1000px)"; // as in live.css
const MOST_TRIED = 14; // longer candidates of a piece that are listed

// Runs before the weights have arrived, so that a file that is cut within them says so.
export default function open(): void {
  document.addEventListener("DOMContentLoaded", () => {
    const place = document.getElementById("live");
    if (!place) return;
    const settings = JSON.parse(textOf("settings")) as Settings;
    const why = whyNot(settings);
    place.replaceChildren(...(why ? [element("p", { className: "error", role: "alert", textContent: why })] : []));
    if (!why) new LivePage(place, settings);
  });
}

// Why this browser cannot run the page; "" where it can.
function whyNot({ files }: Settings): string {
  if (typeof Worker === "undefined") {
    return "This browser runs no workers, in which the network computes. Open the file in a current Firefox, Chrome, Edge or Safari.";
  }
  if (files && location.protocol === "file:") {
    return "This folder is a site: a browser opens it from a server only, such as `python -m http.server`. " +
      "`bertscope export --live` writes one file that opens from the disk.";
  }
  return "";
}

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

class LivePage {
  private readonly worker: Worker;
  private state: State;
  private result: Result | null = null;
  private attention: { overview: Bytes; heads: Heads } | null = null;
  private drawnGlance: Bytes | null = null;
  private late = 0;
  private number = 0;
  private opened: Opened | null = null;
  private revision = 0;
  /** The texts that the hidden places of the state belong to. */
  private hiddenIn: [string, string | null];
  private readonly guide: Guide | null;
  private lessonNumber = 0;
  private resting = 0;

  private readonly first = this.textBox("Text A", "first");
  private readonly second = this.textBox("Text B (optional)", "second");
  private readonly status = element("p", { className: "status", role: "status" });
  private readonly error = element("p", { className: "error", role: "alert", hidden: true });
  private readonly places: Record<keyof Settings["styles"] | "mask", ShadowRoot>;
  private readonly guesses = element("div", { className: "guesses" });
  private readonly next = element("div", { className: "next" });
  private readonly sections: Record<PageName, HTMLElement>;
  private readonly kinds: HTMLElement;

  constructor(root: HTMLElement, private readonly settings: Settings) {
    const start = settings.examples[0];
    this.state = readState(location.hash, { ...START, first: start.first, second: start.second, hidden: start.hidden });
    this.hiddenIn = [this.state.first, this.state.second];
    const shadow = (name: keyof Settings["styles"]) => {
      const root = element("div", { className: "holder-of-view" }).attachShadow({ mode: "open" });
      const sheet = new CSSStyleSheet(); // which a policy without inline styles allows
      sheet.replaceSync(settings.styles[name] + (name === "door" ? "header { display: none; }" : "")); // the page has its own
      root.adoptedStyleSheets = [sheet];
      return root;
    };
    const places = this.places = {
      door: shadow("door"), glance: shadow("glance"), strip: shadow("strip"), steps: shadow("steps"), overview: shadow("overview"), lines: shadow("lines"),
      map: shadow("map"), mask: shadow("strip"),
    };
    this.kinds = this.viewButtons();
    this.sections = {
      glance: section("glance", "", hostOf(places.glance)),
      tokens: section("tokens", "A word that is not in the vocabulary is cut into the longest pieces that are. Choose a token.",
        hostOf(places.strip), hostOf(places.steps)),
      attention: section("attention", "Rows are layers, columns are heads. Choose a head.",
        hostOf(places.overview), this.kinds, hostOf(places.lines), hostOf(places.map)),
      "masked-words": section("masked-words", "Choose tokens to hide them; the network guesses what stood there.", hostOf(places.mask), this.guesses),
      pairs: section("pairs", "", this.next),
    };
    const views = [this.form(), this.status, this.error, ...settings.pages.map((page) => this.sections[page])];
    this.guide = settings.guide.length ? this.guideOf(settings.guide) : null;
    const atDoor = hostOf(places.door);
    atDoor.className = "at-door";
    root.before(atDoor);
    root.append(...(this.guide ? [this.guide.root, element("div", { className: "views" }, ...views)] : views));
    root.classList.toggle("guided", this.guide !== null);
    onSchemeChange(() => {
      this.draw();
      this.drawAttention();
      this.drawGlance();
    });
    addEventListener("hashchange", () => {
      if (location.hash === writeState(this.state)) return;
      this.state = readState(location.hash, this.state);
      this.hiddenIn = [this.state.first, this.state.second];
      this.fill();
      this.ask();
      this.guide?.change();
    });
    this.fill();
    const { files, hash, pages } = settings;
    this.worker = new Worker(files?.worker ?? URL.createObjectURL(new Blob([textOf("worker")], { type: "text/javascript" })));
    this.worker.onmessage = ({ data }: MessageEvent<Answer>) => this.hear(data);
    this.worker.onerror = (event) => this.fail(event.message || "the worker did not start");
    this.status.textContent = "Opening the network …";
    const held = document.getElementById("weights");
    this.send({
      weights: files ? { address: new URL(files.weights, location.href).href, size: files.size } : held?.textContent ?? "", hash,
      look: pages.includes("attention") ? settings : null, glance: pages.includes("glance") ? this.glanceLook() : null,
      guesses: pages.includes("masked-words"), swaps: pages.includes("pairs"),
    });
    held?.remove(); // the page need not keep it twice
  }

  private glanceLook(): GlanceLook {
    const { glance, kinds, accent, decoding, pages } = this.settings;
    const opened = Object.entries(PAGE_OF_PART).filter(([, page]) => pages.includes(page));
    return { ...glance, kinds, accent, decoding, pages: Object.fromEntries(opened.map(([part, page]) => [part, TITLES[page]])) };
  }

  private guideOf(languages: Language[]): Guide {
    return new Guide(languages, {
      state: () => this.state,
      change: (values) => {
        const { first, second } = { ...this.state, ...values };
        this.change(values, "hidden" in values ? [first, second] : this.hiddenIn);
        if ("layer" in values) this.send({ choice: this.choice() });
      },
      show: (page, isAsked) => this.showSection(page as PageName, isAsked),
      ask: (answer, given) => {
        const { first, second } = this.state;
        if (this.opened) this.send({ lesson: { number: ++this.lessonNumber, answer, given, first, second } });
        return this.opened !== null;
      },
    });
  }

  private send(asked: Asked): void {
    this.worker.postMessage(asked);
  }

  // ---- what the visitor does ----

  private textBox(label: string, name: "first" | "second"): { root: HTMLElement; area: HTMLTextAreaElement } {
    const area = element("textarea", {
      rows: 2, maxLength: MOST_CHARACTERS, spellcheck: false, dir: "auto",
      oninput: () => {
        this.state = { ...this.state, [name]: area.value, hidden: this.state.hidden?.length ? this.state.hidden : null, token: null };
        if (name === "second" && !area.value) this.state.second = null;
        this.ask();
      },
    });
    return { area, root: element("label", {}, element("span", { textContent: label }), area) };
  }

  private form(): HTMLElement {
    const examples = element("select", {
      ariaLabel: "Examples",
      onchange: () => {
        const { first, second, hidden } = this.settings.examples[Number(examples.value)];
        this.change({ first, second, hidden, token: null }, [first, second]);
      },
    }, ...this.settings.examples.map(({ name }, k) => element("option", { value: String(k), textContent: name })));
    const swap = element("button", {
      type: "button", textContent: "Swap A and B",
      onclick: () => {
        const { first, second } = this.state;
        this.change({ first: second ?? "", second: first || null, hidden: null, token: null });
      },
    });
    return element("form", { className: "texts", onsubmit: (event: Event) => event.preventDefault() },
      this.first.root, this.second.root, element("div", { className: "row" }, examples, swap));
  }

  private viewButtons(): HTMLElement {
    const radio = (value: State["view"], text: string) => element("label", {},
      element("input", { type: "radio", name: "view", value, onchange: () => this.choose({ view: value }) }), text);
    return element("fieldset", { className: "row", ariaLabel: "View of the chosen heads" }, radio("lines", "Lines"), radio("map", "Heat map"));
  }

  private fill(): void {
    this.first.area.value = this.state.first;
    this.second.area.value = this.state.second ?? "";
    for (const input of this.kinds.querySelectorAll("input")) input.checked = input.value === this.state.view;
  }

  // Changes what is chosen; the network is asked only if it concerns what it computes.
  private change(values: Partial<State>, hiddenIn = this.hiddenIn): void {
    const before = JSON.stringify(this.question());
    this.state = { ...this.state, ...values };
    this.hiddenIn = hiddenIn;
    this.fill();
    if (JSON.stringify(this.question()) !== before) this.ask();
    else {
      this.writeAddress();
      this.draw();
    }
  }

  // What is seen of the attention changes; the worker has the weights.
  private choose(values: Partial<State>): void {
    this.state = { ...this.state, ...values };
    this.writeAddress();
    this.send({ choice: this.choice() });
  }

  private writeAddress(): void {
    try {
      history.replaceState(null, "", writeState(this.state));
    } catch {
      // Some browsers refuse a hundred changes in half a minute, and a page in a frame may refuse all.
    }
  }

  private question(): Question {
    const { first, second, hidden } = this.state;
    return { number: this.number, first, second, hidden, hiddenIn: this.hiddenIn };
  }

  private choice(): Choice {
    const { layer, heads, view } = this.state;
    const [numLayers, numHeads] = [this.opened?.numLayers ?? 1, this.opened?.numHeads ?? 0];
    return { layer: Math.min(layer, numLayers - 1), heads: heads.filter((head) => head < numHeads), view, revision: this.revision };
  }

  private ask(): void {
    this.writeAddress();
    this.number++;
    if (!this.opened) return;
    this.send({ question: this.question(), choice: this.choice() });
    clearTimeout(this.late);
    this.late = window.setTimeout(() => { this.status.textContent = "Computing …"; }, SLOW);
  }

  // ---- what the worker answers ----

  private hear(answer: Answer): void {
    if ("error" in answer) this.fail(answer.error);
    else if ("opened" in answer) {
      this.opened = answer.opened;
      this.ask();
    } else if ("loaded" in answer) this.status.textContent = `Loading the weights: ${Math.floor(100 * answer.loaded)}% …`;
    else if ("swapped" in answer) {
      if (answer.swapped.number === this.number) this.drawNext(answer.swapped.probability);
    } else if ("lesson" in answer) {
      const { number, ...heard } = answer.lesson;
      if (number === this.lessonNumber) this.guide?.hear(heard);
    } else if ("glance" in answer) {
      if (answer.glance.number !== this.number) return;
      this.drawnGlance = answer.glance.message;
      this.drawGlance();
    } else if ("chosen" in answer) {
      if (answer.chosen.number !== this.result?.number || !this.attention) return;
      this.attention.heads = answer.chosen.heads;
      this.drawAttention();
    } else if (answer.result.number === this.number) { // else a later question is on its way
      clearTimeout(this.late);
      this.error.hidden = true;
      this.result = answer.result;
      this.hiddenIn = answer.result.texts;
      this.state.hidden = answer.result.hidden;
      this.writeAddress();
      this.attention = answer.attention;
      this.draw();
      this.drawAttention();
      this.drawNext(null);
      clearTimeout(this.resting);
      this.resting = window.setTimeout(() => this.guide?.ask(), REST);
    }
  }

  private fail(message: string): void {
    clearTimeout(this.late);
    this.status.textContent = "";
    this.error.textContent = `${message[0].toUpperCase()}${message.slice(1)}.`;
    this.error.hidden = false;
  }

  // ---- drawing ----

  private draw(): void {
    const { result, opened, state } = this;
    if (!result || !opened) return;
    this.drawDoor(result);
    const { typed: encoding, hidden: places } = result;
    const cut = encoding.num_cut ? ` The last ${encoding.num_cut} did not fit and were left out.` : "";
    this.status.textContent = `${result.numTokens} tokens, computed here in ${Math.max(1, Math.round(result.milliseconds))} ms.${cut}`;
    const token = state.token !== null && state.token < result.numTokens ? state.token : usualToken(result);
    tokenStrip(this.mounted(this.places.strip, stripOf(result, this.settings.kinds, token, places), { picked: (value) => this.change({ token: value as number }) }));
    this.drawSteps(result, token);
    this.sections["masked-words"].hidden = !opened.hasMaskedWords;
    const toggle = (value: unknown) => {
      const place = value as number;
      if (encoding.text_ids[place] < 0) return;
      this.change({ hidden: places.includes(place) ? places.filter((one) => one !== place) : [...places, place] });
    };
    tokenStrip(this.mounted(this.places.mask, stripOf(result, this.settings.kinds, -1, places), { picked: toggle }));
    this.guesses.replaceChildren(...(result.guesses.length ? result.guesses.map(drawGuess)
      : [element("p", { className: "note", textContent: "No token is hidden." })]));
    this.sections.pairs.hidden = !opened.hasNextSentence;
  }

  // A lesson takes its place.
  private drawDoor(result: Result): void {
    const { settings: { door: look, pages, guide: [language] }, state } = this;
    hostOf(this.places.door).hidden = !look || state.lesson !== "";
    if (!look) return;
    const ways = pages.includes("glance")
      ? [{ to: "glance", href: writeState(state), label: "Look inside", about: "See how it comes to its guesses, step by step." }] : [];
    const lesson = language?.lessons[0];
    if (lesson) {
      const { name, text_a: first, text_b } = lesson;
      const href = writeState({ ...START, first, second: text_b || null, hidden: [], lesson: name });
      ways.push({ to: "lessons", href, label: "Take lesson 1", about: "15 minutes, with questions. Its address is the link for a class." });
    }
    door(this.mounted(this.places.door, { ...look, ...shownAtDoor(result), ways }, { did: (deed) => this.atDoor(deed as Deed, result, ways) }));
  }

  private atDoor({ text, hidden, to }: Deed, result: Result, ways: { to: string; href: string }[]): void {
    if (text !== this.state.first) {
      this.first.area.value = text;
      this.first.area.dispatchEvent(new Event("input"));
    } else if (hidden) this.change({ hidden: placesOfWords(result, hidden) });
    if (to === "glance") this.showSection("glance", true);
    if (to === "lessons") location.hash = ways.find((way) => way.to === to)?.href ?? "";
  }

  private drawAttention(): void {
    if (!this.attention) return;
    const { layer, heads } = this.choice();
    const { view, message } = this.attention.heads;
    overview(this.mounted(this.places.overview, changeHeader(this.attention.overview, { layer, heads }), {
      picked: (value) => this.choose(value as Pick<State, "layer" | "heads">),
    }));
    const isMap = view === "map";
    hostOf(this.places.lines).hidden = isMap;
    hostOf(this.places.map).hidden = !isMap;
    const selection = (value: unknown) => {
      const chosen = value as { layer?: number | null; heads: number[]; revision: number };
      this.revision = chosen.revision;
      this.choose({ layer: chosen.layer ?? layer, heads: chosen.heads });
    };
    if (isMap) heatMap(this.mounted(this.places.map, message, { selection }));
    else lines(this.mounted(this.places.lines, message, { selection }));
  }

  private mounted<Data>(parentElement: ShadowRoot, data: Data, heard: Record<string, (value: unknown) => void>): Mounted<Data> {
    const report = (name: string, value: unknown) => heard[name]?.(value);
    return { data, parentElement, setStateValue: report, setTriggerValue: report };
  }

  private drawGlance(): void {
    if (!this.drawnGlance) return;
    const data = changeHeader(this.drawnGlance, { step: this.state.step });
    glance(this.mounted(this.places.glance, data, {
      opened: (value) => this.openPart(value as OpenedPart),
      step: (value) => {
        this.state.step = value as number;
        this.writeAddress();
      },
    }));
  }

  // Shows the section about a part of BERT at a glance, with the token, layer and head that were clicked.
  private openPart({ part, position, layer, head }: OpenedPart): void {
    const page = PAGE_OF_PART[part];
    if (this.sections[page].hidden) return;
    if (page === "tokens") this.change({ token: position });
    else if (page === "attention") this.choose({ layer: layer ?? 0, heads: head === null ? [] : [head] });
    this.showSection(page, true);
  }

  // Unasked, only where the guide stays in view beside it.
  private showSection(page: PageName, isAsked: boolean): void {
    const heading = this.sections[page].querySelector("h2");
    if (isAsked || matchMedia(BESIDE).matches) heading?.scrollIntoView({ block: "start" });
    if (isAsked) heading?.focus({ preventScroll: true });
  }

  // How the word of a token was cut.
  private drawSteps({ typed: encoding, texts }: Result, token: number): void {
    const { word_ids, text_ids, offsets, tokens, input_ids, tried } = encoding;
    const isText = text_ids[token] >= 0;
    hostOf(this.places.steps).hidden = !isText;
    if (!isText) return;
    const own = tokens.map((_, place) => place).filter((place) => word_ids[place] === word_ids[token] && text_ids[place] === text_ids[token]);
    const letters = [...(texts[text_ids[token]] ?? "")];
    const isUnknown = tokens[token] === "[UNK]";
    const word = letters.slice(offsets[own[0]][0], offsets[own[own.length - 1]][1]).join("");
    const normalized = own.map((place) => tokens[place].replace(/^##/, "")).join("");
    const isChanged = !isUnknown && normalized !== word;
    wordSteps(this.mounted(this.places.steps, {
      word, normalized: isUnknown ? word : normalized, isAdded: !isUnknown && /^\[[A-Z]+\]$/.test(tokens[token]) && tokens[token] === word,
      steps: isChanged ? [["cleaned, accents and capitals removed", normalized]] as [string, string][] : [],
      pieces: own.map((place) => ({
        token: tokens[place], id: input_ids[place], tried: tried[place].slice(0, MOST_TRIED),
        more: Math.max(0, tried[place].length - MOST_TRIED),
      })),
      reason: isUnknown ? "No way of cutting it has all its pieces in the vocabulary: the word is unknown." : "",
    }, {}));
  }

  private drawNext(swapped: number | null): void {
    const probability = this.result?.next ?? null;
    this.next.replaceChildren(...(probability === null
      ? [element("p", { className: "note", textContent: "Type a text B: the network was trained to tell whether it follows text A." })]
      : [bar("B follows A", probability), ...(swapped === null ? [] : [bar("A follows B", swapped)])]));
  }
}

function hostOf(root: ShadowRoot): HTMLElement {
  return root.host as HTMLElement;
}

function section(page: PageName, text: string, ...children: HTMLElement[]): HTMLElement {
  return element("section", {}, element("h2", { textContent: TITLES[page], tabIndex: -1 }), ...(text ? [element("p", { className: "note", textContent: text })] : []), ...children);
}

// The first token of the word with most pieces, or of the last word.
function usualToken({ encoding: { word_ids, text_ids } }: Result): number {
  const words = [...placesOf(word_ids).values()].filter(([first]) => text_ids[first] >= 0);
  const [first = 0] = words.reduce<number[]>((best, own) => (own.length >= best.length ? own : best), []);
  return first;
}

function drawGuess({ original, words, probabilities, own, lens, place }: Guess): HTMLElement {
  const last = lens.length - 1;
  return element("div", { className: "guess" },
    element("h3", {}, `Position ${place}: `, element("bdi", { textContent: legible(original) }), original === "[MASK]" ? "" : ` (${percent(own)})`),
    element("div", { className: "columns" },
      element("div", { className: "bars" }, ...words.map((word, k) => bar(word, probabilities[k], word === original))),
      element("table", {}, element("caption", { textContent: "The best word after each layer" }),
        ...lens.map(({ word, probability }, layer) => element("tr", {},
          element("th", { scope: "row", textContent: layer ? `after layer ${layer - 1}${layer === last ? " (last)" : ""}` : "input" }),
          element("td", {}, element("bdi", { textContent: legible(word) })), element("td", { textContent: percent(probability) }))))));
}

function bar(name: string, fraction: number, isOwn = false): HTMLElement {
  return element("div", { className: isOwn ? "bar own" : "bar" }, element("bdi", { textContent: legible(name) }),
    element("span", {}, element("i", { style: `width: ${100 * fraction}%` })), element("b", { textContent: percent(fraction) }));
}
