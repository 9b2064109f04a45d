// Which tokens are chosen, on the left (who looks) and on the right (who is looked at), and what

import { AttentionLines } from "./bundles.js";

export class AttentionChoice extends AttentionLines {
  get anyChosen() {
    return this.chosen.left.size + this.chosen.right.size > 0;
  }

  clearChoice() {
    this.chosen = { left: new Set(), right: new Set() };
  }

  // As the address has it: places of tokens, "l2.5r7"; at most a hundred on a side.
  writtenChoice() {
    return ["left", "right"].map((side) => {
      const places = [...this.chosen[side]].slice(0, 100).map((unit) => this.units.starts[unit]);
      return places.length ? side[0] + places.join(".") : "";
    }).join("");
  }

  // Tokens that are not there are left out.
  readChoice(written) {
    this.clearChoice();
    for (const [, letter, places] of written.matchAll(/([lr])([\d.]+)/g)) {
      const units = places.split(".").map((place) => this.units.starts.indexOf(Number(place)));
      this.chosen[letter === "l" ? "left" : "right"] = new Set(units.filter((unit) => unit >= 0));
    }
  }

  // What the view is about: the chosen tokens, else the pointed one; null for everything.
  focus() {
    if (this.anyChosen) return this.chosen;
    if (!this.pointed) return null;
    const { side, index } = this.pointed;
    return { left: new Set(side === "left" ? [index] : []), right: new Set(side === "right" ? [index] : []) };
  }

  // Choose a token alone (or let it go), or with `add` put it to the others (or take it away).
  pick(place, add) {
    if (!place) this.clearChoice();
    else {
      const own = this.chosen[place.side];
      const had = own.has(place.index);
      if (!add) {
        const alone = had && this.chosen.left.size + this.chosen.right.size === 1;
        this.clearChoice();
        if (!alone) this.chosen[place.side].add(place.index);
      } else if (had) own.delete(place.index);
      else own.add(place.index);
    }
    this.pointed = place;
    this.noteLook();
    this.refreshPanel();
    this.draw();
  }

  isInFocus(focus, row, column) {
    return (!focus.left.size || focus.left.has(row)) && (!focus.right.size || focus.right.has(column));
  }

  // The tokens on the other side and what flows between each of them and all in focus; with tokens
  // in focus on both sides, those on the left and what each gives to those on the right.
  // sum: over the tokens in focus, the mean of the heads; share: the part of a looking token's
  // attention, which for several looking tokens is the mean over them; shares: that of each head.
  targets(focus) {
    const both = focus.left.size > 0 && focus.right.size > 0;
    const fromLeft = focus.left.size > 0;
    const own = fromLeft && !both ? "left" : "right";
    const other = own === "left" ? "right" : "left";
    const summed = [...focus[own]].filter((unit) => this.takesPart(own, unit));
    const listed = both ? [...focus.left] : this.units.names.map((_, k) => k);
    if (!summed.length || !this.heads.length) return { other, number: 0, found: [] };
    const divisor = own === "left" ? summed.length : 1; // what is looked at together adds up
    const found = listed.filter((k) => this.takesPart(other, k)).map((index) => {
      const weights = this.heads.map((head) => {
        let sum = 0;
        for (const unit of summed) sum += own === "left" ? this.weight(head, unit, index) : this.weight(head, index, unit);
        return sum;
      });
      const sum = weights.reduce((a, b) => a + b, 0) / weights.length;
      return { index, sum, share: sum / divisor, shares: weights.map((weight) => weight / divisor) };
    });
    const rank = ({ sum }) => (Number.isNaN(sum) ? -1 : sum);
    return { other, number: summed.length, averages: divisor > 1, found: found.sort((a, b) => rank(b) - rank(a)) };
  }
}
