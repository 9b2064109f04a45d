// Functions for WebAssembly, written as expressions: the part of the format that simd.ts needs.
// https://webassembly.github.io/spec/core/binary/; the numbers of the instructions are those of its index.

/** The bytes of instructions. */
export type Code = number[];

export const I32 = 0x7f;
export const V128 = 0x7b; // four float32 numbers
type Type = typeof I32 | typeof V128;

/** A variable of a function. */
export interface Local {
  get: Code;
  set(value: Code): Code;
  /** Adds to an I32. */
  increase(step: Code): Code;
}

/** A function of I32 numbers that returns nothing. */
export class FunctionBuilder {
  private readonly locals: Type[] = [];

  constructor(private readonly parameters: string[]) {}

  /** The parameters, by their names. */
  get given(): Record<string, Local> {
    return Object.fromEntries(this.parameters.map((name, index) => [name, variable(index)]));
  }

  local(type: Type): Local {
    return variable(this.parameters.length + this.locals.push(type) - 1);
  }

  /** The function as an export of a module that takes its memory from "js" "memory". */
  module(name: string, body: Code): Uint8Array<ArrayBuffer> {
    const types = this.parameters.map(() => I32);
    const code = [...vector(this.locals.map((type) => [1, type])), ...body, END];
    return Uint8Array.from([
      0, ...letters("asm"), 1, 0, 0, 0,
      ...section(1, [0x60, ...sized(types), 0]), // its type
      ...section(2, [...sized(letters("js")), ...sized(letters("memory")), 2, 0, 1]), // the memory, of one page or more
      ...section(3, [0]), // the function
      ...section(7, [...sized(letters(name)), 0, 0]), // its name
      ...section(10, sized(code)),
    ]);
  }
}

const END = 0x0b;

function variable(index: number): Local {
  const get = [0x20, ...unsigned(index)];
  const set = (value: Code) => [...value, 0x21, ...unsigned(index)];
  return { get, set, increase: (step) => set(i32.add(get, step)) };
}

export const i32 = {
  constant: (value: number): Code => [0x41, ...signed(value)],
  add: (a: Code, b: Code): Code => [...a, ...b, 0x6a],
  multiply: (a: Code, b: Code): Code => [...a, ...b, 0x6c],
  isLess: (a: Code, b: Code): Code => [...a, ...b, 0x49], // as unsigned numbers
};

export const f32x4 = {
  zero: [0xfd, 0x0c, ...new Array<number>(16).fill(0)] as Code,
  /** The four numbers at an address that has `offset` added. */
  load: (address: Code, offset = 0): Code => [...address, 0xfd, 0x00, 2, ...unsigned(offset)],
  store: (address: Code, value: Code): Code => [...address, ...value, 0xfd, 0x0b, 2, 0],
  add: (a: Code, b: Code): Code => [...a, ...b, 0xfd, ...unsigned(228)],
  /** a b + c. */
  multiplyAdd: (a: Code, b: Code, c: Code): Code => f32x4.add([...a, ...b, 0xfd, ...unsigned(230)], c),
  /** The same, rounded once or twice as the processor does it faster: relaxed SIMD, which not all browsers have. */
  relaxedMultiplyAdd: (a: Code, b: Code, c: Code): Code => [...a, ...b, ...c, 0xfd, ...unsigned(0x105)],
  /** Four of the eight numbers of `a` and `b`. */
  pick: (a: Code, b: Code, which: number[]): Code =>
    [...a, ...b, 0xfd, 0x0d, ...which.flatMap((number) => [0, 1, 2, 3].map((byte) => 4 * number + byte))],
};

/** Repeats the body, at least once, while the condition holds. */
export function repeat(body: Code, condition: Code): Code {
  return [0x03, 0x40, ...body, ...condition, 0x0d, 0, END];
}

// ---- the parts of the file ----

function section(id: number, one: Code): Code {
  return [id, ...sized(vector([one]))];
}

function vector(items: Code[]): Code {
  return [...unsigned(items.length), ...items.flat()];
}

function sized(bytes: Code): Code {
  return [...unsigned(bytes.length), ...bytes];
}

function letters(text: string): Code {
  return [...text].map((letter) => letter.charCodeAt(0));
}

// Seven bits in each byte, the lowest first; the highest bit of a byte tells that more follow (LEB128).
function unsigned(value: number): Code {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

function signed(value: number): Code {
  return value >= -64 && value < 64 ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)];
}
