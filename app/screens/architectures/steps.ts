// What two writers are sent as, and what stands after each step.

export interface Next {
  name: string;
  before: string[];
  written: { token: string; probability: number; best: [string, number][] }[];
}

export interface MaskStep {
  position: number;
  word: string;
  probability: number;
  /** Attention of the mask, [layer][token]. */
  weights: number[][];
}

export interface Masks {
  name: string;
  /** With the masks still open. */
  tokens: string[];
  /** Of the masks, from left to right. */
  places: number[];
  steps: MaskStep[];
}

export interface Writing {
  next: Next | null;
  masks: Masks | null;
}

// The tokens when so many masks are filled.
export function filledAfter(masks: Masks, step: number): string[] {
  const tokens = [...masks.tokens];
  for (const { position, word } of masks.steps.slice(0, step)) tokens[position] = word;
  return tokens;
}

// When each place was filled, from 1.
export function orderOf(masks: Masks, step: number): Map<number, number> {
  return new Map(masks.steps.slice(0, step).map(({ position }, number) => [position, number + 1]));
}

// What a mask looked at, the mean over the layers.
export function lastRead(step: MaskStep): number[] {
  const [first] = step.weights;
  return first.map((_, place) => step.weights.reduce((sum, row) => sum + row[place], 0) / step.weights.length);
}
