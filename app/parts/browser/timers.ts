// Debounced work: only the last of several calls runs.

export class Debounce {
  private timer: number | undefined;

  constructor(private readonly delayMs: number) {}

  run(work: () => void): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(work, this.delayMs);
  }

  cancel(): void {
    clearTimeout(this.timer);
  }
}

// Draws once before the next frame, however often it is called.
export class FrameLoop {
  private frame = 0;

  constructor(private readonly paint: () => void) {}

  request(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  cancel(): void {
    cancelAnimationFrame(this.frame);
  }
}
