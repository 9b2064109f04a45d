// All tokens through one layer: a row each, a click follows one.

import { element } from "../../parts/browser/elements";
import type { Bytes } from "../../parts/browser/data_blocks";
import { legible, shorten } from "../../parts/browser/text";
import { asFloats } from "../../parts/canvas/shared/transport";
import { fullColour, short, type AllHeader, type Cell } from "./model";
import { strip, type Look } from "./strips";

const LONGEST = 18; // letters of a token

export function allTokens(header: AllHeader, blocks: Bytes[], look: Look, pick: (position: number) => void): HTMLElement {
  const { stages, tokens, positions } = header;
  const [bands, norms, cosines] = blocks.map((block, at) => (at < 3 ? asFloats(block) : new Float32Array()));
  const count = tokens.length;
  const width = bands.length / (stages.length * count);
  const cells = (stage: number, row: number): Cell[] => Array.from({ length: width }, (_, band) => ({
    first: band, last: band, mean: bands[(stage * count + row) * width + band],
  }));
  const isWrite = (stage: number) => stage % 2 === 1; // states and what is written to them take turns
  const full = [0, 1].map((kind) => fullColour(stages.flatMap((_, stage) =>
    isWrite(stage) === Boolean(kind) ? tokens.map((__, row) => cells(stage, row)) : [])));
  const grid = element("div", { className: "all", role: "table", ariaLabel: header.name, style: `--stages: ${stages.length}` });
  grid.append(element("div", { role: "row" },
    element("span", { role: "columnheader", className: "heading", textContent: "token" }),
    ...stages.map((stage) => element("span", { role: "columnheader", className: "heading", textContent: stage })),
    element("span", { role: "columnheader", className: "heading", textContent: "fire" })));
  const number = (values: Float32Array, stage: number, row: number) => values[stage * count + row];
  tokens.forEach((token, row) => {
    const kind = { 0: "a", 1: "b" }[header.text_ids[row]] ?? "special";
    const button = element("button", {
      type: "button", className: `token ${kind}`, title: `Follow ${legible(token)} (token ${positions[row]})`,
      ariaPressed: String(positions[row] === header.selected), onclick: () => pick(positions[row]), "data-position": positions[row],
    }, element("bdi", { textContent: shorten(legible(token), LONGEST) }));
    button.style.setProperty("--tone", header.colors[kind as "a" | "b" | "special"]);
    const stageCells = stages.map((stage, at) => {
      const text = `${short(number(norms, at, row))}${at ? `  ${short(number(cosines, at, row))}` : ""}`;
      const what = { name: `${stage} of ${legible(token)}`, what: (cell: Cell) => `${stage}, part ${cell.first + 1} of ${width}: mean ${short(cell.mean)}` };
      return element("div", { role: "cell" }, strip(cells(at, row), full[Number(isWrite(at))], what, look, "small"),
        element("small", { textContent: text }));
    });
    grid.append(element("div", { role: "row", className: isFolded(positions, row) ? "folded" : "" },
      element("div", { role: "rowheader" }, button), ...stageCells,
      element("div", { role: "cell" }, element("small", { textContent: header.firing[row].toLocaleString("en") }))));
  });
  return grid;
}

// Whether tokens before this one are not drawn.
function isFolded(positions: number[], row: number): boolean {
  return positions[row] !== (row ? positions[row - 1] + 1 : 0);
}
