// A page without a browser, for unit tests: elements that keep what is set, and canvases that keep
// the calls of what is drawn.

export interface Call {
  name: string;
  args: unknown[];
  fillStyle: unknown;
  globalAlpha: number;
}

// A canvas context that records its calls; a letter is as wide as `letter` pixels.
export class Recorder {
  readonly calls: Call[] = [];
  fillStyle: unknown = "#000";
  globalAlpha = 1;
  private image: ImageData | undefined;

  static make(letter = 5): CanvasRenderingContext2D & Recorder {
    const made = new Proxy(new Recorder(), {
      get(target, name): unknown {
        if (typeof name === "symbol" || Reflect.has(target, name)) return Reflect.get(target, name);
        if (name === "measureText") return (text: string) => ({ width: letter * text.length });
        if (name === "putImageData") return (image: ImageData) => { target.image = image; };
        if (name === "getImageData") return target.pixels;
        if (name === "createImageData") return (width: number, height: number) => new Pixels(width, height);
        return (...args: unknown[]) => {
          target.calls.push({ name, args, fillStyle: target.fillStyle, globalAlpha: target.globalAlpha });
        };
      },
    });
    return made as unknown as CanvasRenderingContext2D & Recorder;
  }

  // What was put, or white.
  readonly pixels = (left: number, top: number, width: number, height: number): { data: Uint8ClampedArray } => {
    const { image } = this;
    const data = new Uint8ClampedArray(4 * width * height).fill(255);
    for (let k = 0; image && k < data.length; k++) {
      const [x, y] = [left + ((k >> 2) % width), top + Math.floor((k >> 2) / width)];
      data[k] = image.data[4 * (y * image.width + x) + (k & 3)];
    }
    return { data };
  };

  of(name: string): Call[] {
    return this.calls.filter((call) => call.name === name);
  }
}

export class FakeElement {
  [property: string]: unknown;
  children: (FakeElement | string)[] = [];
  parent: FakeElement | null = null;
  readonly style: Record<string, unknown> = {
    setProperty: (name: string, value: string) => { this.style[name] = value; },
  };
  readonly dataset: Record<string, string> = {};
  readonly classList = { toggle: () => {}, add: () => {}, remove: () => {} };
  readonly options: unknown[] = [];
  clientWidth = 800;
  offsetWidth = 0;
  offsetHeight = 0;
  private readonly context = Recorder.make();

  constructor(readonly tag: string) {}

  get textContent(): string {
    return this.children.map((child) => (typeof child === "string" ? child : child.textContent)).join("");
  }
  set textContent(text: string) { this.replaceChildren(String(text)); }

  append(...parts: (FakeElement | string)[]): void {
    for (const part of parts) if (part instanceof FakeElement) part.parent = this;
    this.children.push(...parts);
  }
  appendChild(part: FakeElement): FakeElement {
    this.append(part);
    return part;
  }
  prepend(...parts: (FakeElement | string)[]): void {
    const before = this.children;
    this.children = [];
    this.append(...parts, ...before);
  }
  replaceChildren(...parts: (FakeElement | string)[]): void {
    this.children = [];
    this.append(...parts);
  }
  remove(): void {
    if (this.parent) this.parent.children = this.parent.children.filter((child) => child !== this);
  }
  setAttribute(name: string, value: string): void { this[name] = value; }
  removeAttribute(name: string): void { this[name] = undefined; }
  addEventListener(): void {}
  focus(): void {}
  getRootNode(): { activeElement: null } { return { activeElement: null }; }
  // By a class (".name") or a tag.
  querySelectorAll(selector: string): FakeElement[] {
    const name = selector.replace(/^\./, "");
    return this.all((node) => node !== this && (selector === name ? node.tag === name : String(node.className).split(" ").includes(name)));
  }
  querySelector(selector: string): FakeElement | null { return this.querySelectorAll(selector)[0] ?? null; }
  getContext(): Recorder { return this.context; }
  getBoundingClientRect(): { left: number; top: number; width: number } { return { left: 0, top: 0, width: 800 }; }

  // All elements in it for which something holds.
  all(holds: (node: FakeElement) => boolean): FakeElement[] {
    const inside = this.children.flatMap((child) => (child instanceof FakeElement ? child.all(holds) : []));
    return holds(this) ? [this, ...inside] : inside;
  }
}

// Every property can be set on an element, as on one of a browser.
function createElement(tag: string): FakeElement {
  return new Proxy(new FakeElement(tag), { has: () => true });
}

class Pixels {
  readonly data: Uint8ClampedArray;
  constructor(readonly width: number, readonly height: number) { this.data = new Uint8ClampedArray(4 * width * height); }
}

// Called at the beginning of a test that draws.
export function openPage(): FakeElement {
  Object.assign(globalThis, {
    document: { createElement },
    window: { devicePixelRatio: 1, innerHeight: 800, setTimeout, setInterval },
    getComputedStyle: () => ({ getPropertyValue: () => "" }),
    requestAnimationFrame: (draw: () => void) => { draw(); return 0; },
    cancelAnimationFrame: () => {},
    ResizeObserver: class { observe(): void {} disconnect(): void {} },
    ImageData: Pixels,
  });
  return createElement("div");
}

// An element of ours as a test looks at it.
export const fake = (node: unknown): FakeElement => node as FakeElement;
