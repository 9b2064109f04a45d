// Stands in for the server for a view in an HTML file: passes it the messages that the file holds,
// also when another layer is chosen.

import type { Mounted } from "../browser/component";
import { heldBytes, type Bytes } from "../browser/data_blocks";
import { element } from "../browser/elements";
import { changeHeader, unpack } from "../canvas/shared/transport";

// Returns the function that shows a component alone. Its `messages` are ids of the data blocks, of
// which the first one is shown.
export function alone(component: (mounted: Mounted<Bytes>) => void): (place: Element, css: string, messages: string[]) => void {
  return (place, css, messages) => {
    const root = place.attachShadow({ mode: "open" });
    root.append(element("style", { textContent: css }));
    const held = messages.map(heldBytes);
    const show = (data: Bytes) =>
      component({ data, parentElement: root, setStateValue: answer, setTriggerValue: () => {} });
    const answer = (name: string, value: unknown) => {
      if (name !== "selection") return;
      const { layer, heads, revision } = value as { layer?: number; heads: number[]; revision: number };
      if (layer === undefined) return;
      const message = held.find((bytes) => unpack<{ layer: number }>(bytes).header.layer === layer);
      if (message) show(changeHeader(message, { heads, revision }));
    };
    show(held[0]);
  };
}
