// Numbers and untrusted texts as a reader sees them.

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
// Control characters and those that change the direction of writing.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const INVISIBLE = /^[\s\u00ad\u115f\u1160\u200b-\u200d\u2060-\u2065\u3164\ufe00-\ufe0f\ufeff\uffa0]*$/u;

// A fraction with one decimal, so that those of p and 1 - p add up; a whole percent has none. The rule of `percent` in
// app/plots/formats.py, which has more room near 0 and 100%.
export function percent(weight: number): string {
  if (Number.isNaN(weight)) return "NaN";
  const value = 100 * weight;
  const whole = Math.round(value);
  if (Math.abs(value - whole) < 5e-6 && (whole % 100 || weight === whole / 100)) return `${whole}%`;
  const text = value.toFixed(1);
  return text === "0.0" ? "<0.1%" : text === "100.0" ? ">99.9%" : `${text}%`;
}

// With so many decimals; what rounds to zero has no sign, as in Python's format "z".
export function decimal(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

// A number for tables and files: the digits that float32 holds; null where it is not finite.
export function exact(value: number): number | null {
  return Number.isFinite(value) ? Number(value.toPrecision(7)) : null;
}

// The first `most` graphemes.
export function letters(text: string, most: number): string[] {
  const graphemes: string[] = [];
  for (const { segment } of GRAPHEMES.segment(text.slice(0, most * 12))) {
    if (graphemes.push(segment) === most) break;
  }
  return graphemes;
}

export function shorten(text: string, most: number): string {
  const kept = letters(text, most).join("");
  return kept.length < text.length ? `${kept}\u2026` : text;
}

// A token in readable form: invisible and direction-changing characters are named, and at most
// three combining marks are kept on a letter.
export function legible(token: string): string {
  const named = token.toWellFormed().replace(CONTROLS, codePoint).replace(/(\p{M}{3})\p{M}+/gu, "$1");
  if (!named) return "(empty)";
  return INVISIBLE.test(named) ? named.slice(0, 60).replace(/[^]/gu, codePoint) : named;
}

function codePoint(character: string): string {
  return `\u2039U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}\u203a`;
}

// 0, 1, ... number - 1.
export function range(number: number): number[] {
  return Array.from({ length: number }, (_, k) => k);
}

// The places of each entry of a list.
export function placesOf<Entry>(list: Entry[]): Map<Entry, number[]> {
  const places = new Map<Entry, number[]>();
  list.forEach((entry, place) => places.set(entry, [...(places.get(entry) ?? []), place]));
  return places;
}

// A text of ours in the visitor's language, of which the page holds the words (app/shell/words); else as it is.
// `facts` fill its braces.
export function said(text: string, facts: Record<string, string | number> = {}): string {
  const words = globalThis.document?.getElementById?.("bertscope-words")?.dataset.words;
  const own = (words && (JSON.parse(words) as Record<string, string>)[text]) || text;
  return own.replace(/\{(\w+)\}/g, (place, name: string) => String(facts[name] ?? place));
}
