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

  // app/bertviz_views/framed.ts
  var framed_exports = {};
  __export(framed_exports, {
    showFramed: () => showFramed
  });

  // app/browser/data_blocks.ts
  function heldBytes(id) {
    const held = document.getElementById(id);
    if (!held) throw new Error(`the page has no data block ${id}`);
    return Uint8Array.from(atob(held.textContent ?? ""), (letter) => letter.charCodeAt(0));
  }

  // app/browser/elements.ts
  function element(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in node && name !== "list") Reflect.set(node, name, value);
      else node.setAttribute(name, String(value));
    }
    node.append(...children);
    return node;
  }

  // app/bertviz_views/framed.ts
  function showFramed(place, [id], height) {
    const frame = element("iframe", { title: "View of BertViz", srcdoc: new TextDecoder().decode(heldBytes(id)) });
    frame.setAttribute("sandbox", "allow-scripts");
    frame.style.cssText = `width: 100%; height: ${height}px; border: 0; background: #fff`;
    place.append(frame);
  }
  return __toCommonJS(framed_exports);
})();
