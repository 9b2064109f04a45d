/* Made by `npm run build`; do not edit. */
"use strict";
var bundle = (() => {
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __export = (target, all) => {
    for (var name in all)
      __defProp(target, name, { get: all[name], enumerable: true });
  };
  var __copyProps = (to, from, except, desc) => {
    if (from && typeof from === "object" || typeof from === "function") {
      for (let key of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key) && key !== except)
          __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    }
    return to;
  };
  var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

  // app/html_file/chart.ts
  var chart_exports = {};
  __export(chart_exports, {
    drawChart: () => drawChart
  });

  // app/browser/elements.ts
  function element(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in node && name !== "list") Reflect.set(node, name, value);
      else node.setAttribute(name, String(value));
    }
    node.append(...children);
    return node;
  }

  // app/browser/colours.ts
  function onSchemeChange(changed) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  }

  // app/browser/data_blocks.ts
  function heldBytes(id) {
    const held = document.getElementById(id);
    if (!held) throw new Error(`the page has no data block ${id}`);
    return Uint8Array.from(atob(held.textContent ?? ""), (letter) => letter.charCodeAt(0));
  }
  async function inflate(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // app/html_file/chart.ts
  async function drawChart(place, [libraryId, figureId]) {
    await (window.plotlyJoined ??= joinLibrary(libraryId));
    const { data, layout, frames } = JSON.parse(new TextDecoder().decode(heldBytes(figureId)));
    layout.template = template(getComputedStyle(place));
    for (const [name, axis] of Object.entries(layout)) {
      if (/^[xy]axis/.test(name) && axis.title?.text) axis.title.standoff ??= 16;
    }
    const config = {
      responsive: true,
      displaylogo: false,
      toImageButtonOptions: { format: "svg", filename: "bertscope", scale: 2 },
      showSendToCloud: false,
      plotlyServerURL: "",
      // no button that uploads the figure
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"]
    };
    await window.Plotly.newPlot(place, { data, layout, config, frames });
    onSchemeChange(() => void window.Plotly.relayout(place, { template: template(getComputedStyle(place)) }));
  }
  async function joinLibrary(id) {
    const script = element("script", { textContent: new TextDecoder().decode(await inflate(heldBytes(id))) });
    document.head.append(script);
  }
  function template(style) {
    const read = (name) => style.getPropertyValue(name).trim();
    return { layout: {
      font: { color: read("--st-text-color"), family: read("--st-font"), size: 12 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      hoverlabel: { bgcolor: read("--st-secondary-background-color"), font: { color: read("--st-text-color") } },
      xaxis: { automargin: true },
      yaxis: { automargin: true }
    } };
  }
  return __toCommonJS(chart_exports);
})();
