import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Debounce } from "../../../../app/parts/browser/timers";

test("only the last of several calls is done, once it has rested", (t) => {
  Object.assign(globalThis, { window: globalThis });
  t.after(() => Reflect.deleteProperty(globalThis, "window"));
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const debounce = new Debounce(100);
  const [first, second] = [mock.fn(), mock.fn()];
  debounce.run(first);
  t.mock.timers.tick(99);
  debounce.run(second);
  t.mock.timers.tick(99);
  assert.equal(second.mock.callCount(), 0);
  t.mock.timers.tick(1);
  assert.deepEqual([first.mock.callCount(), second.mock.callCount()], [0, 1]);
  debounce.run(first);
  debounce.cancel();
  t.mock.timers.tick(1000);
  assert.equal(first.mock.callCount(), 0);
});
