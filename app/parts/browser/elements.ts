// Builds elements of the page.

export type Child = Node | string;

// Text is only ever set as text, never as HTML: tokens are untrusted.
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag, properties: Record<string, unknown> = {}, ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in node && name !== "list") Reflect.set(node, name, value);
    else node.setAttribute(name, String(value));
  }
  node.append(...children);
  return node;
}

// The element of a class in a component's place, made at its first call: each call draws into it.
export function kept(place: HTMLElement | ShadowRoot, className: string): HTMLElement {
  return place.querySelector<HTMLElement>(`.${className}`) ?? place.appendChild(element("div", { className }));
}

// Replaces all children; the focus goes to the new one with the same value of the attribute `key`.
export function replaceKeepingFocus(root: Element, key: string, ...children: Child[]): void {
  const { activeElement } = root.getRootNode() as Document | ShadowRoot;
  const focused = activeElement && root.contains(activeElement) ? activeElement.getAttribute(key) : null;
  root.replaceChildren(...children);
  if (focused === null) return;
  const same = [...root.querySelectorAll<HTMLElement | SVGElement>(`[${key}]`)].find((node) => node.getAttribute(key) === focused);
  same?.focus();
}

// The 2D context of a canvas; every browser that runs the app has one.
export function context2d(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("the browser gives no 2D context for a canvas");
  return context;
}

// A canvas of a pixel for each number; one that is there already, since a new one takes longer than what is drawn on it.
export function pixels(width: number, height: number, colour: (at: number) => ArrayLike<number>, canvas = element("canvas")): HTMLCanvasElement {
  const image = new ImageData(width, height);
  for (let at = 0; at < width * height; at++) {
    const rgb = colour(at);
    for (let channel = 0; channel < 3; channel++) image.data[4 * at + channel] = rgb[channel];
    image.data[4 * at + 3] = 255;
  }
  Object.assign(canvas, { width, height });
  context2d(canvas).putImageData(image, 0, 0);
  return canvas;
}
