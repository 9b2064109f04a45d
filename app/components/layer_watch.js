// Tells Python at which layer the map's slider stands, so that the layer is kept and in the URL.
// Draws nothing. The slider moves the points in the browser alone; this sends one number after it.
export default function (component) {
  const { data, setStateValue } = component;
  let plot = null;
  let waiting = null;

  const changed = (event) => {
    clearTimeout(waiting);
    const layer = Number(event.step.value);
    waiting = setTimeout(() => setStateValue("layer", layer), 500);
  };
  const look = () => {
    const found = document.querySelector(`${data.figure} .js-plotly-plot`);
    if (found === plot || !found || !found.on) return;
    if (plot) plot.removeListener("plotly_sliderchange", changed);
    plot = found;
    plot.on("plotly_sliderchange", changed);
  };
  look();
  const timer = setInterval(look, 500);
  return () => {
    clearInterval(timer);
    clearTimeout(waiting);
    if (plot) plot.removeListener("plotly_sliderchange", changed);
  };
}
