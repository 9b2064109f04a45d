// Which lines there are: the weights that the visitor's choices leave, strongest last.

import { mergeToWords, unitsOf } from "../shared/levels.js";
import { asFlags, encoder } from "../shared/transport.js";

export class AttentionLines {
  // The heads that the server has sent of this layer: codes, and flags of what is not a number.
  keepHeads({ sent, broken, tokens }, codes, bits) {
    const cells = tokens.length ** 2;
    sent.forEach((head, k) => {
      const number = broken.indexOf(head);
      this.given.set(head, {
        codes: codes.subarray(k * cells, (k + 1) * cells),
        gaps: number < 0 ? null : asFlags(bits, number * cells, cells),
      });
    });
  }

  // Pieces as the server sent them, or words: maps of a head's codes, exact values (words), gaps.
  refreshUnits() {
    const { header, given, table } = this;
    this.units = unitsOf(header, this.byWord);
    this.size = this.units.size;
    this.maps = this.byWord ? new Map() : given;
    if (!this.byWord) return;
    const encode = quickEncoder(table);
    for (const [head, { codes, gaps }] of given) {
      const read = gaps ? (at) => (gaps[at] ? NaN : table[codes[at]]) : (at) => table[codes[at]];
      const values = mergeToWords(read, header.tokens.length, this.units.starts).map((weight) => Math.min(1, weight));
      this.maps.set(head, {
        values, codes: Uint8Array.from(values, (weight) => encode(weight || 0)),
        gaps: gaps && Uint8Array.from(values, Number.isNaN),
      });
    }
  }

  takesPart(side, unit) {
    if (this.hideSpecial && this.units.textIds[unit] === -1) return false;
    if (this.filter === "all") return true;
    const wanted = Number(this.filter[side === "left" ? 0 : 2]);
    return this.units.segmentIds[unit] === wanted;
  }

  // Heads that are shown and have not come yet.
  awaited() {
    return [...this.shown].filter((head) => !this.given.has(head)).sort((a, b) => a - b);
  }

  select() {
    const { size, table } = this;
    // Heads that are on their way are drawn when they are here.
    this.heads = [...this.shown].filter((head) => this.maps.has(head)).sort((a, b) => a - b);
    this.averaged = this.mean && this.heads.length > 1;
    const maps = this.averaged ? [this.meanCodes()] : this.heads.map((head) => this.maps.get(head).codes);
    this.mapColours = this.averaged ? [this.header.mean_colour] : this.heads.map((h) => this.header.colours[h]);
    this.broken = this.heads.some((head) => this.maps.get(head).gaps) ? this.units.names.map((_, i) => this.isBroken(i)) : [];
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
    const { table } = this;
    const encode = quickEncoder(table);
    const maps = this.heads.map((head) => this.maps.get(head));
    return Uint8Array.from({ length: this.size ** 2 }, (_, at) => {
      if (maps.some(({ gaps }) => gaps?.[at])) return 0;
      return encode(maps.reduce((sum, { codes }) => sum + table[codes[at]], 0) / maps.length);
    });
  }

  // NaN where the checkpoint gave no number.
  weight(head, row, column) {
    const { values, codes, gaps } = this.maps.get(head);
    const at = row * this.size + column;
    if (values) return values[at];
    return gaps?.[at] ? NaN : this.table[codes[at]];
  }

  // Whether a token's row of any shown head holds something that is not a number.
  isBroken(row) {
    return this.heads.some((head) => {
      const { gaps } = this.maps.get(head);
      return gaps?.subarray(row * this.size, (row + 1) * this.size).includes(1);
    });
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
