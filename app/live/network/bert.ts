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
}

export class Bert {
  constructor(readonly config: BertConfig, readonly tensors: Tensors) {}

  run(inputIds: number[], segmentIds: number[]): Activations {
    const hiddenStates = [this.embed(inputIds, segmentIds)];
    const attentions: Floats[] = [];
    for (let layer = 0; layer < this.config.num_hidden_layers; layer++) {
      const { hidden, weights } = this.layer(layer, hiddenStates[layer]);
      hiddenStates.push(hidden);
      attentions.push(weights);
    }
    return { numTokens: inputIds.length, hiddenStates, attentions };
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

  private embed(inputIds: number[], segmentIds: number[]): Floats {
    const width = this.config.hidden_size;
    const [words, segments, positions] = ["word", "token_type", "position"]
      .map((table) => this.tensor(`bert.embeddings.${table}_embeddings.weight`));
    const sum = new Float32Array(inputIds.length * width);
    inputIds.forEach((id, place) => {
      for (let k = 0; k < width; k++) {
        sum[place * width + k] = words[id * width + k] + segments[segmentIds[place] * width + k] + positions[place * width + k];
      }
    });
    return this.norm("bert.embeddings.LayerNorm", sum);
  }

  private layer(number: number, input: Floats): { hidden: Floats; weights: Floats } {
    const name = `bert.encoder.layer.${number}`;
    const { mixed, weights } = this.attend(name, input);
    const hidden = this.norm(`${name}.attention.output.LayerNorm`, add(input, mixed));
    const added = this.linear(`${name}.output.dense`, gelu(this.linear(`${name}.intermediate.dense`, hidden)));
    return { hidden: this.norm(`${name}.output.LayerNorm`, add(hidden, added)), weights };
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
