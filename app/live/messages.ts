// What the app's views are sent, made of what the network computed: as the Python modules beside the views make it.

import type { Bytes } from "../parts/browser/data_blocks";
import { quickEncoder, withHeader } from "../parts/canvas/shared/transport";
import type { StripData } from "../parts/token_strip/facts";
import { range } from "../parts/browser/text";
import { HeadMeasures } from "./measures";
import type { Floats } from "./network/arithmetic";
import type { Encoding } from "./network/wordpiece";
import type { Opened, Reader, Result, Viewer } from "./reader";

/** What the drawings of all texts have in common, from Python. */
export interface Look {
  kinds: { a: string; b: string; special: string };
  accent: string;
  /** A colour for each head. */
  head_colours: string[];
  /** 256 x red, green, blue. */
  colours: number[];
  /** The weight of each of the 256 codes. */
  decoding: number[];
  /** Names and units of the measures of heads. */
  names: Record<string, { label: string; unit: string; habit: boolean }>;
  overview: object;
  lines: object;
  map: object;
}

/** What is seen of the attention: a layer and some of its heads, none for all. */
export interface Choice {
  layer: number;
  heads: number[];
  view: "lines" | "map";
  /** Of what the visitor chose in the drawing; the drawing's own, sent back. */
  revision: number;
}

/** The drawing of the chosen heads. */
export interface Heads extends Pick<Choice, "view"> {
  message: Bytes;
}

/** Most cells on a side of a head's picture. */
export const THUMBNAIL_SIZE = 48;

export class Messages implements Viewer {
  private readonly colours: Uint8Array<ArrayBuffer>;
  private readonly decoding: Float32Array<ArrayBuffer>;
  private readonly code: (weight: number) => number;
  private measures: HeadMeasures | null = null;
  private size = 0;
  /** Codes of the small pictures of all heads. */
  private pictures = new Uint8Array();

  constructor(private readonly look: Look, private readonly opened: Pick<Opened, "numLayers" | "numHeads">) {
    this.colours = Uint8Array.from(look.colours);
    this.decoding = Float32Array.from(look.decoding);
    this.code = quickEncoder(this.decoding);
  }

  // ---- while a text is computed ----

  start(encoding: Encoding, isMark: boolean[]): void {
    const { numLayers, numHeads } = this.opened;
    this.measures = new HeadMeasures(encoding, isMark);
    this.size = Math.min(encoding.tokens.length, THUMBNAIL_SIZE);
    this.pictures = new Uint8Array(numLayers * numHeads * this.size ** 2);
  }

  layer(attention: Floats, layer: number): void {
    const { numHeads } = this.opened;
    const length = Math.sqrt(attention.length / numHeads);
    this.measures?.add(attention);
    encode(thumbnails(attention, numHeads, length, this.size), this.code, this.pictures.subarray(layer * numHeads * this.size ** 2));
  }

  // ---- the messages ----

  /** All heads of the text that was computed last. */
  overview({ numTokens }: Result): Bytes {
    const { numLayers: num_layers, numHeads: num_heads } = this.opened;
    return pack({
      num_layers, num_heads, num_tokens: numTokens, size: this.size, layer: 0, heads: [],
      look: this.look.overview, names: this.look.names, measures: this.measures?.found, broken: [], missing: "",
    }, this.pictures, this.colours, this.decoding, new Uint8Array());
  }

  /** The chosen heads as lines or as a heat map. */
  heads(reader: Reader, { encoding, texts, number }: Result, choice: Choice): Heads {
    const { layer, heads, view, revision } = choice;
    const { numLayers, numHeads } = this.opened;
    const header = {
      ...wordsOf(encoding, texts), segment_ids: encoding.segment_ids, heads, num_layers: numLayers, missing: "", revision,
      kinds: this.look.kinds,
    };
    const weights = reader.attention(encoding, layer);
    if (view === "map") return { view, message: this.map(weights, choice, { ...header, num_heads: numHeads }) };
    return { view, message: this.lines(weights, layer, { ...header, weights: number * numLayers + layer }) };
  }

  private lines(weights: Floats, layer: number, header: object): Bytes {
    const { message, blocks } = packed({
      ...header, look: this.look.lines, layer, sent: range(this.opened.numHeads), broken: [],
      colours: this.look.head_colours, mean_colour: this.look.accent,
    }, weights.length, 4 * this.decoding.length, 0);
    encode(weights, this.code, blocks[0]);
    blocks[1].set(bytesOf(this.decoding));
    return message;
  }

  private map(weights: Floats, { layer, heads }: Choice, header: object): Bytes {
    const { numHeads } = this.opened;
    const averaged = heads.length ? heads : range(numHeads);
    const cells = weights.length / numHeads;
    const mean = new Float32Array(cells);
    for (let cell = 0; cell < cells; cell++) {
      let sum = 0;
      for (const head of averaged) sum += weights[head * cells + cell];
      mean[cell] = sum / averaged.length;
    }
    const name = averaged.length === 1 ? `head ${averaged[0]}`
      : averaged.length === numHeads ? `mean of all ${numHeads} heads` : `mean of heads ${averaged.join(", ")}`;
    return pack({
      ...header, title: `Layer ${layer}, ${name}`, layers: [layer], look: this.look.map,
      accent: this.look.accent, alone: [layer],
    }, mean, this.colours);
  }
}

/** What the strip of tokens shows. */
export function stripOf({ typed: encoding }: Result, { a, b, special }: Look["kinds"], selected: number, marked: number[]): StripData {
  return {
    tokens: encoding.tokens, ids: encoding.input_ids, segments: encoding.segment_ids,
    positions: range(encoding.tokens.length), texts: encoding.text_ids, words: encoding.word_ids,
    starts: encoding.offsets.map(([start]) => start), ends: encoding.offsets.map(([, end]) => end),
    selected, marked, colors: [a, b, special],
  };
}

// The tokens and the words that they belong to: the first token of each, and its name as it is typed.
export function wordsOf({ tokens, text_ids, word_ids, offsets }: Encoding, texts: Result["texts"]) {
  const starts = range(tokens.length).filter((k) => k === 0 || word_ids[k] < 0 || word_ids[k] !== word_ids[k - 1]);
  const letters = texts.map((text) => [...(text ?? "")]);
  const words = starts.map((start, k) => {
    const end = (starts[k + 1] ?? tokens.length) - 1;
    return text_ids[start] < 0 ? tokens[start] : letters[text_ids[start]].slice(offsets[start][0], offsets[end][1]).join("");
  });
  return { tokens, text_ids, starts, words, is_pair: text_ids.includes(1) };
}

// A message of a header and blocks, none deflated; `pack` of transport.py.
export function pack(header: object, ...blocks: ArrayBufferView<ArrayBuffer>[]): Bytes {
  const { message, blocks: places } = packed(header, ...blocks.map(({ byteLength }) => byteLength));
  blocks.forEach((block, k) => places[k].set(bytesOf(block)));
  return message;
}

// The same with blocks of so many bytes to be written.
function packed(header: object, ...sizes: number[]): { message: Bytes; blocks: Bytes[] } {
  const places: number[][] = [];
  let size = 0;
  for (const length of sizes) {
    places.push([size, length]);
    size += Math.ceil(length / 4) * 4;
  }
  const { message, start } = withHeader({ ...header, blocks: places }, size);
  return { message, blocks: places.map(([from, length]) => message.subarray(start + from, start + from + length)) };
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView<ArrayBuffer>): Bytes {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

// Puts the codes of weights into an array, from its start. A loop: `Uint8Array.from` keeps each number as an object for a while.
export function encode(weights: Float32Array, code: (weight: number) => number, codes: Uint8Array): void {
  for (let k = 0; k < weights.length; k++) codes[k] = code(weights[k]);
}

// Each head small: a cell is the largest weight of its block, [H, S, S].
export function thumbnails(weights: Float32Array, numHeads: number, length: number, size: number): Float32Array {
  if (length === size) return weights;
  const small = new Float32Array(numHeads * size * size);
  const first = (cell: number) => Math.floor((cell * length) / size);
  const last = (cell: number) => Math.ceil(((cell + 1) * length) / size);
  for (let head = 0; head < numHeads; head++) {
    for (let row = 0; row < size; row++) {
      for (let column = 0; column < size; column++) {
        let most = 0;
        for (let y = first(row); y < last(row); y++) {
          for (let x = first(column); x < last(column); x++) most = Math.max(most, weights[(head * length + y) * length + x]);
        }
        small[(head * size + row) * size + column] = most;
      }
    }
  }
  return small;
}
