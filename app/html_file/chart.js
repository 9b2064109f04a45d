// Draws a Plotly figure in `place`: the library comes deflated with the file and joins the page as
// a script of its own, which the page's policy knows by its hash; once for all figures of a file.
export async function drawChart(place, [libraryId, figureId]) {
  const bytes = (id) =>
    Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
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
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    hoverlabel: { bgcolor: read("--st-secondary-background-color"), font: { color: read("--st-text-color") } },
    xaxis: { automargin: true }, yaxis: { automargin: true },
  } };
  // With a standoff the margin has room for the axis title too, not for its numbers alone.
  for (const [name, axis] of Object.entries(layout)) {
    if (/^[xy]axis/.test(name) && axis.title?.text) axis.title.standoff ??= 16;
  }
  const picture = { format: "svg", filename: "bertscope", scale: 2 };
  const config = {
    responsive: true, displaylogo: false, toImageButtonOptions: picture,
    showSendToCloud: false, plotlyServerURL: "", // no button that uploads the figure
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  };
  await window.Plotly.newPlot(place, { data, layout, config, frames });
}
