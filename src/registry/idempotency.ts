import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { digestOf, hexOf, type Digest } from '../model/digest.ts';
import { isRegistryError, type ErrorCode, type ErrorDetails, RegistryError, conflict } from '../model/errors.ts';
import { decrypt, deriveKey, encrypt } from './seal.ts';
import { beginWork, isOwn, mayWork, type Worker } from '../store/process.ts';
import type { Generation } from '../store/records.ts';
import type { Head } from '../store/log/heads.ts';
import type { Author, Registry } from './registry.ts';

/** A request with an idempotency key. */
export interface Repeatable {
  org: string;
  /** Different actors may use the same key for different requests. */
  actor: string;
  /** Value of the header `Idempotency-Key`. */
  key: string;
  /** Digest of everything that identifies the request. */
  request: Digest;
  /** Known only to the client. Encrypts the stored response, which may contain a new key's secret. */
  secret: string;
}

/** How the request ended: with the JSON that `perform` returned, or with an error. */
type Ending = { answer: unknown } | { refusal: { code: ErrorCode; message: string; details: ErrorDetails } };

/** The value of one record. The worker made the latest attempt. */
interface Attempt extends Worker {
  request: Digest;
  /** Identifies the request in the histories of what it changes (`Author.operation`), the same for every attempt. */
  operation: string;
  state: 'running' | 'released' | 'done';
  /** Milliseconds since 1970, of the first attempt and of the latest. */
  firstAt: number;
  at: number;
  /** Base64 of nonce, tag and ciphertext. */
  sealed: string | null;
  /** How far the logs reached when it was done. Absent in records of older programs. */
  heads?: readonly Head[];
}

const lifetime = 24 * 60 * 60 * 1000;
/** Milliseconds after which another process's unfinished attempt counts as crashed. */
const lease = 180_000;
/**
 * Errors that are stored and returned again. After any other error, repeating the request may succeed, also after one
 * about what exists and who may do it: that may be a second old in this process.
 */
const lasting: readonly ErrorCode[] = ['malformed', 'conflict', 'refused', 'too_large'];

/**
 * Performs a request once and returns the same answer to every repetition within 24 hours, across
 * all processes and their crashes. `perform` receives the author's `operation`. Throws
 * `idempotency_mismatch` if another request used the same key, or the same with another credential of the actor, and
 * `conflict` with a `Retry-After` while the first is still running.
 */
export async function performOnce<T>(
  registry: Registry,
  repeatable: Repeatable,
  perform: (operation: string) => Promise<T>,
): Promise<{ answer: T; isReplay: boolean }> {
  // At its end the attempt is over, even if that could not be recorded. Another may begin.
  using attempt = beginWork();
  const { worker } = attempt;
  const { org, actor, key, secret } = repeatable;
  const name = `idempotency/${org}/${hexOf(digestOf(`${actor}\n${key}`))}`;
  const author: Author = { actor, origin: null };
  const claimed = await claim(registry, name, repeatable, author, worker);
  // Stored encrypted, so that reading the store reveals no secret in a response.
  const cipherKey = deriveKey(secret, key, 'stele idempotency');
  if (claimed.state === 'done') {
    // The changes that the answer describes may be lost.
    await registry.refs.assertReached(claimed.heads ?? []);
    const ending = decrypt(cipherKey, claimed.sealed!);
    if (ending === null) throw usedBefore('with another credential');
    return { answer: settle<T>(JSON.parse(ending) as Ending), isReplay: true };
  }

  /** An ending that could not be recorded is only logged: a repetition performs the request again. */
  async function finish(state: 'released' | 'done', ending: Ending | null): Promise<void> {
    const sealed = ending && encrypt(registry, cipherKey, JSON.stringify(ending));
    const work = registry.refs.update<Attempt>(name, (current) =>
      // If another process took over because this one seemed dead, its result counts.
      current?.value.holder === worker.holder
        ? {
            value: { ...current.value, state, sealed, heads: registry.refs.heads(org) },
            change: { ...author, action: state },
          }
        : null,
    );
    await work.catch((error: unknown) => registry.log('warn', 'answer not kept', { error: inspect(error) }));
  }

  try {
    const answer = await perform(claimed.operation);
    await finish('done', { answer });
    return { answer, isReplay: false };
  } catch (error) {
    const isLasting = isRegistryError(error) && lasting.includes(error.code) && error.retryAfter === undefined;
    if (!isLasting) await finish('released', null);
    else {
      const { code, message, problems, extra } = error;
      await finish('done', { refusal: { code, message, details: { problems, extra } } });
    }
    throw error;
  }
}

/** Claims the request for this process, or returns how it ended. Waits up to 5 s if another attempt is running. */
async function claim(
  registry: Registry,
  name: string,
  { request }: Repeatable,
  author: Author,
  worker: Worker,
): Promise<Attempt> {
  for (let waited = 0; ; waited += 100) {
    let mine: Attempt | null = null;
    const decide = (current: Generation<Attempt> | null) => {
      mine = null;
      const at = registry.now().getTime();
      const valid = current !== null && at - current.value.firstAt < lifetime ? current.value : null;
      if (valid !== null && valid.request !== request) throw usedBefore('for another request');
      if (valid?.state === 'done' || (valid?.state === 'running' && isRunning(registry, current!))) return null;
      mine = {
        ...worker,
        request,
        operation: valid?.operation ?? `${at.toString(36)}-${hexOf(digestOf(name)).slice(0, 24)}`,
        state: 'running',
        firstAt: valid?.firstAt ?? at,
        at,
        sealed: null,
      };
      return { value: mine, change: { ...author, action: 'running' } };
    };
    const generation = await registry.refs.update<Attempt>(name, decide, { isNew: true });
    if (mine !== null) return mine;
    if (generation!.value.state === 'done') return generation!.value;
    if (waited >= 5000) {
      const message = 'The first request with this Idempotency-Key is still running. Retry later.';
      throw conflict(message, { retryAfter: 1 });
    }
    await delay(100);
  }
}

function usedBefore(how: string): RegistryError {
  return new RegistryError('idempotency_mismatch', `This Idempotency-Key was already used ${how}. Use a new key.`);
}

/** When this process first saw unfinished attempts of others, by `writeId`; monotonic clock. */
const watched = new Map<string, number>();

/** Whether an unfinished attempt may still end. One of another process, which may have crashed, has `lease`. */
function isRunning({ monotonic }: Registry, { value, writeId }: Generation<Attempt>): boolean {
  if (!mayWork(value)) return false;
  const since = watched.getOrInsertComputed(writeId, () => monotonic());
  if (watched.size > 10_000) watched.delete(watched.keys().next().value!);
  return isOwn(value) || monotonic() - since < lease;
}

function settle<T>(ending: Ending): T {
  if ('answer' in ending) return ending.answer as T;
  const { code, message, details } = ending.refusal;
  throw new RegistryError(code, message, details);
}
