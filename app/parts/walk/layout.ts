// Where everything stands in the drawing, in pixels, at each step of the walk.

import { range } from "../browser/text";
import type { Box } from "../canvas/shared/canvas";
import type { GlanceHeader } from "./model";

/** From its left edge on; no width: it is not drawn. */
export interface Span {
  x: number;
  width: number;
}

/** Its middle; no height: the token is folded. */
export interface Row {
  y: number;
  height: number;
}

export interface LayerPlace extends Span {
  /** The lines of its attention. */
  lines: Span;
  /** The grid of its heads. */
  heads: Box;
  /** Side of one head's picture, and how far the next ones are to the right and below. */
  head: number;
  pitch: [number, number];
}

/** A folded part, and the step that opens it. */
export interface Strip extends Span {
  name: string;
  /** For the braces of its name. */
  number: number;
  step: string;
}

export interface Answer {
  kind: "pair" | "words";
  /** Of GlanceHeader.predictions; 0 for the pair. */
  index: number;
  y: number;
  height: number;
  /** The row that it reads. */
  row: number;
  numWords: number;
  /** Height of a word. */
  line: number;
  /** Why there is none, in lines. */
  reason: string[];
}

export interface Layout {
  width: number;
  height: number;
  top: number;
  rowHeight: number;
  rows: Row[];
  text: Span;
  pieces: Span;
  /** The tokens once more, at the end of the lines. */
  readers: Span;
  strips: Strip[];
  columns: Span[];
  layers: LayerPlace[];
  /** Heads side by side. */
  perRow: number;
  answers: Span;
  boxes: Answer[];
}

// The part that a step has in full size; a step that is not here has all of them.
const OPEN: Record<string, string> = {
  gap: "text", training: "text", pieces: "pieces", input: "input", attention: "layer", heads: "layer", feed_forward: "layer",
  layers: "layers", words: "answers", pair: "answers",
};
const TITLES = 20; // height of the titles
const LABELS = 20; // height of the labels under them
export const ABSENT_LINE = 14; // height of a line that says why there is no answer
const MOST_ABSENT = 7; // such lines
const LETTER = 5.7; // width of one of its letters, rather too much
const FEWEST_ROW = 3.6;
const READABLE_ROW = 17;
const LARGEST_ROW = 24;
const NOTE = 18; // height of what stands below a large head
const FOLD = 14; // height of what stands for folded tokens
const ROOMY = 62; // pixels of a layer from which on its halves are drawn apart

/** `centre`: the row around which the others are folded where not all can be read. */
export function layoutOf(header: GlanceHeader, width: number, step: string, centre: number): Layout {
  const { num_layers: layers, num_heads: heads, columns } = header;
  const open = OPEN[step] ?? "all";
  const isNarrow = width < 600;
  const height = Math.max(380, Math.min(isNarrow ? 500 : 540, 2 * LABELS + 60 + LARGEST_ROW * header.tokens.length));
  const isOpen = (...parts: string[]) => open === "all" || parts.includes(open);
  const gap = isNarrow ? 4 : 8;
  const inputs = columns.filter(({ layer }) => layer < 0).length;
  const stripWidth = isNarrow ? 22 : 24;
  const folded = [!isOpen("text", "pieces"), !isOpen("input"), !isOpen("layer", "layers"), layers > 1 && !isOpen("layers")];
  const names = open === "text" ? 0 : open === "pieces" ? width / 4 : isNarrow ? 62 : 84;
  const answersWidth = open === "answers" ? 0 : isNarrow ? 100 : 148;
  const taken = (names && names + gap) + folded.filter((is) => is).length * (stripWidth + gap) + answersWidth;
  const room = Math.max(40, width - taken - gap - 4); // of the part that is open

  let x = 0;
  const take = (wide: number): Span => {
    const span = { x, width: wide };
    if (wide) x += wide + gap;
    return span;
  };
  const strips: Strip[] = [];
  const strip = (name: string, step: string) => strips.push({ name, step, number: layers - 1, ...take(folded[strips.length] ? stripWidth : 0) });
  strip("Text", "pieces");
  const text = take(open === "text" || open === "pieces" ? room : open === "all" && width >= 840 ? 82 : 0);
  const pieces = take(names);
  strip("Input", "input");
  const [isInput, sign] = [open === "input", isNarrow ? 8 : 13]; // a sign stands between two vectors
  const wide = isInput ? Math.min(150, room / inputs - sign) : open !== "all" ? 0 : width >= 900 ? 30 : isNarrow ? 10 : 22;
  const away = isInput ? (room + sign) / inputs : wide + sign;
  const left = x + (isInput ? (away - sign - wide) / 2 : 0);
  const vectors = range(inputs).map((at): Span => ({ x: left + at * away, width: wide }));
  if (wide) x += inputs * away + (isInput ? gap - sign : 0);
  strip("Layer 0", "attention");
  const end = open === "layer" ? x + room : width - answersWidth - 14;

  const isHeads = step === "heads";
  const side = (across: number) => Math.floor(Math.min(room / across - 8, (height - TITLES - LABELS) / Math.ceil(heads / across) - NOTE - 1));
  const perRow = isHeads ? range(heads).reduce((best, k) => (side(k + 1) > side(best) ? k + 1 : best), 1)
    : isNarrow ? Math.max(1, Math.round(Math.sqrt(heads / 1.8))) : Math.ceil(Math.sqrt(heads));
  const grid = Math.ceil(heads / perRow); // rows of heads
  const pitch = open === "layer" ? room : (end - x) / layers;
  const fitting = Math.floor((Math.min(pitch - 8, 76) - (perRow - 1)) / perRow);
  const small = fitting < 3 ? 0 : fitting;
  const top = TITLES + (isOpen("layers") && small ? grid * (small + 1) + 10 : LABELS);
  const readers = { x: end - 84, width: step === "attention" && !isNarrow ? 84 : 0 };
  // From the lines of a layer to its output: attention, the state after it, feed-forward, the output.
  const isAlone = step === "feed_forward";
  const hasHalves = pitch >= ROOMY && columns.some(({ kind }) => kind === "attention");
  const out = isAlone ? Math.min(110, pitch * 0.28) : !isOpen("layers") ? 0 : Math.max(3, Math.min(28, pitch * (hasHalves ? 0.22 : 0.4)));
  const middle = isAlone ? out : hasHalves && out ? Math.min(20, pitch * 0.16) : 0;
  const apart = isAlone ? pitch - 2 * out : middle && Math.min(16, pitch * 0.12);
  const margin = Math.min(2, pitch * 0.06);
  const linesWidth = isHeads || isAlone ? 0 : pitch - out - middle - apart - 2 * margin - (readers.width && readers.width + 6);
  const placed = range(layers).map((layer): LayerPlace => {
    const isDrawn = isOpen("layers") || (open === "layer" && layer === 0);
    const start = x + (isDrawn ? layer * pitch : 0);
    const head = isOpen("layers") ? small : isDrawn && isHeads ? Math.max(1, side(perRow)) : 0;
    const pitchOf: [number, number] = isHeads ? [head + 8, head + NOTE] : [head + 1, head + 1];
    const across = perRow * pitchOf[0] - pitchOf[0] + head;
    return {
      x: start, width: isDrawn ? pitch : 0, head, pitch: pitchOf, lines: { x: start + margin, width: isDrawn ? linesWidth : 0 },
      heads: [start + (pitch - across) / 2, isHeads ? top : TITLES, across, grid * pitchOf[1] - 1],
    };
  });
  const states = columns.slice(inputs).map(({ kind, layer }): Span => {
    const right = placed[layer].x + placed[layer].width;
    if (kind === "neurons") return { x: right - out - apart + 8, width: isAlone ? apart - 16 : 0 };
    const width = kind === "layer" ? out : middle;
    return { x: kind === "layer" ? right - out : right - out - apart - middle, width: placed[layer].width && width };
  });
  if (isOpen("layer", "layers")) x = end + gap;
  strip(layers > 2 ? "Layers 1 to {number}" : "Layer 1", "layers");
  if (open === "answers") states[states.length - 1] = take(isNarrow ? 26 : 64);
  const answers = { x: x + 6, width: width - x - 6 };

  const rows = rowsOf(header, step, centre, top, height);
  const shown = rows.filter((row) => row.height > 0);
  const bottom = shown.length ? shown[shown.length - 1].y + shown[shown.length - 1].height / 2 : top;
  const boxes = answersOf(header, answers.width, top, rows, open === "answers" ? 24 : 15, Math.max(bottom, height - 4));
  const last = boxes[boxes.length - 1];
  return {
    width, height: Math.ceil(Math.max(height, bottom + 4, last.y + last.height + 6)), top,
    rowHeight: shown[0]?.height ?? 0, rows, text, pieces, readers, strips,
    columns: [...vectors, ...states], layers: placed, perRow, answers, boxes,
  };
}

// All rows in one height, or those that can be read: of the first token, the predictions, and around the centre.
function rowsOf({ tokens, predictions }: GlanceHeader, step: string, centre: number, top: number, height: number): Row[] {
  const count = tokens.length;
  const room = height - top - 4;
  const most = Math.floor((room - 3 * FOLD) / READABLE_ROW);
  const isWhole = !(step in OPEN) || count * READABLE_ROW <= room;
  const shown = new Set(isWhole ? range(count) : [0, centre, ...predictions.slice(0, most / 4).map(({ row }) => row)]);
  for (let away = 1; shown.size < Math.min(most, count) && away < count; away++) {
    for (const row of [centre - away, centre + away]) if (row >= 0 && row < count && shown.size < most) shown.add(row);
  }
  const folds = range(count).filter((row) => !shown.has(row) && (row === 0 || shown.has(row - 1))).length;
  const rowHeight = Math.max(FEWEST_ROW, Math.min(LARGEST_ROW, (room - folds * FOLD) / shown.size));
  let y = top;
  return range(count).map((row) => {
    if (shown.has(row)) return { y: (y += rowHeight) - rowHeight / 2, height: rowHeight };
    if (row === 0 || shown.has(row - 1)) y += FOLD;
    return { y: y - FOLD / 2, height: 0 };
  });
}

/** A layout on the way to another: its numbers, where both have them. */
export function between<Part>(from: Part, to: Part, share: number): Part {
  if (typeof to === "number") return (Number(from) + (to - Number(from)) * share) as Part;
  if (typeof to !== "object" || to === null || (Array.isArray(to) && to.length !== (from as unknown[]).length)) return to;
  const mixed = Object.entries(to).map(([name, value]) => [name, between((from as Record<string, unknown>)[name], value, share)]);
  return (Array.isArray(to) ? mixed.map(([, value]) => value) : Object.fromEntries(mixed)) as Part;
}

// Why there is no answer, in lines that are no wider than there is room; what is too much is in the last, which is cut to fit.
function reasonOf(why: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of why.split(" ")) {
    const last = lines.length - 1;
    if (last >= 0 && (lines.length === MOST_ABSENT || LETTER * `${lines[last]} ${word}`.length <= width)) lines[last] += ` ${word}`;
    else lines.push(word);
  }
  return lines;
}

// The boxes of the answers, from the top, each as near to its row as the others allow.
function answersOf(header: GlanceHeader, width: number, top: number, rows: Row[], line: number, bottom: number): Answer[] {
  const { predictions, absent } = header;
  const box = (kind: Answer["kind"], y: number): Answer => {
    const reason = absent[kind] === undefined ? [] : reasonOf(absent[kind], width - 8);
    return { kind, index: 0, y, height: reason.length ? 10 + ABSENT_LINE * reason.length : 2 * line + 10, row: 0, numWords: 0, line, reason };
  };
  const pair = header.pair || absent.pair ? [box("pair", top)] : [];
  let free = top + (pair.length && pair[0].height + 8);
  if (!predictions.length) return [...pair, box("words", free + 6)];
  const room = bottom - free + 4;
  const numWords = Math.max(1, Math.min(predictions[0].words.length, Math.floor(room / predictions.length / line) - 2));
  const height = (numWords + 1.6) * line;
  const shown = predictions.slice(0, Math.max(1, Math.floor(room / height)));
  return [...pair, ...shown.map(({ row }, index): Answer => {
    const y = Math.max(free, Math.min(rows[row].y - line * 0.8, bottom - (shown.length - index) * height));
    free = y + height;
    return { kind: "words", index, y, height: height - 6, row, numWords, line, reason: [] };
  })];
}

/** A part of the drawing under the pointer. */
export interface Part {
  /** That of a step. */
  kind: string;
  row: number | null;
  layer?: number;
  head?: number;
  /** Of GlanceHeader.columns. */
  column?: number;
  /** Of GlanceHeader.predictions. */
  index?: number;
  isFolded?: boolean;
}

const isIn = (x: number, span: Span) => span.width > 0 && x >= span.x && x < span.x + span.width;

// The part at a point, or null.
export function partAt(layout: Layout, header: GlanceHeader, x: number, y: number): Part | null {
  const { rows, columns, answers, layers, perRow } = layout;
  const strip = layout.strips.find((one) => isIn(x, one));
  if (strip) return { kind: strip.step, row: null, isFolded: true };
  if (x >= answers.x) {
    const box = layout.boxes.find((one) => y >= one.y && y <= one.y + one.height);
    return box ? { kind: box.kind, row: box.row, index: box.index } : null;
  }
  const found = rows.findIndex((row) => Math.abs(y - row.y) < row.height / 2);
  const row = found < 0 ? null : found;
  const layer = layers.findIndex((place) => isIn(x, place));
  if (layer >= 0) {
    const { heads: [left, upper, wide, tall], head: side, pitch } = layers[layer];
    if (side && x >= left && x < left + wide && y >= upper && y < upper + tall) {
      const head = Math.floor((y - upper) / pitch[1]) * perRow + Math.floor((x - left) / pitch[0]);
      // A head of a few pixels is no target for a finger: the layer is.
      return { kind: "attention", layer, row: null, ...(head < header.num_heads && side >= 7 ? { head } : {}) };
    }
    if (row === null) return y < rows[0].y ? { kind: "layers", layer, row } : null;
  }
  if (row === null) return null;
  if (isIn(x, layout.text) || isIn(x, layout.pieces)) return { kind: "pieces", row };
  const column = columns.findIndex((place) => isIn(x, { x: place.x - 1, width: place.width && place.width + 2 }));
  if (column < 0 && layer < 0) return null;
  if (column < 0) {
    const half = columns[header.columns.findIndex((one) => one.kind === "attention" && one.layer === layer)];
    return { kind: half?.width && x > half.x ? "feed_forward" : "attention", layer, row };
  }
  const { kind, layer: of } = header.columns[column];
  return of < 0 ? { kind: "input", row, column } : { kind: kind === "layer" ? "layers" : "feed_forward", layer: of, row, column };
}
