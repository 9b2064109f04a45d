// Whether a component may ask for a run now: none is under way, the page is rendered whole, and no click
// waits for its answer. A run is of the page that is open, so one that is asked for right after a click on
// another page's link would bring the visitor back, or leave the page empty.

const ANSWER_MS = 5000; // most clicks start no run, and a slow server may take long to start one

let lastMove = -Infinity; // a click or a step back that no run has answered yet
let lastLink = -Infinity, leftPage = ""; // a click on a link, and the page that it may lead away from
let isAsked = false; // the next run answers us, not a click
let watched: HTMLElement | null = null;

const stateOf = (app: HTMLElement | null) => app?.dataset.testScriptState;
const changes = new MutationObserver(() => {
  if (stateOf(watched) !== "running") return;
  if (!isAsked) lastMove = -Infinity;
  isAsked = false;
});

function watchApp(): HTMLElement | null {
  const app = document.querySelector<HTMLElement>('[data-testid="stApp"]');
  if (app && app !== watched) {
    watched = app;
    changes.observe(app, { attributeFilter: ["data-test-script-state"] });
  }
  return app;
}

const move = (event: Event) => {
  watchApp();
  lastMove = performance.now();
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[href]") : null;
  if (link && link.pathname !== location.pathname) {
    lastLink = lastMove;
    leftPage = location.pathname;
  }
};
for (const name of ["click", "popstate"]) addEventListener(name, move, true);

export function isQuiet(): boolean {
  const app = watchApp();
  const now = performance.now();
  const isLeaving = now - lastLink < ANSWER_MS && location.pathname === leftPage;
  return stateOf(app) !== "running" && now - lastMove >= ANSWER_MS && !isLeaving
    && !document.querySelector('[data-testid="stSkeleton"]');
}

/** Ask for a run, when it is quiet. */
export function ask(request: () => void): void {
  isAsked = true;
  request();
}
