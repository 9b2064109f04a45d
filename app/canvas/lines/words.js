// Says in words and numbers what is in focus, and what the marks mean.

import { kindKeys } from "../shared/levels.js";
import { AttentionPainter, LINE_STEPS, MAX_LINES, opacity, thickness } from "./paint.js";
import { fitCanvas } from "../shared/canvas.js";
import { brokenNote, element, legible, percent, shorten } from "../shared/elements.js";

export class AttentionWords extends AttentionPainter {
  refreshPanel() {
    this.twin?.refresh();
    const focus = this.focus();
    if (!this.heads.length) {
      this.panel.replaceChildren(element("p", { className: "note", textContent: "The head is on its way." }));
      return;
    }
    if (!focus) {
      this.panel.replaceChildren(
        element("h4", { textContent: "Point at a token" }),
        element("p", { className: "note", textContent:
          "On the left: where it looks. On the right: which tokens look at it. A click keeps it; " +
          "Shift and a click adds more, on either side, and sums over them. Esc lets go. " +
          "With the keyboard: arrows, Enter to keep, Space to add, Esc." }),
      );
      return;
    }
    const { found, number, averages } = this.targets(focus);
    const many = this.heads.length > 1;
    const note = !found.length ? "What is chosen is left out by the choice above." : this.panelNote(focus, number, averages);
    const shown = found.slice(0, 8);
    this.panel.replaceChildren(this.panelTitle(focus), element("p", { className: "note", textContent: note }),
      ...shown.map((target) => this.targetRow(target, many, averages)), ...this.totals(focus, found.slice(shown.length), found, averages));
    const list = found.slice(0, 4).map((t) => `${this.shortName(t.index)} ${percent(t.share)}`).join(", ");
    clearTimeout(this.saying);
    this.saying = setTimeout(() => {
      this.said.textContent = `${this.panel.querySelector("h4").textContent}: ${list || "nothing shown"}`;
    }, 200);
  }

  shortName(unit, most = 40) {
    return shorten(legible(this.units.names[unit].slice(0, 1000)), most);
  }

  panelTitle(focus) {
    const name = (units) => {
      const [first, ...others] = [...units].sort((a, b) => a - b);
      if (others.length) return [element("span", { textContent: `${units.size} tokens together` })];
      return ["\u201c", element("bdi", { textContent: this.shortName(first, 60) }), "\u201d"];
    };
    const plural = focus.left.size > 1;
    if (focus.left.size && focus.right.size) {
      return element("h4", {}, ...name(focus.left), plural ? " look at " : " looks at ", ...name(focus.right));
    }
    if (focus.left.size) return element("h4", {}, ...name(focus.left), plural ? " look at" : " looks at");
    return element("h4", {}, ...name(focus.right), focus.right.size > 1 ? " are looked at by" : " is looked at by");
  }

  panelNote(focus, number, averages) {
    const heads = this.heads.length > 1 ? `mean of ${this.heads.length} heads` : `head ${this.heads[0]}`;
    const units = [...focus.left, ...focus.right].sort((a, b) => a - b).map((unit) => this.units.starts[unit]);
    const list = units.length > 6 ? `${units.slice(0, 6).join(", ")} \u2026` : units.join(", ");
    const kept = this.anyChosen ? " (kept: Esc lets go)" : "";
    const sums = averages ? ". Percentages are the mean over these tokens, numbers their sum"
      : number > 1 ? ". Summed over what is looked at" : "";
    return `Layer ${this.header.layer}, ${heads}, token${units.length > 1 ? "s" : ""} ${list}${kept}${sums}`;
  }

  // What the rows do not list, and the sum over all.
  totals(focus, rest, found, averages) {
    const add = (list, name) => list.reduce((sum, target) => sum + target[name], 0);
    const both = focus.left.size > 0 && focus.right.size > 0;
    const out = [];
    if (rest.length && focus.left.size && !both) {
      out.push(element("div", { className: "target rest" }, element("span", { textContent: `${rest.length} others` }),
        element("span"), this.numbers(add(rest, "sum"), add(rest, "share"), averages)));
    }
    if (both && found.length) {
      const all = add(found, "sum");
      out.push(element("p", { className: "note", textContent:
        `Together ${all.toFixed(3)} of ${found.length} (each token gives 1 in all): ${percent(all / found.length)}.` }));
    } else if (!focus.left.size && found.length) {
      out.push(element("p", { className: "note", textContent:
        "Each number is a share of the looking token's attention; these do not add up to 100%." }));
    }
    return out;
  }

  numbers(sum, share, averages) {
    const made = element("span", { className: "share", textContent: percent(share) });
    if (averages) made.append(element("small", { textContent: sum.toFixed(2) }));
    return made;
  }

  targetRow({ index, shares, sum, share }, many, averages) {
    const bar = element("div", { className: "bar", ariaHidden: "true" });
    shares.forEach((part, k) => {
      const field = element("span");
      field.style.width = `${(100 * part) / shares.length}%`;
      field.style.background = this.averaged ? this.header.mean_colour : this.header.colours[this.heads[k]];
      bar.append(field);
    });
    const name = element("span", { className: "name", title: this.shortName(index, 240) },
      element("bdi", { textContent: this.shortName(index) }), " ",
      element("span", { className: "place", textContent: this.units.starts[index] }));
    const row = element("div", { className: "target" }, name, bar, this.numbers(sum, share, averages));
    if (many) {
      const best = shares.map((part, k) => [part, this.heads[k]]).filter(([part]) => !Number.isNaN(part))
        .sort((a, b) => b[0] - a[0]);
      const worth = best.slice(0, 2).filter(([weight], k) => k === 0 || weight >= 0.005);
      row.append(element("span", { className: "detail" }, ...worth.map(([weight, head]) => {
        const dot = element("i");
        dot.style.background = this.header.colours[head];
        return element("span", {}, dot, `head ${head} ${percent(weight)}`);
      })));
    }
    return row;
  }

  refreshFoot() {
    const more = this.total - MAX_LINES;
    const awaited = this.awaited();
    const text = awaited.length ? `Head${awaited.length > 1 ? "s" : ""} ${awaited.join(", ")} on the way \u2026`
      : !this.focus() && more > 0
        ? `The ${MAX_LINES.toLocaleString("en")} strongest of ${this.total.toLocaleString("en")} lines are drawn.` : "";
    const { missing } = this.header;
    const state = JSON.stringify([text, missing, this.header.is_pair, this.theme, this.averaged, this.mapColours[0], this.faint]);
    if (state === this.footState) return;
    this.footState = state;
    const scale = element("canvas", { role: "img", ariaLabel: "Key: thicker and darker lines are larger weights" });
    const context = fitCanvas(scale, 168, 16);
    context.font = `11px ${this.theme.font}`;
    context.textBaseline = "middle";
    LINE_STEPS.forEach((weight, k) => {
      context.globalAlpha = opacity(weight) * this.faint;
      context.strokeStyle = this.averaged || this.mapColours.length === 1 ? this.mapColours[0] : this.theme.text;
      context.lineWidth = thickness(weight);
      context.beginPath();
      context.moveTo(k * 42 + 1, 8);
      context.lineTo(k * 42 + 13, 8);
      context.stroke();
      context.globalAlpha = 0.75;
      context.fillStyle = this.theme.text;
      context.fillText(percent(weight), k * 42 + 16, 8.5);
    });
    this.foot.replaceChildren(element("span", { className: "key" }, "weight", scale), ...kindKeys(this.header),
      element("span", { className: "note", textContent: text }), ...brokenNote(missing, "no line is drawn"), this.saving);
  }
}
