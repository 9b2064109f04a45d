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

  // app/html_file/chart.js
  var chart_exports = {};
  __export(chart_exports, {
    drawChart: () => drawChart
  });
  async function drawChart(place, [libraryId, figureId]) {
    const bytes = (id) => Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    const joined = async () => {
      const stream = new Blob([bytes(libraryId)]).stream().pipeThrough(new DecompressionStream("deflate"));
      const script = document.createElement("script");
      script.textContent = await new Response(stream).text();
      document.head.append(script);
    };
    await (window.plotlyJoined ??= joined());
    const { data, layout, frames } = JSON.parse(new TextDecoder().decode(bytes(figureId)));
    const read = (name) => getComputedStyle(place).getPropertyValue(name).trim();
    layout.template = { layout: {
      font: { color: read("--st-text-color"), family: read("--st-font"), size: 12 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      hoverlabel: { bgcolor: read("--st-secondary-background-color"), font: { color: read("--st-text-color") } },
      xaxis: { automargin: true },
      yaxis: { automargin: true }
    } };
    for (const [name, axis] of Object.entries(layout)) {
      if (/^[xy]axis/.test(name) && axis.title?.text) axis.title.standoff ??= 16;
    }
    const picture = { format: "svg", filename: "bertscope", scale: 2 };
    const config = {
      responsive: true,
      displaylogo: false,
      toImageButtonOptions: picture,
      showSendToCloud: false,
      plotlyServerURL: "",
      // no button that uploads the figure
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"]
    };
    await window.Plotly.newPlot(place, { data, layout, config, frames });
  }
  return __toCommonJS(chart_exports);
})();
