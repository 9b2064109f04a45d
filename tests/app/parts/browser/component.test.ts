import assert from "node:assert/strict";
import { test } from "node:test";

import { closingFirst, keepView, type KeptView, type Mounted } from "../../../../app/parts/browser/component";

class Counter implements KeptView<number, string> {
  static made = 0;
  static closed = 0;
  report: (value: string) => void = () => {};

  constructor() { Counter.made += 1; }
  update(data: number): void { this.report(`${data} of view ${Counter.made}`); }
  close(): void { Counter.closed += 1; }
}

function mounted(place: object, data: number, reports: unknown[]): Mounted<number> {
  return {
    data, parentElement: place as HTMLElement,
    setStateValue: () => assert.fail("no state is set"),
    setTriggerValue: (name, value) => reports.push([name, value]),
  };
}

test("a place keeps its view until it goes, and the view reports to the latest message", () => {
  const component = keepView(Counter, "picked");
  const place = {};
  const [first, second, third]: unknown[][] = [[], [], []];
  component(mounted(place, 1, first));
  const close = component(mounted(place, 2, second));
  assert.equal(Counter.made, 1);
  assert.deepEqual([first, second], [[["picked", "1 of view 1"]], [["picked", "2 of view 1"]]]);
  close();
  assert.equal(Counter.closed, 1);
  component(mounted(place, 3, third));
  assert.deepEqual(third, [["picked", "3 of view 2"]]);
});

test("two places have a view each", () => {
  const before = Counter.made;
  const component = keepView(Counter, "picked");
  component(mounted({}, 1, []));
  component(mounted({}, 1, []));
  assert.equal(Counter.made - before, 2);
});

test("the cleanup of a first call that another one followed closes nothing", () => {
  const component = keepView(Counter, "picked");
  const place = {};
  const closeFirst = component(mounted(place, 1, []));
  const before = Counter.closed;
  const close = component(mounted(place, 2, []));
  closeFirst();
  assert.equal(Counter.closed, before);
  close();
  close();
  assert.equal(Counter.closed, before + 1);
});

test("what a call opened is closed before the next one for the place, and once", () => {
  const done: string[] = [];
  const component = closingFirst(({ data }: Mounted<number>) => {
    done.push(`open ${data}`);
    return () => done.push(`close ${data}`);
  });
  const place = {};
  const closeFirst = component(mounted(place, 1, []));
  const close = component(mounted(place, 2, []));
  component(mounted({}, 3, []));
  closeFirst();
  assert.deepEqual(done, ["open 1", "close 1", "open 2", "open 3"]);
  close();
  close();
  component(mounted(place, 4, []));
  assert.deepEqual(done.slice(4), ["close 2", "open 4"]);
});
