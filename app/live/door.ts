// What the door of a live page shows: a text with its gaps and the guesses for them, as told.py of the app's door has it.

import { percent, placesOf } from "../parts/browser/text";
import type { DoorData } from "../parts/door/door";
import type { Guess, Result } from "./reader";

/** What is the same for all texts, from Python. */
export type DoorLook = Pick<DoorData, "title" | "line" | "names" | "by">;
type Read = Pick<Result, "texts" | "typed" | "hidden" | "guesses">;
type Shown = Pick<DoorData, "text" | "parts" | "hidden" | "gaps" | "notes">;

const NUM_GUESSES = 5;
const MOST_GAPS = 3;
const RANKS = ["first", "second", "third", "fourth", "fifth"];

interface Word { name: string; textId: number; start: number; end: number; places: number[] }

export function shownAtDoor({ texts, typed, hidden, guesses }: Read): Shown {
  const words = wordsOf({ texts, typed });
  const isHidden = ({ places }: Word) => places.some((place) => hidden.includes(place));
  const parts = texts.flatMap((text, textId): [string, number][] => {
    if (!text) return [];
    const letters = [...text];
    let done = 0;
    const cut = words.filter((word) => word.textId === textId).flatMap((word): [string, number][] => {
      const before = letters.slice(done, word.start).join("");
      done = word.end;
      return [[before, -1], [word.name, isHidden(word) || /[\p{L}\p{N}]/u.test(word.name) ? word.places[0] : -1]];
    });
    return [[textId ? "\n" : "", -1], ...cut, [letters.slice(done).join(""), -1]];
  });
  const later = new Set(words.flatMap(({ places }) => places.slice(1)));
  const gaps = guesses.filter(({ place }) => !(later.has(place) && guesses.some((other) => other.place === place - 1)));
  const notes = gaps.length ? [] : [words.length ? "Click a word to hide it: BERT guesses what is missing." : "Write a text in the field above."];
  return {
    text: texts[0], parts: parts.filter(([name]) => name), hidden: words.filter(isHidden).map(({ places }) => places[0]), notes,
    gaps: gaps.slice(0, MOST_GAPS).map((guess, k) => ({
      name: gaps.length > 1 ? `Gap ${k + 1}` : "Guesses",
      guesses: guess.words.slice(0, NUM_GUESSES).map((word, at): [string, number] => [word, guess.probabilities[at]]),
      told: told(guess, words.find(({ places }) => places[0] === guess.place)),
    })),
  };
}

/** The places of the tokens of words, by their first ones. */
export function placesOfWords({ texts, typed }: Pick<Read, "texts" | "typed">, starts: number[]): number[] {
  return wordsOf({ texts, typed }).filter(({ places }) => starts.includes(places[0])).flatMap(({ places }) => places);
}

// A [MASK] that was typed is no word.
function wordsOf({ texts, typed }: Pick<Read, "texts" | "typed">): Word[] {
  const { tokens, text_ids, word_ids, offsets } = typed;
  const words = [...placesOf(word_ids)].filter(([word, [first]]) => word >= 0 && tokens[first] !== "[MASK]");
  return words.map(([, places]) => {
    const [textId, start, end] = [text_ids[places[0]], offsets[places[0]][0], offsets[places[places.length - 1]][1]];
    return { name: [...(texts[textId] ?? "")].slice(start, end).join(""), textId, start, end, places };
  });
}

function told({ original, words, own }: Guess, word: Word | undefined): string {
  if (!word) return "";
  if (original === "[UNK]") return `BERT does not know “${word.name}”.`;
  if (word.places.length > 1) return `BERT reads “${word.name}” as ${word.places.length} pieces. These are guesses for the first.`;
  const rank = words.indexOf(original);
  return rank in RANKS ? `“${word.name}” is hidden. It is the ${RANKS[rank]} guess.` : `“${word.name}” is hidden. BERT gives it ${percent(own)}.`;
}
