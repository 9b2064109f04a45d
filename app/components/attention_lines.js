// Which lines there are: the weights that the visitor's choices leave, strongest last.

class AttentionLines {
  takesPart(side, index) {
    if (this.hideSpecial && this.header.text_ids[index] === -1) return false;
    if (this.filter === "all") return true;
    const wanted = Number(this.filter[side === "left" ? 0 : 2]);
    return this.header.segment_ids[index] === wanted;
  }

  select() {
    const { size, codes, table } = this;
    this.heads = [...this.shown].sort((a, b) => a - b);
    this.averaged = this.mean && this.heads.length > 1;
    const maps = this.averaged ? [this.meanCodes()] : this.heads.map((head) =>
      codes.subarray(head * size * size, (head + 1) * size * size));
    this.maps = maps;
    this.mapColours = this.averaged ? [this.header.mean_colour] : this.heads.map((h) => this.header.colours[h]);
    const rows = this.header.tokens.map((_, i) => this.takesPart("left", i));
    const columns = this.header.tokens.map((_, j) => this.takesPart("right", j));
    const lowest = Math.max(1, table.findIndex((weight) => weight >= this.threshold));
    // A counting sort by code: draws faint lines first, and keeps the strongest when there are many.
    const counts = new Uint32Array(257);
    const visit = (see) => {
      maps.forEach((map, m) => {
        for (let i = 0; i < size; i++) {
          if (!rows[i]) continue;
          for (let j = 0, at = i * size; j < size; j++, at++) {
            if (map[at] >= lowest && columns[j]) see(map[at], m, i, j);
          }
        }
      });
    };
    visit((code) => { counts[code + 1] += 1; });
    for (let code = 1; code < 257; code++) counts[code] += counts[code - 1];
    const total = counts[256];
    const lines = { code: new Uint8Array(total), map: new Uint8Array(total), row: new Uint16Array(total), column: new Uint16Array(total) };
    visit((code, m, i, j) => {
      const at = counts[code]++;
      lines.code[at] = code;
      lines.map[at] = m;
      lines.row[at] = i;
      lines.column[at] = j;
    });
    this.lines = lines;
    this.total = total;
    this.refreshPanel();
  }

  meanCodes() {
    const { size, codes, table, heads } = this;
    const out = new Uint8Array(size * size);
    const encode = encoder(table);
    for (let at = 0; at < out.length; at++) {
      let sum = 0;
      for (const head of heads) sum += table[codes[head * size * size + at]];
      out[at] = encode(sum / heads.length);
    }
    return out;
  }

  weight(head, row, column) {
    return this.table[this.codes[(head * this.size + row) * this.size + column]];
  }

  // What a token looks at, or what looks at it; the strongest first.
  targets(focus) {
    const other = focus.side === "left" ? "right" : "left";
    const found = [];
    if (!this.takesPart(focus.side, focus.index)) return found;
    for (let k = 0; k < this.size; k++) {
      if (!this.takesPart(other, k)) continue;
      const [row, column] = focus.side === "left" ? [focus.index, k] : [k, focus.index];
      const weights = this.heads.map((head) => this.weight(head, row, column));
      const sum = weights.reduce((a, b) => a + b, 0);
      found.push({ index: k, weights, mean: sum / weights.length });
    }
    return found.sort((a, b) => b.mean - a.mean);
  }
}
