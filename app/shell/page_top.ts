// Shows a page from its top. A link in the page keeps its scroll position, as far as the next page is long.

import type { Mounted } from "../browser/component";

interface PageData {
  /** Name of the page that is shown. */
  page: string;
}

let shown: string | undefined;

export default ({ data }: Mounted<PageData>) => {
  if (shown !== undefined && shown !== data.page) {
    document.querySelector('[data-testid="stMain"]')?.scrollTo({ top: 0, behavior: "instant" });
  }
  shown = data.page;
};
