// Whether a component may ask for a run now: none is under way, the page is rendered whole, and no click
// waits for its answer. A run is of the page that is open, so one that is asked for right after a click on
// another page's link would bring the visitor back, or leave the page empty.

const ANSWER_MS = 5000; // most clicks start no run, and a slow server may take long to start one

let lastMove = -Infinity;
let watched: HTMLElement | null = null;

const stateOf = (app: HTMLElement | null) => app?.dataset.testScriptState;
// A run that begins answers the click; one that was under way does not.
const changes = new MutationObserver(() => { if (stateOf(watched) === "running") lastMove = -Infinity; });

for (const name of ["click", "popstate"]) addEventListener(name, () => { lastMove = performance.now(); }, true);

export function isQuiet(): boolean {
  const app = document.querySelector<HTMLElement>('[data-testid="stApp"]');
  if (app && app !== watched) {
    watched = app;
    changes.observe(app, { attributeFilter: ["data-test-script-state"] });
  }
  return stateOf(app) !== "running" && performance.now() - lastMove >= ANSWER_MS
    && !document.querySelector('[data-testid="stSkeleton"]');
}
