// The server's part for a view in an HTML file: hands it the messages that the file holds, and
// answers a choice of another layer from them.

import type { Mounted } from "../browser/component";
import { heldBytes, type Bytes } from "../browser/data_blocks";
import { changeHeader, unpack } from "../canvas/shared/transport";

/** component: as Streamlit mounts it; messages: ids of the data blocks, the first one is shown. */
export function showAlone(component: (mounted: Mounted<Bytes>) => void, place: Element, css: string, messages: string[]): void {
  const root = place.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = css;
  root.append(style);
  const held = messages.map(heldBytes);
  const show = (data: Bytes) =>
    component({ data, parentElement: root, setStateValue: answer, setTriggerValue: () => {} });
  const answer = (name: string, value: unknown) => {
    if (name !== "selection") return;
    const { layer, heads, revision } = value as { layer?: number; heads: number[]; revision: number };
    if (layer === undefined) return;
    const found = held.find((bytes) => unpack<{ layer: number }>(bytes).header.layer === layer);
    if (found) show(changeHeader(found, { heads, revision }));
  };
  show(held[0]);
}
