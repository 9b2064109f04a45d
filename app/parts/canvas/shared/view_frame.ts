// The base of every canvas view: its place in the page, its canvas, and its debounced work.

import { element } from "../../browser/elements";
import { Debounce, FrameLoop } from "../../browser/timers";

export class ViewFrame {
  readonly root: HTMLElement;
  readonly canvas = element("canvas", { ariaHidden: "true" });
  /** Reports what the visitor chose, once it rests. */
  readonly reporting = new Debounce(180);
  /** Reports the options, which get into the address. */
  readonly noting = new Debounce(400);
  private readonly frames: FrameLoop;
  private readonly observer: ResizeObserver;

  // `layout` is called whenever the width changes, `paint` at most once a frame.
  constructor(className: string, { layout, paint }: { layout(): void; paint(): void }) {
    this.root = element("div", { className });
    this.frames = new FrameLoop(paint);
    this.observer = new ResizeObserver(layout);
  }

  open(parent: Node, ...parts: HTMLElement[]): void {
    this.root.prepend(...parts); // a tooltip stays behind them
    parent.appendChild(this.root);
    this.observer.observe(this.root);
  }

  draw(): void {
    this.frames.request();
  }

  close(): void {
    this.observer.disconnect();
    this.frames.cancel();
    this.reporting.cancel();
    this.noting.cancel();
    this.root.remove();
  }
}
