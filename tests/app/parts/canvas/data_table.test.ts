import assert from "node:assert/strict";
import { test } from "node:test";

import { DataTable, type CaptionedSheet } from "../../../../app/parts/canvas/shared/data_table";
import { fake, openPage } from "../../../support/fake_dom";

test("a table is made when it is open: texts cut and legible, numbers as they are, a dash for none", (t) => {
  openPage();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  Object.assign(globalThis.window, { setTimeout });
  const sheet: CaptionedSheet = { caption: "Weights", columns: ["token", "weight"], rows: [["", 0.5], ["x".repeat(300), null]] };
  let made = 0;
  const table = new DataTable("As a table", () => { made += 1; return sheet; });
  table.refresh();
  t.mock.timers.tick(1000);
  assert.equal(made, 0); // closed
  Object.assign(table.root, { open: true });
  table.refresh();
  table.refresh();
  t.mock.timers.tick(1000);
  assert.equal(made, 1);
  const cells = fake(table.root).all((node) => node.tag === "td" || node.tag === "th");
  const texts = cells.map((cell) => cell.textContent);
  assert.deepEqual([texts.slice(0, 2), texts[3], texts[5]], [["token", "weight"], "0.5", "\u2013"]);
  assert.equal(texts[2], "(empty)");
  assert.ok(texts[4].length <= 121 && texts[4].endsWith("\u2026"));
  assert.deepEqual(cells.map((cell) => cell.scope), ["col", "col", "row", undefined, "row", undefined]);
  assert.deepEqual(cells.map((cell) => cell.className === "number"), [false, false, false, true, false, false]);
});
