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

  // app/corpus_map/point_map.ts
  var point_map_exports = {};
  __export(point_map_exports, {
    default: () => component
  });

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
  function context2d(canvas) {
    const context = canvas.getContext("2d");
    if (!context) throw new Error("the browser gives no 2D context for a canvas");
    return context;
  }

  // app/browser/text.ts
  var GRAPHEMES = new Intl.Segmenter(void 0, { granularity: "grapheme" });
  var CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
  var INVISIBLE = /^[\s\u00ad\u115f\u1160\u200b-\u200d\u2060-\u2065\u3164\ufe00-\ufe0f\ufeff\uffa0]*$/u;
  function letters(text, most) {
    const graphemes = [];
    for (const { segment } of GRAPHEMES.segment(text.slice(0, most * 12))) {
      if (graphemes.push(segment) === most) break;
    }
    return graphemes;
  }
  function shorten(text, most) {
    const kept = letters(text, most).join("");
    return kept.length < text.length ? `${kept}\u2026` : text;
  }
  function legible(token) {
    const named = token.toWellFormed().replace(CONTROLS, codePoint).replace(/(\p{M}{3})\p{M}+/gu, "$1");
    if (!named) return "(empty)";
    return INVISIBLE.test(named) ? named.slice(0, 60).replace(/[^]/gu, codePoint) : named;
  }
  function codePoint(character) {
    return `\u2039U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}\u203A`;
  }

  // app/canvas/shared/canvas.ts
  function readTheme(node) {
    const style = getComputedStyle(node);
    const read = (name, other) => style.getPropertyValue(name).trim() || other;
    return {
      text: read("--st-text-color", "#222"),
      background: read("--st-background-color", "#fff"),
      secondary: read("--st-secondary-background-color", "#f0f2f6"),
      primary: read("--st-primary-color", "#3366cc"),
      border: read("--st-border-color", "#ccc"),
      font: read("--st-font", "sans-serif")
    };
  }
  function fitCanvas(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
    }
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = context2d(canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
  }

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

  // app/browser/data_blocks.ts
  async function inflate(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // app/canvas/shared/transport.ts
  function unpack(bytes) {
    const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
    const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength);
    const length = view.getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + length)));
    const start = 4 + length;
    const blocks = header.blocks.map(([from, size]) => whole.subarray(start + from, start + from + size));
    return { header, blocks };
  }
  function isDeflated({ header }) {
    return header.blocks.some(([, , deflated]) => deflated);
  }
  async function inflateBlocks({ header, blocks }) {
    const whole = await Promise.all(blocks.map((block, k) => header.blocks[k][2] ? inflate(block) : block));
    return { header, blocks: whole };
  }

  // app/canvas/shared/mount.ts
  var keptViews = /* @__PURE__ */ new WeakMap();
  function mount(View, { data, parentElement }, events) {
    let kept = keptViews.get(parentElement);
    if (!kept) {
      kept = { view: new View(parentElement), turn: 0 };
      keptViews.set(parentElement, kept);
    }
    const current = kept;
    const view = current.view;
    view.events = events;
    const turn = ++current.turn;
    const show = (message2) => {
      if (current.turn !== turn || keptViews.get(parentElement) !== current) return;
      view.update(message2);
      view.root.removeAttribute("aria-busy");
    };
    const message = unpack(data);
    if (isDeflated(message)) {
      view.root.setAttribute("aria-busy", "true");
      void inflateBlocks(message).then(show);
    } else show(message);
    return closedByLast(parentElement, () => {
      view.close();
      keptViews.delete(parentElement);
    });
  }

  // app/canvas/shared/tooltip.ts
  var Tooltip = class {
    // `root` is positioned; the box stays inside its width.
    constructor(root) {
      this.root = root;
      root.append(this.box);
    }
    root;
    box = element("div", { className: "tip", ariaHidden: "true" });
    // x and y are client coordinates, as of a pointer event.
    show(x, y, ...children) {
      this.box.replaceChildren(...children);
      this.box.style.display = "block";
      const place = this.root.getBoundingClientRect();
      const { offsetWidth: width, offsetHeight: height } = this.box;
      const right = x - place.left + 14;
      const left = right + width > place.width ? x - place.left - width - 14 : right;
      const below = y + 16 + height > window.innerHeight ? y - place.top - height - 12 : y - place.top + 16;
      this.box.style.left = `${Math.max(0, Math.min(left, place.width - width))}px`;
      this.box.style.top = `${below}px`;
    }
    hide() {
      this.box.style.display = "none";
    }
  };

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
  var FrameLoop = class {
    constructor(paint) {
      this.paint = paint;
    }
    paint;
    frame = 0;
    request() {
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => this.paint());
    }
    cancel() {
      cancelAnimationFrame(this.frame);
    }
  };

  // app/canvas/shared/view_frame.ts
  var ViewFrame = class {
    root;
    canvas = element("canvas", { ariaHidden: "true" });
    /** Reports what the visitor chose, once it rests. */
    reporting = new Debounce(180);
    /** Reports the options, which get into the address. */
    noting = new Debounce(400);
    frames;
    observer;
    // `layout` is called whenever the width changes, `paint` at most once a frame.
    constructor(className, { layout, paint }) {
      this.root = element("div", { className });
      this.frames = new FrameLoop(paint);
      this.observer = new ResizeObserver(layout);
    }
    open(parent, ...parts) {
      this.root.prepend(...parts);
      parent.appendChild(this.root);
      this.observer.observe(this.root);
    }
    draw() {
      this.frames.request();
    }
    close() {
      this.observer.disconnect();
      this.frames.cancel();
      this.reporting.cancel();
      this.noting.cancel();
      this.root.remove();
    }
  };

  // app/browser/live_region.ts
  var LiveRegion = class {
    root = element("div", { className: "live-region", ariaLive: "polite" });
    announcing = new Debounce(200);
    // Of several texts in quick succession only the last is announced.
    say(text) {
      this.announcing.run(() => {
        this.root.textContent = text;
      });
    }
    cancel() {
      this.announcing.cancel();
    }
  };

  // app/corpus_map/point_grid.ts
  var CELLS = 256;
  var PointGrid = class {
    // x and y of N points one after the other, uint16 over the unit square.
    constructor(places) {
      this.places = places;
      const num = places.length / 2;
      this.order = new Uint32Array(num);
      for (let i = 0; i < num; i++) this.starts[this.cellOf(i) + 1]++;
      for (let cell = 0; cell < CELLS * CELLS; cell++) this.starts[cell + 1] += this.starts[cell];
      const next = this.starts.slice(0, -1);
      for (let i = 0; i < num; i++) this.order[next[this.cellOf(i)]++] = i;
    }
    places;
    starts = new Uint32Array(CELLS * CELLS + 1);
    order;
    place(i) {
      return [this.places[2 * i] / 65535, this.places[2 * i + 1] / 65535];
    }
    // The point nearest to a place and within `reach`, or -1.
    nearest([x, y], reach) {
      let [best, least] = [-1, reach * reach];
      this.visit([x - reach, y - reach], [x + reach, y + reach], (i) => {
        const [px, py] = this.place(i);
        const distance = (px - x) ** 2 + (py - y) ** 2;
        if (distance <= least) [best, least] = [i, distance];
      });
      return best;
    }
    // The points inside a polygon, in order.
    inside(polygon) {
      if (polygon.length < 3) return [];
      const xs = polygon.map(([x]) => x);
      const ys = polygon.map(([, y]) => y);
      const found = [];
      this.visit([Math.min(...xs), Math.min(...ys)], [Math.max(...xs), Math.max(...ys)], (i) => {
        if (isInside(this.place(i), polygon)) found.push(i);
      });
      return found.sort((a, b) => a - b);
    }
    cellOf(i) {
      return (this.places[2 * i] >> 8) * CELLS + (this.places[2 * i + 1] >> 8);
    }
    visit(low, high, see) {
      const cell = (value) => Math.min(CELLS - 1, Math.max(0, Math.floor(value * 65535 / 256)));
      for (let column = cell(low[0]); column <= cell(high[0]); column++) {
        const row = column * CELLS;
        const end = this.starts[row + cell(high[1]) + 1];
        for (let k = this.starts[row + cell(low[1])]; k < end; k++) see(this.order[k]);
      }
    }
  };
  function isInside([x, y], polygon) {
    let inside = false;
    for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
      const [[xi, yi], [xj, yj]] = [polygon[i], polygon[j]];
      if (yi > y !== yj > y && x < (xj - xi) * (y - yi) / (yj - yi) + xi) inside = !inside;
    }
    return inside;
  }

  // app/browser/colours.ts
  function hexRgb(hex) {
    return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  }

  // app/corpus_map/renderer.ts
  var VERTEX = `#version 300 es
in vec2 before;
in vec2 after;
in float code;
uniform float way;
uniform vec2 scale;
uniform vec2 shift;
uniform float size;
uniform float opacity;
uniform sampler2D palette;
out vec4 colour;
void main() {
  gl_Position = vec4(mix(before, after, way) * scale + shift, 0.0, 1.0);
  gl_PointSize = size;
  vec3 rgb = texelFetch(palette, ivec2(int(code + 0.5), 0), 0).rgb;
  colour = vec4(rgb * opacity, opacity);
}`;
  var FRAGMENT = `#version 300 es
precision mediump float;
in vec4 colour;
uniform bool isRound;
out vec4 pixel;
void main() {
  if (isRound && distance(gl_PointCoord, vec2(0.5)) > 0.5) discard;
  pixel = colour;
}`;
  var Renderer = class _Renderer {
    constructor(gl) {
      this.gl = gl;
      this.make();
    }
    gl;
    program;
    places;
    codes;
    marks;
    palette;
    points = null;
    marked = [];
    make() {
      const { gl } = this;
      this.program = linked(gl);
      [this.places, this.codes, this.marks] = [gl.createBuffer(), gl.createBuffer(), gl.createBuffer()];
      this.palette = gl.createTexture();
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    }
    // Null where the browser has no WebGL2.
    static on(canvas) {
      const gl = canvas.getContext("webgl2", { antialias: false, depth: false, powerPreference: "high-performance" });
      return gl && new _Renderer(gl);
    }
    // After the browser took the context and gave it back: all that it held is gone.
    restore() {
      const { points, marked } = this;
      this.make();
      if (points) this.receive(points);
      this.mark(marked);
    }
    receive(points) {
      const { gl } = this;
      const { places, codes, palette } = points;
      this.points = points;
      this.marked = [];
      gl.bindBuffer(gl.ARRAY_BUFFER, this.places);
      gl.bufferData(gl.ARRAY_BUFFER, places, gl.STATIC_DRAW);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.codes);
      gl.bufferData(gl.ARRAY_BUFFER, codes, gl.STATIC_DRAW);
      const colours = new Uint8Array(palette.flatMap((hex) => [...hexRgb(hex), 255]));
      gl.bindTexture(gl.TEXTURE_2D, this.palette);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, palette.length, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, colours);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    }
    mark(points) {
      const { gl } = this;
      this.marked = points;
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.marks);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, Uint32Array.from(points), gl.DYNAMIC_DRAW);
    }
    draw(window2, { before, after, way, hasMarked }) {
      const { gl } = this;
      const ratio = globalThis.devicePixelRatio || 1;
      gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      const num = this.points?.num;
      if (!num) return;
      gl.useProgram(this.program);
      this.attribute("before", this.places, 2, gl.UNSIGNED_SHORT, true, before * num * 4);
      this.attribute("after", this.places, 2, gl.UNSIGNED_SHORT, true, after * num * 4);
      this.attribute("code", this.codes, 1, gl.UNSIGNED_BYTE, false, 0);
      const { scale, shift } = window2.clip();
      gl.uniform1f(this.uniform("way"), way);
      gl.uniform2f(this.uniform("scale"), ...scale);
      gl.uniform2f(this.uniform("shift"), ...shift);
      gl.bindTexture(gl.TEXTURE_2D, this.palette);
      const size = ratio * pointSize(num, window2.magnification);
      this.look(size, hasMarked ? 0.1 : opacityOf(num, window2.magnification));
      gl.drawArrays(gl.POINTS, 0, num);
      if (!hasMarked || !this.marked.length) return;
      this.look(Math.max(size * 1.5, 4 * ratio), 0.95);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.marks);
      gl.drawElements(gl.POINTS, this.marked.length, gl.UNSIGNED_INT, 0);
    }
    close() {
      this.gl.getExtension("WEBGL_lose_context")?.loseContext();
    }
    look(size, opacity) {
      const { gl } = this;
      gl.uniform1f(this.uniform("size"), size);
      gl.uniform1f(this.uniform("opacity"), opacity);
      gl.uniform1i(this.uniform("isRound"), size >= 4 ? 1 : 0);
    }
    uniform(name) {
      return this.gl.getUniformLocation(this.program, name);
    }
    attribute(name, buffer, size, type, isUnit, offset) {
      const { gl } = this;
      const at = gl.getAttribLocation(this.program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, type, isUnit, 0, offset);
    }
  };
  function pointSize(num, zoom) {
    const far = Math.min(9, Math.max(2, 220 / Math.sqrt(num)));
    return Math.min(12, far * zoom ** 0.35);
  }
  function opacityOf(num, zoom) {
    return Math.min(0.9, Math.max(0.35, 60 / Math.sqrt(num) * zoom ** 0.5));
  }
  function linked(gl) {
    const program = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(type);
      if (!shader) throw new Error("the graphics context is lost");
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
      throw new Error(`the shaders of the map do not link: ${gl.getProgramInfoLog(program)}`);
    return program;
  }

  // app/corpus_map/words.ts
  function matching(words, text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return /* @__PURE__ */ new Set();
    const lower = words.map((word) => word.toLowerCase());
    const where = (test) => new Set(lower.flatMap((word, k) => test(word) ? [k] : []));
    const same = where((word) => word === wanted);
    return same.size ? same : where((word) => word.startsWith(wanted));
  }
  function mostFrequent(numbers, most) {
    const counts = /* @__PURE__ */ new Map();
    for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, most);
  }
  function freeOf() {
    const taken = [];
    return (box) => {
      const isFree = taken.every((other) => box[2] < other[0] || other[2] < box[0] || box[3] < other[1] || other[3] < box[1]);
      if (isFree) taken.push(box);
      return isFree;
    };
  }

  // app/corpus_map/window.ts
  var MARGIN = 0.94;
  var NEAREST = 400;
  var MapWindow = class {
    x = 0.5;
    y = 0.5;
    zoom = 1;
    width = 1;
    height = 1;
    get isWhole() {
      return this.zoom === 1;
    }
    /** Pixels of a unit of the map. */
    get unit() {
      return Math.min(this.width, this.height) * MARGIN * this.zoom;
    }
    get magnification() {
      return this.zoom;
    }
    resize(width, height) {
      [this.width, this.height] = [width, height];
    }
    showAll() {
      [this.x, this.y, this.zoom] = [0.5, 0.5, 1];
    }
    toPixels([x, y]) {
      return [this.width / 2 + (x - this.x) * this.unit, this.height / 2 - (y - this.y) * this.unit];
    }
    toMap([left, top]) {
      return [this.x + (left - this.width / 2) / this.unit, this.y - (top - this.height / 2) / this.unit];
    }
    // The whole map stays where it is: there is nothing beside it.
    panBy(left, top) {
      if (this.isWhole) return;
      this.x = Math.min(1, Math.max(0, this.x - left / this.unit));
      this.y = Math.min(1, Math.max(0, this.y + top / this.unit));
    }
    // Zooms by a factor about a place in pixels, which stays where it is.
    zoomBy(factor, about = [this.width / 2, this.height / 2]) {
      const held = this.toMap(about);
      this.zoom = Math.min(NEAREST, Math.max(1, this.zoom * factor));
      if (this.zoom === 1) return this.showAll();
      const now = this.toMap(about);
      this.x = Math.min(1, Math.max(0, this.x + held[0] - now[0]));
      this.y = Math.min(1, Math.max(0, this.y + held[1] - now[1]));
    }
    // What a vertex shader needs: clip = place * scale + shift.
    clip() {
      const scale = [2 * this.unit / this.width, 2 * this.unit / this.height];
      return { scale, shift: [-this.x * scale[0], -this.y * scale[1]] };
    }
  };

  // app/corpus_map/point_map.ts
  var HEIGHT = 560;
  var REACH = 9;
  var STEP_MS = 900;
  var REST_MS = 350;
  var MOST_REPORTED = 200;
  var MOST_TRAILS = 60;
  var SHOWN_WORDS = 12;
  function component(mounted) {
    return mount(PointMap, mounted, {
      selection: (value) => mounted.setStateValue("selection", value)
    });
  }
  var PointMap = class {
    frame = new ViewFrame("view", { layout: () => this.layout(), paint: () => this.paint() });
    root = this.frame.root;
    events;
    renderer = Renderer.on(this.frame.canvas);
    overlay = element("canvas", { ariaHidden: "true" });
    window = new MapWindow();
    tip = new Tooltip(this.root);
    live = new LiveRegion();
    field;
    layerRange = element("input", { type: "range", min: "0", step: "1", ariaLabel: "Layer" });
    layerName = element("output");
    play = element("button", { type: "button", textContent: "Play" });
    lasso = element("button", { type: "button", textContent: "Lasso", ariaPressed: "false" });
    search = element("input", { type: "search", placeholder: "Find a word", ariaLabel: "Find a word" });
    legend = element("div", { className: "foot" });
    chosen = element("div", { className: "chosen", ariaLive: "polite" });
    header;
    places;
    words;
    grids = /* @__PURE__ */ new Map();
    before = 0;
    after = 0;
    startedAt = 0;
    // of the way between two layers; 0: at rest
    isPlaying = false;
    marked = [];
    pointed = -1;
    outline = [];
    // of the lasso, in the map
    drag = null;
    waiting;
    constructor(parent) {
      this.field = this.makeField();
      if (!this.renderer) {
        this.frame.open(parent, element("p", { role: "alert", textContent: "This browser has no WebGL2, with which the map is drawn. Switch hardware acceleration on, or open the page in another browser; the coordinates are in the file below." }));
        return;
      }
      this.layerRange.oninput = () => {
        this.stop();
        this.goTo(Number(this.layerRange.value));
      };
      this.play.onclick = () => this.isPlaying ? this.stop() : this.start();
      this.lasso.onclick = () => this.setLasso(this.lasso.ariaPressed !== "true");
      this.search.oninput = () => this.find(this.search.value);
      const all = element("button", { type: "button", textContent: "Whole map", onclick: () => this.showAll() });
      const none = element("button", { type: "button", textContent: "Clear", onclick: () => this.clear() });
      const layers = element("label", {}, "Layer", this.layerRange, this.layerName);
      const controls = element("div", { className: "controls" }, layers, this.play, this.search, this.lasso, none, all);
      this.frame.open(parent, controls, this.field, this.legend, this.chosen, this.live.root);
    }
    makeField() {
      const field = element("div", {
        className: "field",
        tabIndex: 0,
        role: "application",
        ariaLabel: "Map of the corpus. Arrows move, plus and minus zoom, 0 shows the whole map, Page keys change the layer, Escape lets go of the selection.",
        onpointermove: (event) => this.move(event),
        onpointerleave: () => this.point(-1),
        onpointerdown: (event) => this.press(event),
        onpointerup: (event) => this.release(event),
        onpointercancel: (event) => this.cancel(event),
        ondblclick: () => this.showAll(),
        onkeydown: (event) => this.key(event)
      }, this.frame.canvas, this.overlay);
      field.style.height = `${HEIGHT}px`;
      this.frame.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
      this.frame.canvas.addEventListener("webglcontextrestored", () => {
        this.renderer?.restore();
        this.frame.draw();
      });
      field.addEventListener("wheel", (event) => {
        if (event.deltaY > 0 && this.window.isWhole) return;
        event.preventDefault();
        this.window.zoomBy(Math.exp(-event.deltaY / 400), this.at(event));
        this.frame.draw();
      }, { passive: false });
      return field;
    }
    close() {
      clearTimeout(this.waiting);
      this.live.cancel();
      this.renderer?.close();
      this.frame.close();
    }
    // ---- what the server sends ----
    update({ header, blocks }) {
      if (!this.renderer) return;
      const isOther = this.header?.map !== header.map;
      this.header = header;
      const [places, codes, words] = blocks;
      this.places = new Uint16Array(places.buffer, places.byteOffset, places.byteLength / 2);
      this.words = new Uint32Array(words.buffer, words.byteOffset, words.byteLength / 4);
      this.renderer.receive({ places: this.places, codes, palette: header.palette, num: header.num });
      this.layerRange.max = String(header.layers.length - 1);
      this.play.hidden = header.layers.length < 2;
      if (isOther) {
        this.grids.clear();
        this.marked = [];
        this.pointed = -1;
        this.window.showAll();
        this.before = this.after = header.shown;
        this.chosen.textContent = "";
        if (this.search.value) this.find(this.search.value);
      } else this.renderer.mark(this.marked);
      this.showLayer();
      this.showLegend();
      this.layout();
    }
    showLegend() {
      const { title, groups, palette, isScale } = this.header;
      const keys = isScale ? [element("span", { className: "key" }, groups[0], this.gradient(), groups[1])] : groups.map((name, k) => {
        const box = element("b");
        box.style.background = palette[k];
        return element("span", { className: "key" }, box, shorten(legible(name), 30));
      });
      this.legend.replaceChildren(element("span", { className: "note", textContent: title }), ...keys);
    }
    // The last colour is of points without a number.
    gradient() {
      const bar = element("span", { className: "scale" });
      const { palette } = this.header;
      const stops = Array.from({ length: 9 }, (_, k) => palette[Math.round(k / 8 * (palette.length - 2))]);
      bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
      return bar;
    }
    // ---- layers ----
    showLayer() {
      const layer = this.header.layers[this.after];
      this.layerRange.value = String(this.after);
      this.layerName.textContent = layer === 0 ? "0 (embeddings)" : String(layer);
      this.layerRange.ariaValueText = `layer ${layer}`;
    }
    goTo(index) {
      if (index === this.after) return;
      this.pointed = -1;
      this.tip.hide();
      this.before = this.after;
      this.after = index;
      const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
      this.startedAt = isStill ? 0 : performance.now();
      this.showLayer();
      this.frame.draw();
    }
    start() {
      this.isPlaying = true;
      this.play.textContent = "Stop";
      if (this.after === this.header.layers.length - 1) this.playTo(0);
      else this.next();
    }
    next() {
      if (!this.isPlaying) return;
      if (this.after === this.header.layers.length - 1) return this.stop();
      this.playTo(this.after + 1);
    }
    // Without motion nothing arrives, so the next layer is waited for.
    playTo(index) {
      this.goTo(index);
      if (!this.startedAt) this.waiting = window.setTimeout(() => this.next(), STEP_MS);
    }
    stop() {
      this.isPlaying = false;
      clearTimeout(this.waiting);
      this.play.textContent = "Play";
    }
    // How far the points are on their way, eased; moves on by itself until they arrive.
    way() {
      if (!this.startedAt) return 1;
      const passed = (performance.now() - this.startedAt) / STEP_MS;
      if (passed >= 1) {
        this.startedAt = 0;
        if (this.isPlaying) this.waiting = window.setTimeout(() => this.next(), REST_MS);
        return 1;
      }
      this.frame.draw();
      return passed * passed * (3 - 2 * passed);
    }
    // ---- drawing ----
    layout() {
      if (!this.header || !this.renderer) return;
      const width = Math.max(1, this.field.clientWidth);
      const ratio = window.devicePixelRatio || 1;
      const { canvas } = this.frame;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(HEIGHT * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${HEIGHT}px`;
      this.window.resize(width, HEIGHT);
      this.frame.draw();
    }
    paint() {
      if (!this.header || !this.renderer) return;
      const way = this.way();
      const { before, after } = this;
      this.field.classList.toggle("whole", this.window.isWhole);
      this.renderer.draw(this.window, { before, after, way, hasMarked: this.marked.length > 0 });
      this.paintOverlay(way);
    }
    paintOverlay(way) {
      const context = fitCanvas(this.overlay, this.window.width, HEIGHT);
      const theme = readTheme(this.root);
      context.lineWidth = 1.5;
      if (this.marked.length && this.marked.length <= MOST_TRAILS) this.paintTrails(context, way);
      if (way === 1) this.paintNames(context, theme);
      if (this.outline.length > 1) {
        context.strokeStyle = this.header.accent;
        context.beginPath();
        for (const place of this.outline) context.lineTo(...this.window.toPixels(place));
        context.stroke();
      }
      if (this.pointed >= 0 && way === 1) {
        context.strokeStyle = this.header.accent;
        context.beginPath();
        context.arc(...this.window.toPixels(this.placeOf(this.pointed, this.after)), 8, 0, 2 * Math.PI);
        context.stroke();
      }
    }
    // The path of each marked point from the first layer to where it is.
    paintTrails(context, way) {
      context.strokeStyle = this.header.accent;
      context.globalAlpha = 0.55;
      const whole = way === 1 ? this.after : Math.min(this.before, this.after);
      for (const point of this.marked) {
        context.beginPath();
        for (let layer = 0; layer <= whole; layer++) context.lineTo(...this.window.toPixels(this.placeOf(point, layer)));
        context.stroke();
      }
      context.globalAlpha = 1;
    }
    paintNames(context, theme) {
      context.font = `600 13px ${theme.font}`;
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.lineJoin = "round";
      const free = freeOf();
      for (const { x, y, name } of this.header.regions[this.after]) {
        const [left, top] = this.window.toPixels([x, y]);
        const text = shorten(legible(name), 24);
        const half = context.measureText(text).width / 2 + 3;
        if (!free([left - half, top - 9, left + half, top + 9])) continue;
        context.strokeStyle = theme.background;
        context.lineWidth = 4;
        context.strokeText(text, left, top);
        context.fillStyle = theme.text;
        context.fillText(text, left, top);
      }
      context.lineWidth = 1.5;
    }
    // ---- pointer and keys ----
    at(event) {
      const box = this.field.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    }
    press(event) {
      if (event.button || this.drag) return;
      this.field.setPointerCapture(event.pointerId);
      const [x, y] = this.at(event);
      const isLasso = event.shiftKey || this.lasso.ariaPressed === "true";
      this.drag = { pointer: event.pointerId, x, y, isMoved: false, isLasso };
      if (isLasso) this.outline = [this.window.toMap([x, y])];
    }
    move(event) {
      const [x, y] = this.at(event);
      const { drag } = this;
      if (!drag) {
        const hit = this.startedAt ? -1 : this.grid().nearest(this.window.toMap([x, y]), REACH / this.window.unit);
        this.point(hit, event);
        return;
      }
      if (event.pointerId !== drag.pointer) return;
      if (!drag.isMoved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
      drag.isMoved = true;
      this.point(-1);
      if (drag.isLasso) this.outline.push(this.window.toMap([x, y]));
      else {
        this.window.panBy(x - drag.x, y - drag.y);
        [drag.x, drag.y] = [x, y];
      }
      this.frame.draw();
    }
    release(event) {
      const { drag } = this;
      if (event.pointerId !== drag?.pointer) return;
      this.drag = null;
      if (drag.isMoved && drag.isLasso) {
        const inside = this.grid().inside(this.outline);
        this.outline = [];
        this.setLasso(false);
        this.choose(inside);
      } else if (!drag.isMoved) {
        const hit = this.grid().nearest(this.window.toMap(this.at(event)), REACH / this.window.unit);
        if (hit >= 0) this.choose([hit]);
      }
      this.outline = [];
      this.frame.draw();
    }
    cancel(event) {
      if (event.pointerId !== this.drag?.pointer) return;
      this.drag = null;
      this.outline = [];
      this.frame.draw();
    }
    point(index, event) {
      if (index >= 0 && event) this.tip.show(event.clientX, event.clientY, element("b", {}, element("bdi", {
        textContent: shorten(legible(this.wordOf(index)), 120)
      })));
      else this.tip.hide();
      if (index === this.pointed) return;
      this.pointed = index;
      this.frame.draw();
    }
    key(event) {
      const steps = {
        ArrowLeft: [60, 0],
        ArrowRight: [-60, 0],
        ArrowUp: [0, 60],
        ArrowDown: [0, -60]
      };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in steps) this.window.panBy(...steps[event.key]);
      else if (event.key === "+" || event.key === "=") this.window.zoomBy(1.5);
      else if (event.key === "-") this.window.zoomBy(1 / 1.5);
      else if (event.key === "0") this.window.showAll();
      else if (event.key === "PageUp") this.turn(1);
      else if (event.key === "PageDown") this.turn(-1);
      else if (event.key === "Escape") this.clear();
      else return;
      event.preventDefault();
      this.frame.draw();
    }
    turn(by) {
      this.stop();
      this.goTo(Math.max(0, Math.min(this.header.layers.length - 1, this.after + by)));
      this.live.say(`Layer ${this.layerName.textContent}`);
    }
    // ---- choosing ----
    setLasso(isOn) {
      this.lasso.ariaPressed = String(isOn);
      this.field.classList.toggle("lassoing", isOn);
    }
    find(text) {
      const wanted = matching(this.header.words, text);
      const found = [];
      if (wanted.size) {
        for (let i = 0; i < this.header.num; i++) if (wanted.has(this.words[i])) found.push(i);
      }
      this.choose(found, text.trim() ? `No point is "${legible(text.trim())}".` : "");
    }
    choose(points, none = "") {
      this.marked = points;
      this.renderer?.mark(points);
      this.chosen.textContent = points.length ? this.describe(points) : none;
      const reported = points.slice(0, MOST_REPORTED);
      const layer = this.header.layers[this.after];
      this.frame.reporting.run(() => this.events.selection({ points: reported, num: points.length, layer }));
      this.frame.draw();
    }
    describe(points) {
      const counts = mostFrequent(points.map((i) => this.words[i]), SHOWN_WORDS);
      const names = counts.map(([word, num]) => `${shorten(legible(this.header.words[word]), 30)} (${num.toLocaleString("en")})`);
      const what = points.length === 1 ? "1 point" : `${points.length.toLocaleString("en")} points`;
      return `${what}: ${names.join(", ")}${counts.length === SHOWN_WORDS ? " \u2026" : ""}`;
    }
    clear() {
      this.search.value = "";
      this.choose([]);
    }
    showAll() {
      this.window.showAll();
      this.frame.draw();
    }
    grid() {
      let grid = this.grids.get(this.after);
      if (!grid) {
        const { num } = this.header;
        grid = new PointGrid(this.places.subarray(2 * num * this.after, 2 * num * (this.after + 1)));
        this.grids.set(this.after, grid);
      }
      return grid;
    }
    placeOf(point, layer) {
      const k = 2 * (this.header.num * layer + point);
      return [this.places[k] / 65535, this.places[k + 1] / 65535];
    }
    wordOf(point) {
      return this.header.words[this.words[point]];
    }
  };
  return __toCommonJS(point_map_exports);
})();
