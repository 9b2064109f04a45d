// Reports that a section is out of the window when the visitor begins to write, and when it comes near again.
// While it is away, its element keeps its height: nothing moves when it is computed again. It also comes when a
// visitor is about to search or print the page, or has changed nothing for a while, so that a screen reader finds it.

import { closingFirst, type Mounted } from "../browser/component";
import { ask, isQuiet } from "../browser/quiet";

const NEAR = "25%"; // of the window's height, above and below it
const REST_MS = 10_000; // after which all that a page has is computed
const CHECK_MS = 100; // a report waits for the end of the run
const APART_MS = 150; // between reports of two sections: of two at once, one would be lost
const AGAIN_MS = 3000; // a report that was lost all the same is sent again

interface SectionData {
  /** Key of its container. */
  section: string;
  isShown: boolean;
}

let lastReport = -Infinity; // of any section

export default closingFirst(({ data, parentElement, setTriggerValue }: Mounted<SectionData>) => {
  const section = document.querySelector<HTMLElement>(`.st-key-${data.section}`);
  if (!section) return () => {};
  const page = location.pathname;
  let isNear = data.isShown, reportedAt = -Infinity;

  const check = () => {
    if (!isQuiet() || location.pathname !== page) return; // of a page that is left, it goes in a moment
    if (data.isShown) section.style.minHeight = isNear ? "" : `${section.offsetHeight}px`;
    const now = performance.now();
    if (isNear === data.isShown || (data.isShown && !mayLeave(section)) || now < Math.max(lastReport + APART_MS, reportedAt + AGAIN_MS)) return;
    lastReport = reportedAt = now;
    ask(() => setTriggerValue("near", isNear));
  };
  const come = () => {
    if (data.isShown) return;
    isNear = true;
    check();
  };
  const onKey = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && ["f", "p"].includes(event.key.toLowerCase())) come();
  };

  if (!data.isShown) parentElement.replaceChildren(note());
  const seen = new IntersectionObserver(
    (entries) => { isNear = entries[entries.length - 1]?.isIntersecting ?? true; check(); },
    { root: document.querySelector('[data-testid="stMain"]'), rootMargin: `${NEAR} 0px` },
  );
  seen.observe(section);
  const timer = setInterval(check, CHECK_MS), rest = setTimeout(come, REST_MS);
  addEventListener("keydown", onKey, true);
  addEventListener("beforeprint", come);
  return () => {
    seen.disconnect();
    clearInterval(timer);
    clearTimeout(rest);
    removeEventListener("keydown", onKey, true);
    removeEventListener("beforeprint", come);
  };
});

// An edit may follow, and nothing is awaited in the section. Who only reads the page causes no run.
function mayLeave(section: HTMLElement): boolean {
  return document.activeElement instanceof HTMLTextAreaElement && !section.contains(document.activeElement)
    && !section.querySelector('[data-testid="stProgress"]');
}

function note(): HTMLElement {
  const line = document.createElement("p");
  line.textContent = "This part of the page is computed when it comes into view.";
  line.style.cssText = "margin: 0; font: inherit; color: inherit";
  return line;
}
