// The weights of a checkpoint, from the message that weights.py writes.

import { inflate, type Bytes } from "../../parts/browser/data_blocks";
import { asFloats, asHalves, type Message } from "../../parts/canvas/shared/transport";
import type { Floats } from "./arithmetic";
import type { CharacterTables } from "./characters";
import type { TokenizerSettings } from "./wordpiece";

export interface WeightsHeader {
  name: string;
  config: BertConfig;
  tokenizer: TokenizerSettings;
  characters: CharacterTables;
  tensors: { name: string; shape: number[]; stored: "float32" | "float16" | "rounded"; blocks: number[] }[];
}

/** Fields of config.json. */
export interface BertConfig {
  hidden_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  layer_norm_eps: number;
}

export type Tensors = Map<string, Floats>;

/** Puts the weights of a message into their arrays, one after the other: inflated, they take twice the room of the file. */
export async function fillTensors({ header, blocks }: Message<WeightsHeader>, tensors: Tensors): Promise<void> {
  for (const { name, stored, blocks: own } of header.tensors) {
    const tensor = tensors.get(name);
    if (!tensor) throw new Error(`there is no array for ${name}`);
    const [values, low, step] = await Promise.all(
      own.map(async (number) => (header.blocks[number][2] ? inflate(blocks[number]) : blocks[number])));
    if (stored === "float32") tensor.set(asFloats(values));
    else if (stored === "float16") asHalves(values, tensor);
    else fromCodes(values, low, asFloats(step)[0], tensor);
  }
}

// Codes times a step: eights of each, and three blocks of bits with the rest.
function fromCodes(eights: Bytes, low: Bytes, step: number, out: Floats): void {
  const high = new Int8Array(eights.buffer, eights.byteOffset, out.length);
  const plane = low.length / 3;
  for (let k = 0; k < out.length; k++) {
    const [at, shift] = [k >> 3, 7 - (k & 7)];
    const rest = ((low[at] >> shift) & 1) | (((low[plane + at] >> shift) & 1) << 1) | (((low[2 * plane + at] >> shift) & 1) << 2);
    out[k] = (high[k] * 8 + rest) * step;
  }
}
