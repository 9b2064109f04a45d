import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import type { Mounted } from "../../../../app/parts/browser/component";
import liveText from "../../../../app/shell/browser/live_text";
import pageTop from "../../../../app/shell/browser/page_top";
import uploadErrors from "../../../../app/shell/browser/upload_errors";

// Elements and events as far as these components use them.
class Area extends EventTarget {
  isConnected = true;
  constructor(readonly key: string) { super(); }
  matches(selector: string): boolean { return selector.includes(`.st-key-${this.key} `); }
}
class InputEvent extends Event {
  constructor(readonly isComposing: boolean) { super("input"); }
}
class KeyboardEvent extends Event {
  readonly key: string;
  constructor(kind: string, { key }: { key: string }) { super(kind); this.key = key; }
}

function open(document: object): void {
  Object.assign(globalThis, { document, window: globalThis, HTMLElement: Area, InputEvent, KeyboardEvent, CSS: { escape: String } });
}

afterEach(() => { for (const name of ["document", "window", "HTMLElement", "InputEvent", "KeyboardEvent"]) Reflect.deleteProperty(globalThis, name); });

test("a refused upload is reported once, by the box that says so, and its words are replaced", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const text = (nodeValue: string) => ({ nodeValue });
  const alert = { role: "alert", childNodes: [text("AxiosError: Request failed with status code 413")] };
  const tip = { role: null, childNodes: [text("AxiosError: Network Error"), text("another text")] };
  open({ querySelectorAll: () => [alert, tip] });
  const reports: unknown[] = [];
  const close = uploadErrors({ parentElement: {}, setTriggerValue: (...all: unknown[]) => reports.push(all) } as unknown as Mounted<unknown>);
  t.mock.timers.tick(1000);
  assert.deepEqual(reports, [["refused", "413"]]);
  const instead = "Refused: the reason is in the corner of the page.";
  assert.deepEqual([...alert.childNodes, ...tip.childNodes].map((node) => node.nodeValue), [instead, instead, "another text"]);
  close();
});

test("a text is sent when typing rests, not while a character is composed, and not of other boxes", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const document = Object.assign(new EventTarget(), { activeElement: null });
  open(document);
  const close = liveText({ parentElement: {}, data: { keys: ["text_a"], pauseMs: 300 } } as unknown as Mounted<{ keys: string[]; pauseMs: number }>);
  const type = (area: Area, isComposing: boolean) => {
    const event = new InputEvent(isComposing);
    Object.defineProperty(event, "target", { value: area });
    document.dispatchEvent(event);
  };
  const [own, other] = [new Area("text_a"), new Area("name")];
  const sent: string[] = [];
  for (const area of [own, other]) area.addEventListener("keydown", (event) => sent.push(`${area.key} ${(event as unknown as KeyboardEvent).key}`));
  type(own, false);
  t.mock.timers.tick(299);
  type(own, false);
  t.mock.timers.tick(299);
  assert.deepEqual(sent, []);
  t.mock.timers.tick(1);
  assert.deepEqual(sent, ["text_a Enter"]);
  type(own, true);
  type(other, false);
  t.mock.timers.tick(1000);
  assert.deepEqual(sent, ["text_a Enter"]);
  type(own, false);
  close(); // what waits is sent all the same
  t.mock.timers.tick(1000);
  assert.equal(sent.length, 2);
});

test("another page is shown from its top; the first one, and the same again, stay where they are", () => {
  const scrolled: unknown[] = [], listed: unknown[] = [];
  const main = { scrollTo: (to: unknown) => scrolled.push(to) };
  const entry = { scrollIntoView: (to: unknown) => listed.push(to) };
  const heard: unknown[] = [];
  const document = {
    cookie: "", addEventListener: (kind: string) => heard.push(kind),
    querySelector: (selector: string) => (selector.includes("aria-current") ? entry : main),
  };
  open(document);
  Object.assign(globalThis, { matchMedia: () => ({ matches: false }) });
  const show = (page: string, step = "") => pageTop({ data: { page, step, part: "", keep: { language: step } } } as unknown as Parameters<typeof pageTop>[0]);
  show("tokens");
  show("tokens");
  assert.equal(scrolled.length, 0);
  assert.deepEqual(listed, [{ block: "nearest" }]); // the page's entry in the menu, from the first page on
  show("heads");
  show("heads", "2");
  assert.match(document.cookie, /^bertscope_language=2; path=\/; max-age=31536000;/);
  show("heads", "2");
  assert.deepEqual(heard, ["click"]);
  assert.deepEqual(scrolled, Array(2).fill({ top: 0, behavior: "instant" }));
  assert.equal(listed.length, 3);
});
