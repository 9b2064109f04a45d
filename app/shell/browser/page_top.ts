// Shows a page from its top, or a step of a lesson where its picture is, and the page's entry in the
// menu, and keeps choices. A link in the page keeps its scroll position, as far as the next page is long.

import type { Mounted } from "../../parts/browser/component";

interface PageData {
  /** Name of the page that is shown. */
  page: string;
  /** Changes with each step of a lesson that is opened; "" without a lesson. */
  step: string;
  /** Key of the element that an answered step is about; "" for the page from its top. */
  part: string;
  /** What to keep for later visits, by name; empty: forget it. */
  keep: Record<string, string>;
}

const STEER = ["wheel", "touchstart", "keydown", "pointerdown"];
/** What is above grows while it is drawn. */
const FOLLOW_MS = 5000;
const NARROW = "(max-width: 768px)";
/** Closes the menu, which lies over the page in a narrow window; a lesson's guide stays. */
const CLOSE = '.stSidebar[data-collapsed="false"]:not(:has(.st-key-lesson_guide)) [data-testid="stSidebarCollapseButton"] button';
const YEAR = 365 * 24 * 3600;

let shown: string | undefined, reached: string | undefined;
let stop = () => {};

// Keeps a part of the page in view, and as much above it as fits, while the page is drawn, until the visitor steers.
function follow(part: string): () => void {
  const bring = () => {
    const element = document.querySelector<HTMLElement>(`.st-key-${CSS.escape(part)}`);
    if (element) element.style.scrollMarginBlock = "1rem 54vh"; // the question lies over the window's foot
    element?.scrollIntoView({ block: "nearest", behavior: "instant" });
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

function keep(name: string, value: string): void {
  try {
    document.cookie = `bertscope_${name}=${encodeURIComponent(value)}; path=/; max-age=${value ? YEAR : 0}; samesite=lax`;
  } catch { /* In a frame without an origin nothing is kept. */ }
}

function begin(): void {
  document.addEventListener("click", ({ target }) => {
    const menu = (target as Element).closest(".more-tools summary")?.parentElement as HTMLDetailsElement | undefined;
    if (menu) keep("more_tools", menu.open ? "" : "1");
  });
}

export default ({ data }: Mounted<PageData>) => {
  for (const [name, value] of Object.entries(data.keep)) keep(name, value);
  const isNew = data.page !== shown || data.step !== reached;
  const isFirst = shown === undefined;
  shown = data.page;
  reached = data.step;
  if (!isNew) return;
  document.querySelector(".stSidebar [aria-current]")?.scrollIntoView({ block: "nearest" });
  if (isFirst) begin();
  else if (matchMedia(NARROW).matches) document.querySelector<HTMLElement>(CLOSE)?.click();
  stop();
  stop = data.part ? follow(data.part) : () => {};
  if (!isFirst) document.querySelector('[data-testid="stMain"]')?.scrollTo({ top: 0, behavior: "instant" });
};
