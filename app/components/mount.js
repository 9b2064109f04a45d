// One view for each place in the page, made at the first message and kept until the place goes.

const mountedViews = new WeakMap();

// View: a class with update(message) and close(); reports: names of its functions -> what they call.
function mount(View, { data, parentElement }, reports) {
  let view = mountedViews.get(parentElement);
  if (!view) {
    view = new View(parentElement);
    mountedViews.set(parentElement, view);
  }
  Object.assign(view, reports);
  view.update(unpack(data));
  return () => {
    view.close();
    mountedViews.delete(parentElement);
  };
}

