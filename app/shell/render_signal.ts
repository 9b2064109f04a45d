// Asks for what was awaited, as a click of the visitor's would. It waits until the page that was
// sent is drawn whole: a box that is not there yet would never take the text it was sent.

import type { Mounted } from "../browser/component";

const CHECK_MS = 100;
const AGAIN_MS = 5000; // a request that was lost with the connection is sent again

interface SignalData {
  /** Key of the container that is drawn when what was awaited is there. */
  sign: string;
}

export default function component({ data, setTriggerValue }: Mounted<SignalData>): () => void {
  let lastRequest = -Infinity;

  const check = () => {
    const app = document.querySelector<HTMLElement>('[data-testid="stApp"]');
    if (app?.dataset.testScriptState === "running") return;
    if (document.querySelector('[data-testid="stSkeleton"]')) return;
    if (!document.querySelector(`.st-key-${data.sign}`)) return;
    if (performance.now() - lastRequest < AGAIN_MS) return;
    lastRequest = performance.now();
    setTriggerValue("arrived", true);
  };

  const timer = setInterval(check, CHECK_MS);
  return () => clearInterval(timer);
}
