// What Streamlit mounts: a component, and a view that it keeps.

/** What Streamlit hands to a component. */
export interface Mounted<Data> {
  data: Data;
  parentElement: HTMLElement | ShadowRoot;
  setStateValue(name: string, value: unknown): void;
  setTriggerValue(name: string, value: unknown): void;
}

export interface KeptView<Data, Report = never> {
  /** What the view calls to report the visitor's choice. */
  report?: (value: Report) => void;
  update(data: Data): void;
  close(): void;
}

const lastOf = new WeakMap<Node, () => void>();

// Streamlit calls a component again when its data or the theme changes, and at the end the cleanup
// of the last call. If the data changes while the module loads, it calls that of the first one too,
// maybe when the second one is shown. Returns a `close` that only the last call for a place runs.
export function closedByLast(place: Node, close: () => void): () => void {
  const mine = () => {
    if (lastOf.get(place) !== mine) return;
    lastOf.delete(place);
    close();
  };
  lastOf.set(place, mine);
  return mine;
}

// Returns a component that, when it is called again for a place, first closes what it had opened there.
export function closingFirst<Data>(open: (mounted: Mounted<Data>) => () => void): (mounted: Mounted<Data>) => () => void {
  return (mounted) => {
    lastOf.get(mounted.parentElement)?.();
    return closedByLast(mounted.parentElement, open(mounted));
  };
}

// Returns a component with one view for each place in the page, kept until the place goes; what the
// view reports is the trigger value `name`.
export function keepView<Data, Report>(
  View: new (parent: Node) => KeptView<Data, Report>, name = "",
): (mounted: Mounted<Data>) => () => void {
  const views = new WeakMap<Node, KeptView<Data, Report>>();
  return ({ data, parentElement, setTriggerValue }) => {
    const view = views.get(parentElement) ?? new View(parentElement);
    views.set(parentElement, view);
    view.report = (value) => setTriggerValue(name, value);
    view.update(data);
    return closedByLast(parentElement, () => {
      view.close();
      views.delete(parentElement);
    });
  };
}
