// Names the language of a container's texts, which a screen reader needs to read them aloud.

import type { Mounted } from "../browser/component";

interface Marked {
  /** Key of the container. */
  container: string;
  code: string;
}

export default ({ data }: Mounted<Marked>) => {
  document.querySelector(`.st-key-${data.container}`)?.setAttribute("lang", data.code);
};
