import { parentPort, workerData } from 'node:worker_threads';
import { isRegistryError, type RegistryError, tooLarge, malformed } from '../../model/errors.ts';
import type { ThreadAnswer, ThreadWork } from './body-thread.ts';
import { parseBody } from './json-body.ts';

/** What is kept. Webhooks name what they are about with short texts, a few levels deep. */
const limits = { depth: 8, items: 10, members: 500, characters: 2000, values: 50_000 };

/** The most commas and brackets, including those in strings. They bound the number of values. */
const maxMarks = 2_000_000;

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- This is not a window.
parentPort!.postMessage(answer(workerData as ThreadWork));

function answer(work: ThreadWork): ThreadAnswer {
  try {
    if ('parse' in work) return { result: parseBody(work.text, work.parse) };
    return { result: outline(work.outline === 'form' ? payloadIn(work.text) : work.text) };
  } catch (error) {
    if (isRegistryError(error)) return { refused: error.code, message: error.message };
    throw error;
  }
}

function outline(bytes: Uint8Array): Uint8Array {
  let marks = 0;
  for (const byte of bytes) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) marks++;
  if (marks > maxMarks) throw tooMany();
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw malformed('The body is not JSON.');
  }
  let values = 0;
  const small = cut(value, 1);
  if (values > limits.values) throw tooMany();
  return new TextEncoder().encode(JSON.stringify(small));

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

function tooMany(): RegistryError {
  return tooLarge('The body has too many values.');
}

function payloadIn(form: Uint8Array): Uint8Array {
  const payload = new URLSearchParams(Buffer.from(form.buffer, form.byteOffset, form.length).toString()).get('payload');
  return Buffer.from(payload ?? '');
}
