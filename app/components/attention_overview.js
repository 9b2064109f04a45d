// All heads of all layers as small pictures, from which one picks; rows are layers, columns heads.
// transport.js and pictures.js stand in front of this file: unpack, element, fitCanvas, savePicture ...

const GAP = 3;
const LEFT = 30; // room for the layers' numbers
const TOP = 20; // room for the heads' numbers
const LARGE = 152; // the enlarged head
const MAX_HEIGHT = 320;
const TICKS = [0, 0.1, 0.25, 0.5, 1];

const views = new WeakMap();

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  let view = views.get(parentElement);
  if (!view) {
    view = new Overview(parentElement);
    views.set(parentElement, view);
  }
  view.report = (picked) => setTriggerValue("picked", picked);
  view.update(unpack(data));
  return () => {
    view.close();
    views.delete(parentElement);
  };
}

class Overview {
  constructor(parent) {
    this.root = element("div", { className: "overview" });
    parent.append(this.root);
    this.pointed = null; // { layer, head }; head null for a whole layer
    this.canvas = element("canvas", { ariaHidden: "true" });
    this.grid = element("div", {
      className: "grid", tabIndex: 0, role: "application",
      ariaLabel: "All heads. Arrows move, Enter opens the head.",
    }, this.canvas);
    this.grid.onpointermove = (event) => this.point(this.hit(event));
    this.grid.onpointerleave = () => this.point(null);
    this.grid.onclick = (event) => this.pick(this.hit(event));
    this.grid.onkeydown = (event) => this.key(event);
    this.scale = element("div", { className: "scale" });
    this.detail = element("div", { className: "detail" });
    this.said = element("div", { className: "said", ariaLive: "polite" });
    this.root.append(element("div", {}, this.grid, this.scale), this.detail, this.said);
    this.observer = new ResizeObserver(() => this.layout());
    this.observer.observe(this.root);
  }

  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.saying);
    this.root.remove();
  }

  update({ header, blocks }) {
    this.header = header;
    this.codes = blocks[0];
    this.colours = blocks[1]; // 256 x red, green, blue
    this.table = asFloats(blocks[2]);
    this.selected = { layer: header.layer, heads: header.heads };
    this.theme = readTheme(this.root);
    this.pictures = null;
    this.layout();
  }

  layout() {
    if (!this.header || !this.root.clientWidth) return;
    const { num_layers: layers, num_heads: heads } = this.header;
    const wide = this.root.clientWidth >= 640;
    this.root.classList.toggle("narrow", !wide);
    const room = wide ? this.root.clientWidth - 420 : this.root.clientWidth;
    const cell = Math.min((MAX_HEIGHT - TOP) / layers, (room - LEFT) / heads, 56);
    const size = Math.max(12, Math.floor(cell)) - GAP;
    if (size !== this.cell) this.pictures = null;
    this.cell = size;
    this.step = size + GAP;
    this.refreshScale();
    this.refreshDetail();
    this.draw();
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  // ---- drawing ----

  // One head as pixels. A pixel is the largest weight under it, so that narrow lines stay.
  picture(codes, pixels) {
    const { size } = this.header;
    const image = new ImageData(pixels, pixels);
    const starts = Array.from({ length: pixels + 1 }, (_, p) => Math.floor((p * size) / pixels));
    for (let y = 0; y < pixels; y++) {
      const lastRow = Math.max(starts[y] + 1, starts[y + 1]);
      for (let x = 0; x < pixels; x++) {
        const lastColumn = Math.max(starts[x] + 1, starts[x + 1]);
        let most = 0;
        for (let row = starts[y]; row < lastRow; row++) {
          for (let column = starts[x]; column < lastColumn; column++) {
            most = Math.max(most, codes[row * size + column]);
          }
        }
        image.data.set(this.colours.subarray(most * 3, most * 3 + 3), (y * pixels + x) * 4);
        image.data[(y * pixels + x) * 4 + 3] = 255;
      }
    }
    return image;
  }

  // One head's codes, or those of the mean of a layer's heads (head null).
  codesOf(layer, head) {
    const { size, num_heads: heads } = this.header;
    const map = (h) => this.codes.subarray((layer * heads + h) * size * size, (layer * heads + h + 1) * size * size);
    if (head !== null) return map(head);
    const encode = encoder(this.table);
    const maps = this.header.all_heads.map(map);
    return maps[0].map((_, at) => encode(maps.reduce((sum, m) => sum + this.table[m[at]], 0) / heads));
  }

  paint() {
    const { num_layers: layers, num_heads: heads } = this.header;
    const ratio = window.devicePixelRatio || 1;
    const width = LEFT + heads * this.step;
    const height = TOP + layers * this.step;
    const context = fitCanvas(this.canvas, width, height);
    const pixels = Math.max(1, Math.round(this.cell * ratio));
    this.pictures ??= Array.from({ length: layers * heads }, (_, k) =>
      this.picture(this.codesOf(Math.floor(k / heads), k % heads), pixels));
    this.pictures.forEach((image, k) => {
      const [x, y] = this.corner(Math.floor(k / heads), k % heads);
      context.putImageData(image, Math.round(x * ratio), Math.round(y * ratio));
    });
    context.font = `11.5px ${this.theme.font}`;
    context.fillStyle = this.theme.text;
    context.textBaseline = "middle";
    const every = (room, n) => Math.max(1, Math.ceil((n > 10 ? room : room - 6) / this.step));
    context.textAlign = "center";
    for (let head = 0; head < heads; head += every(17, heads)) {
      context.globalAlpha = this.isLit(null, head) ? 1 : 0.6;
      context.fillText(head, this.corner(0, head)[0] + this.cell / 2, TOP / 2);
    }
    context.textAlign = "right";
    for (let layer = 0; layer < layers; layer += every(13, layers)) {
      context.globalAlpha = this.isLit(layer, null) ? 1 : 0.6;
      context.fillText(layer, LEFT - 8, this.corner(layer, 0)[1] + this.cell / 2);
    }
    context.globalAlpha = 1;
    const chosen = this.selected.heads.length ? this.selected.heads : this.header.all_heads;
    for (const head of chosen) this.ring(context, this.selected.layer, head, this.theme.primary, 2.5);
    if (this.pointed) {
      const under = this.pointed.head === null ? this.header.all_heads : [this.pointed.head];
      for (const head of under) this.ring(context, this.pointed.layer, head, this.theme.text, 1.5);
    }
  }

  // What the detail shows while nothing is pointed at.
  opened() {
    return { layer: this.selected.layer, head: this.selected.heads[0] ?? null };
  }

  // Pixels may not be scaled, so the file has the size of the screen's.
  save() {
    const { width, height } = this.canvas;
    const copy = document.createElement("canvas");
    Object.assign(copy, { width, height });
    const context = copy.getContext("2d");
    context.fillStyle = this.theme.background;
    context.fillRect(0, 0, width, height);
    context.drawImage(this.canvas, 0, 0);
    copy.toBlob((blob) => download(blob, "bertscope-attention-overview.png"), "image/png");
  }

  isLit(layer, head) {
    const place = this.pointed ?? this.opened();
    return layer === null ? place.head === head : place.layer === layer;
  }

  corner(layer, head) {
    return [LEFT + head * this.step, TOP + layer * this.step];
  }

  ring(context, layer, head, colour, width) {
    const [x, y] = this.corner(layer, head);
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.roundRect(x - 1, y - 1, this.cell + 2, this.cell + 2, 2);
    context.stroke();
  }

  // ---- pointing and picking ----

  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const head = Math.floor((event.clientX - box.left - LEFT) / this.step);
    const layer = Math.floor((event.clientY - box.top - TOP) / this.step);
    const { num_layers: layers, num_heads: heads } = this.header;
    if (layer < 0 || layer >= layers || head >= heads) return null;
    return { layer, head: head < 0 ? null : head };
  }

  point(place) {
    if (place?.layer === this.pointed?.layer && place?.head === this.pointed?.head) return;
    this.pointed = place;
    this.refreshDetail();
    this.draw();
  }

  pick(place) {
    if (!place) return;
    this.selected = { layer: place.layer, heads: place.head === null ? [] : [place.head] };
    this.draw();
    this.report({ layer: place.layer, heads: this.selected.heads });
  }

  key(event) {
    const now = this.pointed ?? this.opened();
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key in moves) {
      const [down, right] = moves[event.key];
      const { num_layers: layers, num_heads: heads } = this.header;
      this.point({
        layer: Math.max(0, Math.min(layers - 1, now.layer + down)),
        head: Math.max(0, Math.min(heads - 1, (now.head ?? 0) + right)),
      });
    } else if (event.key === "Enter" || event.key === " ") {
      this.pick(now);
    } else if (event.key === "Escape") {
      this.point(null);
    } else {
      return;
    }
    event.preventDefault();
  }

  // ---- numbers of one head ----

  refreshDetail() {
    const { layer, head } = this.pointed ?? this.opened();
    const { shares, measures, num_heads: heads, num_tokens: tokens } = this.header;
    const chosen = head === null ? this.header.all_heads : [head];
    const value = (name) => {
      const values = chosen.map((h) => measures[name][layer * heads + h]);
      return values[0] === null ? null : values.reduce((a, b) => a + b, 0) / values.length;
    };
    const large = element("canvas", { ariaHidden: "true" });
    const context = fitCanvas(large, LARGE, LARGE);
    const pixels = large.width;
    context.putImageData(this.picture(this.codesOf(layer, head), pixels), 0, 0);
    const title = head === null ? `Layer ${layer}, mean of its heads` : `Layer ${layer}, head ${head}`;
    const isOpen = layer === this.selected.layer && String(head === null ? [] : [head]) === String(this.selected.heads);
    const state = isOpen ? "open below" : this.pointed ? "click to open" : "one of the open heads";
    const rows = shares.filter(([name]) => value(name) !== null).map(([name, words]) => {
      const fill = element("i");
      fill.style.width = `${100 * value(name)}%`;
      return element("div", { className: "measure" }, element("span", { textContent: words }),
        element("div", { className: "bar", ariaHidden: "true" }, fill),
        element("span", { textContent: percent(value(name)) }));
    });
    const entropy = value("entropy").toFixed(2);
    const distance = value("distance").toFixed(1);
    const more = `Looks ${distance} tokens away on average. Entropy ${entropy} nats: ` +
      `0 is one token only, ${Math.log(tokens).toFixed(2)} all ${tokens} tokens alike.`;
    this.detail.replaceChildren(
      element("h4", {}, title, element("small", { textContent: state })),
      element("div", { className: "large" }, large,
        element("p", { textContent: "Rows look, columns are looked at; first token at the top left." })),
      element("div", {}, ...rows, element("p", { className: "more", textContent: more })));
    clearTimeout(this.saying);
    if (this.pointed) {
      this.saying = setTimeout(() => {
        const parts = shares.filter(([name]) => value(name) !== null)
          .map(([name, words]) => `${words} ${percent(value(name))}`);
        this.said.textContent = `${title}: ${parts.join(", ")}. ${more}`;
      }, 250);
    }
  }

  refreshScale() {
    const bar = element("canvas", { ariaLabel: "Colour scale of the weights, 0 to 100%" });
    const [width, height] = [190, 26];
    const context = fitCanvas(bar, width, height);
    for (let x = 0; x < width - 30; x++) {
      const code = Math.round((255 * x) / (width - 31));
      context.fillStyle = `rgb(${this.colours.subarray(code * 3, code * 3 + 3).join(",")})`;
      context.fillRect(x + 10, 0, 1.2, 9);
    }
    context.fillStyle = this.theme.text;
    context.globalAlpha = 0.75;
    context.font = `10.5px ${this.theme.font}`;
    context.textAlign = "center";
    for (const weight of TICKS) {
      const code = this.table.findIndex((value) => value >= weight - 1e-6);
      context.fillText(weight ? `${Math.round(weight * 100)}%` : "0", 10 + (code / 255) * (width - 31), 22);
    }
    const save = element("button", { textContent: "PNG", title: "Save this picture as PNG" });
    save.onclick = () => this.save();
    this.scale.replaceChildren("weight", bar, save);
  }
}
