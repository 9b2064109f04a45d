// The guide of a lesson beside the page: one idea, one question, and the network's answer beside the learner's.

import { element } from "../parts/browser/elements";
import { legible } from "../parts/browser/text";
import type { Found, Given } from "./answers";
import { judge, optionsOf, said, type Language, type Lesson, type Step, type Verdict } from "./lesson";
import type { State } from "./state";
import { asksPercent, typedNumber } from "./typed_number";
import { filled, type Fact, type Said } from "./wording";

/** What the page does for the guide. */
export interface Host {
  state(): State;
  /** Changes what is chosen. */
  change(values: Partial<State>): void;
  /** Shows a section of the page; `isAsked` moves the reader there, else only what is seen beside the guide. */
  show(page: string, isAsked: boolean): void;
  /** Has the network find an answer, which `hear` is told; false if it is not open yet. */
  ask(answer: string | null, given: Given): boolean;
}

/** What the worker found: an answer, why the text does not show it, or what is wrong. */
export type Heard = { found: Found } | { missing: Said } | { wrong: string };

type Letter = "r" | "w" | "-"; // right, wrong, open
const MARKS: Record<Letter, string> = { r: "✓", w: "✗", "-": "○" };
const MOST_RADIOS = 8;
const STORE = `bertscope-lessons ${location.pathname}`; // another site of the same host may have other steps

export class Guide {
  readonly root = element("section", { className: "guide" });
  private readonly bar = element("progress");
  private readonly all = element("ul");
  private readonly progress: Record<string, string>;
  private readonly answers = new Map<Step, Fact>();
  private heard: Heard | null = null;
  private drawn = "";
  private asked = "";
  private isOpening = false;
  /** The learner's texts, which a step that brings its own has replaced. */
  private replaced: Pick<State, "first" | "second"> | null = null;

  constructor(private readonly languages: Language[], private readonly host: Host) {
    this.progress = stored();
    this.take();
    this.draw();
  }

  private get language(): Language {
    return this.languages.find(({ code }) => code === this.host.state().language) ?? this.languages[0];
  }

  private words(name: string, facts: Record<string, Fact> = {}): string {
    return filled(this.language.guide[name], facts);
  }

  private find(name: string): Lesson | undefined {
    return this.language.lessons.find((lesson) => lesson.name === name);
  }

  private get lesson(): Lesson | undefined { return this.find(this.host.state().lesson); }

  /** The lesson's step that is open, from 0. */
  private number({ steps }: Lesson): number {
    return Math.max(0, Math.min(steps.length, this.host.state().lessonStep) - 1);
  }

  /** Asks for the answer to the open step on the texts as they are now. */
  ask(): void {
    const { lesson } = this;
    const { first, second } = this.host.state();
    const asked = JSON.stringify([this.place, first, second]);
    if (!lesson || this.asked === asked) return;
    const { answer, given } = lesson.steps[this.number(lesson)];
    this.asked = this.host.ask(answer, given) ? asked : "";
  }

  /** Takes the answer that was asked for last. */
  hear(heard: Heard): void {
    if (this.drawn === this.place && JSON.stringify(heard) === JSON.stringify(this.heard)) return; // what is typed stays
    this.heard = heard;
    this.draw();
    if (this.isOpening) this.showPicture(false);
  }

  /** Another address was opened. */
  change(): void {
    this.take();
    if (this.drawn === this.place) return;
    this.heard = null;
    this.asked = "";
    this.draw();
    this.ask();
  }

  // The progress in the address, of a lesson that was not begun here.
  private take(): void {
    const { lesson, done } = this.host.state();
    if (this.find(lesson) && !this.progress[lesson]) this.progress[lesson] = done.replace(/[^rw]/g, "-");
  }

  private get place(): string {
    const { lesson, lessonStep, language } = this.host.state();
    return JSON.stringify([lesson, lessonStep, language]);
  }

  // ---- where the learner goes ----

  private begin(lesson: Lesson, isOwnText = false): void {
    const number = (this.letters(lesson).indexOf("-") + 1) || 1;
    const texts = isOwnText ? {} : { first: lesson.text_a, second: lesson.text_b || null, token: null };
    this.replaced = null;
    this.goTo(lesson, number, texts);
  }

  private goTo(lesson: Lesson, number: number, texts: Partial<State> = {}): void {
    const { text_a, text_b: second, page } = lesson.steps[number - 1];
    const before = { ...this.host.state(), ...texts };
    const own = text_a === null ? this.replaced : { first: text_a, second };
    this.replaced = text_a === null ? null : this.replaced ?? { first: before.first, second: before.second };
    const brought = { ...(own && { ...own, token: null }), hidden: page === "masked-words" ? null : [] };
    this.heard = null;
    this.isOpening = true; // the picture may name what is found
    this.asked = "";
    this.host.change({ ...texts, ...brought, lesson: lesson.name, lessonStep: number, done: this.done(lesson) });
    this.draw();
    this.ask();
    this.root.querySelector("h2")?.focus();
  }

  private leave(): void {
    this.host.change({ lesson: "", lessonStep: 1, done: "" });
    this.draw();
    this.root.querySelector("h2")?.focus();
  }

  private showPicture(isAsked: boolean): void {
    this.isOpening = false;
    const { lesson, heard } = this;
    if (!lesson) return;
    const step = lesson.steps[this.number(lesson)];
    if (heard && "found" in heard) {
      const { facts } = heard.found;
      const chosen = Object.entries(step.chosen).map(([name, value]) => [name, filled(value, facts)]);
      this.host.change(stateOf(step, Object.fromEntries(chosen) as Record<string, string>));
    }
    this.host.show(step.page, isAsked);
  }

  // ---- what became of the steps ----

  private letters(lesson: Lesson): string {
    const kept = Object.hasOwn(this.progress, lesson.name) ? this.progress[lesson.name] : "";
    return kept.slice(0, lesson.steps.length).padEnd(lesson.steps.length, "-");
  }

  private done(lesson: Lesson): string { return this.letters(lesson).replace(/-+$/, ""); }

  private note(lesson: Lesson, isRight: boolean): void {
    const number = this.number(lesson);
    const letters = this.letters(lesson);
    this.progress[lesson.name] = letters.slice(0, number) + (isRight ? "r" : "w") + letters.slice(number + 1);
    try {
      sessionStorage.setItem(STORE, JSON.stringify(this.progress));
    } catch {
      // Private browsing may store nothing: the address has the progress of this lesson.
    }
    this.host.change({ done: this.done(lesson) });
    this.tell(lesson);
  }

  // How far the learner is, without drawing the step anew.
  private tell(lesson: Lesson): void {
    const letters = this.letters(lesson);
    const open = this.number(lesson);
    this.bar.max = letters.length;
    this.bar.value = letters.replace(/-/g, "").length;
    this.bar.ariaLabel = `${this.words("all_steps")}: ${this.told(letters)}`;
    this.all.replaceChildren(...lesson.steps.map(({ title }, k) => element("li", {}, element("button", {
      type: "button", textContent: `${MARKS[letters[k] as Letter]} ${k + 1}. ${title}`, ariaCurrent: k === open ? "step" : null,
      onclick: () => this.goTo(lesson, k + 1),
    }))));
  }

  // ---- drawing ----

  private draw(): void {
    const { lesson, language } = this;
    this.drawn = this.place;
    this.root.lang = language.code;
    this.root.ariaLabel = this.words("lessons");
    const focus = this.root.contains(document.activeElement) ? document.activeElement?.getAttribute("name") : null;
    this.root.replaceChildren(...(lesson ? this.step(lesson) : this.list()));
    if (focus) this.root.querySelector<HTMLElement>(`[name="${CSS.escape(focus)}"]`)?.focus();
  }

  private list(): HTMLElement[] {
    const { language, languages } = this;
    const choice = element("select", {
      name: "language", ariaLabel: this.words("language"),
      onchange: () => {
        this.host.change({ language: choice.value });
        this.draw();
      },
    }, ...languages.map(({ code, guide }) => element("option", { value: code, textContent: guide.name, lang: code, selected: code === language.code })));
    return [
      element("h2", { name: "title", textContent: this.words("lessons"), tabIndex: -1 }), choice, element("p", { className: "note", textContent: this.words("intro") }),
      ...language.lessons.map((lesson) => {
        const letters = this.letters(lesson);
        const open = letters.split("-").length - 1;
        const label = open > 0 && open < letters.length ? "continue" : "start";
        return element("details", {}, element("summary", { textContent: lesson.title }),
          element("p", { textContent: lesson.summary }),
          element("p", { className: "note", textContent: `${this.words("minutes", { minutes: lesson.minutes })} · ${this.told(letters)}` }),
          element("div", { className: "row" }, this.button(label, () => this.begin(lesson), "primary"),
            this.button("own_text", () => this.begin(lesson, true))));
      }),
    ];
  }

  private told(letters: string): string {
    const right = letters.split("r").length - 1;
    const done = `${right + letters.split("w").length - 1}/${letters.length}`;
    return /[rw]/.test(letters) ? this.words("done_right", { done, right }) : done;
  }

  private step(lesson: Lesson): HTMLElement[] {
    const number = this.number(lesson);
    const step = lesson.steps[number];
    const { heard } = this;
    this.tell(lesson);
    return [
      element("p", { className: "note", textContent: this.words("of_steps", { title: lesson.title, number: number + 1, count: lesson.steps.length }) }),
      this.bar,
      element("h2", { name: "title", textContent: step.title, tabIndex: -1 }),
      ...(heard === null ? [] : "found" in heard ? this.question(lesson, step, heard.found)
        : [element("p", { role: "status", textContent: "wrong" in heard ? this.words("no_answer", { why: heard.wrong })
          : this.words("not_shown", { why: said(heard.missing, this.language) }) }), ...this.offer(lesson)]),
      this.ways(lesson, number + 1),
    ];
  }

  // The lesson's own text, where the learner's cannot show what is asked.
  private offer(lesson: Lesson): HTMLElement[] {
    const { first, second } = this.host.state();
    const own = { first: lesson.text_a, second: lesson.text_b || null };
    if (first === own.first && second === own.second) return [];
    return [this.button("take_text", () => this.goTo(lesson, this.number(lesson) + 1, { ...own, token: null }))];
  }

  private question(lesson: Lesson, step: Step, found: Found): HTMLElement[] {
    const { language } = this;
    const options = optionsOf(step, found, language);
    const verdict = element("div", { className: "verdict", role: "status" });
    const known = this.answers.get(step);
    const before = !options.length || options.some(({ name }) => name === known) ? known : undefined;
    const show = (chosen: Fact) => verdict.replaceChildren(...this.verdict(step, judge(step, found, chosen, language)));
    const answered = (event: Event) => {
      event.preventDefault();
      const [given] = [...new FormData(form).values()].map(String);
      const answer = options.length ? given || null : this.typed(step, given);
      if (answer === null) {
        verdict.textContent = this.words(options.length ? "pick_first" : "number_first");
        return;
      }
      this.answers.set(step, answer);
      show(answer);
      this.note(lesson, judge(step, found, answer, language).isRight);
    };
    const check = this.button("check", () => form.requestSubmit(), "primary");
    const form = element("form", { onsubmit: answered },
      element("fieldset", {}, element("legend", {}, ...marked(step.question, found.facts)), this.box(step, options, before)), check);
    if (before !== undefined) show(before);
    return [
      element("p", {}, ...marked(step.text, found.facts)),
      ...(step.elsewhere ? [element("p", { className: "note", textContent: this.words("elsewhere", { page: step.elsewhere }) })] : []),
      this.button("picture_again", () => this.showPicture(true)),
      form, verdict,
    ];
  }

  private typed(step: Step, text: string): number | null {
    return typedNumber(text, this.language.code, asksPercent(step.question));
  }

  // What the learner answers with; `before`: what was answered.
  private box(step: Step, options: { name: string; text: string }[], before: Fact | undefined): HTMLElement {
    if (!options.length) {
      const heard = element("p", { className: "note", role: "status" });
      const input = element("input", {
        type: "text", inputMode: "decimal", name: "number", maxLength: 60, value: before ?? "",
        ariaLabel: this.words("number"), placeholder: this.words("type_number"),
        onchange: () => {
          const number = this.typed(step, input.value);
          heard.textContent = /^([+-]?\d+(\.\d+)?)?$/.test(input.value.trim()) && number !== null || !input.value.trim() ? ""
            : number === null ? this.words("no_number") : this.words("read_as", { number: String(number) });
        },
      });
      return element("div", {}, input, heard);
    }
    if (options.length <= MOST_RADIOS) {
      return element("div", { className: "choices" }, ...options.map(({ name, text }) => element("label", {},
        element("input", { type: "radio", name: "lesson-choice", value: name, checked: name === before }),
        element("bdi", { textContent: legible(text) }))));
    }
    const select = element("select", { name: "choice", ariaLabel: this.words("choice") },
      element("option", { value: "", textContent: this.words("pick") }),
      ...options.map(({ name, text }) => element("option", { value: name, textContent: legible(text), selected: name === before })));
    if (step.page === "attention") return element("div", {}, select);
    const take = this.button("click", () => {
      const { token, hidden } = this.host.state();
      const clicked = String((step.page === "masked-words" ? hidden?.[hidden.length - 1] : token) ?? "");
      if (options.some(({ name }) => name === clicked)) select.value = clicked;
    });
    return element("div", {}, select, take);
  }

  private verdict({ answer }: Step, { isRight, yours, models, why, facts }: Verdict): HTMLElement[] {
    const { guide } = this.language;
    const wrong = answer === null ? guide.not_right : guide.wrong; // the network has said nothing
    const text = isRight ? `**${guide.right}** ${yours === models ? "" : guide.model}` : wrong;
    return [
      ...text.split("\n").map((line) => element("p", {}, ...marked(line, { chosen: yours, answer: models }))),
      element("p", {}, ...marked(why, facts)),
    ];
  }

  private ways(lesson: Lesson, number: number): HTMLElement {
    const last = lesson.steps.length;
    const back = this.button("back", () => this.goTo(lesson, number - 1));
    back.disabled = number === 1;
    const forward = number < last ? this.button("next", () => this.goTo(lesson, number + 1)) : this.button("finish", () => this.leave());
    return element("div", {}, element("div", { className: "row" }, back, forward),
      element("details", {}, element("summary", { textContent: this.words("all_steps") }), this.all,
        this.button("leave", () => this.leave())));
  }

  private button(word: string, onclick: () => void, className = ""): HTMLButtonElement {
    return element("button", { type: "button", name: word, className, textContent: this.words(word), onclick });
  }
}

// What a step's address chooses, as the page keeps it.
function stateOf({ page }: Step, chosen: Record<string, string>): Partial<State> {
  const number = (text: string | undefined) => (text !== undefined && /^\d+$/.test(text) ? Number(text) : null);
  if (page === "tokens") return { token: number(chosen.token) };
  if (page === "masked-words") {
    const place = number(chosen.masked);
    return { hidden: place === null ? null : [place] };
  }
  if (page !== "attention") return {};
  const head = number(chosen.heads);
  return { layer: number(chosen.layer) ?? 0, heads: head === null ? [] : [head], view: chosen.view === "heat-map" ? "map" : "lines" };
}

// A lesson's text, in which **words** may be strong; facts are text, whatever they contain.
function marked(text: string, facts: Record<string, Fact>): (Node | string)[] {
  const safe = Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, typeof fact === "string" && fact ? legible(fact) : fact]));
  return text.split("**").map((part, k) => {
    const shown = filled(part, safe);
    return k % 2 ? element("strong", { textContent: shown }) : shown;
  });
}

function stored(): Record<string, string> {
  try {
    return JSON.parse(sessionStorage.getItem(STORE) ?? "{}") as Record<string, string>;
  } catch {
    return {};
  }
}
