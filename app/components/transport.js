// Reads a message of transport.py: { header, blocks: [Uint8Array] }.
function unpack(bytes) {
  // A copy where the message does not start on 4 bytes: Float32Array needs it.
  const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength);
  const length = view.getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + length)));
  const start = 4 + length;
  const blocks = header.blocks.map(([from, size]) => whole.subarray(start + from, start + from + size));
  return { header, blocks };
}

function asFloats(block) {
  return new Float32Array(block.buffer, block.byteOffset, block.byteLength / 4);
}

// The code whose weight is nearest, for weights that were computed here (means).
function encoder(table) {
  const middles = table.slice(1).map((weight, k) => (weight + table[k]) / 2);
  return (weight) => {
    let [low, high] = [0, 255];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (weight < middles[middle]) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}

// Small builder for elements. Text is only ever set as text, never as HTML: tokens are hostile.
function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in node && name !== "list") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

function percent(weight) {
  if (weight >= 0.0995) return `${Math.round(weight * 100)}%`;
  return `${(weight * 100).toFixed(1)}%`;
}

// The theme as Streamlit set it on the component, for the canvas.
function readTheme(node) {
  const style = getComputedStyle(node);
  const read = (name, other) => style.getPropertyValue(name).trim() || other;
  return {
    text: read("--st-text-color", "#222"),
    background: read("--st-background-color", "#fff"),
    secondary: read("--st-secondary-background-color", "#f0f2f6"),
    primary: read("--st-primary-color", "#3366cc"),
    border: read("--st-border-color", "#ccc"),
    font: read("--st-font", "sans-serif"),
  };
}

// Size a canvas in CSS pixels at the screen's density; returns its context, scaled.
function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
