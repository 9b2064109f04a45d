// Requests a rerun when an awaited result is there, as a click of the visitor's would. Waits until
// the page is rendered whole: a box that is not there yet would lose the text that it was sent.
// Waits for the answer to a click, too: the rerun is of the page that is open, so right after a
// click on another page's link it would bring the visitor back.

import { closingFirst, type Mounted } from "../browser/component";

const CHECK_MS = 100;
const AGAIN_MS = 5000; // a request that was lost with the connection is sent again
const ANSWER_MS = 5000; // most clicks start no run, and a slow server may take long to start one

interface SignalData {
  /** Key of the container that is drawn when the result is there. */
  sign: string;
}

export default closingFirst(({ data, setTriggerValue }: Mounted<SignalData>) => {
  let lastRequest = -Infinity, lastMove = -Infinity;
  const move = () => { lastMove = performance.now(); };

  const check = () => {
    const app = document.querySelector<HTMLElement>('[data-testid="stApp"]');
    if (app?.dataset.testScriptState === "running") {
      lastMove = -Infinity; // answered
      return;
    }
    if (performance.now() - lastMove < ANSWER_MS) return;
    if (document.querySelector('[data-testid="stSkeleton"]')) return;
    if (!document.querySelector(`.st-key-${data.sign}`)) return;
    if (performance.now() - lastRequest < AGAIN_MS) return;
    lastRequest = performance.now();
    setTriggerValue("arrived", true);
  };

  const timer = setInterval(check, CHECK_MS);
  const moves = ["click", "popstate"];
  for (const name of moves) addEventListener(name, move, true);
  return () => {
    clearInterval(timer);
    for (const name of moves) removeEventListener(name, move, true);
  };
});
