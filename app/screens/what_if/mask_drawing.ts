// Which tokens may attend to which, drawn by hand: a cell is a row's token and a column's. Dragging
// changes a rectangle.

import "../../parts/canvas/shared/shared.css";
import "./mask_drawing.css";

import { keepView, type KeptView } from "../../parts/browser/component";
import { rgbOf } from "../../parts/browser/colours";
import { context2d, element } from "../../parts/browser/elements";
import { onKey } from "../../parts/browser/keys";
import { legible, shorten } from "../../parts/browser/text";
import { paintCells, turnedText } from "../../parts/canvas/saving/pictures";
import { fitCanvas, fitText, readTheme, stride, type Theme } from "../../parts/canvas/shared/canvas";
import { CanvasView } from "../../parts/canvas/shared/canvas_view";
import { blocksOf, maskOf, type Block } from "./blocks";

const LARGEST = 22; // of a cell
const NAMES = 84; // room for the tokens' names, left and above
const PATIENCE_MS = 2000; // after a stroke, answers to older strokes are not shown

interface DrawingData {
  tokens: string[];
  blocks: Block[];
  /** Whether later tokens are masked whatever is drawn. */
  is_causal: boolean;
}

/** Row and column; -1 for a name, which stands for the whole row or column. */
type Place = [row: number, column: number];

class Drawing extends CanvasView<never> implements KeptView<DrawingData, Block[]> {
  report: (blocks: Block[]) => void = () => {};
  private readonly status = element("p", { className: "status", ariaLive: "polite" });
  private readonly plane = element("div", {
    className: "plane", tabIndex: 0, role: "application",
    ariaLabel: "Which tokens may attend to which. Arrows move, Space changes a cell, with Shift a rectangle is chosen.",
    onpointerdown: (event: PointerEvent) => this.press(event),
    onpointermove: (event: PointerEvent) => this.move(event),
    onpointerup: () => { if (this.start) this.change(); },
    onpointercancel: () => this.drop(),
    onpointerleave: () => { if (!this.start) this.point(null); },
    onkeydown: (event: KeyboardEvent) => this.key(event),
  }, this.canvas);
  private readonly all = this.preset("All", "", () => true);
  private readonly notLater = this.preset("Not later ones", "Only to itself and earlier tokens, as in GPT", (row, column) => column <= row);
  private tokens: string[] = [];
  private allowed: Uint8Array = new Uint8Array();
  private isCausal = false;
  private cell = 1; // pixels
  private cursor: Place = [0, 0]; // of the keyboard
  private anchor: Place | null = null; // where a rectangle of the keyboard begins
  private start: Place | null = null; // where a stroke of the pointer begins
  private end: Place = [0, 0];
  private pointed: Place | null = null;
  private told: Place | null = null; // what the status is about
  private readonly picture = element("canvas"); // a pixel for each cell
  private pictured = ""; // what it shows, besides `allowed`
  private sent: { blocks: string; when: number } | null = null;

  constructor(parent: Node) {
    super("view drawing");
    // A token that sees no other keeps itself: it has to attend to something.
    const seesNoOther = (row: number) => this.size === 1 || (this.isCausal && row === 0);
    const bar = element("div", { className: "bar", role: "group", ariaLabel: "Start from" },
      this.all, this.notLater,
      this.preset("Not itself", "To all others", (row, column) => column !== row || seesNoOther(row)),
      this.preset("Neighbours", "To itself, the token before and the one after", (row, column) => Math.abs(row - column) < 2));
    this.open(parent, bar, this.plane, this.status);
  }

  private preset(textContent: string, title: string, allows: (row: number, column: number) => boolean): HTMLButtonElement {
    return element("button", { type: "button", textContent, title, onclick: () => this.set(allows) });
  }

  update(data: DrawingData): void {
    const tokens = data.tokens.map(legible);
    const isSame = JSON.stringify(tokens) === JSON.stringify(this.tokens);
    const sent = this.sent && Date.now() - this.sent.when < PATIENCE_MS ? this.sent.blocks : null;
    if (isSame && sent && JSON.stringify(data.blocks) !== sent) return;
    this.sent = null;
    this.tokens = tokens;
    if (!isSame) {
      this.cursor = [0, 0];
      this.start = this.anchor = this.pointed = null;
    }
    this.allow(maskOf(data.blocks, this.size));
    this.isCausal = data.is_causal;
    this.all.title = this.isCausal ? "Every token may attend to itself and all before it" : "Every token may attend to every token";
    this.notLater.hidden = this.isCausal;
    this.tell(isSame ? this.told : null);
    this.hasMessage = true;
    this.fit();
  }

  private allow(allowed: Uint8Array): void {
    this.allowed = allowed;
    this.pictured = "";
  }

  private get size(): number {
    return this.tokens.length;
  }

  // ---- drawing ----

  protected layout(width: number): void {
    this.cell = Math.min(LARGEST, Math.max(1, (width - NAMES - 2) / this.size));
    if (this.cell > 3) this.cell = Math.floor(this.cell);
    this.draw();
  }

  protected paint(): void {
    const theme = readTheme(this.root);
    const side = NAMES + this.size * this.cell + 1;
    const context = fitCanvas(this.canvas, side, side);
    this.paintCells(context, theme);
    this.paintNames(context, theme);
    this.paintCursor(context, theme);
  }

  private paintCells(context: CanvasRenderingContext2D, theme: Theme): void {
    const { size, cell } = this;
    this.makePicture(theme);
    const side = Math.round(size * cell);
    paintCells(context, this.picture, [0, 0, size, size], [NAMES, NAMES, side, side]);
    if (cell < 6) return;
    for (let index = 1; index <= size; index++) { // gaps; such cells are of whole pixels
      context.clearRect(NAMES + index * cell - 1, NAMES, 1, side);
      context.clearRect(NAMES, NAMES + index * cell - 1, side, 1);
    }
  }

  // Only when it would be another: the pointer moves often, and there may be 512 x 512 cells.
  private makePicture(theme: Theme): void {
    const { size, isCausal } = this;
    const box = this.rectangle();
    const fresh = box && !this.at(this.start ?? this.anchor ?? this.cursor);
    const wanted = JSON.stringify([box, fresh, isCausal, theme.primary, theme.text]);
    if (wanted === this.pictured) return;
    this.pictured = wanted;
    const [on, off] = [rgbOf(theme.primary), rgbOf(theme.text)];
    const shades = [[...off, 56], [...off, 128], [...on, 255], [...on, 179]]; // each also inside the rectangle
    const image = new ImageData(size, size);
    const pixels = new Uint32Array(image.data.buffer);
    const [idle, idleInBox, open, openInBox] = new Uint32Array(Uint8Array.from(shades.flat()).buffer);
    for (let row = 0, at = 0; row < size; row++) {
      for (let column = 0; column < size; column++, at++) {
        const inBox = box && row >= box[0] && row <= box[1] && column >= box[2] && column <= box[3];
        const isOn = !this.isLater(row, column) && (inBox ? fresh : this.allowed[at]);
        pixels[at] = isOn ? (inBox ? openInBox : open) : inBox ? idleInBox : idle;
      }
    }
    Object.assign(this.picture, { width: size, height: size });
    context2d(this.picture).putImageData(image, 0, 0);
  }

  private paintNames(context: CanvasRenderingContext2D, theme: Theme): void {
    context.fillStyle = theme.text;
    context.textBaseline = "middle";
    context.font = `${Math.max(9, Math.min(12.5, this.cell * 0.72))}px ${theme.font}`;
    const every = stride(this.cell, 11);
    for (let index = 0; index < this.size; index += every) {
      const name = fitText(context, this.tokens[index], NAMES - 8);
      const middle = NAMES + (index + 0.5) * this.cell;
      context.textAlign = "right";
      context.fillText(name, NAMES - 6, middle);
      context.textAlign = "left";
      turnedText(context, name, middle, NAMES - 6, -90);
    }
  }

  private paintCursor(context: CanvasRenderingContext2D, theme: Theme): void {
    if (!this.pointed && !this.plane.matches(":focus-visible")) return;
    const { size, cell } = this;
    const [row, column] = this.pointed ?? this.cursor;
    const [x, y] = [NAMES + Math.max(column, 0) * cell, NAMES + Math.max(row, 0) * cell];
    context.strokeStyle = theme.text;
    context.lineWidth = 1.5;
    context.strokeRect(x - 0.5, y - 0.5, column < 0 ? size * cell : cell, row < 0 ? size * cell : cell);
  }

  // ---- pointing ----

  private hit(event: PointerEvent): Place {
    const box = this.canvas.getBoundingClientRect();
    const place = (value: number) => {
      const index = Math.floor((value - NAMES) / this.cell);
      return value < NAMES ? -1 : Math.min(index, this.size - 1);
    };
    return [place(event.clientY - box.top), place(event.clientX - box.left)];
  }

  private at([row, column]: Place): number {
    return this.allowed[Math.max(row, 0) * this.size + Math.max(column, 0)];
  }

  private isLater(row: number, column: number): boolean {
    return this.isCausal && column > row;
  }

  private press(event: PointerEvent): void {
    const place = this.hit(event);
    if (event.button || (place[0] < 0 && place[1] < 0)) return;
    this.plane.setPointerCapture(event.pointerId);
    this.start = this.end = place;
    this.draw();
  }

  private move(event: PointerEvent): void {
    const { start } = this;
    const place = this.hit(event);
    const pointed = place[0] < 0 && place[1] < 0 ? null : place;
    const end = start ? [0, 1].map((axis) => (start[axis] < 0 ? -1 : Math.max(place[axis], 0))) as Place : this.end;
    if (String(pointed) === String(this.pointed) && String(end) === String(this.end)) return;
    this.end = end;
    this.point(pointed);
  }

  private point(place: Place | null): void {
    this.pointed = place;
    this.tell(place);
    this.draw();
  }

  private drop(): void {
    this.start = this.anchor = null;
    this.draw();
  }

  private rectangle(): Block | null {
    const start = this.start ?? this.anchor;
    if (!start) return null;
    const end = this.start ? this.end : this.cursor;
    const span = (axis: 0 | 1): [number, number] => (start[axis] < 0 ? [0, this.size - 1]
      : [Math.min(start[axis], end[axis]), Math.max(start[axis], end[axis])]);
    return [...span(0), ...span(1)];
  }

  // All cells of the rectangle become what the first one is not.
  private change(): void {
    const start = this.start ?? this.anchor;
    const box = this.rectangle();
    if (!start || !box) return;
    const [top, bottom, left, right] = box;
    const fresh = !this.at(start);
    this.told = this.start ? this.end : this.cursor;
    this.start = this.anchor = null;
    this.set((row, column) => (row >= top && row <= bottom && column >= left && column <= right
      ? fresh : Boolean(this.allowed[row * this.size + column])));
  }

  private set(allows: (row: number, column: number) => boolean): void {
    const { size } = this;
    this.allow(Uint8Array.from({ length: size * size }, (_, at) => Number(allows(Math.floor(at / size), at % size))));
    const blocks = blocksOf(this.allowed, size);
    this.sent = { blocks: JSON.stringify(blocks), when: Date.now() };
    this.tell(this.told);
    this.draw();
    this.report(blocks);
  }

  private key(event: KeyboardEvent): void {
    const by = (...move: Place) => () => {
      this.anchor = event.shiftKey ? this.anchor ?? [...this.cursor] : null;
      this.cursor = this.cursor.map((index, axis) => Math.max(0, Math.min(this.size - 1, index + move[axis]))) as Place;
      this.pointed = null;
      this.tell(this.cursor);
      this.draw();
    };
    const change = () => {
      this.anchor ??= [...this.cursor];
      this.change();
    };
    onKey(event, {
      "ArrowUp": by(-1, 0), "ArrowDown": by(1, 0), "ArrowLeft": by(0, -1), "ArrowRight": by(0, 1),
      " ": change, "Enter": change, "Escape": () => this.drop(),
    });
  }

  private tell(place: Place | null): void {
    this.told = place;
    const text = place ? this.words(place) : "Drag over cells to change them; click a name for its whole row or column.";
    if (text !== this.status.textContent) this.status.textContent = text;
  }

  private words([row, column]: Place): string {
    const name = (index: number) => shorten(this.tokens[index], 40);
    if (row < 0 || column < 0) {
      return `Click: change what ${row < 0 ? "may attend to" : "may be attended to by"} ${name(Math.max(row, column))}`;
    }
    const isLater = this.isLater(row, column);
    const verb = !isLater && this.at([row, column]) ? "may" : "may not";
    return `${name(row)} ${verb} attend to ${name(column)}${isLater ? ", which comes later" : ""}`;
  }
}

export default keepView(Drawing, "drawn");
