// BERT: embeddings, layers with every activation, the masked-word head and the next-sentence head. The names of the
// tensors are those of the checkpoint's file; bertcore/model/lowlevel.py is the same network in Python.

import { add, addBias, gelu, layerNorm, rowsOf, softmax, type Floats, type Machine, type Rows } from "./arithmetic";
import type { BertConfig, Tensors, WeightsHeader } from "./weights";

/** What a text makes the network compute, without the attention; the names of bertcore's Trace. */
export interface Activations {
  numTokens: number;
  /** [L+1] of [T, D]; the first one is the embeddings' output. */
  hiddenStates: Floats[];
  /** [L] of [T, D]: after attention, add and norm, which the feed-forward network reads. */
  halves: Floats[];
  /** [T, D] each; their normalised sum is the first hidden state. */
  embeddings: { token: Floats; segment: Floats; position: Floats };
}

/** Arrays for the activations of one input, which the next one overwrites. */
export class Room {
  private readonly states: Floats[];
  private readonly halves: Floats[];
  private readonly embeddings: Floats[];

  /** @param maxTokens The longest input. */
  constructor(machine: Machine, private readonly config: BertConfig, maxTokens: number) {
    const { hidden_size: width, num_hidden_layers: layers } = config;
    const arrays = (count: number) => Array.from({ length: count }, () => machine.floats(maxTokens * width));
    this.states = arrays(layers + 1);
    this.halves = arrays(layers);
    this.embeddings = arrays(3);
  }

  /** The arrays of an input of so many tokens. */
  activations(numTokens: number): Activations {
    const vectors = (array: Floats) => array.subarray(0, numTokens * this.config.hidden_size);
    const [token, segment, position] = this.embeddings.map(vectors);
    return { numTokens, hiddenStates: this.states.map(vectors), halves: this.halves.map(vectors), embeddings: { token, segment, position } };
  }
}

export class Bert {
  readonly config: BertConfig;
  readonly tensors: Tensors;
  /** Intermediate results, which the next ones overwrite. */
  private readonly work: Record<"query" | "key" | "value" | "mixed" | "inner" | "gathered" | "transformed" | "logits" | "attention", Floats>;

  /** The weights are zeros: `fillTensors` of weights.ts puts in those of the file. */
  constructor({ config, tensors }: WeightsHeader, private readonly machine: Machine, maxTokens: number) {
    this.config = config;
    const lengths = new Map(tensors.map(({ name, shape }) => [name, shape.reduce((a, b) => a * b, 1)]));
    this.tensors = new Map([...lengths].map(([name, length]) => [name, machine.floats(length)]));
    const width = config.hidden_size;
    const length = (name: string) => lengths.get(name) ?? 0;
    const vectors = () => machine.floats(maxTokens * width);
    this.work = {
      query: vectors(), key: vectors(), value: vectors(), mixed: vectors(),
      inner: machine.floats(maxTokens * length("bert.encoder.layer.0.intermediate.dense.bias")),
      gathered: machine.floats(this.numLens * width),
      transformed: machine.floats(this.numLens * width),
      logits: machine.floats(this.numLens * length("cls.predictions.bias")),
      attention: machine.floats(config.num_attention_heads * maxTokens ** 2),
    };
  }

  /** Computes an input in `room`; `see` is told of each layer's attention, [H, T, T], which the next one overwrites. */
  run(inputIds: number[], segmentIds: number[], room: Room, see: (attention: Floats, layer: number) => void = () => {}): Activations {
    const activations = room.activations(inputIds.length);
    const { embeddings: { token, segment, position }, hiddenStates, halves } = activations;
    this.lookUp("word", inputIds, token);
    this.lookUp("token_type", segmentIds, segment);
    this.lookUp("position", inputIds.map((_, place) => place), position);
    const [first] = hiddenStates;
    first.set(token);
    add(first, segment);
    add(first, position);
    this.norm("bert.embeddings.LayerNorm", first);
    halves.forEach((half, layer) => {
      const name = `bert.encoder.layer.${layer}`;
      const [input, hidden] = [hiddenStates[layer], hiddenStates[layer + 1]];
      see(this.attend(`${name}.attention`, input, half), layer);
      this.linear(`${name}.output.dense`, this.neurons(layer, half), hidden);
      add(hidden, half);
      this.norm(`${name}.output.LayerNorm`, hidden);
    });
    return activations;
  }

  /** A layer's attention anew, [H, T, T], of its input, [T, D]; what is computed next overwrites it. */
  attention(layer: number, input: Floats): Floats {
    return this.weigh(`bert.encoder.layer.${layer}.attention`, input);
  }

  /** Activations of a layer's feed-forward network, [T, F], of its input; what is computed next overwrites them. */
  neurons(layer: number, half: Floats): Floats {
    const inside = this.linear(`bert.encoder.layer.${layer}.intermediate.dense`, half, this.work.inner);
    gelu(inside);
    return inside;
  }

  get hasMaskedWords(): boolean { return this.tensors.has("cls.predictions.transform.dense.weight"); }
  get hasNextSentence(): boolean { return this.tensors.has("cls.seq_relationship.weight"); }

  /** Shows `see` the probability of each piece, [V], at each of the states, [D]: of a lens, all layers in one product. */
  wordProbabilities(states: Floats[], see: (probabilities: Floats, index: number) => void): void {
    const name = "cls.predictions";
    if (!states.length) return; // of a network without the head too
    const { hidden_size: width } = this.config;
    const table = this.tensors.get(`${name}.decoder.weight`) ?? this.tensor("bert.embeddings.word_embeddings.weight");
    const bias = this.tensor(`${name}.bias`);
    for (let start = 0; start < states.length; start += this.numLens) {
      const some = states.slice(start, start + this.numLens);
      const gathered = this.work.gathered.subarray(0, some.length * width);
      some.forEach((state, k) => gathered.set(state, k * width));
      const vectors = this.linear(`${name}.transform.dense`, gathered, this.work.transformed);
      gelu(vectors);
      this.norm(`${name}.transform.LayerNorm`, vectors);
      const logits = this.work.logits.subarray(0, some.length * bias.length);
      this.machine.product(rowsOf(vectors, width), rowsOf(table, width), rowsOf(logits, bias.length));
      addBias(logits, bias);
      softmax(logits, bias.length);
      some.forEach((_, k) => see(logits.subarray(k * bias.length, (k + 1) * bias.length), start + k));
    }
  }

  /** The probability that text B follows text A. */
  nextProbability(hidden: Floats): number {
    const { hidden_size: width } = this.config;
    const pooled = this.linear("bert.pooler.dense", hidden.subarray(0, width), this.work.query);
    for (let k = 0; k < width; k++) pooled[k] = Math.tanh(pooled[k]);
    const logits = this.linear("cls.seq_relationship", pooled, this.work.key);
    softmax(logits, 2);
    return logits[0];
  }

  // A hidden state and its lens at each layer fit into one product.
  private get numLens(): number { return this.config.num_hidden_layers + 1; }

  // A row of a table of embeddings for each number.
  private lookUp(table: string, numbers: number[], out: Floats): void {
    const width = this.config.hidden_size;
    const rows = this.tensor(`bert.embeddings.${table}_embeddings.weight`);
    numbers.forEach((number, place) => out.set(rows.subarray(number * width, (number + 1) * width), place * width));
  }

  // The attention weights, [H, T, T].
  private weigh(name: string, input: Floats): Floats {
    const { hidden_size: width, num_attention_heads: heads } = this.config;
    const { machine, work } = this;
    const length = input.length / width;
    const query = this.linear(`${name}.self.query`, input, work.query);
    const key = this.linear(`${name}.self.key`, input, work.key);
    const weights = work.attention.subarray(0, heads * length ** 2);
    for (let head = 0; head < heads; head++) machine.product(this.ofHead(query, head), this.ofHead(key, head), square(weights, head, length));
    softmax(weights, length, 1 / Math.sqrt(width / heads));
    return weights;
  }

  // A head's part of the vectors [T, D].
  private ofHead(values: Floats, head: number): Rows {
    const { hidden_size: stride, num_attention_heads: heads } = this.config;
    const width = stride / heads;
    return { values: values.subarray(head * width), count: values.length / stride, width, stride };
  }

  // Computes the token's vectors after attention, add and norm, [T, D]; returns the attention.
  private attend(name: string, input: Floats, half: Floats): Floats {
    const { hidden_size: width, num_attention_heads: heads } = this.config;
    const { machine, work } = this;
    const [length, size] = [input.length / width, width / heads];
    const weights = this.weigh(name, input);
    // The values [D, T], not [T, D]: then a head multiplies rows, as everything else does.
    const value = work.value.subarray(0, input.length);
    machine.product(rowsOf(this.tensor(`${name}.self.value.weight`), width), rowsOf(input, width), rowsOf(value, length));
    const bias = this.tensor(`${name}.self.value.bias`);
    for (let k = 0; k < value.length; k++) value[k] += bias[Math.floor(k / length)];
    const mixed = work.mixed.subarray(0, input.length);
    for (let head = 0; head < heads; head++) {
      const values = rowsOf(value.subarray(head * size * length, (head + 1) * size * length), length);
      machine.product(square(weights, head, length), values, this.ofHead(mixed, head));
    }
    this.linear(`${name}.output.dense`, mixed, half);
    add(half, input);
    this.norm(`${name}.output.LayerNorm`, half);
    return weights;
  }

  // x W' + b at the start of `out`; returns that part of it.
  private linear(name: string, input: Floats, out: Floats): Floats {
    const bias = this.tensor(`${name}.bias`);
    const weight = this.tensor(`${name}.weight`);
    const width = weight.length / bias.length;
    const result = out.subarray(0, (input.length / width) * bias.length);
    this.machine.product(rowsOf(input, width), rowsOf(weight, width), rowsOf(result, bias.length));
    addBias(result, bias);
    return result;
  }

  // In place.
  private norm(name: string, values: Floats): void {
    layerNorm(values, this.tensor(`${name}.weight`), this.tensor(`${name}.bias`), this.config.layer_norm_eps);
  }

  /** A tensor of the weights; an error without it. */
  tensor(name: string): Floats {
    const found = this.tensors.get(name);
    if (!found) throw new Error(`the weights have no ${name}`);
    return found;
  }
}

// A head's part of the attention [H, T, T].
function square(weights: Floats, head: number, length: number): Rows {
  return rowsOf(weights.subarray(head * length ** 2, (head + 1) * length ** 2), length);
}
