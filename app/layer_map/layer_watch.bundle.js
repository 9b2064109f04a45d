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

  // app/layer_map/layer_watch.ts
  var layer_watch_exports = {};
  __export(layer_watch_exports, {
    default: () => layer_watch_default
  });

  // app/browser/component.ts
  var lastOf = /* @__PURE__ */ new WeakMap();
  function closedByLast(place, close) {
    const mine = () => {
      if (lastOf.get(place) !== mine) return;
      lastOf.delete(place);
      close();
    };
    lastOf.set(place, mine);
    return mine;
  }
  function closingFirst(open) {
    return (mounted) => {
      lastOf.get(mounted.parentElement)?.();
      return closedByLast(mounted.parentElement, open(mounted));
    };
  }

  // app/browser/timers.ts
  var Debounce = class {
    constructor(delayMs) {
      this.delayMs = delayMs;
    }
    delayMs;
    timer;
    run(work) {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(work, this.delayMs);
    }
    cancel() {
      clearTimeout(this.timer);
    }
  };

  // app/layer_map/layer_watch.ts
  var CHECK_MS = 500;
  var REST_MS = 500;
  var STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
  var layer_watch_default = closingFirst(({ data, setStateValue }) => {
    let plot = null;
    let drawing = null;
    const telling = new Debounce(REST_MS);
    const changed = (event) => {
      const layer = Number(event.step.value);
      drawing?.setAttribute("aria-valuenow", String(layer));
      telling.run(() => setStateValue("layer", layer));
    };
    const onKey = (event) => {
      const step = event instanceof KeyboardEvent ? STEPS[event.key] : void 0;
      if (step && plot && clickStep(plot, step)) event.preventDefault();
    };
    const letGo = () => {
      plot?.removeListener?.("plotly_sliderchange", changed);
      drawing?.removeEventListener("keydown", onKey);
    };
    const check = () => {
      const current = document.querySelector(`${data.figure} .js-plotly-plot`);
      const slider = current?.layout?.sliders?.[0];
      const svg = current?.querySelector(".menulayer")?.closest("svg");
      if (!current?.on || !slider || !svg || current === plot && svg === drawing) return;
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
        "aria-valuenow": slider.active || 0
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
  function clickStep(plot, step) {
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
  return __toCommonJS(layer_watch_exports);
})();
