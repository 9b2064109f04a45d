// Reports uploads that were refused on their way, which Streamlit words as its HTTP library does
// and shows only while the mouse is on the file.

import { closingFirst, type Mounted } from "../../parts/browser/component";

const LOOK_MS = 250;
const REFUSED = /AxiosError: .*?(\d{3}$|Network Error|timeout|$)/;
const INSTEAD = "Refused: the reason is in the corner of the page.";
const WHERE = '[data-testid="stFileUploader"] [role="alert"], [data-testid="stTooltipErrorContent"]';

export default closingFirst(({ setTriggerValue }: Mounted<unknown>) => {
  const look = () => {
    for (const element of document.querySelectorAll(WHERE)) {
      for (const text of element.childNodes) { // changed in place: React keeps these nodes
        const found = REFUSED.exec(text.nodeValue ?? "");
        if (!found) continue;
        text.nodeValue = INSTEAD;
        if (element.role === "alert") setTriggerValue("refused", found[1]);
      }
    }
  };
  const timer = setInterval(look, LOOK_MS);
  return () => { clearInterval(timer); };
});
