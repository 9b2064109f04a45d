// Saves what a view shows: pictures (SVG, PNG at twice the size) and numbers (CSV, JSON, NPZ).

import { element } from "../../browser/elements";
import { said } from "../../browser/text";
import type { Sheet } from "../shared/data_table";
import { csv } from "./csv";
import { npz, type NamedArray } from "./npz";
import { download, savePicture, type Picture } from "./pictures";

export interface Saved {
  /** Without its ending. */
  fileName(): string;
  picture(): Picture;
  sheet(): Sheet;
  /** What was computed, for the JSON file: names and values. */
  facts(): Record<string, unknown>;
  arrays(): Record<string, NamedArray>;
}

export function saveButtons(saved: Saved): HTMLElement {
  const picture = (format: "svg" | "png") => savePicture(format, saved.fileName(), saved.picture());
  const keep = (text: string, type: string, ending: string) =>
    download(new Blob([text], { type }), `${saved.fileName()}.${ending}`);
  const json = () => {
    const { columns, rows } = saved.sheet();
    return JSON.stringify({ ...saved.facts(), columns, rows }, null, 1);
  };
  const formats: [string, string, () => void][] = [
    ["SVG", "picture", () => picture("svg")],
    ["PNG", "picture at twice the size", () => picture("png")],
    ["CSV", "table", () => keep(csv(saved.sheet()), "text/csv", "csv")],
    ["JSON", "table", () => keep(json(), "application/json", "json")],
    ["NPZ", "NumPy arrays", () => download(npz(saved.arrays()), `${saved.fileName()}.npz`)],
  ];
  const buttons = formats.map(([textContent, what, onclick]) =>
    element("button", { type: "button", textContent, title: `Save what is shown: ${what}`, onclick }));
  const name = element("summary", { textContent: said("Save"), title: said("Save what is shown") });
  return element("details", { className: "saving" }, name, element("span", { className: "group" }, ...buttons));
}
