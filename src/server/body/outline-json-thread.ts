import { parentPort, workerData } from 'node:worker_threads';
import type { Outlined } from './outline-json.ts';

/** What is kept. Webhooks name what they are about with short texts, a few levels deep. */
const limits = { depth: 8, items: 10, members: 500, characters: 2000, values: 50_000 };

/** The most commas and brackets, including those in strings. They bound the number of values. */
const maxMarks = 2_000_000;

const { text, isForm } = workerData as { text: Uint8Array; isForm: boolean };
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- This is not a window.
parentPort!.postMessage(outline(isForm ? payloadIn(text) : text));

function outline(bytes: Uint8Array): Outlined {
  let marks = 0;
  for (const byte of bytes) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) marks++;
  if (marks > maxMarks) return { refused: 'too_large' };
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return { refused: 'malformed' };
  }
  let values = 0;
  const small = cut(value, 1);
  return values > limits.values ? { refused: 'too_large' } : { json: new TextEncoder().encode(JSON.stringify(small)) };

  function cut(given: unknown, depth: number): unknown {
    if (++values > limits.values) return null;
    if (typeof given === 'string') return given.length > limits.characters ? '' : given;
    if (typeof given !== 'object' || given === null) return given;
    if (depth > limits.depth) return null;
    if (Array.isArray(given)) return given.slice(0, limits.items).map((item) => cut(item, depth + 1));
    const members = Object.entries(given).slice(0, limits.members);
    return Object.fromEntries(members.map(([name, member]) => [name, cut(member, depth + 1)]));
  }
}

function payloadIn(form: Uint8Array): Uint8Array {
  const payload = new URLSearchParams(Buffer.from(form.buffer, form.byteOffset, form.length).toString()).get('payload');
  return Buffer.from(payload ?? '');
}
