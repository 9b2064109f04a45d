// The weights of a checkpoint, from the message that weights.py writes.

import type { Bytes } from "../../browser/data_blocks";
import { asFloats, inflateBlocks, unpack } from "../../canvas/shared/transport";
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

export async function readWeights(bytes: Bytes): Promise<{ header: WeightsHeader; tensors: Tensors }> {
  const { header, blocks } = await inflateBlocks(unpack<WeightsHeader>(bytes));
  const tensors = new Map(header.tensors.map(({ name, shape, stored, blocks: own }) => {
    const [values, low, step] = own.map((number) => blocks[number]);
    if (stored === "float32") return [name, asFloats(values)];
    if (stored === "float16") return [name, fromHalf(values)];
    return [name, fromCodes(values, low, asFloats(step)[0], shape.reduce((a, b) => a * b, 1))];
  }));
  return { header, tensors };
}

// Codes times a step: eights of each, and three blocks of bits with the rest.
function fromCodes(eights: Bytes, low: Bytes, step: number, length: number): Floats {
  const high = new Int8Array(eights.buffer, eights.byteOffset, length);
  const plane = low.length / 3;
  const out = new Float32Array(length);
  for (let k = 0; k < length; k++) {
    const [at, shift] = [k >> 3, 7 - (k & 7)];
    const rest = ((low[at] >> shift) & 1) | (((low[plane + at] >> shift) & 1) << 1) | (((low[2 * plane + at] >> shift) & 1) << 2);
    out[k] = (high[k] * 8 + rest) * step;
  }
  return out;
}

export function fromHalf(block: Bytes): Floats {
  const codes = new Uint16Array(block.buffer, block.byteOffset, block.byteLength >> 1);
  const table = new Float32Array(1 << 16);
  for (let code = 0; code < table.length; code++) {
    const [sign, exponent, fraction] = [code >> 15 ? -1 : 1, (code >> 10) & 31, code & 1023];
    if (exponent === 0) table[code] = sign * fraction * 2 ** -24;
    else if (exponent === 31) table[code] = fraction ? NaN : sign * Infinity;
    else table[code] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  const out = new Float32Array(codes.length);
  for (let k = 0; k < codes.length; k++) out[k] = table[codes[k]];
  return out;
}
