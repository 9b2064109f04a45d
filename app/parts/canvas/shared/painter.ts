// The ink of every painter.

import { FittedNames, type Painting, type Theme } from "./canvas";

export abstract class Painter {
  theme!: Theme;
  readonly labels = new FittedNames();

  // The ink of what is filled and written next.
  protected fill(context: Painting, colour: string, alpha = 1): void {
    context.fillStyle = colour;
    context.globalAlpha = alpha;
  }

  // Strokes what `path` draws.
  protected stroke(context: Painting, colour: string, width: number, alpha: number, path: () => void): void {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.globalAlpha = alpha;
    context.beginPath();
    path();
    context.stroke();
  }

  protected font(context: Painting, size: number, weight: number | string = 400): void {
    context.font = `${weight} ${size}px ${this.theme.font}`;
  }

  protected write(context: Painting, text: string, x: number, y: number, align: CanvasTextAlign = "left"): void {
    context.textAlign = align;
    context.fillText(text, x, y);
  }
}
