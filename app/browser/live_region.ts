// What is shown, said to those who hear the page.

import { element } from "./elements";
import { Debounce } from "./timers";

export class LiveRegion {
  readonly root = element("div", { className: "said", ariaLive: "polite" });
  private readonly saying = new Debounce(200);

  // Of several sentences in a row only the last is said.
  say(text: string): void {
    this.saying.run(() => { this.root.textContent = text; });
  }

  cancel(): void {
    this.saying.cancel();
  }
}
