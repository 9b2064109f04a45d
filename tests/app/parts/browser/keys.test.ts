import assert from "node:assert/strict";
import { test } from "node:test";

import { onKey } from "../../../../app/parts/browser/keys";

test("a key does what it is there for, but nothing beside a key of the browser's shortcuts", () => {
  const done: string[] = [];
  const press = (key: string, more = {}) => {
    const event = { key, preventDefault: () => done.push("prevented"), ...more } as unknown as KeyboardEvent;
    onKey(event, { "Enter": () => done.push("opened"), "+": () => done.push("closer") });
  };
  press("Enter", { shiftKey: true });
  press("+");
  for (const more of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) press("+", more);
  for (const other of ["a", "toString"]) press(other);
  assert.deepEqual(done, ["prevented", "opened", "prevented", "closer"]);
});
