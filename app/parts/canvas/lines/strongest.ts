// The lines to draw, sorted by weight.

/** Parallel arrays, the strongest line last. */
export interface Lines {
  code: Uint8Array;
  /** Index of the line's map. */
  map: Uint8Array;
  row: Uint16Array;
  column: Uint16Array;
  total: number;
}

// The cells of maps (codes, size x size) of at least code `lowest` in the rows and columns that take
// part; with `withBest` the first strongest one of each row too. A counting sort by code: faint lines are drawn first, and the
// strongest kept when there are many.
export function sortedLines(
  maps: Uint8Array[], size: number, lowest: number, rows: boolean[], columns: boolean[], withBest = false,
): Lines {
  const counts = new Uint32Array(257);
  const visit = (see: (code: number, map: number, row: number, column: number) => void) => {
    maps.forEach((codes, m) => {
      for (let i = 0; i < size; i++) {
        if (!rows[i]) continue;
        let [best, most] = [-1, 0];
        for (let j = 0; withBest && j < size; j++) {
          if (columns[j] && codes[i * size + j] > most) [best, most] = [j, codes[i * size + j]];
        }
        for (let j = 0, at = i * size; j < size; j++, at++) {
          if (columns[j] && (codes[at] >= lowest || j === best)) see(codes[at], m, i, j);
        }
      }
    });
  };
  visit((code) => { counts[code + 1] += 1; });
  for (let code = 1; code < 257; code++) counts[code] += counts[code - 1];
  const total = counts[256];
  const lines = { code: new Uint8Array(total), map: new Uint8Array(total), row: new Uint16Array(total), column: new Uint16Array(total), total };
  visit((code, m, i, j) => {
    const at = counts[code]++;
    lines.code[at] = code;
    lines.map[at] = m;
    lines.row[at] = i;
    lines.column[at] = j;
  });
  return lines;
}
