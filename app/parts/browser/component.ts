// What Streamlit mounts: a component, and a view that it keeps.

/** What Streamlit hands to a component. */
export interface Mounted<Data> {
  data: Data;
  parentElement: HTMLElement | ShadowRoot;
  setStateValue(name: string, value: unknown): void;
  setTriggerValue(name: string, value: unknown): void;
}

/** What a call for a place opened. */
export class Opened {
  close: () => void = () => {};
}

export interface KeptView<Data, Report = never> extends Opened {
  /** What the view calls to report the visitor's choice. */
  report?: (value: Report) => void;
  update(data: Data): void;
}

// Returns a component with one view for each place in the page, kept until the place goes. Streamlit calls a component
// again when its data or the theme changes, and at the end the cleanup of the last call. If the data changes while the
// module loads, it calls that of the first one too, maybe when the second one is shown: only the last call closes.
// `show` draws in the view what a call gives; `isLast` tells whether no other call or cleanup has followed.
export function keeping<Data, View extends Opened>(
  View: new (parent: Node) => View, show: (view: View, mounted: Mounted<Data>, isLast: () => boolean) => void,
): (mounted: Mounted<Data>) => () => void {
  const places = new WeakMap<Node, { view: View; turn: number }>();
  return (mounted) => {
    const { parentElement } = mounted;
    const place = places.get(parentElement) ?? { view: new View(parentElement), turn: 0 };
    places.set(parentElement, place);
    const turn = ++place.turn;
    const isLast = () => place.turn === turn;
    show(place.view, mounted, isLast);
    return () => {
      if (!isLast()) return;
      place.turn++;
      places.delete(parentElement);
      place.view.close();
    };
  };
}

// Returns a component that, when it is called again for a place, first closes what it had opened there.
export function closingFirst<Data>(open: (mounted: Mounted<Data>) => () => void): (mounted: Mounted<Data>) => () => void {
  return keeping<Data, Opened>(Opened, (opened, mounted) => {
    opened.close();
    opened.close = open(mounted);
  });
}

// Returns a component of a view whose reports are the trigger value `name`.
export function keepView<Data, Report>(
  View: new (parent: Node) => KeptView<Data, Report>, name = "",
): (mounted: Mounted<Data>) => () => void {
  return keeping<Data, KeptView<Data, Report>>(View, (view, { data, setTriggerValue }) => {
    view.report = (value) => setTriggerValue(name, value);
    view.update(data);
  });
}
