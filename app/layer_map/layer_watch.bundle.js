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

  // app/layer_map/layer_watch.js
  var layer_watch_exports = {};
  __export(layer_watch_exports, {
    default: () => layer_watch_default
  });
  function layer_watch_default(component) {
    const { data, setStateValue } = component;
    let plot = null;
    let waiting = null;
    const slider = () => plot.layout.sliders[0];
    const changed = (event) => {
      clearTimeout(waiting);
      const layer = Number(event.step.value);
      plot.setAttribute("aria-valuenow", layer);
      waiting = setTimeout(() => setStateValue("layer", layer), 500);
    };
    const key = (event) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      const rail = plot.querySelector(".slider-rail-touch-rect");
      if (!step || event.target !== plot || !rail) return;
      event.preventDefault();
      const last = slider().steps.length - 1;
      const layer = Math.min(Math.max((slider().active || 0) + step, 0), last);
      const ticks = [...plot.querySelectorAll(".slider-tick-rect")];
      const place = (ticks.length > last ? ticks[layer] : rail).getBoundingClientRect();
      const box = rail.getBoundingClientRect();
      const at = { clientX: place.x + place.width / 2, clientY: box.y + box.height / 2 };
      rail.dispatchEvent(new MouseEvent("mousedown", { bubbles: true, ...at }));
      plot.dispatchEvent(new MouseEvent("mouseup", { bubbles: true, ...at }));
    };
    const letGo = () => {
      if (!plot) return;
      plot.removeListener?.("plotly_sliderchange", changed);
      plot.removeEventListener("keydown", key);
    };
    const look = () => {
      const found = document.querySelector(`${data.figure} .js-plotly-plot`);
      if (found === plot || !found || !found.on || !found.layout?.sliders?.length) return;
      letGo();
      plot = found;
      plot.on("plotly_sliderchange", changed);
      plot.addEventListener("keydown", key);
      const { steps, active } = slider();
      const words = {
        tabindex: 0,
        role: "slider",
        "aria-label": data.label,
        "aria-valuemin": 0,
        "aria-valuemax": steps.length - 1,
        "aria-valuenow": active || 0
      };
      for (const [name, value] of Object.entries(words)) plot.setAttribute(name, value);
    };
    look();
    const timer = setInterval(look, 500);
    return () => {
      clearInterval(timer);
      clearTimeout(waiting);
      letGo();
    };
  }
  return __toCommonJS(layer_watch_exports);
})();
