// Writes CSV (RFC 4180) for spreadsheets, as `to_csv` in app/parts/html_file/data_files.py does.

import type { Sheet } from "../shared/data_table";
import { before_sign } from "./formula.json";

// Before a sign by which a spreadsheet, in whatever country, would take a part of a text for a formula.
const BEFORE_SIGN = new RegExp(before_sign, "g");

// With a byte order mark, by which spreadsheets know UTF-8.
export function csv({ columns, rows }: Sheet): string {
  return `\ufeff${[columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n")}\r\n`;
}

// All texts are quoted; an apostrophe makes text of what a spreadsheet would compute.
function csvCell(value: Sheet["rows"][number][number]): string {
  if (typeof value !== "string") return String(value ?? "");
  return `"${value.replace(BEFORE_SIGN, "$&'").replaceAll('"', '""')}"`;
}
