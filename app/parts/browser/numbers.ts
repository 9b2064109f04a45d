// A number with so many decimals; what rounds to zero has no sign, as in Python's format "z".
export function decimal(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}
