// Connects a figure's slider, which moves the points in the browser alone, with Python and the
// keyboard: reports its layer, so that it is kept and in the URL, and moves it by the arrow keys when
// the figure has the focus. Draws nothing.

import { closingFirst, type Mounted } from "../browser/component";
import { Debounce } from "../browser/timers";

interface WatchData {
  /** CSS selector of the element that holds the figure. */
  figure: string;
  label: string;
}

interface SliderChange {
  step: { value: string; label: string };
}

/** An element that Plotly has drawn into; a purged one has neither listeners nor layout. */
interface Plot extends HTMLElement {
  on?(name: "plotly_sliderchange", listener: (event: SliderChange) => void): void;
  removeListener?(name: "plotly_sliderchange", listener: (event: SliderChange) => void): void;
  layout?: { sliders?: { steps: { label: string }[]; active?: number }[] };
}

const CHECK_MS = 500; // Streamlit may put another figure in place of the present one
const REST_MS = 500; // how long the slider rests before Python gets its layer
const STEPS: Record<string, number> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

export default closingFirst(({ data, setStateValue }: Mounted<WatchData>) => {
  let plot: Plot | null = null;
  let drawing: Element | null = null; // of the figure, without its buttons: no control may hold another
  const telling = new Debounce(REST_MS);

  const changed = (event: SliderChange) => {
    const layer = Number(event.step.value);
    drawing?.setAttribute("aria-valuenow", String(layer));
    drawing?.setAttribute("aria-valuetext", event.step.label);
    telling.run(() => setStateValue("layer", layer));
  };

  const onKey = (event: Event) => {
    const step = event instanceof KeyboardEvent ? STEPS[event.key] : undefined;
    if (step && plot && clickStep(plot, step)) event.preventDefault();
  };

  const letGo = () => {
    plot?.removeListener?.("plotly_sliderchange", changed);
    drawing?.removeEventListener("keydown", onKey);
  };

  const check = () => {
    const current = document.querySelector<Plot>(`${data.figure} .js-plotly-plot`);
    const slider = current?.layout?.sliders?.[0];
    const svg = current?.querySelector(".menulayer")?.closest("svg");
    if (!current?.on || !slider || !svg || (current === plot && svg === drawing)) return;
    letGo();
    [plot, drawing] = [current, svg];
    current.on("plotly_sliderchange", changed);
    svg.addEventListener("keydown", onKey);
    const attributes = {
      tabindex: 0,
      role: "slider",
      "aria-label": data.label,
      "aria-valuemin": 0,
      "aria-valuemax": slider.steps.length - 1,
      "aria-valuenow": slider.active || 0,
      "aria-valuetext": slider.steps[slider.active || 0]?.label ?? "",
    };
    for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, String(value));
  };

  check();
  const timer = setInterval(check, CHECK_MS);
  return () => {
    clearInterval(timer);
    telling.cancel();
    letGo();
  };
});

// Plotly's slider knows the mouse only: an arrow key is a click at the next step. Returns whether
// there is a slider to click.
function clickStep(plot: Plot, step: number): boolean {
  const rail = plot.querySelector(".slider-rail-touch-rect");
  const slider = plot.layout?.sliders?.[0];
  if (!rail || !slider) return false;
  const last = slider.steps.length - 1;
  const layer = Math.min(Math.max((slider.active || 0) + step, 0), last);
  const ticks = plot.querySelectorAll(".slider-tick-rect");
  const place = (ticks.length > last ? ticks[layer] : rail).getBoundingClientRect();
  const box = rail.getBoundingClientRect();
  const at = { bubbles: true, clientX: place.x + place.width / 2, clientY: box.y + box.height / 2 };
  rail.dispatchEvent(new MouseEvent("mousedown", at));
  plot.dispatchEvent(new MouseEvent("mouseup", at));
  return true;
}
