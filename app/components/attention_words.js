// Says in words and numbers what is pointed at, and what the marks mean.
// attention_paint.js stands in front of this file.

class AttentionWords extends AttentionPainter {
  refreshPanel() {
    const focus = this.pinned ?? this.pointed;
    if (!focus) {
      this.panel.replaceChildren(
        element("h4", { textContent: "Point at a token" }),
        element("p", { className: "note", textContent:
          "On the left: where it looks. On the right: which tokens look at it. " +
          "Click keeps it; click again or press Esc to let go. " +
          "With the keyboard: arrows, Enter, Esc." }),
      );
      return;
    }
    const left = focus.side === "left";
    const token = this.header.tokens[focus.index];
    const everything = this.targets(focus);
    const found = everything.slice(0, 8);
    const many = this.heads.length > 1;
    const title = element("h4", {}, "\u201c", element("bdi", { textContent: shorten(token, 60) }),
      left ? "\u201d looks at" : "\u201d is looked at by");
    const note = !found.length ? "This token is left out by the choice above."
      : `Layer ${this.header.layer}, ${many ? `mean of ${this.heads.length} heads` : `head ${this.heads[0]}`}` +
        `, token ${focus.index}${this.pinned ? " (kept: Esc lets go)" : ""}`;
    this.panel.replaceChildren(title, element("p", { className: "note", textContent: note }),
      ...found.map((target) => this.targetRow(target, many)));
    if (left && everything.length > found.length) {
      const rest = everything.slice(found.length).reduce((sum, target) => sum + target.mean, 0);
      this.panel.append(element("div", { className: "target rest" },
        element("span", { textContent: `${everything.length - found.length} others` }), element("span"),
        element("span", { className: "share", textContent: percent(rest) })));
    }
    if (!left && found.length) {
      this.panel.append(element("p", { className: "note", textContent:
        "Each number is a share of the looking token's attention; these do not add up to 100%." }));
    }
    const list = found.slice(0, 4).map((t) => `${this.header.tokens[t.index]} ${percent(t.mean)}`).join(", ");
    clearTimeout(this.saying);
    this.saying = setTimeout(() => {
      this.said.textContent = `${shorten(token, 60)} ${left ? "looks at" : "is looked at by"}: ${list || "nothing shown"}`;
    }, 200);
  }

  targetRow({ index, weights, mean }, many) {
    const bar = element("div", { className: "bar", ariaHidden: "true" });
    weights.forEach((weight, k) => {
      const part = element("span");
      part.style.width = `${(100 * weight) / weights.length}%`;
      part.style.background = this.averaged ? this.header.mean_colour : this.header.colours[this.heads[k]];
      bar.append(part);
    });
    const name = element("span", { className: "name", title: shorten(this.header.tokens[index], 200) },
      element("bdi", { textContent: shorten(this.header.tokens[index], 40) }), " ",
      element("span", { className: "place", textContent: index }));
    const row = element("div", { className: "target" }, name, bar,
      element("span", { className: "share", textContent: percent(mean) }));
    if (many) {
      const best = weights.map((weight, k) => [weight, this.heads[k]]).sort((a, b) => b[0] - a[0]);
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
    const focus = this.pinned ?? this.pointed;
    const text = !focus && more > 0
      ? `The ${MAX_LINES.toLocaleString("en")} strongest of ${this.total.toLocaleString("en")} lines are drawn.`
      : "";
    const state = JSON.stringify([text, this.header.is_pair, this.theme, this.averaged, this.mapColours[0], this.faint]);
    if (state === this.footState) return;
    this.footState = state;
    const kinds = [["a", this.header.is_pair ? "sentence A" : "text"], ["b", "sentence B"], ["special", "added by BERT"]];
    const keys = kinds.filter(([kind]) => kind !== "b" || this.header.is_pair).map(([kind, words]) => {
      const square = element("b");
      square.style.background = this.header.kinds[kind];
      return element("span", { className: "key" }, square, words);
    });
    const scale = element("canvas", { ariaLabel: "Key: thicker and darker lines are larger weights" });
    const context = fitCanvas(scale, 168, 16);
    context.font = `11px ${this.theme.font}`;
    context.textBaseline = "middle";
    LINE_STEPS.forEach((weight, k) => {
      context.globalAlpha = opacity(weight) * this.faint;
      context.strokeStyle = this.averaged || this.maps.length === 1 ? this.mapColours[0] : this.theme.text;
      context.lineWidth = thickness(weight);
      context.beginPath();
      context.moveTo(k * 42 + 1, 8);
      context.lineTo(k * 42 + 13, 8);
      context.stroke();
      context.globalAlpha = 0.75;
      context.fillStyle = this.theme.text;
      context.fillText(percent(weight), k * 42 + 16, 8.5);
    });
    this.foot.replaceChildren(element("span", { className: "key" }, "weight", scale), ...keys,
      element("span", { className: "note", textContent: text }), this.saving);
  }
}

function shorten(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most).join("")}\u2026` : text;
}
