// Reads texts with the network: what the worker computes, and what it is asked.

import type { Bytes } from "../browser/data_blocks";
import type { Floats } from "./network/arithmetic";
import { Bert, type Activations } from "./network/bert";
import { Characters } from "./network/characters";
import { readWeights, type Tensors, type WeightsHeader } from "./network/weights";
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
  /** Which tokens are punctuation. */
  isMark: boolean[];
  numTokens: number;
  numHeads: number;
  /** [L] of [H, T, T]. */
  attentions: Floats[];
  guesses: Guess[];
  /** The probability that B follows A; null without a pair or without the head. */
  next: number | null;
  milliseconds: number;
}

export interface Opened {
  name: string;
  numLayers: number;
  numHeads: number;
  vocabSize: number;
  numParameters: number;
  hasMaskedWords: boolean;
  hasNextSentence: boolean;
}

const NUM_WORDS = 8;

export class Reader {
  readonly opened: Opened;
  readonly wordpiece: WordPiece;
  readonly bert: Bert;
  private readonly characters: Characters;
  private ran: { input: string; activations: Activations } | null = null;

  static async open(bytes: Bytes): Promise<Reader> {
    const { header, tensors } = await readWeights(bytes);
    return new Reader(header, tensors);
  }

  private constructor(header: WeightsHeader, tensors: Tensors) {
    this.characters = new Characters(header.characters);
    this.wordpiece = new WordPiece(header.tokenizer, this.characters);
    this.bert = new Bert(header.config, tensors);
    this.opened = {
      name: header.name, numLayers: header.config.num_hidden_layers, numHeads: header.config.num_attention_heads,
      vocabSize: header.tokenizer.vocab.length,
      numParameters: [...tensors.values()].reduce((sum, tensor) => sum + tensor.length, 0),
      hasMaskedWords: this.bert.hasMaskedWords, hasNextSentence: this.bert.hasNextSentence,
    };
  }

  /** What is seen of the texts as they are typed, and what is guessed where tokens are hidden. */
  read({ number, first, second, hidden }: Question): Result {
    const start = performance.now();
    const encoding = this.wordpiece.encode(first, second);
    const { input_ids, segment_ids, text_ids } = encoding;
    const typed = this.run(input_ids, segment_ids);
    const ids = input_ids.map((id, place) => (hidden.includes(place) && text_ids[place] >= 0 ? this.mask : id));
    const states = this.run(ids, segment_ids).hiddenStates;
    const masks = ids.flatMap((id, place) => (id === this.mask ? [place] : []));
    return {
      number, texts: [first, second], encoding, numTokens: typed.numTokens, attentions: typed.attentions,
      guesses: this.bert.hasMaskedWords ? masks.map((place) => this.guess(states, place, encoding)) : [],
      isMark: encoding.tokens.map((token) => [...token.replace(/^##/, "")].every((c) => this.characters.isPunctuation(c))),
      numHeads: this.opened.numHeads,
      next: this.bert.hasNextSentence && text_ids.includes(1)
        ? this.bert.nextProbability(typed.hiddenStates[typed.hiddenStates.length - 1]) : null,
      milliseconds: performance.now() - start,
    };
  }

  /** What the network computes; of the last input, without computing it again. */
  run(inputIds: number[], segmentIds: number[]): Activations {
    const input = JSON.stringify([inputIds, segmentIds]);
    if (this.ran?.input !== input) this.ran = { input, activations: this.bert.run(inputIds, segmentIds) };
    return this.ran.activations;
  }

  private get mask(): number {
    return this.wordpiece.settings.ids.mask;
  }

  private guess(states: Floats[], place: number, { tokens, input_ids }: Encoding): Guess {
    const { vocab } = this.wordpiece.settings;
    const own = input_ids[place];
    const byLayer = states.map((state) => this.bert.wordProbabilities(state, place));
    const lens = byLayer.map((probabilities) => {
      const [best] = largest(probabilities, 1);
      return { word: vocab[best], probability: probabilities[best], own: probabilities[own] };
    });
    const probabilities = byLayer[byLayer.length - 1];
    const best = largest(probabilities, NUM_WORDS);
    return {
      place, original: tokens[place], words: best.map((id) => vocab[id]),
      probabilities: best.map((id) => probabilities[id]), own: probabilities[own], lens,
    };
  }

  /** The probability that A follows B: what `read` tells of B after A, with the texts swapped. */
  swapped({ first, second }: Question): number | null {
    if (!this.bert.hasNextSentence || second === null) return null;
    const { input_ids, segment_ids } = this.wordpiece.encode(second, first);
    const { hiddenStates } = this.bert.run(input_ids, segment_ids);
    return this.bert.nextProbability(hiddenStates[hiddenStates.length - 1]);
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
