// A number as a learner types it, read as by bertcore/lessons/typed_number.py.

const SIGNS: Record<string, string> = { "\u2212": "-", "\u066b": ".", "\u066c": "'", "\u066a": "%", "\u2019": "'" };
for (const zero of [0x660, 0x6f0, 0x966])
  for (let value = 0; value < 10; value++) SIGNS[String.fromCharCode(zero + value)] = String(value);
const NUMBER = /^([+-]?)(\d[\d.,]*|\.\d+|,\d+)(e[+-]?\d{1,3})?(%?)$/;
const GROUPS = /^\d{1,3}([.,])\d{3}(?:\1\d{3})*$/;
const COMMA_IS_DECIMAL = ["ru"];
const ASKED = /percent|процент|百分/i;
const HUGE = 1e15;

/** Whether the number that a question asks for is in percent. */
export const asksPercent = (question: string): boolean => ASKED.test(question);

/** The number, null if it is none or is huge; in percent, "80%" is 80. */
export function typedNumber(typed: string, language: string, isPercent = false): number | null {
  const text = [...typed.normalize("NFKC").trim().toLowerCase()].map((sign) => SIGNS[sign] ?? sign).join("")
    .replace(/(?<=[0-9])[ '_](?=[0-9]{3}(?![0-9]))| (?=%$)/g, "");
  const [, sign, digits, exponent = "", percent] = NUMBER.exec(text) ?? [];
  const plain = digits === undefined ? null : plainDigits(digits, language);
  if (plain === null) return null;
  let number = Number(sign + plain + exponent);
  if (percent && !isPercent) number /= 100;
  return Math.abs(number) < HUGE ? number : null;
}

// Digits with a decimal point alone; null if they have no such form.
function plainDigits(digits: string, language: string): string | null {
  const signs = digits.replace(/\d/g, "");
  if (!signs) return digits;
  const decimal = signs.slice(-1);
  if (signs.length === 1) {
    const isGroup = decimal === "," && GROUPS.test(digits) && !digits.startsWith("0");
    return digits.replace(",", isGroup && !COMMA_IS_DECIMAL.includes(language) ? "" : ".");
  }
  if (new Set(signs).size === 1) return GROUPS.test(digits) ? digits.replaceAll(decimal, "") : null;
  const place = digits.lastIndexOf(decimal);
  const whole = digits.slice(0, place);
  if (whole.includes(decimal) || !GROUPS.test(whole)) return null;
  return `${whole.replace(/[.,]/g, "")}.${digits.slice(place + 1)}`;
}
