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

  // app/shell/live_text.js
  var live_text_exports = {};
  __export(live_text_exports, {
    default: () => live_text_default
  });
  function live_text_default({ data }) {
    const areas = data.keys.map((key) => `.st-key-${key} textarea`).join(", ");
    let timer = null;
    const send = (area) => area.dispatchEvent(
      new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true, cancelable: true })
    );
    const onInput = (event) => {
      if (!(event.target instanceof HTMLElement) || !event.target.matches(areas)) return;
      clearTimeout(timer);
      if (event.isComposing) return;
      timer = setTimeout(() => event.target.isConnected && send(event.target), data.pauseMs);
    };
    document.addEventListener("input", onInput);
    document.addEventListener("compositionend", onInput);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("input", onInput);
      document.removeEventListener("compositionend", onInput);
    };
  }
  return __toCommonJS(live_text_exports);
})();
