// The character classes of BERT's normaliser, from the tables that characters.py takes from the library.

/** Runs of code points: first and last of each, one after the other. */
type Ranges = number[];

type Kind = "removed" | "whitespace" | "chinese" | "accent" | "punctuation";

export interface CharacterTables extends Record<Kind, Ranges> {
  /** Code points, and what each becomes. */
  lower: [string[], string[]];
  decompose: [string[], string[]];
  /** Ranks by which NFD sorts what follows a letter. */
  rank: [string[], number[]];
}

// Hangul syllables, which decompose by rule.
const HANGUL: Ranges = [0xac00, 0xd7a3];

export class Characters {
  private readonly lowers: Map<string, string>;
  private readonly parts: Map<string, string>;
  private readonly ranks: Map<string, number>;

  constructor(private readonly tables: CharacterTables) {
    this.lowers = mapping(tables.lower);
    this.parts = mapping(tables.decompose);
    this.ranks = mapping(tables.rank);
  }

  is(character: string, kind: Kind): boolean {
    return within(character, this.tables[kind]);
  }

  lower(character: string): string {
    return this.lowers.get(character) ?? character;
  }

  // The letter and its accents as separate characters.
  decompose(character: string): string[] {
    const whole = within(character, HANGUL) ? character.normalize("NFD") : this.parts.get(character) ?? character;
    return [...whole];
  }

  // 0 for a letter.
  rank(character: string): number {
    return this.ranks.get(character) ?? 0;
  }
}

function mapping<Value>([from, to]: [string[], Value[]]): Map<string, Value> {
  return new Map(from.map((character, k) => [character, to[k]]));
}

function within(character: string, ranges: Ranges): boolean {
  const code = character.codePointAt(0) ?? -1;
  let [low, high] = [0, ranges.length / 2];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[2 * middle + 1] < code) low = middle + 1;
    else high = middle;
  }
  return 2 * low < ranges.length && ranges[2 * low] <= code;
}
