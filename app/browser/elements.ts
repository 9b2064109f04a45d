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

// The 2D context of a canvas; every browser that runs the app has one.
export function context2d(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("the browser gives no 2D context for a canvas");
  return context;
}

type Disabling = HTMLElement & { disabled: boolean };

// An HTML file holds some layers only (`header.alone`): disables the controls that need others.
export function disableInFile(controls: Disabling[], header: { alone?: number[] }, what: string): void {
  if (!header.alone) return;
  for (const control of controls) Object.assign(control, { disabled: true, title: `This file holds ${what} only` });
}

// The sentence about weights that are not numbers, if there are any, and what is shown instead.
export function brokenNote(missing: string, instead: string): HTMLElement[] {
  return missing ? [element("span", { className: "key broken", textContent: `${missing} Red stripes mark them; ${instead}.` })] : [];
}
