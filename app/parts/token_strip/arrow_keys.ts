// Where a key leads in a row of tokens that wraps.

/** Top left corner of a token. */
export interface Corner {
  top: number;
  left: number;
}

const SAME_ROW = 4; // pixels by which tokens of one row may differ

// The token that a key leads to from `now`; undefined where it leads nowhere.
export function nextToken(key: string, now: number, count: number, cornerOf: (token: number) => Corner): number | undefined {
  const next = neighbour(key, now, count, cornerOf);
  return next === undefined || next < 0 || next >= count ? undefined : next;
}

function neighbour(key: string, now: number, count: number, cornerOf: (token: number) => Corner): number | undefined {
  switch (key) {
    case "ArrowRight": return now + 1;
    case "ArrowLeft": return now - 1;
    case "Home": return 0;
    case "End": return count - 1;
    case "ArrowDown": return inOtherRow(now, 1, count, cornerOf);
    case "ArrowUp": return inOtherRow(now, -1, count, cornerOf);
    default: return undefined;
  }
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
