import assert from "node:assert/strict";
import { test } from "node:test";

import { csv } from "../../../../app/parts/canvas/saving/csv";
import formulas from "./formulas.json";

test("a table begins with a byte order mark and its lines end as RFC 4180 says", () => {
  assert.equal(csv({ columns: ["token", "weight"], rows: [["river", 0.5], ["bank", null]] }),
    '\ufeff"token","weight"\r\n"river",0.5\r\n"bank",\r\n');
});

test("texts are quoted", () => {
  assert.equal(csv({ columns: ["a"], rows: [[","], ['"'], ["x\ny"]] }), '\ufeff"a"\r\n","\r\n""""\r\n"x\ny"\r\n');
});

test("no spreadsheet runs a part of a text as a formula, as in Python", () => {
  for (const [text, written] of formulas as [string, string][])
    assert.equal(csv({ columns: [text], rows: [[text]] }), `\ufeff${`"${written.replaceAll('"', '""')}"\r\n`.repeat(2)}`);
});

test("numbers stay numbers", () => {
  assert.equal(csv({ columns: ["a"], rows: [[-0.5], [1e-7]] }), '\ufeff"a"\r\n-0.5\r\n1e-7\r\n');
});

test("a long text without a sign is read once", () => {
  const text = "; \t\n".repeat(50_000);
  const start = performance.now();
  csv({ columns: ["a"], rows: [[text]] });
  assert.ok(performance.now() - start < 2000);
});
