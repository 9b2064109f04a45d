// One view for each place in the page, made at the first message and kept until the place goes.

import { inflate, unpack } from "./transport.js";

const mountedViews = new WeakMap();

// View: a class with update(message), close() and root; reports: names of its functions -> what
// they call. The root is marked as busy until it shows the message that came last.
export function mount(View, { data, parentElement }, reports) {
  let view = mountedViews.get(parentElement);
  if (!view) {
    view = new View(parentElement);
    mountedViews.set(parentElement, view);
  }
  Object.assign(view, reports);
  const turn = (view.turn = (view.turn ?? 0) + 1);
  const show = (message) => {
    if (view.turn !== turn || mountedViews.get(parentElement) !== view) return; // a later one came, or it is gone
    view.update(message);
    view.root.removeAttribute("aria-busy");
  };
  const message = unpack(data);
  if (message.header.blocks.some(([, , isDeflated]) => isDeflated)) {
    view.root.setAttribute("aria-busy", "true");
    inflate(message).then(show);
  } else show(message);
  return () => {
    view.close();
    mountedViews.delete(parentElement);
  };
}

