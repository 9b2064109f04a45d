// What BERT at a glance is sent, made in the browser: as summary.py, steps.py and drawing.py beside the view make it.

import type { Bytes } from "../parts/browser/data_blocks";
import { decimal, placesOf, range } from "../parts/browser/text";
import { encoder } from "../parts/canvas/shared/transport";
import { NUM_BANDS, type Column, type GlanceHeader, type Step, type Word, type Words } from "../parts/walk/model";
import { encode, pack, THUMBNAIL_SIZE, thumbnails, wordsOf } from "./messages";
import type { Floats } from "./network/arithmetic";
import type { Activations } from "./network/bert";
import { largest, type Reader, type Result } from "./reader";
import { filled as fill } from "./wording";

/** What the drawings of all texts have in common, from Python. */
export interface GlanceLook extends Pick<GlanceHeader, "parts" | "pages" | "kinds" | "accent"> {
  /** The walk, with fields in braces for what is of the text. */
  outline: Step[];
  phrases: Record<string, string>;
  /** Fields that are the same for all texts. */
  fixed: Record<string, string>;
  /** What the checkpoint lacks, and what a text may lack. */
  absent: GlanceHeader["absent"];
  no_word: string;
  /** The weight of each of the 256 codes. */
  decoding: number[];
  /** 2 x 255 x red, green, blue. */
  diverging: number[];
}

const NUM_WORDS = 5; // that are shown at each mask
const FULL_COLOUR = 0.995; // share of the absolute values of a column below its strongest colour
const MOST_ROWS = 128; // for longer inputs, the middle is folded

type Shown = Pick<Result, "texts" | "typed" | "encoding">;

/** The input that is drawn, and what the network made of it. */
interface Drawn {
  /** [MASK] where a token is hidden. */
  ids: number[];
  tokens: string[];
  textIds: number[];
  run: Activations;
  /** Of layer 0. */
  neurons: Floats;
  width: number;
}

export function glanceMessage(reader: Reader, { texts: [first, second], typed, encoding }: Shown, look: GlanceLook): Bytes {
  const { bert, wordpiece } = reader;
  const { mask } = wordpiece.settings.ids;
  const { vocab } = wordpiece.settings;
  const { input_ids, text_ids, segment_ids, word_ids } = typed;
  const ids = encoding.input_ids;
  const masks = bert.hasMaskedWords ? ids.flatMap((id, place) => (id === mask ? [place] : [])) : [];
  const rows = rowsToDraw(text_ids, masks);
  const { num_hidden_layers: numLayers, num_attention_heads: numHeads, hidden_size: width } = bert.config;
  const table = Float32Array.from(look.decoding);
  const code = encoder(table);
  const size = Math.min(ids.length, THUMBNAIL_SIZE);
  const heads = new Uint8Array(numLayers * numHeads * size ** 2);
  const links = new Uint8Array(numLayers * rows.length ** 2);
  const run = reader.run(ids, segment_ids, (weights, layer) => {
    encode(thumbnails(weights, numHeads, ids.length, size), code, heads.subarray(layer * numHeads * size ** 2));
    encode(meansOf(weights, numHeads, ids.length, rows), code, links.subarray(layer * rows.length ** 2));
  });
  const drawn: Drawn = { ids, tokens: ids.map((id) => vocab[id]), textIds: text_ids, run, neurons: bert.neurons(0, run.halves[0]), width };

  const last = run.hiddenStates[run.hiddenStates.length - 1];
  const predictions: (Answer & { kind: "masked" })[] = [];
  bert.wordProbabilities(masks.map((place) => last.subarray(place * width, (place + 1) * width)), (probabilities, k) => {
    const best = largest(probabilities, NUM_WORDS);
    predictions.push({
      kind: "masked", position: masks[k], original: input_ids[masks[k]] === mask ? null : vocab[input_ids[masks[k]]],
      words: best.map((id) => vocab[id]), probabilities: best.map((id) => probabilities[id]),
    });
  });
  const rowOf = new Map(rows.map((place, row) => [place, row]));
  const { starts, words: names } = wordsOf(encoding, [first, second]);
  const words = names.map((text, k) => ({ text, first: starts[k], last: (starts[k + 1] ?? ids.length) - 1 }))
    .filter((word) => word_ids[word.first] >= 0);
  const pair = second !== null && bert.hasNextSentence ? { kind: "nsp" as const, probability: bert.nextProbability(last) } : null;
  // Those of further pieces of one word are no gaps of their own.
  const gaps = predictions.filter(({ position }) => !masks.includes(position - 1) || !words.some(({ first: start, last: end }) => start < position && position <= end));
  const numHidden = gaps.filter(({ original }) => original !== null).length;
  const values: Record<string, string> = {
    ...look.fixed, tokens: fill(look.phrases[ids.length === 1 ? "token" : "tokens"], { number: ids.length.toLocaleString("en-US") }), cut: cutOf(input_ids.map((id) => vocab[id]), words, predictions, look), change: changeOf(drawn, look),
    hidden: numHidden ? look.phrases[numHidden > 1 ? "several_hidden" : "hidden"] : "",
    first_of: gaps.length > 1 ? fill(look.phrases.several, { number: String(gaps.length) }) : "",
    probability: pair ? finePercent(pair.probability) : "", ...(predictions.length ? answerOf(predictions[0], words, look) : {}),
  };
  values.opening = fill(look.phrases[predictions.length ? "masked" : "nothing"], values);
  const steps = look.outline.filter(({ part }) => (part !== "pair" || pair) && (part !== "words" || predictions.length))
    .map((step) => ({ ...step, text: fill(step.text, values) }));
  const { columns, bands } = vectorColumns(drawn, rows, numLayers);
  const header: GlanceHeader = {
    tokens: rows.map((place) => drawn.tokens[place]), positions: rows, text_ids: rows.map((place) => text_ids[place]),
    num_tokens: ids.length,
    words: words.flatMap((word): Word[] => {
      const isDrawn = range(word.last - word.first + 1).every((k) => rowOf.has(word.first + k));
      return isDrawn ? [{ text: word.text, first: rowOf.get(word.first) ?? 0, last: rowOf.get(word.last) ?? 0 }] : [];
    }),
    num_layers: numLayers, num_heads: numHeads, size, columns,
    predictions: predictions.flatMap((each) => {
      const row = rowOf.get(each.position);
      return row === undefined ? [] : [{ ...each, row }];
    }),
    pair, num_hidden: numHidden,
    absent: {
      ...(predictions.length ? {} : { words: look.no_word }), ...look.absent,
    },
    parts: look.parts, pages: look.pages, broken: [], kinds: look.kinds, accent: look.accent, steps, step: 0,
  };
  return pack(header, bands, heads, links, table, Uint8Array.from(look.diverging), new Uint8Array(Math.ceil(links.length / 8)));
}

// All places, or both ends and what must not be folded; `rows_to_draw` of vector_strips.py.
export function rowsToDraw(textIds: number[], keep: number[], most = MOST_ROWS): number[] {
  const count = textIds.length;
  if (count <= most) return range(count);
  const special = range(count).filter((place) => textIds[place] < 0);
  const room = Math.floor(most / 4);
  const wanted = new Set([...keep.slice(0, room), ...special.slice(0, room)]);
  for (let step = 0; step < count && wanted.size < most; step++) {
    const back = Math.floor(step / 3);
    wanted.add(step % 3 === 2 ? count - 1 - back : step - back);
  }
  return [...wanted].sort((a, b) => a - b);
}

// ---- vectors and attention ----

function vectorColumns({ run, ids, neurons }: Drawn, rows: number[], numLayers: number): { columns: Column[]; bands: Int8Array<ArrayBuffer> } {
  const { embeddings, hiddenStates, halves } = run;
  const vectors: [Column["kind"], number, Floats][] = [
    ["token", -1, embeddings.token], ["segment", -1, embeddings.segment], ["position", -1, embeddings.position],
    ["input", -1, hiddenStates[0]],
    ...range(numLayers).flatMap((layer): [Column["kind"], number, Floats][] =>
      [["attention", layer, halves[layer]], ...(layer ? [] : [["neurons", 0, neurons] as [Column["kind"], number, Floats]]),
        ["layer", layer, hiddenStates[layer + 1]]]),
  ];
  const cells = rows.length * NUM_BANDS;
  const bands = new Int8Array(vectors.length * cells);
  const columns = vectors.map(([kind, layer, vector], column): Column => {
    const numDims = vector.length / ids.length;
    const means = meanBands(vector, numDims, rows);
    const scale = percentile(means.map(Math.abs), FULL_COLOUR);
    means.forEach((mean, k) => {
      bands[column * cells + k] = scale > 0 ? Math.round(127 * Math.max(-1, Math.min(1, mean / scale))) : 0;
    });
    return { kind, layer, scale, num_dims: numDims };
  });
  return { columns, bands };
}

// The rows of [T, D] as means of neighbouring dimensions, [R, NUM_BANDS].
function meanBands(vectors: Floats, width: number, rows: number[]): Floats {
  const out = new Float32Array(rows.length * NUM_BANDS);
  rows.forEach((place, row) => {
    for (let band = 0; band < NUM_BANDS; band++) {
      const [start, end] = [Math.floor((band * width) / NUM_BANDS), Math.ceil(((band + 1) * width) / NUM_BANDS)];
      let sum = 0;
      for (let k = start; k < end; k++) sum += vectors[place * width + k];
      out[row * NUM_BANDS + band] = sum / (end - start);
    }
  });
  return out;
}

function percentile(values: Floats, share: number): number {
  const sorted = values.slice().sort();
  const place = share * (sorted.length - 1);
  const low = Math.floor(place);
  return sorted[low] + (place - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

// The mean of the heads between the rows that are drawn, [R, R].
function meansOf(weights: Floats, numHeads: number, length: number, rows: number[]): Floats {
  const means = new Float32Array(rows.length ** 2);
  rows.forEach((from, row) => rows.forEach((to, column) => {
    let sum = 0;
    for (let head = 0; head < numHeads; head++) sum += weights[(head * length + from) * length + to];
    means[row * rows.length + column] = Math.min(1, sum / numHeads);
  }));
  return means;
}

// ---- the sentences of the walk ----

type Answer = Pick<Words, "original" | "words"> & { position: number; probabilities: number[] };

// What became of the word with most pieces, or of one that is unknown; tokens with nothing hidden.
function cutOf(tokens: string[], words: Word[], predictions: Answer[], { phrases, fixed }: GlanceLook): string {
  const word = words.reduce<Word | null>((best, one) => (best && best.last - best.first >= one.last - one.first ? best : one), null);
  if (word && word.last > word.first) {
    const pieces = shortened(tokens.slice(word.first, word.last + 1).join(" "), 30);
    return fill(phrases.split, { word: quoted(word.text, 30), pieces });
  }
  const unknown = new Set([
    ...range(tokens.length).filter((place) => tokens[place] === fixed.unk),
    ...predictions.filter(({ original }) => original === fixed.unk).map(({ position }) => position),
  ]);
  const found = words.find(({ first, last }) => range(last - first + 1).some((k) => unknown.has(first + k)));
  return found ? fill(phrases.unknown, { word: quoted(found.text, 30), unk: fixed.unk }) : phrases.known;
}

// What the layers do to two vectors of one word, if a word stands twice: to those that end furthest apart.
function changeOf(drawn: Drawn, { phrases }: GlanceLook): string {
  const { ids, tokens, textIds, run: { hiddenStates } } = drawn;
  const isWord = (place: number) => textIds[place] >= 0 && /^\p{L}{4,}$/u.test(tokens[place]);
  const last = hiddenStates[hiddenStates.length - 1];
  const pairs = [...placesOf(ids).values()].map((same) => same.filter(isWord)).filter(({ length }) => length > 1)
    .map((same) => [same[0], same[same.length - 1]]).map(([a, b]) => ({ a, b, after: cosine(last, a, b, drawn.width) }));
  if (!pairs.length) return phrases.context;
  const { a, b, after } = pairs.reduce((best, one) => (one.after < best.after ? one : best));
  const before = cosine(hiddenStates[0], a, b, drawn.width);
  return fill(phrases.twins, {
    word: quoted(tokens[a]), first: String(a), second: String(b), before: decimal(before, 2),
    after: fill(after < before ? phrases.apart : phrases.alike, { after: decimal(after, 2) }),
  });
}

function answerOf({ words: [best], position, probabilities, original }: Answer, words: Word[], { phrases }: GlanceLook): Record<string, string> {
  const of = words.find(({ first, last }) => first < last && first <= position && position <= last);
  const facts = of && { word: quoted(of.text), index: String(position - of.first + 1), number: String(of.last - of.first + 1) };
  return {
    best: fill(phrases.best, { word: quoted(best), probability: finePercent(probabilities[0]) }),
    was: original === null ? "" : fill(phrases[facts ? "piece" : original === best ? "right" : "wrong"], facts ?? { word: quoted(original) }),
  };
}

function cosine(states: Floats, first: number, second: number, width: number): number {
  const [a, b] = [first, second].map((place) => states.subarray(place * width, (place + 1) * width));
  const dot = (x: Floats, y: Floats) => x.reduce((sum, value, k) => sum + value * y[k], 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

// `percent` of app/plots/formats.py: near 0 and 100% with two digits that distinguish it from them.
export function finePercent(p: number): string {
  const [value, rest] = [100 * p, 100 * (1 - p)];
  const nearest = Math.min(value, rest);
  if (nearest > 0 && nearest < 0.001) return value < rest ? "<0.001%" : ">99.999%";
  if (Math.abs(value - Math.round(value)) < 5e-6) return `${Math.round(value)}%`;
  return `${value.toFixed(nearest >= 0.1 ? 1 : String(Number(nearest.toPrecision(2))).length - 2)}%`;
}

function shortened(text: string, longest: number): string {
  const letters = [...text];
  return letters.length <= longest ? text : `${letters.slice(0, longest - 1).join("").trimEnd()}\u2026`;
}

function quoted(text: string, longest = 20): string {
  return `\u201c${shortened(text, longest)}\u201d`;
}
