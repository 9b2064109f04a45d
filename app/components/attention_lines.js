// Which lines there are: the weights that the visitor's choices leave, strongest last.
// attention_levels.js stands in front of this file.

class AttentionLines {
  // Pieces as the server sent them, or words.
  refreshUnits() {
    const { header, given, table } = this;
    this.units = unitsOf(header, this.byWord);
    this.size = this.units.size;
    if (!this.byWord) {
      this.codes = given;
      this.values = null;
      return;
    }
    const [tokens, cells] = [header.tokens.length, this.size ** 2];
    const encode = quickEncoder(table);
    this.values = new Float32Array(header.colours.length * cells);
    this.codes = new Uint8Array(this.values.length);
    header.colours.forEach((_, head) => {
      const map = given.subarray(head * tokens * tokens, (head + 1) * tokens * tokens);
      const merged = mergeToWords((at) => table[map[at]], tokens, this.units.starts);
      merged.forEach((weight, at) => {
        this.values[head * cells + at] = Math.min(1, weight);
        this.codes[head * cells + at] = encode(weight);
      });
    });
  }

  takesPart(side, unit) {
    if (this.hideSpecial && this.units.textIds[unit] === -1) return false;
    if (this.filter === "all") return true;
    const wanted = Number(this.filter[side === "left" ? 0 : 2]);
    return this.units.segmentIds[unit] === wanted;
  }

  select() {
    const { size, codes, table } = this;
    this.heads = [...this.shown].sort((a, b) => a - b);
    this.averaged = this.mean && this.heads.length > 1;
    const maps = this.averaged ? [this.meanCodes()] : this.heads.map((head) =>
      codes.subarray(head * size * size, (head + 1) * size * size));
    this.maps = maps;
    this.mapColours = this.averaged ? [this.header.mean_colour] : this.heads.map((h) => this.header.colours[h]);
    const rows = this.units.names.map((_, i) => this.takesPart("left", i));
    const columns = this.units.names.map((_, j) => this.takesPart("right", j));
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
    const encode = quickEncoder(table);
    for (let at = 0; at < out.length; at++) {
      let sum = 0;
      for (const head of heads) sum += table[codes[head * size * size + at]];
      out[at] = encode(sum / heads.length);
    }
    return out;
  }

  weight(head, row, column) {
    const at = (head * this.size + row) * this.size + column;
    return this.values ? this.values[at] : this.table[this.codes[at]];
  }

  // Of a line's map: one head, or the mean of the shown ones.
  mapWeight(map, row, column) {
    if (!this.averaged) return this.weight(this.heads[map], row, column);
    return this.heads.reduce((sum, head) => sum + this.weight(head, row, column), 0) / this.heads.length;
  }
}

// As encoder(), by a table over the root of the weight: at most one code beside it, for the paint.
function quickEncoder(table) {
  const encode = encoder(table);
  const known = Uint8Array.from({ length: 4096 }, (_, k) => encode((k / 4095) ** 2));
  return (weight) => known[Math.round(4095 * Math.sqrt(Math.min(1, weight)))];
}
