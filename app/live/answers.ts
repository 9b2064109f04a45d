// The answers of lessons that the browser computes: the functions of bertcore/lessons, under their names.

import { placesOf, range } from "../parts/browser/text";
import type { Floats } from "./network/arithmetic";
import type { Activations } from "./network/bert";
import type { Encoding } from "./network/wordpiece";
import { largest, type Reader } from "./reader";
import { fixed, rounded, significant, type Fact, type Said } from "./wording";

export interface Option {
  name: string;
  text: Said;
  /** What the model gives it. */
  value: Said;
}

/** The network's answer on a text, and what was found on the way. */
export interface Found {
  answer: Fact;
  facts: Record<string, Fact>;
  options: Option[];
  /** Names of further options that are right. */
  also: string[];
}

export type Given = Record<string, Fact>;

/** A text cannot show what is asked. */
export class NotShown extends Error {
  constructor(readonly said: Said) { super("the text does not show it"); }
}

const MASK_SHARE = 0.15; // of the tokens are chosen in pretraining
const MOST_OPTIONS = 6;
const MOST_SURPRISES = 64; // tokens of a text that are hidden one after another
const MOST_FOR_EXAMPLE = 64; // tokens of a text in which several words are tried
const MOST_TRIED = 32;
const MOST_TRIED_FOR_EXAMPLE = 5;
const LONG_ENOUGH = 4; // letters
const NUM_BEST = 5;
const NEARLY = 0.1; // larger than the smallest distance of two heads
const ALIKE_WEIGHTS = 0.2; // share of the larger by which they differ
const SMALL_POINTS = 5; // of probability, below which nothing has changed to speak of
const ALIKE_PROBABILITIES = SMALL_POINTS / 100;

/** The texts of a question, and what the network makes of them. */
class Texts {
  readonly encoding: Encoding;
  /** Places of the texts' tokens. */
  readonly own: number[];
  private computed: Activations | null = null;

  constructor(readonly reader: Reader, readonly first: string, readonly second: string | null) {
    this.encoding = reader.wordpiece.encode(first, second);
    this.own = range(this.length).filter((place) => this.encoding.text_ids[place] >= 0);
  }

  get length(): number { return this.encoding.tokens.length; }
  get mask(): number { return this.reader.wordpiece.settings.ids.mask; }
  get isMaskTyped(): boolean { return this.encoding.input_ids.includes(this.mask); }
  get vocab(): string[] { return this.reader.wordpiece.settings.vocab; }
  get numHeads(): number { return this.reader.opened.numHeads; }
  get activations(): Activations { return this.computed ??= this.reader.trace(this.encoding); }

  token(place: number): string { return this.encoding.tokens[place]; }

  /** The input with [MASK] at some places. */
  masked(places: number[]): number[] {
    return this.encoding.input_ids.map((id, place) => (places.includes(place) ? this.mask : id));
  }

  /** The probabilities of all pieces at a place of an input, which the next ones overwrite. */
  predict(ids: number[], place: number): Floats {
    const { bert } = this.reader;
    const width = bert.config.hidden_size;
    const { hiddenStates } = this.reader.run(ids, this.encoding.segment_ids);
    let found = new Float32Array();
    bert.wordProbabilities([rowOf(hiddenStates[hiddenStates.length - 1], place, width)], (probabilities) => { found = probabilities; });
    return found;
  }

  numLetters(place: number): number { return [...this.token(place)].length; }

  /** A fact of every token to pick. */
  options(value: (place: number) => Said): Option[] {
    return range(this.length).map((place) => ({ name: String(place), text: `${place}: ${this.token(place)}`, value: value(place) }));
  }

  /** The longest token of the text, which questions are about. */
  subject(): number {
    if (!this.own.length) throw new NotShown(["no_token", {}]);
    return best(this.own, (place) => [...this.token(place).replace(/^#+/, "")].length);
  }
}

// The first of those with the largest score.
function best<Each>(among: Each[], score: (one: Each) => number): Each {
  return among.reduce((most, one) => (score(one) > score(most) ? one : most));
}

function argmax(values: ArrayLike<number>): number {
  return largest(values, 1)[0];
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0);
}

// `percent` of bertcore/lessons/answer.py.
function percent(share: number): string {
  return `${share >= 0.01 ? fixed(100 * share, 1) : significant(100 * share, 2)}%`;
}

function found(answer: Fact, facts: Record<string, Fact>, options: Option[] = [], also: string[] = []): Found {
  return { answer, facts, options, also };
}

// ---- pieces ----

function split({ encoding }: Texts): { most: number[]; words: number[][] } {
  const words = [...placesOf(encoding.word_ids)].filter(([word, { length }]) => word >= 0 && length > 1).map(([, places]) => places);
  if (!words.length) throw new NotShown(["no_split", {}]);
  return { most: best(words, ({ length }) => length), words };
}

function ofWord({ encoding }: Texts, places: number[]) {
  const tokens = places.map((place) => encoding.tokens[place]);
  return { word: tokens.map((token) => token.replace(/^##/, "")).join(""), pieces: tokens.join(" "), num_pieces: tokens.length, position: places[0] };
}

// The pieces of a text of the lesson.
function piecesOf({ reader, vocab }: Texts, text: Fact): string[] {
  return reader.wordpiece.split(String(text)).map(({ id }) => vocab[id]);
}

// ---- hidden words ----

interface Hidden {
  position: number;
  facts: Record<string, Fact>;
  /** The best pieces and their probabilities. */
  words: string[];
  chances: number[];
  /** Rank and probability of what stood there; null where [MASK] was typed. */
  original: { rank: number; p: number } | null;
}

// The bits of each place when it is hidden, beside those hidden in `ids`, and the best word there.
function surprises(texts: Texts, ids: number[], places: number[]): { place: number; bits: number; word: string; p: number }[] {
  return places.map((place) => {
    const probabilities = texts.predict(ids.map((id, at) => (at === place ? texts.mask : id)), place);
    const top = argmax(probabilities);
    return { place, bits: -Math.log2(probabilities[ids[place]]), word: texts.vocab[top], p: probabilities[top] };
  });
}

// Those of some places whose token is a whole word, and those of these that are letters alone.
function wholeWords({ encoding: { word_ids, tokens } }: Texts, places: number[]): { whole: number[]; words: number[] } {
  const whole = places.filter((place) => word_ids.indexOf(word_ids[place]) === word_ids.lastIndexOf(word_ids[place]));
  return { whole, words: whole.filter((place) => /^\p{L}+$/u.test(tokens[place])) };
}

// Of some words, the one that is predicted best; `suggest_mask` of surprise.py.
function suggested(texts: Texts, masked: number[], isUnique: boolean, most: number): number {
  const ids = texts.masked(masked);
  const places = texts.own.filter((place) => ids[place] !== texts.mask);
  if (!places.length) throw new Error("the text has no token to mask. Write at least one more word");
  const { whole, words } = wholeWords(texts, places);
  const long = words.filter((place) => texts.numLetters(place) >= LONG_ENOUGH);
  const usual = long.length ? long : words;
  const once = isUnique ? usual.filter((place) => ids.indexOf(ids[place]) === ids.lastIndexOf(ids[place])) : [];
  const [among] = [once, usual, whole, places].filter(({ length }) => length);
  const tried = among.toSorted((a, b) => texts.numLetters(b) - texts.numLetters(a)).slice(0, most);
  return best(surprises(texts, ids, tried), ({ bits }) => -bits).place;
}

// `example_mask` of surprise.py.
function example(texts: Texts): number {
  if (texts.length <= MOST_FOR_EXAMPLE) return suggested(texts, [], true, MOST_TRIED_FOR_EXAMPLE);
  const places = texts.own.slice(0, MOST_FOR_EXAMPLE);
  const { whole, words } = wholeWords(texts, places);
  const [among] = [words, whole, places].filter(({ length }) => length);
  return best(among, (place) => texts.numLetters(place));
}

/** The word that the app's pages hide where none is; none beside a typed [MASK]. */
export function wordToHide(reader: Reader, first: string, second: string | null): number[] {
  const texts = new Texts(reader, first, second);
  return !reader.opened.hasMaskedWords || texts.isMaskTyped || !texts.own.length ? [] : [example(texts)];
}

// The word that questions hide: a typed [MASK], else the one that the app's pages hide.
function hide(texts: Texts): Hidden {
  const { encoding: { input_ids }, mask, vocab } = texts;
  const position = texts.isMaskTyped ? input_ids.indexOf(mask) : example(texts);
  const probabilities = texts.predict(texts.masked([position]), position);
  const top = largest(probabilities, NUM_BEST);
  const [words, chances] = [top.map((id) => vocab[id]), top.map((id) => probabilities[id])];
  const p = probabilities[input_ids[position]];
  return {
    position, words, chances, facts: { token: texts.token(position), position, best: words[0], p: chances[0] },
    original: texts.isMaskTyped ? null : { p, rank: 1 + probabilities.filter((each) => each > p).length },
  };
}

function originalOf({ original }: Hidden, { vocab, mask }: Texts): { rank: number; p: number } {
  if (!original) throw new NotShown(["no_word", { mask: vocab[mask] }]);
  return original;
}

// ---- pairs ----

function pair({ second }: Texts): string {
  if (second === null) throw new NotShown(["no_pair", {}]);
  return second;
}

function follows({ reader }: Texts, first: string, second: string, isOneSegment = false): number {
  const p = reader.follows(first, second, isOneSegment);
  if (p === null) throw new Error("this checkpoint has no next-sentence head");
  return p;
}

function compared(p: number, after: number, more: Record<string, Fact> = {}): Found {
  return found(Math.abs(p - after) < ALIKE_PROBABILITIES ? "similar" : after > p ? "higher" : "lower", { p, after, ...more });
}

// ---- attention ----

// A head's weights, [T, T]; those of another layer overwrite them.
function squareOf(texts: Texts, layer: number, head: number): Floats {
  const { opened: { numLayers, numHeads } } = texts.reader;
  for (const [name, number, count] of [["layer", layer, numLayers], ["head", head, numHeads]] as const) {
    if (number < 0 || number >= count) throw new Error(`this checkpoint has no ${name} ${number}: its ${name}s are 0 to ${count - 1}`);
  }
  return texts.reader.attention(texts.encoding, layer).subarray(head * texts.length ** 2, (head + 1) * texts.length ** 2);
}

function rowOf(square: Floats, place: number, length: number): Floats {
  return square.subarray(place * length, (place + 1) * length);
}

// The weights, [T], with which a head reads from the subject.
function row(texts: Texts, { layer: ofLayer, head: ofHead }: Given) {
  const [layer, head, position] = [Number(ofLayer ?? 0), Number(ofHead ?? 0), texts.subject()];
  const weights = rowOf(squareOf(texts, layer, head), position, texts.length);
  const strongest = argmax(weights);
  return {
    position, weights, strongest,
    facts: { token: texts.token(position), position, layer, head, key: texts.token(strongest), key_position: strongest, weight: weights[strongest] },
  };
}

// Query times key of the row, [T].
function dots({ activations: { hiddenStates }, reader: { bert }, length }: Texts, { position, facts: { layer, head } }: ReturnType<typeof row>): { dots: number[]; size: number } {
  const { hidden_size: width, num_attention_heads: heads } = bert.config;
  const size = width / heads;
  const input = hiddenStates[Number(layer)];
  const part = (which: string, place: number) => {
    const name = `bert.encoder.layer.${layer}.attention.self.${which}`;
    const [weight, bias] = [bert.tensor(`${name}.weight`), bert.tensor(`${name}.bias`)];
    return range(size).map((k) => {
      const at = Number(head) * size + k;
      let value = bias[at];
      for (let i = 0; i < width; i++) value += weight[at * width + i] * input[place * width + i];
      return value;
    });
  };
  const query = part("query", position);
  return { size, dots: range(length).map((place) => sum(part("key", place).map((value, k) => value * query[k]))) };
}

// ---- the functions by name ----

const FUNCTIONS: Record<string, (texts: Texts, given: Given) => Found> = {
  number_of_tokens({ length, own, encoding }) {
    const words = new Set(encoding.word_ids.filter((word) => word >= 0));
    return found(length, { num_words: words.size, num_pieces: own.length, num_added: length - own.length });
  },
  number_added({ length, own, encoding: { tokens, text_ids } }) {
    const added = tokens.filter((_, place) => text_ids[place] < 0);
    return found(added.length, { added: added.join(" "), num_pieces: own.length, num_tokens: length });
  },
  split_word(texts) {
    const { most, words } = split(texts);
    const sizes = new Map(words.flatMap((places) => places.map((place) => [place, places.length])));
    const value = (place: number): Said => {
      if (texts.encoding.text_ids[place] < 0) return ["added", {}];
      const count = sizes.get(place);
      return count === undefined ? ["whole", {}] : ["one_of", { count }];
    };
    return found(String(most[0]), { ...ofWord(texts, most), num_split: words.length }, texts.options(value), [...sizes.keys()].map(String));
  },
  pieces_of_word(texts) {
    const { most } = split(texts);
    const { word, pieces, position } = ofWord(texts, most);
    return found(most.length, { word, pieces, num_letters: [...word].length, position, first: texts.token(position) });
  },
  first_piece(texts) {
    const { encoding, reader: { wordpiece }, vocab } = texts;
    const { most } = split(texts);
    const text = encoding.text_ids[most[0]] === 1 && texts.second !== null ? texts.second : texts.first;
    const pieces = wordpiece.split(text); // of a text that is cut, too
    const number = pieces.find(({ start }) => start === encoding.offsets[most[0]][0])?.word;
    const own = pieces.filter(({ word }) => word === number).map(({ id }) => vocab[id]);
    const whole = [...own.map((piece) => piece.replace(/^##/, "")).join("")];
    const beginning = (length: number) => whole.slice(0, length).join("");
    const [first] = own;
    const { length } = [...first];
    const named = new Map<string, Said>([[first, ["longest", {}]]]);
    for (const more of [1, 2, 3]) if (length + more <= whole.length) named.set(beginning(length + more), ["not_in", {}]);
    for (let end = length - 1; end > 0; end--) if (wordpiece.idOf.has(beginning(end))) named.set(beginning(end), ["shorter", {}]);
    const options = [...named].slice(0, MOST_OPTIONS).sort(([a], [b]) => [...a].length - [...b].length);
    const { word, pieces: written, position } = ofWord(texts, most);
    return found(first, { word, pieces: written, position, first }, options.map(([name, value]) => ({ name, text: name, value })));
  },
  becomes(texts, { word }) {
    const pieces = piecesOf(texts, word);
    const unknown = texts.vocab[texts.reader.wordpiece.settings.ids.unk];
    const name = pieces.includes(unknown) ? "unknown" : pieces.length === 1 ? "whole" : "pieces";
    return found(name, { word, pieces: pieces.join(" "), num_pieces: pieces.length });
  },
  same_tokens(texts, { first, second }) {
    const [one, other] = [first, second].map((text) => piecesOf(texts, text).join(" "));
    return found(one === other ? "same" : "different", { first_tokens: one, second_tokens: other });
  },
  vocabulary_size({ reader: { bert, opened: { vocabSize, numParameters } } }) {
    const table = vocabSize * bert.config.hidden_size;
    return found(vocabSize, { hidden_size: bert.config.hidden_size, num_parameters: numParameters, share: table / numParameters, num_table: table });
  },
  segment_of_last({ encoding: { tokens, segment_ids }, length }) {
    const second = sum(segment_ids);
    return found(segment_ids[length - 1], { token: tokens[length - 1], position: length - 1, num_first: length - second, num_second: second });
  },

  best_word(texts) {
    const { facts, words, chances } = hide(texts);
    const options = words.map((name, k) => ({ name, text: name, value: percent(chances[k]) }));
    return found(facts.best, facts, options.sort((a, b) => (a.name < b.name ? -1 : 1)));
  },
  best_probability(texts) {
    const { facts, chances } = hide(texts);
    return found(100 * chances[0], facts);
  },
  rank_of_word(texts) {
    const one = hide(texts);
    const { rank, p } = originalOf(one, texts);
    return found(rank === 1 ? "first" : rank <= 10 ? "close" : "far", { ...one.facts, rank, p_token: p });
  },
  loss_of_word(texts) {
    const one = hide(texts);
    const { p } = originalOf(one, texts);
    return found(-Math.log(p), { ...one.facts, p_token: p, bits: -Math.log2(p), missed: 1 - p });
  },
  chance_loss({ reader: { opened: { vocabSize } } }) {
    return found(Math.log(vocabSize), { vocab_size: vocabSize, bits: Math.log2(vocabSize), one_in: 1 / vocabSize });
  },
  without_right(texts) {
    const { position, facts } = hide(texts);
    const shown = texts.own.filter((place) => texts.encoding.input_ids[place] !== texts.mask);
    const after = shown.filter((place) => place > position);
    if (!after.length) throw new NotShown(["last_word", {}]);
    const probabilities = texts.predict(texts.masked(shown.filter((place) => place >= position)), position);
    const top = argmax(probabilities);
    const left = { best_left: texts.vocab[top], p_left: probabilities[top], p_still: probabilities[texts.vocab.indexOf(String(facts.best))] };
    const name = Number(facts.p) - left.p_still >= ALIKE_PROBABILITIES ? "other" : "same";
    return found(name, { ...facts, num_after: after.length, ...left, points: SMALL_POINTS });
  },
  // Two hidden words, each alone and one after the other, the surer first: `fill_in_turn` of predictions.py.
  filled_first(texts) {
    const first = example(texts);
    if (texts.isMaskTyped) throw new NotShown(["mask_typed", {}]);
    const { vocab, reader } = texts;
    const isSpecial = new Set(reader.wordpiece.settings.special_ids);
    const ids = texts.masked([first, suggested(texts, [first], false, MOST_TRIED)]);
    let left = range(ids.length).filter((place) => ids[place] === texts.mask);
    const alone = new Map<number, { id: number; word: string; p: number }>();
    const filled: { place: number; word: string; p: number }[] = [];
    let still = 0;
    while (left.length) {
      const tops = left.map((place) => {
        const probabilities = texts.predict(ids, place);
        const top = argmax(probabilities);
        if (!filled.length) alone.set(place, { id: top, word: vocab[top], p: probabilities[top] });
        still = probabilities[alone.get(place)?.id ?? top]; // of the last gap in the end
        const id = largest(probabilities, isSpecial.size + 1).find((each) => !isSpecial.has(each)) ?? top;
        return { place, id, p: probabilities[id] };
      });
      const { place, id, p } = best(tops, (one) => one.p);
      filled.push({ place, word: vocab[id], p });
      ids[place] = id;
      left = left.filter((one) => one !== place);
    }
    const [one, other] = filled;
    const before = alone.get(other.place) ?? other;
    return found(Math.abs(before.p - still) < ALIKE_PROBABILITIES ? "same" : "other", {
      first: one.word, second: texts.token(other.place), alone: before.word, after: other.word, p_alone: before.p, p_after: other.p,
      p_still: still, points: SMALL_POINTS,
    });
  },
  number_chosen({ length, own }) {
    if (!own.length) throw new Error("the text has no token to mask");
    const number = Math.min(own.length, Math.max(1, Number(fixed(MASK_SHARE * length, 0))));
    return found(number, { num_tokens: length, num_text: own.length, share: number / length });
  },
  most_surprising(texts) {
    if (texts.length > MOST_SURPRISES) throw new NotShown(["too_long", { count: texts.length, most: MOST_SURPRISES }]);
    const { input_ids } = texts.encoding;
    const places = texts.own.filter((place) => input_ids[place] !== texts.mask);
    if (!places.length) throw new Error("the text has no token to mask. Write at least one word besides [MASK]");
    const all = surprises(texts, input_ids, places);
    const { place, word, p } = best(all, (one) => one.bits);
    const bitsOf = new Map(all.map((one) => [one.place, one.bits]));
    const options = texts.options((at) => ["bits", { bits: fixed(bitsOf.get(at) ?? 0, 1) }]).filter(({ name }) => bitsOf.has(Number(name)));
    return found(String(place), { token: texts.token(place), position: place, best: word, p }, options);
  },

  follows(texts) {
    const p = follows(texts, texts.first, pair(texts));
    return found(100 * p, { p, random: 1 - p });
  },
  swapped(texts) {
    const second = pair(texts);
    return compared(follows(texts, texts.first, second), follows(texts, second, texts.first));
  },
  replaced(texts, { other }) {
    return compared(follows(texts, texts.first, pair(texts)), follows(texts, texts.first, String(other)), { other });
  },
  repeated(texts) {
    return compared(follows(texts, texts.first, pair(texts)), follows(texts, texts.first, texts.first));
  },
  one_segment(texts) {
    return compared(follows(texts, texts.first, pair(texts)), follows(texts, texts.first, pair(texts), true));
  },
  order_or_topic(texts, { other }) {
    const second = pair(texts);
    const p = follows(texts, texts.first, second);
    const [order, topic] = [follows(texts, second, texts.first), follows(texts, texts.first, String(other))];
    const [byOrder, byTopic] = [p - order, p - topic];
    const name = Math.abs(byOrder - byTopic) < ALIKE_PROBABILITIES ? "both" : byTopic > byOrder ? "topic" : "order";
    return found(name, { p, swapped: order, replaced: topic });
  },
  loss_if_it_follows(texts) {
    const p = follows(texts, texts.first, pair(texts));
    if (!(p > 0 && p < 1)) throw new NotShown(["sure", {}]);
    return found(-Math.log(p), { p, bits: -Math.log2(p), other_loss: -Math.log(1 - p) });
  },
  chance_of_pairs({ reader: { opened: { vocabSize } } }) {
    return found(Math.LN2, { chance_words: Math.log(vocabSize), vocab_size: vocabSize, times: Math.log2(vocabSize) });
  },

  strongest_key(texts, given) {
    const { strongest, weights, facts } = row(texts, given);
    return found(String(strongest), facts, texts.options((place) => percent(weights[place])));
  },
  weight_of_key(texts, given) {
    const { strongest, weights, facts } = row(texts, given);
    return found(100 * weights[strongest], facts);
  },
  score_of_key(texts, given) {
    const one = row(texts, given);
    const { dots: products, size } = dots(texts, one);
    const dot = products[one.strongest];
    return found(dot / Math.sqrt(size), { ...one.facts, dot: rounded(dot), head_size: size, root: Math.sqrt(size), divided_by_size: dot / size });
  },
  ratio_of_weights(texts, given) {
    const one = row(texts, given);
    const { dots: products, size } = dots(texts, one);
    const scores = products.map((product) => product / Math.sqrt(size));
    const [first, second] = range(texts.length).sort((a, b) => scores[b] - scores[a]);
    return found(one.weights[first] / one.weights[second], {
      ...one.facts, score: rounded(scores[first]), second: texts.token(second), second_score: rounded(scores[second]),
      second_weight: one.weights[second], difference: rounded(scores[first] - scores[second]),
    });
  },
  head_size({ reader: { bert: { config }, opened: { numLayers, numHeads } } }) {
    return found(config.hidden_size / numHeads, {
      hidden_size: config.hidden_size, num_heads: numHeads, num_layers: numLayers,
    });
  },
  number_of_heads({ reader: { bert: { config }, opened: { numLayers, numHeads } } }) {
    return found(numLayers * numHeads, { num_layers: numLayers, num_heads: numHeads, hidden_size: config.hidden_size });
  },
  symmetric(texts, given) {
    const { position, weights, facts } = row(texts, given);
    const others = texts.own.filter((place) => place !== position);
    if (!others.length) throw new NotShown(["one_token", {}]);
    const other = best(others, (place) => weights[place]);
    const there = weights[other];
    const back = rowOf(squareOf(texts, Number(facts.layer), Number(facts.head)), other, texts.length)[position];
    const name = Math.abs(there - back) <= ALIKE_WEIGHTS * Math.max(there, back) ? "similar" : back < there ? "less" : "more";
    return found(name, { ...facts, other: texts.token(other), place: other, there, back });
  },
  heads_that_agree(texts, given) {
    const [layer, position, { length }] = [Number(given.layer), texts.subject(), texts];
    const rows = range(texts.numHeads).map((head) => rowOf(squareOf(texts, layer, head), position, length));
    const means = range(length).map((place) => sum(rows.map((one) => one[place])) / rows.length);
    const key = argmax(means);
    return found(rows.filter((one) => argmax(one) === key).length, {
      token: texts.token(position), position, layer, key: texts.token(key), weight: means[key], num_heads: rows.length,
    });
  },
  // By the mean Jensen-Shannon distance between the rows of two heads (Clark et al. 2019).
  same_number(texts, { layer, other_layer, head: ofHead }) {
    const { length } = texts;
    const head = Number(ofHead ?? 0);
    const relative = (of: number, to: number) => (of > 0 ? of * Math.log(of / to) : 0);
    const distance = (mine: Floats, theirs: Floats) => sum(range(length).map((place) => {
      const other = rowOf(theirs, place, length);
      const divergence = sum(Array.from(rowOf(mine, place, length), (weight, k) => {
        const middle = (weight + other[k]) / 2;
        return (relative(weight, middle) + relative(other[k], middle)) / 2;
      }));
      return Math.sqrt(Math.min(1, Math.max(0, divergence / Math.LN2)));
    })) / length;
    const mine = squareOf(texts, Number(layer), head).slice();
    const distances = range(texts.numHeads).map((other) => distance(mine, squareOf(texts, Number(other_layer), other)));
    const nearest = argmax(distances.map((each) => -each));
    return found(distances[head] <= distances[nearest] + NEARLY ? "yes" : "no", {
      layer, head, other_layer, best_head: nearest, distance: distances[head], best_distance: distances[nearest], nearly: NEARLY,
    });
  },
  special_weight(texts, { layer: ofLayer, which }) {
    const { length } = texts;
    const layer = Number(ofLayer);
    const added = range(length).filter((place) => texts.encoding.text_ids[place] < 0);
    const places = which === "separator" ? added.slice(1) : added.slice(0, 1);
    const squares = range(texts.numHeads).map((head) => squareOf(texts, layer, head));
    const weight = sum(squares.map((square) => sum(range(length).map((from) => sum(places.map((to) => square[from * length + to]))))));
    const share = weight / (squares.length * length);
    return found(100 * share, { layer, num: places.length, even: places.length / length, weight: share });
  },
};

/** The names of the functions, which app/live/lessons.py has too. */
export const NAMES = Object.keys(FUNCTIONS);

/**
 * The network's answer to a question about two texts; of a question without a function, the choices decide.
 *
 * @throws NotShown if the texts do not show what is asked, Error if the checkpoint does not.
 */
export function answerOf(reader: Reader, name: string | null, given: Given, first: string, second: string | null): Found {
  if (!first.trim()) throw new NotShown(["no_text", {}]);
  return name === null ? found("right", {}) : FUNCTIONS[name](new Texts(reader, first, second), given);
}
