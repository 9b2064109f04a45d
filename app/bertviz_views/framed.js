// Shows a page of its own in a frame that can reach nothing of this one.
export function showFramed(place, [id], height) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = `width: 100%; height: ${height}px; border: 0; background: #fff`;
  frame.srcdoc = new TextDecoder().decode(bytes);
  place.append(frame);
}
