// Pictures of what a canvas shows, as files: SVG by recording what is drawn, PNG at twice the size.

import { context2d, element } from "../../browser/elements";
import type { Box, Painting } from "../shared/canvas";

export interface Picture {
  width: number;
  height: number;
  /** Colour under the picture. */
  ground: string;
  draw(context: Painting): void;
}

type Paint = Record<string, string | number>;

const MAX_SHAPES = 4096; // cells of one field that an SVG holds as shapes

// Records the calls of a view as SVG.
export class SvgContext implements Painting {
  globalAlpha = 1;
  lineWidth = 1;
  fillStyle: Painting["fillStyle"] = "#000";
  strokeStyle: Painting["strokeStyle"] = "#000";
  font = "10px sans-serif";
  textAlign: CanvasTextAlign = "left";
  // Set by the views; SVG text is always centred on its line and drawn from left to right.
  textBaseline: CanvasTextBaseline = "middle";
  direction: CanvasDirection = "ltr";
  lineCap: CanvasLineCap = "round";
  lineJoin: CanvasLineJoin = "round";
  private readonly parts: string[] = [];
  private path = "";
  private readonly ruler = context2d(element("canvas"));

  constructor(private readonly width: number, private readonly height: number) {}

  measureText(text: string): TextMetrics {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  beginPath(): void { this.path = ""; }
  moveTo(x: number, y: number): void { this.path += `M${round(x)} ${round(y)}`; }
  lineTo(x: number, y: number): void { this.path += `L${round(x)} ${round(y)}`; }
  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void {
    this.path += `C${[x1, y1, x2, y2, x, y].map(round).join(" ")}`;
  }
  roundRect(x: number, y: number, width: number, height: number, radius: number = 0): void {
    const r = Math.min(radius, width / 2, height / 2);
    const [wide, high] = [round(width - 2 * r), round(height - 2 * r)];
    const corner = (dx: number, dy: number) => (r ? `a${round(r)} ${round(r)} 0 0 1 ${round(dx * r)} ${round(dy * r)}` : "");
    this.path += `M${round(x + r)} ${round(y)}h${wide}${corner(1, 1)}v${high}${corner(-1, 1)}h${-wide}${corner(-1, -1)}v${-high}${corner(1, -1)}z`;
  }

  stroke(): void {
    this.add("path", { d: this.path, fill: "none", stroke: String(this.strokeStyle),
      "stroke-width": round(this.lineWidth), "stroke-opacity": round(this.globalAlpha), "stroke-linecap": "round" });
  }

  fill(): void {
    this.add("path", { d: this.path, ...this.filled() });
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.add("rect", { x: round(x), y: round(y), width: round(width), height: round(height), ...this.filled() });
  }

  fillText(text: string, x: number, y: number): void {
    this.text(text, x, y, this.filled());
  }

  strokeText(text: string, x: number, y: number): void {
    this.text(text, x, y, { fill: "none", stroke: String(this.strokeStyle), "stroke-width": round(this.lineWidth),
      "stroke-opacity": round(this.globalAlpha), "stroke-linejoin": "round" });
  }

  turnedText(text: string, x: number, y: number, angle: number): void {
    this.text(text, x, y, { ...this.filled(), transform: `rotate(${round(angle)} ${round(x)} ${round(y)})` });
  }

  // A field of cells: shapes while there are few, else an image; see paintCells.
  cells(source: HTMLCanvasElement, [sx, sy, sw, sh]: Box, [x, y, width, height]: Box): void {
    const [left, top] = [Math.floor(sx), Math.floor(sy)];
    const [wide, high] = [Math.ceil(sx + sw) - left, Math.ceil(sy + sh) - top];
    this.parts.push(`<svg x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" ` +
      `viewBox="${sx} ${sy} ${sw} ${sh}" preserveAspectRatio="none">`);
    if (wide * high <= MAX_SHAPES) {
      const { data } = context2d(source).getImageData(left, top, wide, high);
      for (let k = 0; k < wide * high; k++) {
        this.add("rect", { x: left + (k % wide), y: top + Math.floor(k / wide), width: 1, height: 1,
          fill: `rgb(${data.subarray(k * 4, k * 4 + 3).join(",")})`, "shape-rendering": "crispEdges" });
      }
    } else {
      const copy = element("canvas", { width: wide, height: high });
      context2d(copy).drawImage(source, left, top, wide, high, 0, 0, wide, high);
      this.add("image", { href: copy.toDataURL("image/png"), x: left, y: top, width: wide, height: high,
        preserveAspectRatio: "none", style: "image-rendering:pixelated" });
    }
    this.parts.push("</svg>");
  }

  toString(): string {
    const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>\n${this.parts.join("\n")}\n</svg>\n`;
  }

  private filled(): Paint {
    return { fill: String(this.fillStyle), "fill-opacity": round(this.globalAlpha) };
  }

  private text(text: string, x: number, y: number, paint: Paint): void {
    const anchors: Partial<Record<CanvasTextAlign, string>> = { left: "start", right: "end", center: "middle" };
    this.add("text", { x: round(x), y: round(y), style: `font:${this.font}`, "text-anchor": anchors[this.textAlign] ?? "start",
      "dominant-baseline": "central", ...paint }, text);
  }

  private add(tag: string, attributes: Paint, text?: string): void {
    const written = Object.entries(attributes).map(([name, value]) => `${name}="${xml(String(value))}"`);
    this.parts.push(`<${tag} ${written.join(" ")}${text === undefined ? "/>" : `>${xml(text)}</${tag}>`}`);
  }
}

// Draws cells of `source` (a canvas with a pixel for each); `from` is in cells and may cut some.
export function paintCells(context: Painting, source: HTMLCanvasElement, from: Box, to: Box): void {
  if (context instanceof SvgContext) return context.cells(source, from, to);
  const canvas = context as CanvasRenderingContext2D;
  canvas.imageSmoothingEnabled = false;
  return canvas.drawImage(source, ...from, ...to);
}

// A text turned around its start; the angle in degrees, clockwise.
export function turnedText(context: Painting, text: string, x: number, y: number, angle: number): void {
  if (context instanceof SvgContext) return context.turnedText(text, x, y, angle);
  const canvas = context as CanvasRenderingContext2D;
  canvas.save();
  canvas.translate(x, y);
  canvas.rotate((angle * Math.PI) / 180);
  canvas.fillText(text, 0, 0);
  return canvas.restore();
}

function round(number: number): number {
  return Math.round(number * 100) / 100;
}

// Tokens are untrusted, and some characters may not stand in XML at all.
function xml(text: string): string {
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

export function savePicture(format: "svg" | "png", name: string, picture: Picture): void {
  const { width, height } = picture;
  const draw = (context: Painting) => {
    context.fillStyle = picture.ground;
    context.fillRect(0, 0, width, height);
    picture.draw(context);
  };
  if (format === "svg") {
    const context = new SvgContext(width, height);
    draw(context);
    return download(new Blob([String(context)], { type: "image/svg+xml" }), `${name}.svg`);
  }
  // Twice the size, but never beyond what a browser can hold on a side.
  const scale = Math.min(2, 16000 / height, 16000 / width);
  const canvas = element("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
  const context = context2d(canvas);
  context.scale(scale, scale);
  draw(context);
  return canvas.toBlob((blob) => {
    if (!blob) throw new Error(`the browser could not make ${name}.png of ${canvas.width} x ${canvas.height} pixels`);
    download(blob, `${name}.png`);
  }, "image/png");
}

export function download(blob: Blob, name: string): void {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
