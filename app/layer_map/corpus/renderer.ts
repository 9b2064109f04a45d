// Draws points with WebGL2: all of them in one call, those that are marked in a second one above.

import { hexRgb } from "../../browser/colours";
import type { MapWindow } from "./window";

const VERTEX = `#version 300 es
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
const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 colour;
uniform bool isRound;
out vec4 pixel;
void main() {
  if (isRound && distance(gl_PointCoord, vec2(0.5)) > 0.5) discard;
  pixel = colour;
}`;

/** The points as the graphics card gets them. */
export interface Points {
  /** x and y of N points for each of L layers, over the unit square. */
  places: Uint16Array;
  /** Place in the palette of each point. */
  codes: Uint8Array;
  /** #rrggbb, at most 256. */
  palette: string[];
  num: number;
}

export interface Scene {
  /** Layers (by place in the list) between which the points are, and how far, 0 to 1. */
  before: number;
  after: number;
  way: number;
  /** Whether only some points are marked, so that the others recede. */
  hasMarked: boolean;
}

export class Renderer {
  private program!: WebGLProgram;
  private places!: WebGLBuffer;
  private codes!: WebGLBuffer;
  private marks!: WebGLBuffer;
  private palette!: WebGLTexture;
  private points: Points | null = null;
  private marked: ArrayLike<number> = [];

  private constructor(private readonly gl: WebGL2RenderingContext) {
    this.make();
  }

  private make(): void {
    const { gl } = this;
    this.program = linked(gl);
    [this.places, this.codes, this.marks] = [gl.createBuffer(), gl.createBuffer(), gl.createBuffer()];
    this.palette = gl.createTexture();
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  // Null where the browser has no WebGL2.
  static on(canvas: HTMLCanvasElement): Renderer | null {
    const gl = canvas.getContext("webgl2", { antialias: false, depth: false, powerPreference: "high-performance" });
    return gl && new Renderer(gl);
  }

  // After the browser took the context and gave it back: all that it held is gone.
  restore(): void {
    const { points, marked } = this;
    this.make();
    if (points) this.receive(points);
    this.mark(marked);
  }

  receive(points: Points): void {
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

  mark(points: ArrayLike<number>): void {
    const { gl } = this;
    this.marked = points;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.marks);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, Uint32Array.from(points), gl.DYNAMIC_DRAW);
  }

  draw(window: MapWindow, { before, after, way, hasMarked }: Scene): void {
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
    const { scale, shift } = window.clip();
    gl.uniform1f(this.uniform("way"), way);
    gl.uniform2f(this.uniform("scale"), ...scale);
    gl.uniform2f(this.uniform("shift"), ...shift);
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    const size = ratio * pointSize(num, window.magnification);
    this.look(size, hasMarked ? 0.1 : opacityOf(num, window.magnification));
    gl.drawArrays(gl.POINTS, 0, num);
    if (!hasMarked || !this.marked.length) return;
    this.look(Math.max(size * 1.5, 4 * ratio), 0.95);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.marks);
    gl.drawElements(gl.POINTS, this.marked.length, gl.UNSIGNED_INT, 0);
  }

  close(): void {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  private look(size: number, opacity: number): void {
    const { gl } = this;
    gl.uniform1f(this.uniform("size"), size);
    gl.uniform1f(this.uniform("opacity"), opacity);
    gl.uniform1i(this.uniform("isRound"), size >= 4 ? 1 : 0);
  }

  private uniform(name: string): WebGLUniformLocation | null {
    return this.gl.getUniformLocation(this.program, name);
  }

  private attribute(
    name: string, buffer: WebGLBuffer, size: number, type: number, isUnit: boolean, offset: number,
  ): void {
    const { gl } = this;
    const at = gl.getAttribLocation(this.program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, type, isUnit, 0, offset);
  }
}

// Pixels of a point: few are large, and all grow a little as one comes nearer.
export function pointSize(num: number, zoom: number): number {
  const far = Math.min(9, Math.max(2, 220 / Math.sqrt(num)));
  return Math.min(12, far * zoom ** 0.35);
}

// Where many lie over each other, single ones are faint, so that density is seen.
export function opacityOf(num: number, zoom: number): number {
  return Math.min(0.9, Math.max(0.35, (60 / Math.sqrt(num)) * zoom ** 0.5));
}

function linked(gl: WebGL2RenderingContext): WebGLProgram {
  const program = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]] as const) {
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
