// The product of rows in WebAssembly, four numbers at a time; without it, `plainProduct` of arithmetic.ts computes.

import { plainProduct, type Floats, type Machine, type Rows } from "./arithmetic";
import { f32x4, FunctionBuilder, I32, i32, repeat, V128, type Code, type Local } from "./wasm";

const ROWS = 3; // of a block: its 12 sums fit into the registers of a processor
const COLUMNS = 4; // of a block: its sums fill one vector
const UNROLLED = 2; // vectors of each row in one round of the innermost loop
const NUMBERS = 4 * UNROLLED;
const CHUNK = 16 * ROWS; // rows that stay in the processor's cache while all columns pass
const PAGE = 65536; // bytes

type MultiplyAdd = typeof f32x4.multiplyAdd;
type Kernel = (first: number, second: number, out: number, rows: number, columns: number, size: number,
  firstStride: number, secondStride: number, outStride: number) => void;

/** A machine with room for so many bytes; null where the browser has no such instructions, or its policy forbids them. */
export function simdMachine(bytes: number): SimdMachine | null {
  for (const form of [f32x4.relaxedMultiplyAdd, f32x4.multiplyAdd]) {
    const kernels = kernelsOf(form);
    if (kernels) return new SimdMachine(kernels, bytes);
  }
  return null;
}

function kernelsOf(form: MultiplyAdd): { rows: number; module: WebAssembly.Module }[] | null {
  try {
    return [ROWS, 1].map((rows) => ({ rows, module: new WebAssembly.Module(blocks(rows, form)) }));
  } catch {
    return null;
  }
}

class SimdMachine implements Machine {
  private readonly memory: WebAssembly.Memory;
  private readonly kernels: { rows: number; run: Kernel }[];
  private used = 0;

  constructor(kernels: { rows: number; module: WebAssembly.Module }[], bytes: number) {
    this.memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE) });
    this.kernels = kernels.map(({ rows, module }) => {
      const { exports } = new WebAssembly.Instance(module, { js: { memory: this.memory } });
      return { rows, run: exports.blocks as unknown as Kernel };
    });
  }

  floats(length: number): Floats {
    const start = this.used;
    this.used += 16 * Math.ceil(length / 4);
    return new Float32Array(this.memory.buffer as ArrayBuffer, start, length);
  }

  // Blocks of rows first, then single rows. The last columns once more with those before them, so that they fill a block.
  product(first: Rows, second: Rows, out: Rows): void {
    const all = [first, second, out];
    if (all.some(({ values }) => values.buffer !== this.memory.buffer)) throw new Error("an array is not of this machine");
    const [depth, columns] = [first.width - (first.width % NUMBERS), second.count];
    if (!depth || columns < COLUMNS) {
      plainProduct(first, second, out);
      return;
    }
    const [a, b, c] = all.map(({ values }) => values.byteOffset);
    const [strideA, strideB, strideC] = all.map(({ stride }) => 4 * stride);
    const whole = columns - (columns % COLUMNS);
    const last = columns - COLUMNS;
    let row = 0;
    for (const { rows, run } of this.kernels) {
      while (row + rows <= first.count) {
        const left = first.count - row;
        const count = Math.min(CHUNK, left - (left % rows));
        const [from, to] = [a + row * strideA, c + row * strideC];
        run(from, b, to, count, whole, 4 * depth, strideA, strideB, strideC);
        if (whole < columns) run(from, b + last * strideB, to + 4 * last, count, COLUMNS, 4 * depth, strideA, strideB, strideC);
        row += count;
      }
    }
    if (depth < first.width) addFrom(depth, first, second, out);
  }
}

// Adds the products of the numbers from place `start` of each row on.
function addFrom(start: number, first: Rows, second: Rows, out: Rows): void {
  for (let row = 0; row < first.count; row++) {
    for (let column = 0; column < second.count; column++) {
      let sum = 0;
      for (let k = start; k < first.width; k++) sum += first.values[row * first.stride + k] * second.values[column * second.stride + k];
      out.values[row * out.stride + column] += sum;
    }
  }
}

/**
 * The module with the function that computes blocks of `rows` x COLUMNS sums of products.
 *
 * Its addresses and strides are in bytes; `size` is that of a row, a multiple of 4 NUMBERS.
 */
function blocks(rows: number, multiplyAdd: MultiplyAdd): Uint8Array<ArrayBuffer> {
  const built = new FunctionBuilder(
    ["first", "second", "out", "rows", "columns", "size", "firstStride", "secondStride", "outStride"]);
  const { first, second, out, size, firstStride, secondStride, outStride, ...counts } = built.given;
  const several = (count: number, type: typeof I32 | typeof V128) => Array.from({ length: count }, () => built.local(type));
  const [row, column, place, firstOfBlock, outOfBlock] = several(5, I32);
  const [a, b, to] = [several(rows, I32), several(COLUMNS, I32), several(rows, I32)];
  const left = several(rows, V128);
  const right = built.local(V128);
  const sums = several(rows * COLUMNS, V128);

  // The addresses of rows that follow each other.
  const follow = (addresses: Local[], start: Local, stride: Local) =>
    addresses.flatMap((address, k) => address.set(k ? i32.add(addresses[k - 1].get, stride.get) : start.get));
  const forEach = (number: Local, count: Local, step: number, body: Code) => [
    ...number.set(i32.constant(0)),
    ...repeat([...body, ...number.increase(i32.constant(step))], i32.isLess(number.get, count.get)),
  ];

  const products = (vector: number) => [
    ...left.flatMap((values, r) => values.set(f32x4.load(a[r].get, 16 * vector))),
    ...b.flatMap((address, c) => [
      ...right.set(f32x4.load(address.get, 16 * vector)),
      ...left.flatMap((values, r) => {
        const sum = sums[r * COLUMNS + c];
        return sum.set(multiplyAdd(values.get, right.get, sum.get));
      }),
    ]),
  ];
  const block = [
    ...follow(a, firstOfBlock, firstStride), ...follow(b, second, secondStride), ...follow(to, outOfBlock, outStride),
    ...sums.flatMap((sum) => sum.set(f32x4.zero)),
    ...forEach(place, size, 4 * NUMBERS, [
      ...Array.from({ length: UNROLLED }, (_, vector) => products(vector)).flat(),
      ...[...a, ...b].flatMap((address) => address.increase(i32.constant(4 * NUMBERS))),
    ]),
    ...to.flatMap((address, r) => f32x4.store(address.get, totals(sums.slice(r * COLUMNS, (r + 1) * COLUMNS)))),
  ];
  const after = (stride: Local, count: number) => i32.multiply(stride.get, i32.constant(count));
  return built.module("blocks", forEach(column, counts.columns, COLUMNS, [
    ...firstOfBlock.set(first.get), ...outOfBlock.set(out.get),
    ...forEach(row, counts.rows, rows, [
      ...block, ...firstOfBlock.increase(after(firstStride, rows)), ...outOfBlock.increase(after(outStride, rows)),
    ]),
    ...second.increase(after(secondStride, COLUMNS)), ...out.increase(i32.constant(4 * COLUMNS)),
  ]));
}

// The sums of four vectors, as one.
function totals(sums: Local[]): Code {
  const [p, q, r, s] = sums.map(({ get }) => get);
  const halves = (a: Code, b: Code) => f32x4.add(f32x4.pick(a, b, [0, 4, 2, 6]), f32x4.pick(a, b, [1, 5, 3, 7]));
  const [low, high] = [halves(p, q), halves(r, s)];
  return f32x4.add(f32x4.pick(low, high, [0, 1, 4, 5]), f32x4.pick(low, high, [2, 3, 6, 7]));
}
