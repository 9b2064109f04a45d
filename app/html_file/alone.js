// The server's part for a view that stands alone in a file: it hands the view what the file holds
// and answers a choice of another layer from it.

// component: as Streamlit mounts it; place: the element to draw in; messages: ids of the data
// blocks with the view's messages in base64, the one that is shown first in front.

import { unpack } from "../canvas/shared/transport.js";

export function showAlone(component, place, css, messages) {
  const root = place.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = css;
  root.append(style);
  const held = messages.map(heldBytes);
  const heard = (name, value) => {
    if (name !== "selection" || value.layer === undefined) return;
    const found = held.find((bytes) => unpack(bytes).header.layer === value.layer);
    if (found) show(withHeader(found, { heads: value.heads, revision: value.revision }));
  };
  const show = (data) =>
    component({ data, parentElement: root, setStateValue: heard, setTriggerValue: () => {} });
  show(held[0]);
}

function heldBytes(id) {
  return Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
}

// A message with some values of its header changed; as transport.change in Python.
function withHeader(bytes, values) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = { ...JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))), ...values };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = Math.ceil(text.length / 4) * 4;
  const out = new Uint8Array(4 + padded + bytes.length - 4 - length).fill(32, 4, 4 + padded);
  new DataView(out.buffer).setUint32(0, padded, true);
  out.set(text, 4);
  out.set(bytes.subarray(4 + length), 4 + padded);
  return out;
}
