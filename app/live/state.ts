// What the visitor chose, as the fragment of the address.

/** Characters of a text that is read: more than 512 tokens have. */
export const MOST_CHARACTERS = 5000;
/** Parts of a list, such as hidden tokens, and letters of what became of a lesson's steps. */
const MOST_PARTS = 512;

export interface State {
  first: string;
  /** null for one text. */
  second: string | null;
  /** Places of hidden tokens; null for a word that can be guessed. */
  hidden: number[] | null;
  /** The chosen token. */
  token: number | null;
  layer: number;
  /** None for all. */
  heads: number[];
  view: "lines" | "map";
  /** Of the walk through BERT at a glance. */
  step: number;
  /** Name of the lesson that is taken, "" for none; its open step, from 1, and what became of each. */
  lesson: string;
  lessonStep: number;
  done: string;
  /** Of the lessons. */
  language: string;
}

export const START: Omit<State, "first" | "second"> =
  { hidden: null, token: null, layer: 0, heads: [], view: "lines", step: 0, lesson: "", lessonStep: 1, done: "", language: "en" };

export function writeState({ first, second, hidden, token, layer, heads, view, step, lesson, lessonStep, done, language }: State): string {
  const fields = {
    a: first, b: second, hidden: hidden && hidden.join("."), token, layer: layer || null, heads: heads.join(".") || null,
    view: view === START.view ? null : view, step: step || null, lesson: lesson || null,
    lesson_step: lesson && lessonStep > 1 ? lessonStep : null, lesson_done: (lesson && done) || null,
    lesson_language: language === START.language ? null : language,
  };
  const given = Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]));
  return `#${new URLSearchParams(given)}`;
}

// What an address does not say, or says wrongly, is as in `usual`; an address without a text changes nothing. Anyone can
// write an address, so no more of it is read than a visitor could have chosen.
export function readState(fragment: string, usual: State): State {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const text = (name: string) => fields.get(name)?.slice(0, MOST_CHARACTERS) ?? null;
  const first = text("a");
  if (first === null) return usual;
  const numbers = (name: string) => (fields.get(name) ?? "").split(".", MOST_PARTS).filter((part) => /^\d{1,4}$/.test(part)).map(Number);
  return {
    first, second: text("b"), hidden: fields.has("hidden") ? numbers("hidden") : null, token: numbers("token")[0] ?? null,
    layer: numbers("layer")[0] ?? 0, heads: numbers("heads"), view: fields.get("view") === "map" ? "map" : "lines",
    step: numbers("step")[0] ?? 0, lesson: fields.get("lesson") ?? "", lessonStep: numbers("lesson_step")[0] ?? 1,
    done: (fields.get("lesson_done") ?? "").slice(0, MOST_PARTS), language: fields.get("lesson_language") ?? START.language,
  };
}
