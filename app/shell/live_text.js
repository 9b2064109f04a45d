// Streamlit's text area sends its text on Ctrl+Enter or when it is left. This presses
// Ctrl+Enter for the visitor when typing rests, except while an input method composes a character.

export default function ({ data }) {
  const areas = data.keys.map((key) => `.st-key-${key} textarea`).join(", ");
  let timer = null;

  const send = (area) =>
    area.dispatchEvent(
      new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true, cancelable: true }),
    );

  const onInput = (event) => {
    if (!(event.target instanceof HTMLElement) || !event.target.matches(areas)) return;
    clearTimeout(timer);
    if (event.isComposing) return;
    timer = setTimeout(() => event.target.isConnected && send(event.target), data.pauseMs);
  };

  document.addEventListener("input", onInput);
  document.addEventListener("compositionend", onInput);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("input", onInput);
    document.removeEventListener("compositionend", onInput);
  };
}
