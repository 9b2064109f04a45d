// Shows a page of its own in a frame that can reach nothing of this one.

import { heldBytes } from "../browser/data_blocks";
import { element } from "../browser/elements";

// `id`: of the data block that holds the page; height in pixels.
export default function showFramed(place: Element, [id]: [string], height: number): void {
  const frame = element("iframe", { title: "View of BertViz", srcdoc: new TextDecoder().decode(heldBytes(id)) });
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = `width: 100%; height: ${height}px; border: 0; background: #fff`;
  place.append(frame);
}
