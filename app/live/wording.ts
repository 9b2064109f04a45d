// Texts of lessons with their facts, and numbers as Python writes them: bertcore/lessons/lesson.py.

export type Fact = string | number;
/** A text, or the name of one among the guide's words, with its facts. */
export type Said = string | [name: string, facts: Record<string, Fact>];

const PLACE = /\{(\w+)(%?)\}/g;

/** A text with its facts: `{word}`, and `{share%}` in percent. */
export function filled(text: string, facts: Record<string, Fact>): string {
  return text.replace(PLACE, (_, name: string, sign: string) => written(facts[name], sign === "%"));
}

/** A fact as text; numbers with three digits that count. */
export function written(fact: Fact, isPercent = false): string {
  if (typeof fact === "string") return fact;
  if (isPercent) {
    const share = 100 * fact;
    return `${share >= 10 || share === 0 ? fixed(share, 0) : significant(share, 2)}%`;
  }
  if (Number.isInteger(fact)) return fact.toLocaleString("en-US");
  return Math.abs(fact) >= 1000 ? Number(fixed(fact, 0)).toLocaleString("en-US") : significant(fact, 3);
}

/** With so many decimals; what is exactly between two goes to the even one. */
export function fixed(value: number, decimals: number): string {
  const scaled = Math.abs(value) * 10 ** decimals;
  const below = Math.floor(scaled);
  const isBetween = scaled - below === 0.5 && (2 * below + 1) % 5 ** decimals === 0;
  if (!isBetween || below % 2) return value.toFixed(decimals);
  return `${value < 0 ? "-" : ""}${(below / 10 ** decimals).toFixed(decimals)}`;
}

/** With two decimals, as a number. */
export function rounded(value: number): number {
  return Number(fixed(value, 2));
}

/** With so many digits that count, without zeros at the end; "g" of Python. */
export function significant(value: number, digits: number): string {
  if (value === 0 || !Number.isFinite(value)) return Number.isNaN(value) ? "nan" : String(value).replace("Infinity", "inf");
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const power = Number(exponent);
  if (power < -4 || power >= digits) {
    return `${String(Number(mantissa))}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const text = fixed(value, digits - 1 - power);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
