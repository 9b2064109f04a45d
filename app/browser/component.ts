// What Streamlit mounts: a component, and a view that it keeps.

/** What Streamlit hands to a component. */
export interface Mounted<Data> {
  data: Data;
  parentElement: HTMLElement | ShadowRoot;
  setStateValue(name: string, value: unknown): void;
  setTriggerValue(name: string, value: unknown): void;
}

export interface KeptView<Data, Report> {
  /** What the view calls to report the visitor's choice. */
  report: (value: Report) => void;
  update(data: Data): void;
  close(): void;
}

// Returns a component with one view for each place in the page, kept until the place goes; what the
// view reports is the trigger value `name`.
export function keepView<Data, Report>(
  View: new (parent: Node) => KeptView<Data, Report>, name: string,
): (mounted: Mounted<Data>) => () => void {
  const views = new WeakMap<Node, KeptView<Data, Report>>();
  return ({ data, parentElement, setTriggerValue }) => {
    const view = views.get(parentElement) ?? new View(parentElement);
    views.set(parentElement, view);
    view.report = (value) => setTriggerValue(name, value);
    view.update(data);
    return () => {
      view.close();
      views.delete(parentElement);
    };
  };
}
