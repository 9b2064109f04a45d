// What the drawing is sent, and what it makes of it.

export type Fate =
  | "" | "mask" | "kept" | "random" | "sentinel" | "replaced" | "lucky" | "moved" | "predicted" | "gap";

export interface Read {
  text: string;
  fate: Fate;
  /** What must come out at its place; "" where there is no loss. */
  target: string;
}

export interface Answer {
  place: number;
  best: [answer: string, probability: number][];
  target: string;
  /** -ln of the right answer's probability, nats. */
  loss: number;
}

export interface Shown {
  name: string;
  title: string;
  /** The model that was trained with it, and the paper. */
  origin: string;
  group: string;
  /** Why it cannot be drawn on this text; then the rest is empty. */
  error: string;
  original: string[];
  reads: Read[];
  decoder_reads: string[];
  writes: string[];
  /** What must be said of a pair. */
  verdict: string;
  /** When each token is predicted, from 1; 0: never. */
  order: number[];
  /** Which mask was drawn. */
  direction: string;
  answers: Answer[];
}

export interface Drawing {
  /** All in rows, or the only one in detail. */
  in_detail: boolean;
  objectives: Shown[];
  /** How the checkpoint writes [MASK]. */
  mask: string;
}

/** Names of the fates for the legend, in its order. */
export const NAMES: [Fate, string][] = [
  ["mask", ""], ["kept", "kept"], ["random", "random"], ["sentinel", "sentinel"],
  ["replaced", "replaced"], ["moved", "moved"], ["predicted", "predicted"],
];

// The fates that are drawn at all, those of like colour once.
export function fatesOf(objectives: Shown[]): Fate[] {
  const drawn = new Set(objectives.flatMap((one) => one.reads.map(({ fate }) => fate)));
  if (drawn.has("lucky")) drawn.add("kept"); // of the same colour
  if (drawn.has("replaced") && drawn.has("random")) drawn.delete("replaced");
  return NAMES.map(([fate]) => fate).filter((fate) => drawn.has(fate));
}

export function fateName(fate: Fate, mask: string, objectives: Shown[]): string {
  const drawn = (wanted: Fate) => objectives.some((one) => one.reads.some((read) => read.fate === wanted));
  if (fate === "mask") return mask;
  if (fate === "random" && drawn("replaced")) return "random or made up";
  if (fate === "kept" && drawn("lucky")) return drawn("kept") ? "kept or guessed right" : "guessed right";
  return NAMES.find(([known]) => known === fate)?.[1] ?? fate;
}

// The group's name where a group begins, "" elsewhere.
export function groupAt(objectives: Shown[], place: number): string {
  const { group } = objectives[place];
  return place > 0 && objectives[place - 1].group === group ? "" : group;
}

// What is written below a token in a row of the overview: what must come out, if it is not read.
export function below(objective: Shown, place: number): string {
  const { fate, target } = objective.reads[place];
  const when = objective.order[place];
  if (when) return `${when}.`;
  if (!target || target === "original") return "";
  return fate === "kept" || fate === "predicted" ? "" : target;
}

// The first token that a row of at most `most` shows: a few before the first change of a longer text.
export function firstShown({ reads }: Shown, most: number): number {
  const changed = reads.findIndex(({ fate }) => fate !== "");
  return Math.max(0, Math.min(changed - 4, reads.length - most));
}

// Whether the decoder writes the whole text.
export function writesAll({ writes, original }: Shown): boolean {
  return writes.length > 0 && writes.length === original.length && writes.every((text, place) => text === original[place]);
}

// Whether a place carries loss.
export function carriesLoss(objective: Shown, place: number): boolean {
  return objective.reads[place].target !== "" || (objective.verdict !== "" && place === 0);
}
