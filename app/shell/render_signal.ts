// Asks for what was awaited, as a click of the visitor's would. It waits until the page that was
// sent is drawn whole: a box that is not there yet would never take the text it was sent.

import type { Mounted } from "../browser/component";

const LOOK_MS = 100;
const AGAIN_MS = 5000; // a question that was lost with the connection is asked again

interface SignalData {
  /** Key of the container that is drawn when what was awaited is there. */
  sign: string;
}

export default function component({ data, setTriggerValue }: Mounted<SignalData>): () => void {
  let asked = -Infinity;

  const look = () => {
    const app = document.querySelector<HTMLElement>('[data-testid="stApp"]');
    if (app?.dataset.testScriptState === "running") return;
    if (document.querySelector('[data-testid="stSkeleton"]')) return;
    if (!document.querySelector(`.st-key-${data.sign}`)) return;
    if (performance.now() - asked < AGAIN_MS) return;
    asked = performance.now();
    setTriggerValue("arrived", true);
  };

  const timer = setInterval(look, LOOK_MS);
  return () => clearInterval(timer);
}
