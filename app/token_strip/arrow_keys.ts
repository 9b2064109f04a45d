// Where a key leads in a row of tokens that wraps.

/** Top left corner of a token. */
export interface Corner {
  top: number;
  left: number;
}

const SAME_ROW = 4; // pixels by which tokens of one row may differ

// The token that a key leads to from `now`; undefined where it leads nowhere.
export function nextToken(key: string, now: number, count: number, cornerOf: (token: number) => Corner): number | undefined {
  const next: Record<string, () => number | undefined> = {
    ArrowRight: () => now + 1,
    ArrowLeft: () => now - 1,
    Home: () => 0,
    End: () => count - 1,
    ArrowDown: () => inOtherRow(now, 1, count, cornerOf),
    ArrowUp: () => inOtherRow(now, -1, count, cornerOf),
  };
  const found = next[key]?.();
  return found === undefined || found < 0 || found >= count ? undefined : found;
}

// The nearest token of the row below (step 1) or above (step -1).
function inOtherRow(now: number, step: 1 | -1, count: number, cornerOf: (token: number) => Corner): number | undefined {
  const from = cornerOf(now);
  let best: number | undefined;
  let bestDistance = Infinity;
  let rowTop: number | undefined;
  for (let token = now + step; token >= 0 && token < count; token += step) {
    const { top, left } = cornerOf(token);
    if (Math.abs(top - from.top) < SAME_ROW) continue;
    rowTop ??= top;
    if (Math.abs(top - rowTop) > SAME_ROW) break;
    const distance = Math.abs(left - from.left);
    if (distance < bestDistance) [best, bestDistance] = [token, distance];
  }
  return best;
}
