// Names the languages of parts of the page, which a screen reader needs to read them aloud.

import type { Mounted } from "../../parts/browser/component";

/** The code of the language of each part, by its selector. */
export default ({ data }: Mounted<Record<string, string>>) => {
  for (const [selector, code] of Object.entries(data)) document.querySelector(selector)?.setAttribute("lang", code);
};
