// One view for each place in the page, made at the first message and kept until the place goes.

import { closedByLast, type Mounted } from "../../browser/component";
import type { Bytes } from "../../browser/data_blocks";
import { inflateBlocks, isDeflated, unpack, type Message } from "./transport";

export interface MountedView<Header, Events> {
  readonly root: HTMLElement;
  /** What the view calls to report a choice. */
  events: Events;
  update(message: Message<Header>): void;
  close(): void;
}

// The events of a view that reports what was chosen and its options, as state of the component.
export function stateEvents({ setStateValue }: Mounted<Bytes>) {
  return {
    selection: (value: unknown) => setStateValue("selection", value),
    options: (value: unknown) => setStateValue("look", value),
  };
}

interface Kept {
  view: MountedView<never, never>;
  turn: number;
}

const keptViews = new WeakMap<Node, Kept>();

// Returns the function that takes the view away. The root is marked as busy until it shows the
// message that came last.
export function mount<Header, Events>(
  View: new (parent: Node) => MountedView<Header, Events>, { data, parentElement }: Mounted<Bytes>, events: Events,
): () => void {
  let kept = keptViews.get(parentElement);
  if (!kept) {
    kept = { view: new View(parentElement) as MountedView<never, never>, turn: 0 };
    keptViews.set(parentElement, kept);
  }
  const current = kept;
  const view = current.view as unknown as MountedView<Header, Events>;
  view.events = events;
  const turn = ++current.turn;
  const show = (message: Message<Header>) => {
    if (current.turn !== turn || keptViews.get(parentElement) !== current) return; // a later one came, or it is gone
    view.update(message);
    view.root.removeAttribute("aria-busy");
  };
  const message = unpack<Header>(data);
  if (isDeflated(message)) {
    view.root.setAttribute("aria-busy", "true");
    void inflateBlocks(message).then(show);
  } else show(message);
  return closedByLast(parentElement, () => {
    view.close();
    keptViews.delete(parentElement);
  });
}
