// Requests a rerun when an awaited result is there, as a click of the visitor's would. Waits until
// the page is rendered whole: a box that is not there yet would lose the text that it was sent.

import { closingFirst, type Mounted } from "../../parts/browser/component";
import { ask, isQuiet } from "../../parts/browser/quiet";

const CHECK_MS = 100;
const AGAIN_MS = 5000; // a request that was lost with the connection is sent again

interface SignalData {
  /** Key of the container that is drawn when the result is there. */
  sign: string;
}

export default closingFirst(({ data, setTriggerValue }: Mounted<SignalData>) => {
  let lastRequest = -Infinity;

  const check = () => {
    if (!isQuiet()) return;
    if (!document.querySelector(`.st-key-${data.sign}`)) return;
    if (performance.now() - lastRequest < AGAIN_MS) return;
    lastRequest = performance.now();
    ask(() => setTriggerValue("arrived", true));
  };

  const timer = setInterval(check, CHECK_MS);
  return () => clearInterval(timer);
});
