// The base of every canvas view: its place in the page, its canvas, and its debounced work.

import { element } from "../../browser/elements";
import { Debounce, FrameLoop } from "../../browser/timers";
import type { stateEvents } from "./mount";

export abstract class CanvasView<Events> {
  readonly root: HTMLElement;
  /** What the view calls to report a choice. */
  events!: Events;
  /** Reports the options, which get into the address. */
  protected readonly noting = new Debounce(400);
  protected readonly canvas = element("canvas", { ariaHidden: "true" });
  protected hasMessage = false;
  private readonly frames = new FrameLoop(() => this.paint());
  private readonly observer = new ResizeObserver(() => this.fit());

  constructor(className: string) {
    this.root = element("div", { className });
  }

  /** Sets the sizes for the width that there is. */
  protected abstract layout(width: number): void;
  /** Paints the canvas; at most once a frame. */
  protected abstract paint(): void;

  protected open(parent: Node, ...parts: HTMLElement[]): void {
    this.root.prepend(...parts); // a tooltip stays behind them
    parent.appendChild(this.root);
    this.observer.observe(this.root);
  }

  protected fit(): void {
    if (this.hasMessage && this.root.clientWidth) this.layout(this.root.clientWidth);
  }

  protected draw(): void {
    this.frames.request();
  }

  close(): void {
    this.observer.disconnect();
    this.frames.cancel();
    this.noting.cancel();
    this.root.remove();
  }
}

/** A view in which layers and heads are chosen that the server sends. */
export abstract class ChoosingView extends CanvasView<ReturnType<typeof stateEvents>> {
  private readonly reporting = new Debounce(180);
  private revision = 0; // counts our own choices, to ignore older echoes of the server

  // Reports what the visitor chose, once it rests.
  protected reportSelection(chosen: object): void {
    const selection = { ...chosen, revision: ++this.revision };
    this.reporting.run(() => this.events.selection(selection));
  }

  // Whether a message has the layer and heads to show: else a choice is still on the way.
  protected isAnswer({ revision }: { revision: number }, isSameText: boolean): boolean {
    if (revision < this.revision && isSameText) return false;
    this.revision = Math.max(this.revision, revision);
    return true;
  }

  protected isAwaited({ revision }: { revision: number }): boolean {
    return revision !== this.revision;
  }

  override close(): void {
    super.close();
    this.reporting.cancel();
  }
}
