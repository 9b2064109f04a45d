// Runs what a key does, unless it does nothing here or is part of a shortcut of the browser.
export function onKey(event: KeyboardEvent, actions: Record<string, () => void>): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  actions[event.key]();
}
