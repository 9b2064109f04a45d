// Reads texts with the network: what the worker computes, and what it is asked.

import type { Bytes } from "../browser/data_blocks";
import { unpack } from "../canvas/shared/transport";
import { Ledger, plainMachine, type Floats, type Machine } from "./network/arithmetic";
import { Bert, Room, type Activations } from "./network/bert";
import { Characters } from "./network/characters";
import { simdMachine } from "./network/simd";
import { fillTensors, type WeightsHeader } from "./network/weights";
import { WordPiece, type Encoding } from "./network/wordpiece";

/** Two texts, and the places of hidden tokens. */
export interface Question {
  number: number;
  first: string;
  /** null for one text. */
  second: string | null;
  hidden: number[];
}

export interface Guess {
  place: number;
  /** What stood there. */
  original: string;
  words: string[];
  probabilities: number[];
  /** Of the original. */
  own: number;
  /** The best word after each layer, from the embeddings on. */
  lens: { word: string; probability: number; own: number }[];
}

export interface Result {
  number: number;
  texts: [string, string | null];
  encoding: Encoding;
  numTokens: number;
  numHeads: number;
  guesses: Guess[];
  /** The probability that B follows A; null without a pair or without the head. */
  next: number | null;
  milliseconds: number;
}

/** Sees the attention of the texts as they are typed, [H, T, T], layer by layer; the next one may overwrite it. */
export interface Viewer {
  start(encoding: Encoding, isMark: boolean[]): void;
  layer(attention: Floats, layer: number): void;
}

export interface Opened {
  name: string;
  numLayers: number;
  numHeads: number;
  vocabSize: number;
  numParameters: number;
  hasMaskedWords: boolean;
  hasNextSentence: boolean;
  /** Whether the network computes in WebAssembly. */
  isFast: boolean;
}

type See = (attention: Floats, layer: number) => void;

const NUM_WORDS = 8;

export class Reader {
  readonly opened: Opened;
  readonly wordpiece: WordPiece;
  readonly bert: Bert;
  private readonly characters: Characters;
  /** Of the texts as typed, and of all other inputs. */
  private readonly typed: Room;
  private readonly changed: Room;
  private inTyped = "";
  private inChanged = "";
  /** The layer of the typed texts whose attention is there; null for none. */
  private atLayer: { layer: number; weights: Floats } | null = null;
  /** Sees what is typed when it is computed. */
  viewer: Viewer | null = null;

  /**
   * @param guesses Whether `read` guesses where tokens are hidden.
   * @param isFast Whether WebAssembly computes where the browser has it, or the plain form anyway.
   */
  static async open(bytes: Bytes, guesses = true, isFast = true): Promise<Reader> {
    const message = unpack<WeightsHeader>(bytes);
    const ledger = new Ledger();
    new Reader(message.header, ledger, guesses);
    const machine = isFast ? simdMachine(ledger.bytes) : null;
    const reader = new Reader(message.header, machine ?? plainMachine, guesses);
    await fillTensors(message, reader.bert.tensors);
    return reader;
  }

  private constructor(header: WeightsHeader, machine: Machine, private readonly guesses: boolean) {
    const { tokenizer, config, tensors } = header;
    this.characters = new Characters(header.characters);
    this.wordpiece = new WordPiece(tokenizer, this.characters);
    this.bert = new Bert(header, machine, tokenizer.max_length);
    this.typed = new Room(machine, config, tokenizer.max_length);
    this.changed = new Room(machine, config, tokenizer.max_length);
    this.opened = {
      name: header.name, numLayers: config.num_hidden_layers, numHeads: config.num_attention_heads, vocabSize: tokenizer.vocab.length,
      numParameters: tensors.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0),
      hasMaskedWords: this.bert.hasMaskedWords, hasNextSentence: this.bert.hasNextSentence, isFast: machine !== plainMachine,
    };
  }

  /** What is seen of the texts as they are typed, and what is guessed where tokens are hidden. */
  read({ number, first, second, hidden }: Question): Result {
    const start = performance.now();
    const encoding = this.wordpiece.encode(first, second);
    const { input_ids, segment_ids, text_ids } = encoding;
    const activations = this.trace(encoding);
    const ids = input_ids.map((id, place) => (hidden.includes(place) && text_ids[place] >= 0 ? this.mask : id));
    const masks = this.guesses && this.bert.hasMaskedWords ? ids.flatMap((id, place) => (id === this.mask ? [place] : [])) : [];
    const states = masks.length ? this.run(ids, segment_ids).hiddenStates : [];
    return {
      number, texts: [first, second], encoding, numTokens: activations.numTokens, numHeads: this.opened.numHeads,
      guesses: masks.map((place) => this.guess(states, place, encoding)),
      next: this.bert.hasNextSentence && text_ids.includes(1)
        ? this.bert.nextProbability(activations.hiddenStates[activations.hiddenStates.length - 1]) : null,
      milliseconds: performance.now() - start,
    };
  }

  /** What the network computes of texts as they are typed. */
  trace(encoding: Encoding): Activations {
    const { input_ids, segment_ids, tokens } = encoding;
    const input = JSON.stringify([input_ids, segment_ids]);
    if (this.inTyped === input) return this.typed.activations(input_ids.length);
    this.inTyped = input;
    this.viewer?.start(encoding, tokens.map((token) => [...token.replace(/^##/, "")].every((c) => this.characters.isPunctuation(c))));
    return this.bert.run(input_ids, segment_ids, this.typed, (weights, layer) => {
      this.atLayer = { layer, weights };
      this.viewer?.layer(weights, layer);
    });
  }

  /** A layer's attention of texts as they are typed, [H, T, T]; what is computed next overwrites it. */
  attention(encoding: Encoding, layer: number): Floats {
    const { hiddenStates } = this.trace(encoding);
    if (this.atLayer?.layer !== layer) this.atLayer = { layer, weights: this.bert.attention(layer, hiddenStates[layer]) };
    return this.atLayer.weights;
  }

  /**
   * What the network computes of an input; of one that it knows, without computing it again.
   *
   * @param see Sees the attention of each layer, which the next one overwrites.
   */
  run(inputIds: number[], segmentIds: number[], see?: See): Activations {
    const input = JSON.stringify([inputIds, segmentIds]);
    if (this.inTyped === input) {
      const activations = this.typed.activations(inputIds.length);
      if (see) activations.halves.forEach((_, layer) => see(this.bert.attention(layer, activations.hiddenStates[layer]), layer));
      if (see) this.atLayer = null;
      return activations;
    }
    if (this.inChanged === input && !see) return this.changed.activations(inputIds.length);
    this.inChanged = input;
    this.atLayer = null;
    return this.bert.run(inputIds, segmentIds, this.changed, see);
  }

  private get mask(): number {
    return this.wordpiece.settings.ids.mask;
  }

  private guess(states: Floats[], place: number, { tokens, input_ids }: Encoding): Guess {
    const { vocab } = this.wordpiece.settings;
    const own = input_ids[place];
    const width = this.bert.config.hidden_size;
    const lens: Guess["lens"] = [];
    let best: number[] = [];
    let chances: number[] = [];
    this.bert.wordProbabilities(states.map((state) => state.subarray(place * width, (place + 1) * width)), (probabilities, layer) => {
      best = largest(probabilities, layer === states.length - 1 ? NUM_WORDS : 1);
      chances = best.map((id) => probabilities[id]);
      lens.push({ word: vocab[best[0]], probability: chances[0], own: probabilities[own] });
    });
    return {
      place, original: tokens[place], words: best.map((id) => vocab[id]), probabilities: chances, own: lens[lens.length - 1].own, lens,
    };
  }

  /** The probability that text B follows text A, also with all segment ids 0; null without the head. */
  follows(first: string, second: string, isOneSegment = false): number | null {
    if (!this.bert.hasNextSentence) return null;
    const { input_ids, segment_ids } = this.wordpiece.encode(first, second);
    const { hiddenStates } = this.run(input_ids, isOneSegment ? segment_ids.map(() => 0) : segment_ids);
    return this.bert.nextProbability(hiddenStates[hiddenStates.length - 1]);
  }

  /** The probability that A follows B: what `read` tells of B after A, with the texts swapped. */
  swapped({ first, second }: Question): number | null {
    return second === null ? null : this.follows(second, first);
  }
}

// The places of the largest numbers, the largest first.
export function largest(values: Floats, count: number): number[] {
  const best: number[] = [];
  for (let k = 0; k < values.length; k++) {
    if (best.length === count && values[k] <= values[best[count - 1]]) continue;
    let at = best.length;
    while (at > 0 && values[best[at - 1]] < values[k]) at--;
    best.splice(at, 0, k);
    if (best.length > count) best.pop();
  }
  return best;
}
