// Writes CSV (RFC 4180) for spreadsheets.

import type { Sheet } from "../shared/data_table";

// With a byte order mark, by which spreadsheets know UTF-8.
export function csv({ columns, rows }: Sheet): string {
  return `\ufeff${[columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n")}\r\n`;
}

// A spreadsheet would run a token "=f()" as a formula: a leading apostrophe makes it text.
function csvCell(value: Sheet["rows"][number][number]): string {
  if (typeof value !== "string") return String(value ?? "");
  const text = /^[=+\-@\t\r]./s.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
