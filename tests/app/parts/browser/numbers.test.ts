import assert from "node:assert/strict";
import { test } from "node:test";
import { decimal } from "../../../../app/parts/browser/numbers";

test("what rounds to zero has no sign, and the decimals stay", () => {
  assert.deepEqual([-0.001, 0.001, -0.25, -0, 1].map((value) => decimal(value, 2)), ["0.00", "0.00", "-0.25", "0.00", "1.00"]);
});
