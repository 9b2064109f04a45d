// Pictures of what a canvas shows, as files: SVG by recording what is drawn, PNG at twice the size.


const MAX_SHAPES = 4096; // cells of one field that an SVG holds as shapes

// Takes the calls that our views make on a canvas and writes them down as SVG.
class SvgContext {
  constructor(width, height) {
    Object.assign(this, { width, height, parts: [], path: "", globalAlpha: 1, lineWidth: 1 });
    Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", font: "10px sans-serif", textAlign: "left" });
    this.ruler = document.createElement("canvas").getContext("2d");
  }

  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `M${round(x)} ${round(y)}`; }
  lineTo(x, y) { this.path += `L${round(x)} ${round(y)}`; }
  roundRect(x, y, width, height) {
    this.path += `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
  }

  stroke() {
    this.add("path", { d: this.path, fill: "none", stroke: this.strokeStyle,
      "stroke-width": round(this.lineWidth), "stroke-opacity": round(this.globalAlpha), "stroke-linecap": "round" });
  }

  fill() {
    this.add("path", { d: this.path, fill: this.fillStyle, "fill-opacity": round(this.globalAlpha) });
  }

  fillRect(x, y, width, height) {
    this.add("rect", { x: round(x), y: round(y), width: round(width), height: round(height),
      fill: this.fillStyle, "fill-opacity": round(this.globalAlpha) });
  }

  fillText(text, x, y) {
    this.text(text, x, y, { fill: this.fillStyle, "fill-opacity": round(this.globalAlpha) });
  }

  strokeText(text, x, y) {
    this.text(text, x, y, { fill: "none", stroke: this.strokeStyle, "stroke-width": round(this.lineWidth),
      "stroke-opacity": round(this.globalAlpha), "stroke-linejoin": "round" });
  }

  turnedText(text, x, y, angle) {
    this.text(text, x, y, { fill: this.fillStyle, "fill-opacity": round(this.globalAlpha),
      transform: `rotate(${round(angle)} ${round(x)} ${round(y)})` });
  }

  // A field of cells: shapes while there are few, else pixels inside the file; see paintCells.
  cells(source, [sx, sy, sw, sh], [x, y, width, height]) {
    const [left, top] = [Math.floor(sx), Math.floor(sy)];
    const [wide, high] = [Math.ceil(sx + sw) - left, Math.ceil(sy + sh) - top];
    this.parts.push(`<svg x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" ` +
      `viewBox="${sx} ${sy} ${sw} ${sh}" preserveAspectRatio="none">`);
    if (wide * high <= MAX_SHAPES) {
      const { data } = source.getContext("2d").getImageData(left, top, wide, high);
      for (let k = 0; k < wide * high; k++) {
        this.add("rect", { x: left + (k % wide), y: top + Math.floor(k / wide), width: 1, height: 1,
          fill: `rgb(${data.subarray(k * 4, k * 4 + 3).join(",")})`, "shape-rendering": "crispEdges" });
      }
    } else {
      const copy = document.createElement("canvas");
      Object.assign(copy, { width: wide, height: high });
      copy.getContext("2d").drawImage(source, left, top, wide, high, 0, 0, wide, high);
      this.add("image", { href: copy.toDataURL("image/png"), x: left, y: top, width: wide, height: high,
        preserveAspectRatio: "none", style: "image-rendering:pixelated" });
    }
    this.parts.push("</svg>");
  }

  text(text, x, y, paint) {
    const anchor = { left: "start", right: "end", center: "middle" }[this.textAlign];
    this.add("text", { x: round(x), y: round(y), style: `font:${this.font}`, "text-anchor": anchor,
      "dominant-baseline": "central", ...paint }, text);
  }

  add(tag, attributes, text) {
    const written = Object.entries(attributes).map(([name, value]) => `${name}="${xml(String(value))}"`);
    this.parts.push(`<${tag} ${written.join(" ")}${text === undefined ? "/>" : `>${xml(text)}</${tag}>`}`);
  }

  toString() {
    const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

// Cells of `source` (a canvas with a pixel for each) onto a picture; both places are
// [x, y, width, height], the first in cells and possibly with parts of cells at its edges.
export function paintCells(context, source, from, to) {
  if (context instanceof SvgContext) return context.cells(source, from, to);
  context.imageSmoothingEnabled = false;
  return context.drawImage(source, ...from, ...to);
}

function round(number) {
  return Math.round(number * 100) / 100;
}

// Tokens are hostile, and some characters may not stand in XML at all.
function xml(text) {
  return String(text).toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

// `draw(context)` draws the whole picture, width x height; `ground` is put under it.
export function savePicture(format, name, width, height, ground, draw) {
  if (format === "svg") {
    const context = new SvgContext(width, height);
    context.fillStyle = ground;
    context.fillRect(0, 0, width, height);
    draw(context);
    return download(new Blob([String(context)], { type: "image/svg+xml" }), `${name}.svg`);
  }
  const canvas = document.createElement("canvas");
  // Twice the size, but never beyond what a browser can hold on a side.
  const scale = Math.min(2, 16000 / height, 16000 / width);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = ground;
  context.fillRect(0, 0, width, height);
  draw(context);
  return canvas.toBlob((blob) => download(blob, `${name}.png`), "image/png");
}

export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
