// The worker: opens the weights once, then answers questions; of those that wait, the last one alone. What takes
// another run of the network follows each answer, unless a question came meanwhile.

import type { Bytes } from "../parts/browser/data_blocks";
import { answerOf, NotShown, wordToHide, type Given } from "./answers";
import { glanceMessage, type GlanceLook } from "./glance";
import type { Heard } from "./guide";
import { Messages, type Choice, type Heads, type Look } from "./messages";
import { Reader, type Opened, type Question, type Result } from "./reader";

/** What is sent first. */
export interface Opening {
  /** In base64, or the address of the file that holds them. */
  weights: string | { address: string; size: number };
  hash: string;
  /** Of the drawings; null where the page does not show them. */
  look: Look | null;
  glance: GlanceLook | null;
  /** Whether tokens are guessed where they are hidden. */
  guesses: boolean;
  /** Whether the pair is asked about with its texts swapped too. */
  swaps: boolean;
}

/** A question of a lesson. */
export interface Lesson {
  number: number;
  answer: string | null;
  given: Given;
  first: string;
  second: string | null;
}

export type Asked = Opening | { lesson: Lesson } | { question: Question; choice: Choice } | { choice: Choice };
export type Answer =
  | { loaded: number }
  | { opened: Opened }
  | { result: Result; attention: { overview: Bytes; heads: Heads } | null }
  | { chosen: { number: number; heads: Heads } }
  | { glance: { number: number; message: Bytes } }
  | { swapped: { number: number; probability: number | null } }
  | { lesson: Heard & { number: number } }
  | { error: string };

interface Scope {
  onmessage: ((event: MessageEvent<Asked>) => void) | null;
  postMessage(answer: Answer, transferred?: Transferable[]): void;
}

const DAMAGED = "the file is damaged: its weights are not those that were written. Download or copy it again";
const SLICE = 1 << 20; // letters of base64 that are decoded at once
const QUICK = 60; // milliseconds of an answer that what follows need not wait for

export default function serve(scope: Scope): void {
  let reader: Reader | null = null;
  let read: Result | null = null;
  let messages: Messages | null = null;
  let wanted: Omit<Opening, "weights"> | null = null;
  let waiting: { question: Question; choice: Choice } | null = null;
  const trying = (act: () => unknown) => {
    void (async () => { await act(); })().catch((error: unknown) => scope.postMessage({ error: sentence(error) }));
  };
  const answer = () => trying(() => {
    if (!reader || !waiting) return;
    const { question: { first, second }, question, choice } = waiting;
    const own = reader;
    waiting = null;
    const result = own.read(question, () => wordToHide(own, first, second));
    read = result;
    const attention = messages && { overview: messages.overview(result), heads: messages.heads(reader, result, choice) };
    scope.postMessage({ result, attention }, attention ? [attention.overview.buffer, attention.heads.message.buffer] : []);
    // While a long text is typed, the next question should find the worker free.
    setTimeout(() => follow(result), result.milliseconds < QUICK ? 0 : result.milliseconds);
  });
  const follow = (result: Result) => trying(() => {
    if (!reader || !wanted || waiting) return;
    const { next, number } = result;
    if (wanted.glance) {
      const message = glanceMessage(reader, result, wanted.glance);
      scope.postMessage({ glance: { number, message } }, [message.buffer]);
    }
    if (wanted.swaps && next !== null) scope.postMessage({ swapped: { number, probability: reader.swapped(result) } });
  });
  scope.onmessage = ({ data }) => trying(async () => {
    if ("question" in data) {
      waiting = data;
      setTimeout(answer); // messages that came meanwhile are read first
    } else if ("choice" in data) {
      if (waiting) waiting.choice = data.choice;
      if (!reader || !read || !messages || waiting) return;
      const heads = messages.heads(reader, read, data.choice);
      scope.postMessage({ chosen: { number: read.number, heads } }, [heads.message.buffer]);
    } else if ("lesson" in data) {
      if (reader) scope.postMessage({ lesson: { number: data.lesson.number, ...heardOf(reader, data.lesson) } });
    } else {
      const { weights, ...rest } = data;
      wanted = rest;
      reader = await Reader.open(await bytesOf(weights, rest.hash, (loaded) => scope.postMessage({ loaded })), rest.guesses);
      messages = rest.look && new Messages(rest.look, reader.opened);
      reader.viewer = messages;
      scope.postMessage({ opened: reader.opened });
    }
  });
}

function heardOf(reader: Reader, { answer, given, first, second }: Lesson): Heard {
  try {
    return { found: answerOf(reader, answer, given, first, second) };
  } catch (error) {
    return error instanceof NotShown ? { missing: error.said } : { wrong: sentence(error) };
  }
}

// The weights, if they are those that were written.
async function bytesOf(weights: Opening["weights"], hash: string, report: (share: number) => void): Promise<Bytes> {
  const kept = typeof weights === "string" ? null : await keptFiles(weights.address);
  const bytes = typeof weights === "string" ? decode(weights) : await kept?.read() ?? await fetched(weights, report);
  const found = await hashOf(bytes);
  if (found && found !== hash) throw new Error(DAMAGED);
  await kept?.write(bytes);
  return bytes;
}

function sentence(error: unknown): string {
  if (error instanceof RangeError && /alloc|length|memory/i.test(error.message)) {
    return "the browser has too little memory for this network. Close other tabs and load this one again, or open it on a computer";
  }
  return error instanceof Error ? error.message : String(error);
}

function decode(base64: string): Bytes {
  const whole = base64.trim();
  const bytes = new Uint8Array(Math.floor((whole.length / 4) * 3));
  let at = 0;
  try {
    for (let start = 0; start < whole.length; start += SLICE) {
      const letters = atob(whole.slice(start, start + SLICE));
      for (let k = 0; k < letters.length; k++) bytes[at++] = letters.charCodeAt(k);
    }
  } catch {
    throw new Error(DAMAGED);
  }
  return bytes.subarray(0, at);
}

// The browser's store for the file at an address; null where it gives none, as without HTTPS. A name has the hash of the
// content, so that a stored file is never old; the ones beside it are.
async function keptFiles(address: string) {
  const store = await globalThis.caches?.open("bertscope").catch(() => null);
  if (!store) return null;
  const folder = new URL(".", address).href;
  return {
    async read(): Promise<Bytes | null> {
      const found = await store.match(address).catch(() => null);
      return found ? new Uint8Array(await found.arrayBuffer()) : null;
    },
    // A full store leaves the page as it is: the file is loaded again next time.
    async write(bytes: Bytes): Promise<void> {
      if (await store.match(address)) return;
      for (const { url } of await store.keys()) if (new URL(".", url).href === folder) await store.delete(url);
      await store.put(address, new Response(bytes)).catch(() => null);
    },
  };
}

async function fetched({ address, size }: { address: string; size: number }, report: (share: number) => void): Promise<Bytes> {
  const response = await fetch(address).catch(() => null);
  if (!response?.ok || !response.body) {
    const why = response ? `: the server answered ${response.status}` : "; is there a connection?";
    throw new Error(`the weights did not arrive${why}. Load the page again`);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const parts = response.body.getReader(); ;) {
    const { done, value } = await parts.read();
    if (done) break;
    if (at + value.length > size) throw new Error("the weights are longer than those that were written. Copy the site again");
    bytes.set(value, at);
    at += value.length;
    report(at / size);
  }
  if (at < size) throw new Error(`the weights were cut: ${at} of ${size} bytes arrived. Load the page again`);
  return bytes;
}

// SHA-256 in hexadecimal; "" where the browser computes none: some do so for pages of a secure server only.
async function hashOf(bytes: Bytes): Promise<string> {
  if (!globalThis.isSecureContext) return "";
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
