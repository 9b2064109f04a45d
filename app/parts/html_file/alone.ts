// Stands in for the server for a view in an HTML file: passes it the messages that the file holds,
// also when another layer is chosen.

import type { Mounted } from "../browser/component";
import { heldBytes, type Bytes } from "../browser/data_blocks";
import { onSchemeChange } from "../browser/colours";
import { element } from "../browser/elements";
import { changeHeader, unpack } from "../canvas/shared/transport";

// Returns the function that shows a component alone. Its `messages` are ids of the data blocks, of
// which the first one is shown.
export function alone(component: (mounted: Mounted<Bytes>) => void): (place: Element, css: string, messages: string[]) => void {
  return (place, css, messages) => {
    const root = place.attachShadow({ mode: "open" });
    root.append(element("style", { textContent: css }));
    const held = messages.map(heldBytes);
    let shown = held[0];
    const show = (data: Bytes) => {
      shown = data;
      component({ data, parentElement: root, setStateValue: answer, setTriggerValue: keep });
    };
    const keep = (name: string, value: unknown) => {
      if (name === "picked" && typeof value === "object") shown = changeHeader(shown, value as Record<string, unknown>);
    };
    const answer = (name: string, value: unknown) => {
      if (name !== "selection") return;
      const { layer, heads, revision } = value as { layer?: number; heads: number[]; revision: number };
      if (layer === undefined) return;
      const message = held.find((bytes) => unpack<{ layer: number }>(bytes).header.layer === layer);
      if (message) show(changeHeader(message, { heads, revision }));
    };
    show(shown);
    // A canvas keeps the ink with which it was drawn.
    onSchemeChange(() => show(shown));
  };
}
