// Shows a page from its top, or a step of a lesson where its picture is. A link in the page keeps its
// scroll position, as far as the next page is long.

import type { Mounted } from "../browser/component";

interface PageData {
  /** Name of the page that is shown. */
  page: string;
  /** Changes with each step of a lesson that is opened; "" without a lesson. */
  step: string;
  /** Key of the element that the step is about; "" for the page from its top. */
  part: string;
}

const STEER = ["wheel", "touchstart", "keydown", "pointerdown"];
/** What is above grows while it is drawn. */
const FOLLOW_MS = 5000;

let shown: string | undefined, reached: string | undefined;
let stop = () => {};

// Keeps a part of the page at the window's top while the page is drawn, until the visitor steers.
function follow(part: string): () => void {
  const bring = () => {
    const element = document.querySelector<HTMLElement>(`.st-key-${CSS.escape(part)}`);
    if (element) element.style.scrollMarginTop = "4rem";
    element?.scrollIntoView({ block: "start", behavior: "instant" });
  };
  const timer = setInterval(bring, 250);
  const end = () => {
    clearInterval(timer);
    clearTimeout(over);
    for (const kind of STEER) removeEventListener(kind, end, true);
  };
  const over = setTimeout(end, FOLLOW_MS);
  for (const kind of STEER) addEventListener(kind, end, true);
  return end;
}

export default ({ data }: Mounted<PageData>) => {
  const isNew = data.page !== shown || data.step !== reached;
  const isFirst = shown === undefined;
  shown = data.page;
  reached = data.step;
  if (!isNew) return;
  stop();
  stop = data.part ? follow(data.part) : () => {};
  if (!isFirst) document.querySelector('[data-testid="stMain"]')?.scrollTo({ top: 0, behavior: "instant" });
};
