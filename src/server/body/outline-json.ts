import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { RegistryError } from '../../model/errors.ts';

/** The outline of a JSON text, or the reason why there is none. */
export type Outlined = { json: Uint8Array<ArrayBuffer> } | { refused: 'malformed' | 'too_large' };

/** Bytes that are parsed in one turn of the event loop. It takes some milliseconds. */
const smallBytes = 512 * 1024;

/** Memory for what a text of the largest accepted size holds. */
const threadMegabytes = 1024;

const here = fileURLToPath(import.meta.url);
const threadScript = new URL(`outline-json-thread.${here.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

/**
 * Makes a large JSON text small, so that parsing it does not block the event loop: a thread parses
 * it and leaves out long lists and texts and what is deeply nested (`outline-json-thread.ts`). A
 * small text is returned as it is, unparsed. `isForm`: the text is the field `payload` of a form.
 * Takes the bytes of a large text: they are gone afterwards. Throws `malformed` for a text that is
 * not JSON, and `too_large` for one of millions of values.
 */
export async function outlineJson(text: Uint8Array<ArrayBuffer>, isForm: boolean): Promise<Uint8Array> {
  if (text.length <= smallBytes) return text;
  const worker = new Worker(threadScript, {
    execArgv: [],
    workerData: { text, isForm },
    transferList: [text.buffer],
    resourceLimits: { maxOldGenerationSizeMb: threadMegabytes },
  });
  try {
    const outlined = await new Promise<Outlined>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve({ refused: 'too_large' }) : reject(error),
      );
    });
    if ('json' in outlined) return outlined.json;
    const isMalformed = outlined.refused === 'malformed';
    throw new RegistryError(outlined.refused, isMalformed ? 'The body is not JSON.' : 'The body has too many values.');
  } finally {
    await worker.terminate();
  }
}
