// Where everything stands in the drawing, in pixels.

import { range } from "../browser/text";
import type { Box } from "../canvas/shared/canvas";
import type { GlanceHeader } from "./model";

/** From its left edge on. */
export interface Span {
  x: number;
  width: number;
}

export interface LayerPlace extends Span {
  /** The lines of its attention. */
  lines: Span;
  /** The grid of its heads. */
  heads: Box;
  perRow: number;
  /** Side of one head's picture. */
  head: number;
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
}

export interface Layout {
  width: number;
  height: number;
  top: number;
  rowHeight: number;
  /** Zero width where there is no room for it. */
  text: Span;
  pieces: Span;
  /** Of each column of vectors; zero width for one that is left out. */
  columns: Span[];
  layers: LayerPlace[];
  answers: Span;
  boxes: Answer[];
  /** Whether the state between the halves of a layer is drawn. */
  hasHalves: boolean;
}

const TITLES = 20; // height of the titles
const LABELS = 26; // height of the labels between the heads and the rows
const WORD = 15; // height of a word of an answer
export const ABSENT_LINE = 14; // height of a line that says why there is no answer
const MOST_ABSENT = 7; // such lines
const LETTER = 5.7; // width of one of its letters, rather too much
const FEWEST_ROW = 3.6;
const LARGEST_ROW = 22;
const ROOMY = 62; // pixels of a layer from which on its halves are drawn apart

export function layoutOf(header: GlanceHeader, width: number, height: number): Layout {
  const { num_layers: layers, num_heads: heads, columns } = header;
  const isWide = width >= 840;
  const text: Span = { x: 0, width: isWide ? 82 : 0 };
  const pieces: Span = { x: isWide ? 96 : 0, width: width >= 700 ? 84 : 68 };
  const answers: Span = { x: 0, width: width >= 840 ? 148 : 104 };
  answers.x = width - answers.width;
  const inputWidth = width >= 900 ? 30 : width >= 700 ? 22 : 14;
  const gap = width >= 700 ? 13 : 9; // for a plus between two vectors

  const places: Span[] = [];
  let x = pieces.x + pieces.width + 10;
  for (const { layer } of columns) {
    if (layer >= 0) break;
    places.push({ x, width: inputWidth });
    x += inputWidth + gap;
  }
  const start = x - gap;
  const pitch = (answers.x - 14 - start) / layers;
  const hasHalves = pitch >= ROOMY && columns.some(({ kind }) => kind === "attention");
  const out = Math.max(3, Math.min(28, pitch * (hasHalves ? 0.22 : 0.4)));
  const margin = Math.min(2, pitch * 0.06);
  const middle = hasHalves ? Math.min(20, pitch * 0.16) : 0;
  const between = hasHalves ? Math.min(16, pitch * 0.12) : 0;

  const perRow = Math.ceil(Math.sqrt(heads));
  const room = Math.max(6, Math.min(pitch - 8, 76));
  const head = Math.max(2, Math.floor((room - (perRow - 1)) / perRow));
  const rows = Math.ceil(heads / perRow);
  const tall = rows * (head + 1) - 1;
  const placed: LayerPlace[] = range(layers).map((layer) => {
    const left = start + layer * pitch;
    const wide = perRow * (head + 1) - 1;
    return {
      x: left, width: pitch, perRow, head,
      lines: { x: left + margin, width: pitch - out - middle - between - 2 * margin },
      heads: [left + (pitch - wide) / 2, TITLES, wide, tall],
    };
  });
  for (const { kind, layer } of columns.slice(places.length)) {
    const right = start + (layer + 1) * pitch;
    if (kind === "layer") places.push({ x: right - out, width: out });
    else places.push({ x: right - out - between - middle, width: middle });
  }
  const top = TITLES + tall + LABELS;
  const rowHeight = Math.max(FEWEST_ROW, Math.min(LARGEST_ROW, (height - top - 4) / header.tokens.length));
  const bottom = top + rowHeight * header.tokens.length;
  const boxes = answersOf(header, answers.width, top, rowHeight, Math.max(bottom, height));
  const last = boxes.at(-1);
  return {
    width, height: Math.ceil(Math.max(bottom, last ? last.y + last.height : 0) + 4), top, rowHeight,
    text, pieces, columns: places, layers: placed, answers, boxes, hasHalves,
  };
}

/** Below this width, its frame scrolls: words and heads could not be read. */
export function leastWidth({ num_layers: layers }: GlanceHeader): number {
  return 288 + 48 * layers;
}

/** The left edge of what a step of the walk is about. */
export function startOf({ columns, layers, answers }: Layout, part: string): number {
  const starts: Record<string, Span> = {
    input: columns[0], attention: layers[0], norm: layers[0], feed_forward: layers[0], layers: layers[0], pair: answers, words: answers,
  };
  return Math.max(0, (starts[part]?.x ?? 0) - 12);
}

// The height of the frame in which a sentence says why there is no answer.
function absentHeight(why: string, width: number): number {
  const lines = wrapped(why, (text) => LETTER * text.length, width - 8).length;
  return 10 + ABSENT_LINE * Math.max(1, Math.min(MOST_ABSENT, lines));
}

// How many lines of a sentence stand in such a frame.
export function linesOf({ height }: Pick<Answer, "height">): number {
  return Math.max(1, Math.floor((height - 10) / ABSENT_LINE));
}

// A sentence in lines that are no wider than there is room; a word that is wider has one alone.
export function wrapped(text: string, widthOf: (text: string) => number, room: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.length ? `${lines[lines.length - 1]} ${word}` : "";
    if (line && widthOf(line) <= room) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines;
}

// The boxes of the answers, from the top, each as near to its row as the others allow.
function answersOf(header: GlanceHeader, width: number, top: number, rowHeight: number, bottom: number): Answer[] {
  const { predictions, absent } = header;
  const pairHeight = absent.pair === undefined ? 40 : absentHeight(absent.pair, width);
  const room = bottom - top - pairHeight - 4;
  const words = predictions[0]?.words.length ?? 0;
  const numWords = Math.max(1, Math.min(words, Math.floor(room / Math.max(1, predictions.length) / WORD) - 2));
  const shown = predictions.slice(0, Math.max(1, Math.floor(room / ((numWords + 1.6) * WORD))));
  const boxes: Answer[] = [{ kind: "pair", index: 0, y: top, height: pairHeight, row: 0, numWords: 0 }];
  if (!predictions.length) {
    const why = absent.words ?? "";
    boxes.push({ kind: "words", index: 0, y: top + pairHeight + 14, height: absentHeight(why, width), row: 0, numWords: 0 });
    return boxes;
  }
  const height = (numWords + 1.6) * WORD;
  let free = top + pairHeight + 8;
  shown.forEach(({ row }, index) => {
    const wanted = top + (row + 0.5) * rowHeight - WORD * 0.8;
    const most = bottom - (shown.length - index) * height;
    const y = Math.max(free, Math.min(wanted, most));
    boxes.push({ kind: "words", index, y, height: height - 6, row, numWords });
    free = y + height;
  });
  return boxes;
}

/** A part of the drawing under the pointer. */
export type Part =
  | { kind: "text" | "token" | "input"; row: number; column?: number }
  | { kind: "attention"; layer: number; row: number | null; head: number | null }
  | { kind: "norm" | "feed_forward" | "layer"; layer: number; row: number | null; column?: number }
  | { kind: "pair" | "words"; row: number; index: number };

// The part at a point, or null.
export function partAt(layout: Layout, header: GlanceHeader, x: number, y: number): Part | null {
  const { top, rowHeight, columns, answers } = layout;
  const count = header.tokens.length;
  const row = y < top ? null : Math.floor((y - top) / rowHeight);
  if (x >= answers.x) {
    const box = layout.boxes.find((one) => y >= one.y && y <= one.y + one.height);
    return box ? { kind: box.kind, row: box.row, index: box.index } : null;
  }
  if (row !== null && row >= count) return null;
  const layer = layout.layers.findIndex((place) => x >= place.x && x < place.x + place.width);
  if (layer >= 0) return inLayer(layout, header, layer, row, x, y);
  if (row === null) return null;
  if (x < layout.pieces.x) return { kind: "text", row };
  if (x < layout.pieces.x + layout.pieces.width + 4) return { kind: "token", row };
  const column = columns.findIndex((place) => x < place.x + place.width + 6);
  return { kind: "input", row, column };
}

function inLayer(layout: Layout, header: GlanceHeader, layer: number, row: number | null, x: number, y: number): Part | null {
  const place = layout.layers[layer];
  if (row === null) {
    const [left, upper, wide, tall] = place.heads;
    const isGrid = x >= left && x < left + wide && y >= upper && y < upper + tall;
    if (isGrid) {
      const step = place.head + 1;
      const head = Math.floor((y - upper) / step) * place.perRow + Math.floor((x - left) / step);
      // A head of a few pixels is no target for a finger: the layer is.
      return { kind: "attention", layer, row: null, head: head < header.num_heads && place.head >= 7 ? head : null };
    }
    return y < upper ? { kind: "layer", layer, row: null } : { kind: "norm", layer, row: null };
  }
  const own = header.columns.flatMap((column, index) => (column.layer === layer ? [index] : []));
  const state = own.at(-1) ?? 0;
  if (x >= layout.columns[state].x - 1) return { kind: "layer", layer, row, column: state };
  if (layout.hasHalves) {
    const half = layout.columns[own[0]];
    if (x >= half.x + half.width + 1) return { kind: "feed_forward", layer, row };
    if (x >= half.x - 1) return { kind: "norm", layer, row, column: own[0] };
  }
  return { kind: "attention", layer, row, head: null };
}
