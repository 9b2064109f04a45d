// Asks for what was awaited, as a click of the visitor's would. It waits until the page that was
// sent is drawn whole: a box that is not there yet would never take the text it was sent.

const AGAIN_MS = 5000; // a question that was lost with the connection is asked again

export default function ({ data, setTriggerValue }) {
  let asked = -Infinity;

  const look = () => {
    const app = document.querySelector('[data-testid="stApp"]');
    if (app?.dataset.testScriptState === "running") return;
    if (document.querySelector('[data-testid="stSkeleton"]')) return;
    if (!document.querySelector(`.st-key-${data.sign}`)) return;
    if (performance.now() - asked < AGAIN_MS) return;
    asked = performance.now();
    setTriggerValue("arrived", true);
  };

  const timer = setInterval(look, 100);
  return () => clearInterval(timer);
}
