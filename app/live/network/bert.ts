// BERT: embeddings, layers with every activation, the masked-word head and the next-sentence head. The names of the
// tensors are those of the checkpoint's file; bertcore/lowlevel.py is the same network in Python.

import { add, gelu, layerNorm, linear, softmax, type Floats } from "./arithmetic";
import type { BertConfig, Tensors } from "./weights";

/** Everything that a text makes the network compute; the names of bertcore's Trace. */
export interface Activations {
  numTokens: number;
  /** [L+1] of [T, D]; the first one is the embeddings' output. */
  hiddenStates: Floats[];
  /** [L] of [H, T, T]. */
  attentions: Floats[];
  /** [L] of [T, D]: after attention, add and norm, which the feed-forward network reads. */
  halves: Floats[];
  /** [T, D] each; their normalised sum is the first hidden state. */
  embeddings: { token: Floats; segment: Floats; position: Floats };
}

export class Bert {
  constructor(readonly config: BertConfig, readonly tensors: Tensors) {}

  run(inputIds: number[], segmentIds: number[]): Activations {
    const embeddings = {
      token: this.lookUp("word", inputIds), segment: this.lookUp("token_type", segmentIds),
      position: this.lookUp("position", inputIds.map((_, place) => place)),
    };
    const sum = add(add(embeddings.token, embeddings.segment), embeddings.position);
    const hiddenStates = [this.norm("bert.embeddings.LayerNorm", sum)];
    const attentions: Floats[] = [];
    const halves: Floats[] = [];
    for (let layer = 0; layer < this.config.num_hidden_layers; layer++) {
      const { half, hidden, weights } = this.layer(layer, hiddenStates[layer]);
      halves.push(half);
      hiddenStates.push(hidden);
      attentions.push(weights);
    }
    return { numTokens: inputIds.length, hiddenStates, attentions, halves, embeddings };
  }

  get hasMaskedWords(): boolean { return this.tensors.has("cls.predictions.transform.dense.weight"); }
  get hasNextSentence(): boolean { return this.tensors.has("cls.seq_relationship.weight"); }

  /** The probability of each piece at a token of a hidden state [T, D], [V]. */
  wordProbabilities(hidden: Floats, token: number): Floats {
    const name = "cls.predictions";
    const width = this.config.hidden_size;
    const state = hidden.slice(token * width, (token + 1) * width);
    const vectors = this.norm(`${name}.transform.LayerNorm`, gelu(this.linear(`${name}.transform.dense`, state)));
    const table = this.tensors.get(`${name}.decoder.weight`) ?? this.tensor("bert.embeddings.word_embeddings.weight");
    const logits = linear(vectors, table, this.tensor(`${name}.bias`), vectors.length);
    return softmax(logits, logits.length);
  }

  /** The probability that text B follows text A. */
  nextProbability(hidden: Floats): number {
    const pooled = this.linear("bert.pooler.dense", hidden.slice(0, this.config.hidden_size)).map(Math.tanh);
    return softmax(this.linear("cls.seq_relationship", pooled), 2)[0];
  }

  // A row of a table of embeddings for each number.
  private lookUp(table: string, numbers: number[]): Floats {
    const width = this.config.hidden_size;
    const rows = this.tensor(`bert.embeddings.${table}_embeddings.weight`);
    const out = new Float32Array(numbers.length * width);
    numbers.forEach((number, place) => out.set(rows.subarray(number * width, (number + 1) * width), place * width));
    return out;
  }

  private layer(number: number, input: Floats): { half: Floats; hidden: Floats; weights: Floats } {
    const name = `bert.encoder.layer.${number}`;
    const { mixed, weights } = this.attend(name, input);
    const half = this.norm(`${name}.attention.output.LayerNorm`, add(input, mixed));
    const added = this.linear(`${name}.output.dense`, gelu(this.linear(`${name}.intermediate.dense`, half)));
    return { half, hidden: this.norm(`${name}.output.LayerNorm`, add(half, added)), weights };
  }

  // What attention adds to each token [T, D], and its weights [H, T, T].
  private attend(name: string, input: Floats): { mixed: Floats; weights: Floats } {
    const { hidden_size: width, num_attention_heads: heads } = this.config;
    const [length, size] = [input.length / width, width / heads];
    const [query, key, value] = ["query", "key", "value"].map((part) => this.linear(`${name}.attention.self.${part}`, input));
    const weights = new Float32Array(heads * length * length);
    const mixed = new Float32Array(input.length);
    for (let head = 0; head < heads; head++) {
      const first = head * size;
      for (let from = 0; from < length; from++) {
        const row = (head * length + from) * length;
        for (let to = 0; to < length; to++) {
          let score = 0;
          for (let k = first; k < first + size; k++) score += query[from * width + k] * key[to * width + k];
          weights[row + to] = score / Math.sqrt(size);
        }
      }
    }
    softmax(weights, length);
    for (let head = 0; head < heads; head++) {
      const first = head * size;
      for (let from = 0; from < length; from++) {
        const row = (head * length + from) * length;
        for (let k = first; k < first + size; k++) {
          let sum = 0;
          for (let to = 0; to < length; to++) sum += weights[row + to] * value[to * width + k];
          mixed[from * width + k] = sum;
        }
      }
    }
    return { mixed: this.linear(`${name}.attention.output.dense`, mixed), weights };
  }

  private linear(name: string, input: Floats): Floats {
    const bias = this.tensor(`${name}.bias`);
    const weight = this.tensor(`${name}.weight`);
    return linear(input, weight, bias, weight.length / bias.length);
  }

  private norm(name: string, input: Floats): Floats {
    return layerNorm(input, this.tensor(`${name}.weight`), this.tensor(`${name}.bias`), this.config.layer_norm_eps);
  }

  private tensor(name: string): Floats {
    const found = this.tensors.get(name);
    if (!found) throw new Error(`the weights have no ${name}`);
    return found;
  }
}
