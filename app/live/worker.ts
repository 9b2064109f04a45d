// The worker: opens the weights once, then answers questions; of those that wait, the last one alone.

import type { Bytes } from "../browser/data_blocks";
import { Reader, type Opened, type Question, type Result } from "./reader";

export type Asked = { weights: string; hash: string } | { question: Question } | { swap: Question };
export type Answer =
  | { opened: Opened }
  | { result: Result }
  | { swapped: { number: number; probability: number | null } }
  | { error: string };

interface Scope {
  onmessage: ((event: MessageEvent<Asked>) => void) | null;
  postMessage(answer: Answer): void;
}

export default function serve(scope: Scope): void {
  let reader: Reader | null = null;
  let waiting: Question | null = null;
  const answer = () => {
    if (!reader || !waiting) return;
    const question = waiting;
    waiting = null;
    scope.postMessage({ result: reader.read(question) });
  };
  scope.onmessage = ({ data }) => {
    void (async () => {
      if ("weights" in data) {
        const bytes = decode(data.weights);
        const hash = await hashOf(bytes);
        if (hash && hash !== data.hash) {
          throw new Error("the file is damaged: its weights are not those that were written. Download or copy it again");
        }
        reader = new Reader(bytes);
        scope.postMessage({ opened: reader.opened });
      } else if ("question" in data) {
        waiting = data.question;
        setTimeout(answer); // messages that came meanwhile are read first
      } else if (reader) {
        scope.postMessage({ swapped: { number: data.swap.number, probability: reader.swapped(data.swap) } });
      }
    })().catch((error: unknown) => scope.postMessage({ error: error instanceof Error ? error.message : String(error) }));
  };
}

function decode(base64: string): Bytes {
  const letters = atob(base64.trim());
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k++) bytes[k] = letters.charCodeAt(k);
  return bytes;
}

// SHA-256 in hexadecimal; "" where the browser computes none: some do so for pages of a secure server only.
async function hashOf(bytes: Bytes): Promise<string> {
  if (!globalThis.isSecureContext) return "";
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
