// Draws a Plotly figure in an HTML file.

import { onSchemeChange } from "../browser/colours";
import { heldBytes, inflate } from "../browser/data_blocks";
import { element } from "../browser/elements";

interface Figure {
  data: unknown[];
  layout: Record<string, unknown>;
  frames?: unknown[];
}

interface Axis {
  title?: { text?: string; standoff?: number };
}

declare global {
  interface Window {
    Plotly: { newPlot(place: Element, figure: Figure & { config: object }): Promise<unknown>; relayout(place: Element, change: object): Promise<unknown> };
    plotlyJoined?: Promise<void>;
  }
}

// `ids`: of the data blocks that hold the library, deflated, and the figure. The library joins the
// page as a script of its own, which the page's policy allows by its hash; once for all figures.
export default async function drawChart(place: Element, [libraryId, figureId]: [string, string]): Promise<void> {
  await (window.plotlyJoined ??= joinLibrary(libraryId));
  const { data, layout, frames } = JSON.parse(new TextDecoder().decode(heldBytes(figureId))) as Figure;
  layout.template = template(getComputedStyle(place));
  // With a standoff the margin has room for the axis title too, not for its numbers alone.
  for (const [name, axis] of Object.entries(layout) as [string, Axis][]) {
    if (/^[xy]axis/.test(name) && axis.title?.text) axis.title.standoff ??= 16;
  }
  const config = {
    responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg", filename: "bertscope", scale: 2 },
    showSendToCloud: false, plotlyServerURL: "", // no button that uploads the figure
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  };
  await window.Plotly.newPlot(place, { data, layout, config, frames });
  onSchemeChange(() => void window.Plotly.relayout(place, { template: template(getComputedStyle(place)) }));
}

async function joinLibrary(id: string): Promise<void> {
  const script = element("script", { textContent: new TextDecoder().decode(await inflate(heldBytes(id))) });
  document.head.append(script);
}

// Plotly's template in the colours of the page.
function template(style: CSSStyleDeclaration): object {
  const read = (name: string) => style.getPropertyValue(name).trim();
  return { layout: {
    font: { color: read("--st-text-color"), family: read("--st-font"), size: 12 },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    hoverlabel: { bgcolor: read("--st-secondary-background-color"), font: { color: read("--st-text-color") } },
    xaxis: { automargin: true }, yaxis: { automargin: true },
  } };
}
