// Elements of a page, and texts from outside in them.

// Small builder for elements. Text is only ever set as text, never as HTML: tokens are hostile.
export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in node && name !== "list") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

export function percent(weight) {
  if (Number.isNaN(weight)) return "NaN";
  if (weight >= 0.0995) return `${Math.round(weight * 100)}%`;
  return `${(weight * 100).toFixed(1)}%`;
}

// A number as a table or a file has it: all that float32 knows, and no more.
export function exact(value) {
  return Number.isFinite(value) ? Number(value.toPrecision(7)) : null;
}

// In a file without a server a view has only what the file holds: `header.alone` lists the layers.
export function onlyHere(controls, header, what) {
  if (!header.alone) return;
  for (const control of controls) Object.assign(control, { disabled: true, title: `This file holds ${what} only` });
}

// Letters as a reader counts them, the first `most`.
export function letters(text, most) {
  const found = [];
  for (const { segment } of LETTERS.segment(text.slice(0, most * 12))) {
    if (found.push(segment) === most) break;
  }
  return found;
}
const LETTERS = new Intl.Segmenter(undefined, { granularity: "grapheme" });

export function shorten(text, most) {
  const kept = letters(text, most).join("");
  return kept.length < text.length ? `${kept}\u2026` : text;
}

// A token as it can be read: signs that cannot be seen or that turn the writing round are named,
// and a tower of accents ends at the third.
const TURNING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const NOTHING_SEEN = /^[\s\u00ad\u115f\u1160\u200b-\u200d\u2060-\u2065\u3164\ufe00-\ufe0f\ufeff\uffa0]*$/u;

export function legible(token) {
  const named = token.toWellFormed().replace(TURNING, signName).replace(/(\p{M}{3})\p{M}+/gu, "$1");
  if (!named) return "(empty)";
  return NOTHING_SEEN.test(named) ? named.slice(0, 60).replace(/[^]/gu, signName) : named;
}

function signName(sign) {
  return `\u2039U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u203a`;
}

// The sentence about weights that are not numbers, if there is one, and what is shown instead.
export function brokenNote(missing, instead) {
  return missing ? [element("span", { className: "key broken", textContent: `${missing} Red stripes mark them; ${instead}.` })] : [];
}
