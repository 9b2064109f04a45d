// Saves what a view shows: as a picture (SVG, PNG at twice the size) and as numbers (CSV, JSON, NPZ).

// A view has:
//   fileName()  without ending
//   picture()   { width, height, ground, draw(context) }
//   sheet()     { columns: [string], rows: [[string | number]] }
//   facts()     what was computed, for the JSON: names and values
//   arrays()    { name: { shape, values } } as npz() takes them

import { element } from "./elements.js";
import { npz } from "./npz.js";
import { download, savePicture } from "./pictures.js";

export function saveButtons(view) {
  const make = {
    SVG: () => picture("svg"),
    PNG: () => picture("png"),
    CSV: () => keep(csv(view.sheet()), "text/csv"),
    JSON: () => {
      const { columns, rows } = view.sheet();
      return keep(JSON.stringify({ ...view.facts(), columns, rows }, null, 1), "application/json");
    },
    NPZ: () => download(npz(view.arrays()), `${view.fileName()}.npz`),
  };
  const picture = (format) => {
    const { width, height, ground, draw } = view.picture();
    savePicture(format, view.fileName(), width, height, ground, draw);
  };
  const keep = (text, type) => {
    const ending = { "text/csv": "csv", "application/json": "json" }[type];
    download(new Blob([text], { type }), `${view.fileName()}.${ending}`);
  };
  const titles = { SVG: "picture", PNG: "picture at twice the size", CSV: "table", JSON: "table", NPZ: "NumPy arrays" };
  const buttons = Object.entries(make).map(([name, save]) => {
    const button = element("button", { type: "button", textContent: name, title: `Save what is shown: ${titles[name]}` });
    button.onclick = save;
    return button;
  });
  return element("span", { className: "saving", role: "group", ariaLabel: "Save what is shown" }, "Save", ...buttons);
}

// In UTF-8 with the mark that lets spreadsheets see it.
function csv({ columns, rows }) {
  return `\ufeff${[columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n")}\r\n`;
}

// A spreadsheet would run a token "=f()" as a formula: an apostrophe in front makes it text.
function csvCell(value) {
  if (typeof value !== "string") return value === null ? "" : String(value);
  const text = /^[=+\-@\t\r]./s.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
