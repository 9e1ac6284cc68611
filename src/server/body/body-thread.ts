import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { RegistryError, type ErrorCode } from '../../model/errors.ts';
import type { BodyLimits, ParsedBody } from './json-body.ts';

/** A large JSON text, and what a thread does with it (`body-thread-work.ts`). */
export type ThreadWork =
  { text: Uint8Array<ArrayBuffer>; parse: BodyLimits } | { text: Uint8Array<ArrayBuffer>; outline: 'json' | 'form' };

/** What a thread answers. */
export type ThreadAnswer<T = unknown> = { result: T } | { refused: ErrorCode; message: string };

/** Bytes that are parsed in one turn of the event loop: ten milliseconds, where starting a thread takes sixty. */
export const smallBytes = 1024 * 1024;

/** Memory for what a text of the largest accepted size holds. */
const threadMegabytes = 1024;

const tooMany = 'The body has too many values.';

const here = fileURLToPath(import.meta.url);
const threadScript = new URL(`body-thread-work.${here.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

/** As `parseBody`, in a thread, so that a large body does not block the event loop. Takes the bytes: they are gone afterwards. */
export function parseLarge(text: Uint8Array<ArrayBuffer>, limits: BodyLimits): Promise<ParsedBody> {
  return inThread({ text, parse: limits });
}

/**
 * Makes a large JSON text small, so that parsing it does not block the event loop: a thread parses
 * it and leaves out long lists and texts and what is deeply nested. A small text is returned as it is,
 * unparsed. `isForm`: the text is the field `payload` of a form.
 * Takes the bytes of a large text: they are gone afterwards. Throws `malformed` for a text that is
 * not JSON, and `too_large` for one of millions of values.
 */
export async function outlineJson(text: Uint8Array<ArrayBuffer>, isForm: boolean): Promise<Uint8Array> {
  return text.length <= smallBytes ? text : inThread({ text, outline: isForm ? 'form' : 'json' });
}

async function inThread<T>(work: ThreadWork): Promise<T> {
  const worker = new Worker(threadScript, {
    execArgv: [],
    workerData: work,
    transferList: [work.text.buffer],
    resourceLimits: { maxOldGenerationSizeMb: threadMegabytes },
  });
  try {
    const answer = await new Promise<ThreadAnswer<T>>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve({ refused: 'too_large', message: tooMany }) : reject(error),
      );
    });
    if ('result' in answer) return answer.result;
    throw new RegistryError(answer.refused, answer.message);
  } finally {
    await worker.terminate();
  }
}
