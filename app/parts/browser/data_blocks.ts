// Data that an HTML file holds as base64, perhaps deflated (zlib format, RFC 1950).

export type Bytes = Uint8Array<ArrayBuffer>;

// The bytes of a data block of the page.
export function heldBytes(id: string): Bytes {
  const held = document.getElementById(id);
  if (!held) throw new Error(`the page has no data block ${id}`);
  return fromBase64(held.textContent ?? "");
}

export function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

export async function inflate(bytes: Bytes): Promise<Bytes> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
