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

  // app/shell/render_signal.ts
  var render_signal_exports = {};
  __export(render_signal_exports, {
    default: () => render_signal_default
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

  // app/shell/render_signal.ts
  var CHECK_MS = 100;
  var AGAIN_MS = 5e3;
  var ANSWER_MS = 5e3;
  var render_signal_default = closingFirst(({ data, setTriggerValue }) => {
    let lastRequest = -Infinity, lastMove = -Infinity;
    const move = () => {
      lastMove = performance.now();
    };
    const check = () => {
      const app = document.querySelector('[data-testid="stApp"]');
      if (app?.dataset.testScriptState === "running") {
        lastMove = -Infinity;
        return;
      }
      if (performance.now() - lastMove < ANSWER_MS) return;
      if (document.querySelector('[data-testid="stSkeleton"]')) return;
      if (!document.querySelector(`.st-key-${data.sign}`)) return;
      if (performance.now() - lastRequest < AGAIN_MS) return;
      lastRequest = performance.now();
      setTriggerValue("arrived", true);
    };
    const timer = setInterval(check, CHECK_MS);
    const moves = ["click", "popstate"];
    for (const name of moves) addEventListener(name, move, true);
    return () => {
      clearInterval(timer);
      for (const name of moves) removeEventListener(name, move, true);
    };
  });
  return __toCommonJS(render_signal_exports);
})();
