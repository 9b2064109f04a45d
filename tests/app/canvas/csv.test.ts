import assert from "node:assert/strict";
import { test } from "node:test";

import { csv } from "../../../app/canvas/saving/csv";

test("a table begins with a byte order mark and its lines end as RFC 4180 says", () => {
  assert.equal(csv({ columns: ["token", "weight"], rows: [["river", 0.5], ["bank", null]] }),
    "\ufefftoken,weight\r\nriver,0.5\r\nbank,\r\n");
});

test("commas, quotes and line breaks are quoted", () => {
  assert.equal(csv({ columns: ["a"], rows: [[","], ['"'], ["x\ny"]] }), '\ufeffa\r\n","\r\n""""\r\n"x\ny"\r\n');
});

test("no spreadsheet runs a token as a formula; signs alone and numbers stay", () => {
  const rows = [["=1+1"], ["+cmd"], ["-x"], ["@a"], ["\tx"], ["-"], ["="], [-0.5]];
  assert.deepEqual(csv({ columns: ["a"], rows }).split("\r\n").slice(1, -1),
    ["'=1+1", "'+cmd", "'-x", "'@a", "'\tx", "-", "=", "-0.5"]);
});
