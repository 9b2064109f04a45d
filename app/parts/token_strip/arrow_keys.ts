// Where a key leads in a row of tokens that wraps.

/** Top left corner of a token. */
export interface Corner {
  top: number;
  left: number;
}

const SAME_ROW = 4; // pixels by which tokens of one row may differ

// The token that a key leads to from `now`; undefined where it leads nowhere.
export function nextToken(key: string, now: number, count: number, cornerOf: (token: number) => Corner): number | undefined {
  const places: Record<string, number> = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: count - 1 };
  const rows: Record<string, 1 | -1> = { ArrowDown: 1, ArrowUp: -1 };
  const next = key in rows ? inOtherRow(now, rows[key], count, cornerOf) : places[key];
  return next === undefined || next < 0 || next >= count ? undefined : next;
}

// Moves the focus from button to button.
export function moveFocus(event: KeyboardEvent, buttons: HTMLButtonElement[]): void {
  const now = buttons.findIndex((button) => button === event.target);
  const next = nextToken(event.key, now, buttons.length, (token) => buttons[token].getBoundingClientRect());
  if (now < 0 || next === undefined) return;
  event.preventDefault();
  buttons.forEach((button, token) => { button.tabIndex = token === next ? 0 : -1; });
  buttons[next].focus();
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
