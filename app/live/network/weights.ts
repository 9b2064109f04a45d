// The weights of a checkpoint, from the message that weights.py writes.

import type { Bytes } from "../../browser/data_blocks";
import { asFloats, unpack } from "../../canvas/shared/transport";
import type { Floats } from "./arithmetic";
import type { CharacterTables } from "./characters";
import type { TokenizerSettings } from "./wordpiece";

export interface WeightsHeader {
  name: string;
  config: BertConfig;
  tokenizer: TokenizerSettings;
  characters: CharacterTables;
  tensors: { name: string; shape: number[]; stored: "float32" | "float16" | "int8"; blocks: number[] }[];
}

/** Fields of config.json. */
export interface BertConfig {
  hidden_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  layer_norm_eps: number;
}

export type Tensors = Map<string, Floats>;

export function readWeights(bytes: Bytes): { header: WeightsHeader; tensors: Tensors } {
  const { header, blocks } = unpack<WeightsHeader>(bytes);
  const tensors = new Map(header.tensors.map(({ name, shape, stored, blocks: own }) => {
    const [values, scales] = own.map((number) => blocks[number]);
    if (stored === "float32") return [name, asFloats(values)];
    if (stored === "float16") return [name, fromHalf(values)];
    return [name, fromCodes(values, asFloats(scales), shape.reduce((a, b) => a * b, 1))];
  }));
  return { header, tensors };
}

// Codes -127 to 127, each group of equal length with a scale of its own.
function fromCodes(block: Bytes, scales: Floats, length: number): Floats {
  const codes = new Int8Array(block.buffer, block.byteOffset, length);
  const group = length / scales.length;
  const out = new Float32Array(length);
  for (let k = 0, at = 0; k < scales.length; k++) {
    const scale = scales[k];
    for (const end = at + group; at < end; at++) out[at] = codes[at] * scale;
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
