// Reads texts with the network: what the worker computes, and what it is asked.

import type { Bytes } from "../parts/browser/data_blocks";
import { unpack } from "../parts/canvas/shared/transport";
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
  /** None chosen: a word is, so that there is something to guess. */
  hidden: number[] | null;
  /** The texts whose places they are: an edit moves them along with their words. */
  hiddenIn: [string, string | null];
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
  /** As typed, and with [MASK] where a token is hidden, which is what is run. */
  typed: Encoding;
  encoding: Encoding;
  hidden: number[];
  numTokens: number;
  numHeads: number;
  guesses: Guess[];
  /** The probability that B follows A; null without a pair or without the head. */
  next: number | null;
  milliseconds: number;
}

/** Sees the attention of the texts that are shown, [H, T, T], layer by layer; the next one may overwrite it. */
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
  /** Of the texts that are shown, and of all other inputs. */
  private readonly shown: Room;
  private readonly changed: Room;
  private inShown = "";
  private inChanged = "";
  /** The layer of the shown texts whose attention is there; null for none. */
  private atLayer: { layer: number; weights: Floats } | null = null;
  /** Sees what is shown when it is computed. */
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
    this.shown = new Room(machine, config, tokenizer.max_length);
    this.changed = new Room(machine, config, tokenizer.max_length);
    this.opened = {
      name: header.name, numLayers: config.num_hidden_layers, numHeads: config.num_attention_heads, vocabSize: tokenizer.vocab.length,
      numParameters: tensors.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0),
      hasMaskedWords: this.bert.hasMaskedWords, hasNextSentence: this.bert.hasNextSentence, isFast: machine !== plainMachine,
    };
  }

  /**
   * What is seen of texts, and what is guessed where tokens are hidden.
   *
   * @param choose Finds the tokens to hide in texts in which none was chosen.
   */
  read({ number, first, second, hidden: chosen, hiddenIn }: Question, choose: () => number[] = () => []): Result {
    const start = performance.now();
    const typed = this.wordpiece.encode(first, second);
    const { input_ids, text_ids } = typed;
    const isSame = hiddenIn[0] === first && hiddenIn[1] === second;
    const moved = isSame ? chosen ?? [] : movedPlaces(this.wordpiece.encode(...hiddenIn), typed, chosen ?? []);
    const kept = moved.filter((place) => text_ids[place] >= 0 && input_ids[place] !== this.mask);
    const hidden = kept.length || chosen?.length === 0 ? kept : choose();
    const encoding = this.hide(typed, hidden);
    const masks = this.guesses && this.bert.hasMaskedWords ? encoding.input_ids.flatMap((id, place) => (id === this.mask ? [place] : [])) : [];
    const traced = this.trace(encoding);
    return {
      number, texts: [first, second], typed, encoding, hidden, numTokens: traced.numTokens, numHeads: this.opened.numHeads,
      guesses: masks.map((place) => this.guess(traced.hiddenStates, place, typed)),
      next: this.bert.hasNextSentence && text_ids.includes(1) ? this.next(traced) : null,
      milliseconds: performance.now() - start,
    };
  }

  /** An input with [MASK] at some places. */
  hide(typed: Encoding, places: number[]): Encoding {
    const isHidden = (place: number) => places.includes(place);
    const mask = this.wordpiece.settings.vocab[this.mask];
    return {
      ...typed, input_ids: typed.input_ids.map((id, place) => (isHidden(place) ? this.mask : id)),
      tokens: typed.tokens.map((token, place) => (isHidden(place) ? mask : token)),
    };
  }

  /** What the network computes of the texts that are shown. */
  trace(encoding: Encoding): Activations {
    const { input_ids, segment_ids, tokens } = encoding;
    const input = JSON.stringify([input_ids, segment_ids]);
    if (this.inShown === input) return this.shown.activations(input_ids.length);
    this.inShown = input;
    this.viewer?.start(encoding, tokens.map((token) => [...token.replace(/^##/, "")].every((c) => this.characters.is(c, "punctuation"))));
    return this.bert.run(input_ids, segment_ids, this.shown, (weights, layer) => {
      this.atLayer = { layer, weights };
      this.viewer?.layer(weights, layer);
    });
  }

  /** A layer's attention of the shown texts, [H, T, T]; what is computed next overwrites it. */
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
    if (this.inShown === input) {
      const activations = this.shown.activations(inputIds.length);
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
    return this.next(this.run(input_ids, isOneSegment ? segment_ids.map(() => 0) : segment_ids));
  }

  /** The probability that A follows B: what `read` tells of B after A, with the texts swapped and the same words hidden. */
  swapped({ texts: [first, second], encoding: { text_ids }, hidden }: Result): number | null {
    if (second === null || !this.bert.hasNextSentence) return null;
    const swapped = this.wordpiece.encode(second, first);
    const hiddenThere = hidden.map((place) => {
      const text = text_ids[place];
      return swapped.text_ids.indexOf(1 - text) + place - text_ids.indexOf(text);
    });
    const { input_ids, segment_ids } = this.hide(swapped, hiddenThere);
    return this.next(this.run(input_ids, segment_ids));
  }

  private next({ hiddenStates }: Activations): number {
    return this.bert.nextProbability(hiddenStates[hiddenStates.length - 1]);
  }
}

// Where hidden tokens are after an edit: before and behind what has changed.
function movedPlaces({ tokens: before }: Encoding, { tokens: after }: Encoding, hidden: number[]): number[] {
  const most = Math.min(before.length, after.length);
  let [start, end] = [0, 0];
  while (start < most && before[start] === after[start]) start++;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  return hidden.flatMap((place) => {
    if (place < start) return [place];
    return place >= before.length - end && place < before.length ? [place + after.length - before.length] : [];
  });
}

// The places of the largest numbers, the largest first.
export function largest(values: ArrayLike<number>, count: number): number[] {
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
