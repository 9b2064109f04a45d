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

  // app/shell/live_text.ts
  var live_text_exports = {};
  __export(live_text_exports, {
    default: () => live_text_default
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

  // app/shell/live_text.ts
  var hasListened = false;
  var live_text_default = closingFirst(({ data }) => {
    const areas = data.keys.map((key) => `.st-key-${key} textarea`).join(", ");
    const sending = new Debounce(data.pauseMs);
    const sendSoon = (area) => sending.run(() => {
      if (area.isConnected) pressControlEnter(area);
    });
    const onInput = (event) => {
      const area = event.target;
      if (!(area instanceof HTMLElement) || !area.matches(areas)) return;
      sending.cancel();
      if (event instanceof InputEvent && event.isComposing) return;
      sendSoon(area);
    };
    document.addEventListener("input", onInput);
    document.addEventListener("compositionend", onInput);
    const { activeElement } = document;
    if (!hasListened && activeElement instanceof HTMLElement && activeElement.matches(areas)) sendSoon(activeElement);
    hasListened = true;
    return () => {
      document.removeEventListener("input", onInput);
      document.removeEventListener("compositionend", onInput);
    };
  });
  function pressControlEnter(area) {
    area.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true, cancelable: true }));
  }
  return __toCommonJS(live_text_exports);
})();
