// Stands in for require.js, for which BertViz waits, and for what is asked of jQuery; d3 is defined before.
delete window.define;
window.requirejs = window.require = function (names, ready) {
  const libraries = { jquery, d3: window.d3 };
  ready.apply(null, names.map(function (name) { return libraries[name]; }));
};
window.require.config = function () {};
function jquery(what) { // an element by its selector, or a new <option />
  const isNew = what === "<option />";
  const element = isNew ? document.createElement("option") : document.querySelector(what);
  const chained = (act) => (...given) => { if (element) act(...given); return self; };
  const self = {
    element,
    append: chained((child) => element.append(child.element)),
    attr: chained((name, value) => element.setAttribute(name, value)),
    change: chained(() => element.dispatchEvent(new Event("change"))),
    empty: chained(() => element.replaceChildren()),
    on: chained((type, listener) => element.addEventListener(type, listener)),
    text: chained((text) => { element.textContent = text; }),
    val: chained((value) => { element.value = value; }),
  };
  return self;
}
// BertViz is written for d3 version 5, whose listeners get (datum, index) and not (event, datum).
const on = d3.selection.prototype.on;
d3.selection.prototype.on = function (type, listener) {
  if (typeof listener !== "function") return on.apply(this, arguments);
  return this.each(function (_, index) {
    on.call(d3.select(this), type, function (event, datum) { listener.call(this, datum, index); });
  });
};
