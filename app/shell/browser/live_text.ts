// Streamlit's text area sends its text on Ctrl+Enter or when it is left. This presses
// Ctrl+Enter for the visitor when typing rests, except while an input method composes a character.

import { closingFirst, type Mounted } from "../../parts/browser/component";
import { Debounce } from "../../parts/browser/timers";

interface LiveTextData {
  /** Of the text areas. */
  keys: string[];
  pauseMs: number;
}

let hasListened = false;

export default closingFirst(({ data }: Mounted<LiveTextData>) => {
  const areas = data.keys.map((key) => `.st-key-${key} textarea`).join(", ");
  const sending = new Debounce(data.pauseMs);

  const sendSoon = (area: HTMLElement) => sending.run(() => { if (area.isConnected) pressControlEnter(area); });

  const onInput = (event: Event) => {
    const area = event.target;
    if (!(area instanceof HTMLElement) || !area.matches(areas)) return;
    sending.cancel();
    if (event instanceof InputEvent && event.isComposing) return;
    sendSoon(area);
  };

  const listening = new AbortController();
  for (const name of ["input", "compositionend"]) document.addEventListener(name, onInput, listening);
  // A visitor may have typed while this module was loaded; of an unchanged text nothing is sent.
  const { activeElement } = document;
  if (!hasListened && activeElement instanceof HTMLElement && activeElement.matches(areas)) sendSoon(activeElement);
  hasListened = true;
  return () => listening.abort(); // what waits is sent all the same: the visitor may be typing on
});

function pressControlEnter(area: HTMLElement): void {
  area.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true, cancelable: true }));
}
