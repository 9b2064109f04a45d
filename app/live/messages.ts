// What the app's views are sent, made of what the network computed: as the Python modules beside the views make it.

import type { Bytes } from "../browser/data_blocks";
import { quickEncoder } from "../canvas/shared/transport";
import type { StripData } from "../token_strip/facts";
import { range } from "../browser/text";
import { measureHeads } from "./measures";
import type { Encoding } from "./network/wordpiece";
import type { Reading, Result } from "./reader";

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

const THUMBNAIL_SIZE = 48;

export class Messages {
  private readonly colours: Uint8Array<ArrayBuffer>;
  private readonly decoding: Float32Array<ArrayBuffer>;
  private readonly code: (weight: number) => number;

  constructor(private readonly look: Look) {
    this.colours = Uint8Array.from(look.colours);
    this.decoding = Float32Array.from(look.decoding);
    this.code = quickEncoder(this.decoding);
  }

  private encode(weights: Float32Array, codes: Uint8Array): void {
    for (let k = 0; k < weights.length; k++) codes[k] = this.code(weights[k]);
  }

  overview(reading: Reading): Bytes {
    const { result: { numTokens, numHeads }, activations: { attentions } } = reading;
    const size = Math.min(numTokens, THUMBNAIL_SIZE);
    const each = numHeads * size ** 2;
    const codes = new Uint8Array(attentions.length * each);
    attentions.forEach((weights, layer) => this.encode(thumbnails(weights, numHeads, numTokens, size), codes.subarray(layer * each)));
    return pack({
      num_layers: attentions.length, num_heads: numHeads, num_tokens: numTokens, size, layer: 0, heads: [],
      look: this.look.overview, names: this.look.names, measures: measureHeads(reading), broken: [], missing: "",
    }, codes, this.colours, this.decoding, new Uint8Array());
  }

  /** The chosen heads as lines or as a heat map. */
  heads(reading: Reading, choice: Choice): Heads {
    const { result: { encoding, texts }, activations: { attentions } } = reading;
    const { layer, heads, view, revision } = choice;
    const header = {
      ...wordsOf(encoding, texts), segment_ids: encoding.segment_ids, heads, num_layers: attentions.length, missing: "", revision,
      kinds: this.look.kinds,
    };
    return { view, message: view === "map" ? this.map(reading, choice, header) : this.lines(reading, layer, header) };
  }

  private lines({ result: { number, numHeads }, activations: { attentions } }: Reading, layer: number, header: object): Bytes {
    const codes = new Uint8Array(attentions[layer].length);
    this.encode(attentions[layer], codes);
    return pack({
      ...header, look: this.look.lines, layer, sent: range(numHeads), broken: [], weights: number * attentions.length + layer,
      colours: this.look.head_colours, mean_colour: this.look.accent,
    }, codes, this.decoding, new Uint8Array());
  }

  private map({ result: { numHeads, numTokens }, activations: { attentions } }: Reading, { layer, heads }: Choice, header: object): Bytes {
    const averaged = heads.length ? heads : range(numHeads);
    const cells = numTokens ** 2;
    const mean = new Float32Array(cells);
    for (let cell = 0; cell < cells; cell++) {
      let sum = 0;
      for (const head of averaged) sum += attentions[layer][head * cells + cell];
      mean[cell] = sum / averaged.length;
    }
    const name = averaged.length === 1 ? `head ${averaged[0]}`
      : averaged.length === numHeads ? `mean of all ${numHeads} heads` : `mean of heads ${averaged.join(", ")}`;
    return pack({
      ...header, title: `Layer ${layer}, ${name}`, layers: [layer], num_heads: numHeads, look: this.look.map,
      accent: this.look.accent, alone: [layer],
    }, mean, this.colours);
  }
}

/** What the strip of tokens shows. */
export function stripOf({ encoding }: Result, { a, b, special }: Look["kinds"], selected: number, marked: number[]): StripData {
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
  const parts = blocks.map((block) => new Uint8Array(block.buffer, block.byteOffset, block.byteLength));
  const places: number[][] = [];
  let size = 0;
  for (const part of parts) {
    places.push([size, part.length]);
    size += Math.ceil(part.length / 4) * 4;
  }
  const text = new TextEncoder().encode(JSON.stringify({ ...header, blocks: places }));
  const start = 4 + Math.ceil(text.length / 4) * 4;
  const out = new Uint8Array(start + size).fill(32, 4, start);
  new DataView(out.buffer).setUint32(0, start - 4, true);
  out.set(text, 4);
  parts.forEach((part, k) => out.set(part, start + places[k][0]));
  return out;
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
