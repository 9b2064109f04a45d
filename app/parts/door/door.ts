// The door: a text of which a click hides words, the guesses for them as bars, and ways into the app.
//
// The server puts the same door, with what is stored, into the first page that it sends; it stands there until the
// app has drawn this one, which takes over what was done meanwhile.

import "./door.css";

import { keepView, type KeptView } from "../browser/component";
import { element, replaceKeepingFocus } from "../browser/elements";
import { LiveRegion } from "../browser/live_region";
import { percent } from "../browser/text";
import { Debounce } from "../browser/timers";
import { moveFocus } from "../token_strip/arrow_keys";

/** A text in parts, each with the meaning of a special word or "". */
type Explained = [text: string, meaning: string][];

interface Gap {
  name: string;
  guesses: [word: string, probability: number][];
  /** What became of the hidden word. */
  told: string;
}

export interface DoorData {
  title: string;
  line: Explained;
  /** Names of the words together and of the field, and how to use them. */
  names: { words: string; text: string; how: string };
  text: string;
  /** What stands in the text, one after another, with the number of the word; -1 for what is none. */
  parts: [text: string, word: number][];
  hidden: number[];
  gaps: Gap[];
  /** What else there is to say of the guesses, or why there are none. */
  notes: string[];
  /** Who guesses. */
  by: Explained;
  ways: { to: string; href: string; label: string; about: string }[];
}

/** What the visitor did: the text, the hidden words if they are those of the text, and the way that was chosen. */
export interface Deed { text: string; hidden: number[] | null; to: string }

const PAUSE_MS = 120;
/** Of the element in the first page that holds its door; the visitor's deed is kept on it. */
const FIRST = "first-door";
const POLL_MS = 250, IDLE_POLLS = 8, MOST_POLLS = 240;

class Door implements KeptView<DoorData, Deed> {
  report: (deed: Deed) => void = () => {};
  private data!: DoorData;
  private readonly root = element("div", { className: "door" });
  private readonly sending = new Debounce(PAUSE_MS);
  private readonly region = new LiveRegion();
  private readonly head = element("header");
  private readonly words = element("div", { className: "words", role: "toolbar", dir: "auto" });
  private readonly own = element("span");
  private readonly area = element("textarea", { rows: 1, maxLength: 100_000, spellcheck: false });
  private readonly how = element("p", { className: "how" });
  private readonly guesses = element("div", { className: "guesses" });
  private readonly ways = element("nav");

  constructor(parent: Node) {
    const field = element("div", { className: "field" }, this.words, element("label", {}, this.own, this.area));
    this.root.append(this.head, field, this.how, this.guesses, this.ways, this.region.root);
    parent.appendChild(this.root);
    this.words.onkeydown = (event) => moveFocus(event, [...this.words.querySelectorAll("button")]);
    const typed = (event: Event) => {
      if (event instanceof InputEvent && event.isComposing) return; // an input method is at work
      this.sending.run(() => this.send());
    };
    this.area.oninput = this.area.onchange = typed;
    this.area.addEventListener("compositionend", typed);
    this.area.onkeydown = (event) => { if (event.key === "Enter" && !event.isComposing) event.preventDefault(); };
  }

  update(data: DoorData): void {
    const before = this.data;
    this.data = data;
    const root = this.words.getRootNode() as Document | ShadowRoot;
    if (root.activeElement !== this.area && this.area.value !== data.text) this.area.value = data.text;
    this.own.textContent = data.names.text;
    this.words.ariaLabel = data.names.words;
    this.how.textContent = data.names.how;
    this.head.replaceChildren(element("h1", { textContent: data.title }), element("p", {}, ...explained(data.line, "line")));
    this.ways.replaceChildren(...data.ways.map(({ to, href, label, about }) => element("a", {
      href, className: to, onclick: (event: MouseEvent) => this.open(event, to),
    }, element("b", { textContent: label }), element("span", { textContent: about }))));
    this.drawWords();
    const by = element("p", { className: "by" }, ...explained(data.by, "by"));
    const notes = data.notes.map((textContent) => element("p", { textContent }));
    this.guesses.className = "guesses";
    this.guesses.replaceChildren(element("div", { className: "gaps" }, ...data.gaps.map(bars)), ...notes, by);
    if (before) this.region.say([...data.gaps.map(spoken), ...data.notes].join(" "));
    else this.follow();
  }

  close(): void {
    this.root.remove();
  }

  // Takes over from the door of the first page what was typed, hidden, chosen and focused there, and removes it.
  private follow(): void {
    const first = document.getElementById(FIRST);
    const was = first?.shadowRoot;
    if (!first || !was || was === this.root.getRootNode()) return;
    const area = was.querySelector("textarea");
    const deed = JSON.parse(first.dataset.deed ?? "null") as Deed | null;
    const isTyped = area && area.value !== this.data.text;
    if (isTyped) this.area.value = area.value;
    if (isTyped) this.send(deed?.to);
    else if (deed) this.report(deed);
    if (area && area === was.activeElement) {
      this.area.focus();
      this.area.setSelectionRange(area.selectionStart, area.selectionEnd);
    }
    requestAnimationFrame(() => first.remove());
  }

  private send(to = ""): void {
    this.sending.cancel();
    const text = this.area.value;
    if (text !== this.data.text || to) this.report({ text, hidden: text === this.data.text ? this.data.hidden : null, to });
  }

  private open(event: MouseEvent, to: string): void {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in a tab of its own
    event.preventDefault();
    this.send(to);
  }

  private drawWords(): void {
    const { parts, hidden } = this.data;
    const first = parts.findIndex(([, word]) => word >= 0);
    replaceKeepingFocus(this.words, "data-word", ...parts.map(([text, word], at) => word < 0 ? text : element("button", {
      type: "button", textContent: hidden.includes(word) ? "\u00a0".repeat(8) : text, ariaLabel: text, "data-word": word,
      ariaPressed: String(hidden.includes(word)), tabIndex: at === first ? 0 : -1, onclick: () => this.toggle(word),
    })));
  }

  private toggle(word: number): void {
    const { hidden } = this.data;
    this.data = { ...this.data, hidden: hidden.includes(word) ? hidden.filter((other) => other !== word) : [...hidden, word] };
    this.drawWords();
    this.guesses.className = "guesses waiting";
    this.report({ text: this.data.text, hidden: this.data.hidden, to: "" });
  }
}

function explained(parts: Explained, place: string): (Node | string)[] {
  return parts.flatMap(([text, meaning], at): (Node | string)[] => {
    const id = `${place}-${at}`;
    return meaning === "" ? [text.replace(/([.。]) ?(?=.)/u, "$1\n")] : [
      element("button", { type: "button", className: "term", textContent: text, popovertarget: id }),
      element("span", { id, popover: "auto", textContent: meaning }),
    ];
  });
}

function bars({ name, guesses, told }: Gap): HTMLElement {
  const rows = guesses.map(([word, probability]) => element("li", {}, element("b", { textContent: word, dir: "auto" }),
    element("span", {}, element("i", { style: `width: ${100 * probability}%` })), percent(probability)));
  return element("section", { ariaLabel: name }, element("ol", {}, ...rows), element("p", { textContent: told }));
}

function spoken({ name, guesses, told }: Gap): string {
  return `${name}: ${guesses.map(([word, probability]) => `${word} ${percent(probability)}`).join(", ")}. ${told}`;
}

const component = keepView(Door, "did");
export default component;

// Draws the door in the first page, in the visitor's language. It goes when the live one is there, or the app shows
// another page or an error, does not load, or does not start.
export function drawFirst(first: HTMLElement, css: string, byLanguage: Record<string, DoorData>): void {
  const root = first.attachShadow({ mode: "open" });
  root.append(element("style", { textContent: css }));
  const data = byLanguage[/bertscope_language=(\w+)/.exec(document.cookie)?.[1] ?? navigator.language.slice(0, 2)] ?? byLanguage.en;
  const keep = (_: string, deed: unknown) => { first.dataset.deed = JSON.stringify(deed); };
  component({ data, parentElement: root, setStateValue: keep, setTriggerValue: keep });
  first.className = "drawn";
  const { pathname } = location;
  let polls = 0, idle = 0;
  const watching = setInterval(() => {
    const app = document.querySelector<HTMLElement>('[data-testid="stApp"]');
    idle = app?.dataset.testScriptState === "notRunning" ? idle + 1 : 0;
    if (!first.isConnected || location.pathname !== pathname || idle > IDLE_POLLS || ++polls > MOST_POLLS) end();
  }, POLL_MS);
  const fail = (event: Event) => { if (event.target instanceof HTMLScriptElement) end(); };
  const end = () => {
    clearInterval(watching);
    removeEventListener("error", fail, true);
    first.remove();
  };
  addEventListener("error", fail, true);
}
