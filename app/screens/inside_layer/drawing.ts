// One token through a layer or a head, row below row; or all tokens, a row each. Tokens and words are
// set as text only.

import "../../parts/canvas/shared/shared.css";
import "./drawing.css";

import { rgbOf } from "../../parts/browser/colours";
import { element, replaceKeepingFocus } from "../../parts/browser/elements";
import { mounting, type MountedView } from "../../parts/canvas/shared/mount";
import { readTheme } from "../../parts/canvas/shared/canvas";
import { Tooltip } from "../../parts/canvas/shared/tooltip";
import type { Message } from "../../parts/canvas/shared/transport";
import { alone } from "../../parts/html_file/alone";
import { allTokens } from "./all_tokens";
import { SheetModel, type Header, type SheetHeader } from "./model";
import { sheet } from "./sheet";
import type { Look } from "./strips";

interface LayerEvents {
  picked(position: number): void;
}

class Drawing implements MountedView<Header, LayerEvents> {
  readonly root = element("div", { className: "view layer" });
  events!: LayerEvents;
  private readonly content = element("div");
  private readonly tip = new Tooltip(this.root);
  /** Heads whose steps are open; -1: the heads are shown. */
  private readonly open = new Set<number>();

  constructor(parent: Node) {
    this.root.prepend(this.content);
    parent.appendChild(this.root);
  }

  close(): void {
    this.root.remove();
  }

  update({ header, blocks }: Message<Header>): void {
    this.tip.hide();
    const ground = rgbOf(readTheme(this.root).background);
    const look: Look = { isDark: ground[0] + ground[1] + ground[2] < 384, colours: blocks[blocks.length - 1], tip: this.tip };
    this.content.ariaLabel = header.name;
    this.content.role = "group";
    if (header.kind === "all") {
      const table = allTokens(header, blocks, look, (position) => this.events.picked(position));
      replaceKeepingFocus(this.content, "data-position", table);
    } else this.show(new SheetModel(header, blocks as Message<SheetHeader>["blocks"]), look);
  }

  private show(model: SheetModel, look: Look): void {
    const toggle = (head: number) => {
      if (!this.open.delete(head)) this.open.add(head);
      this.show(model, look);
    };
    replaceKeepingFocus(this.content, "data-head", sheet(model, look, this.open, toggle));
  }
}

const component = mounting<Header, LayerEvents>(Drawing, ({ setTriggerValue }) => ({
  picked: (position) => setTriggerValue("picked", position),
}));
export default component;
export const standAlone = alone(component);
