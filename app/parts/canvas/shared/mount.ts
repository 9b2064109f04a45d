// One view for each place in the page, made at the first message and kept until the place goes.

import { keeping, type Mounted, type Opened } from "../../browser/component";
import type { Bytes } from "../../browser/data_blocks";
import { inflateBlocks, isDeflated, unpack, type Message } from "./transport";

export interface MountedView<Header, Events> extends Opened {
  readonly root: HTMLElement;
  /** What the view calls to report a choice. */
  events: Events;
  update(message: Message<Header>): void;
}

// The events of a view that reports what was chosen and its options, as state of the component.
export function stateEvents({ setStateValue }: Mounted<Bytes>) {
  return {
    selection: (value: unknown) => setStateValue("selection", value),
    options: (value: unknown) => setStateValue("look", value),
  };
}

// Returns a component of a view, of which a call returns the function that takes the view away. The
// root is marked as busy until it shows the message that came last.
export function mounting<Header, Events>(
  View: new (parent: Node) => MountedView<Header, Events>, eventsOf: (mounted: Mounted<Bytes>) => Events,
): (mounted: Mounted<Bytes>) => () => void {
  return keeping<Bytes, MountedView<Header, Events>>(View, (view, mounted, isLast) => {
    view.events = eventsOf(mounted);
    const show = (message: Message<Header>) => {
      if (!isLast()) return; // a later one came, or the view is gone
      view.update(message);
      view.root.removeAttribute("aria-busy");
    };
    const message = unpack<Header>(mounted.data);
    if (isDeflated(message)) {
      view.root.setAttribute("aria-busy", "true");
      void inflateBlocks(message).then(show);
    } else show(message);
  });
}
