// Announces what is shown to users of a screen reader.

import { element } from "./elements";
import { Debounce } from "./timers";

export class LiveRegion {
  readonly root = element("div", { className: "live-region", ariaLive: "polite" });
  private readonly announcing = new Debounce(200);

  // Of several texts in quick succession only the last is announced.
  say(text: string): void {
    this.announcing.run(() => { this.root.textContent = text; });
  }

  cancel(): void {
    this.announcing.cancel();
  }
}
