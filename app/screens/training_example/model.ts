// What the drawing is sent, and what it says of it.

export type Fate = "mask" | "kept" | "random";

export interface Guess {
  position: number;
  token: string;
  became: Fate;
  best: [piece: string, probability: number][];
  probability: number;
  /** -ln of the right piece's probability, nats. */
  loss: number;
}

export interface Source {
  text: string;
  /** 0: the visitor's document; others: the one that a random B is from. */
  document: number;
  part: "A" | "B" | "";
  num_tokens: number;
  num_kept: number;
}

export interface Example {
  sentences: Source[];
  is_random: boolean;
  is_lone: boolean;
  tokens: string[];
  segment_ids: number[];
  /** 0 and 1 for A and B; -1 for added tokens. */
  text_ids: number[];
  input_tokens: string[];
  guesses: Guess[];
  pair_logits: [number, number] | null;
  pair_probabilities: [number, number] | null;
  mlm_loss: number;
  nsp_loss: number | null;
  /** How the checkpoint writes [MASK]. */
  mask: string;
  colors: Record<"a" | "b" | "special" | "accent", string>;
}

// How the coin fell, in words.
export function coin({ is_random: random, is_lone: lone }: Example): string {
  if (!random) return "The coin says: B is what follows A.";
  return lone ? "One sentence is left, so B is from another document." : "The coin says: B is from another document.";
}

// Whether a token is of text A, text B, or added.
export function kindOf({ text_ids: texts }: Example, place: number): "a" | "b" | "special" {
  return texts[place] < 0 ? "special" : texts[place] === 1 ? "b" : "a";
}

// How many tokens stand in a line of a drawing: as many as fit, in lines of like length.
export function perLine(count: number, width: number, cell: number): number {
  const most = Math.max(4, Math.floor(width / cell));
  const lines = Math.ceil(count / most);
  return Math.ceil(count / lines);
}

// The height of a bar, 0 to 1: a loss against the largest, which is at least 3 nats.
export function barHeight(loss: number, guesses: Guess[]): number {
  return loss / Math.max(3, ...guesses.map((guess) => guess.loss));
}

// A cost with the digits of the formulas below the drawing: what is shown can be added up.
export function nats(value: number): string {
  return value.toFixed(3);
}
