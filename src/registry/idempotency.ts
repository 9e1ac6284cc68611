import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { digestOf, hexOf, type Digest } from '../model/digest.ts';
import { isRegistryError, RegistryError, type ErrorCode, type ErrorDetails } from '../model/errors.ts';
import { decrypt, deriveKey, encrypt } from './cipher.ts';
import { beginWork, isOwn, mayWork, type Worker } from '../store/process.ts';
import type { Generation } from '../store/generations.ts';
import type { Author, Registry } from './registry.ts';

/** A request that may be repeated. */
export interface Repeatable {
  org: string;
  /** Who asks: the same key of another asker is another request. */
  actor: string;
  /** The `Idempotency-Key`. */
  key: string;
  /** Digest over all that makes the request what it is. */
  request: Digest;
  /** Known to the asker alone; seals the kept answer, which may hold a new key's secret. */
  secret: string;
}

/** How the request ended: JSON that `perform` gave, or the refusal that it was. */
type Ending = { answer: unknown } | { refusal: { code: ErrorCode; message: string; details: ErrorDetails } };

/** The value of one ref. Its worker is who made the latest attempt. */
interface Attempt extends Worker {
  request: Digest;
  /** Names the request in the histories of what it changes (`Author.operation`): the same for every attempt. */
  operation: string;
  state: 'running' | 'released' | 'done';
  /** Milliseconds since 1970, of the first attempt and of this one. */
  firstAt: number;
  at: number;
  /** Base64 of nonce, tag and ciphertext. */
  sealed: string | null;
}

const lifetime = 24 * 60 * 60 * 1000;
/** Milliseconds for which an attempt of another process is watched before it counts as crashed. */
const lease = 180_000;
/** Refusals that the same request meets again, as long as it is remembered. Everything else may go another way next time. */
const lasting: readonly ErrorCode[] = [
  'malformed',
  'forbidden',
  'not_found',
  'gone',
  'conflict',
  'refused',
  'too_large',
];

/**
 * Performs a request once and gives its answer every time it is asked within 24 hours, over all processes and their crashes. `perform` is
 * given the author's `operation`. Refuses with `idempotency_mismatch` another request under the same key, with `conflict` and a time to
 * try again while the first is still at work.
 */
export async function performOnce<T>(
  registry: Registry,
  repeatable: Repeatable,
  perform: (operation: string) => Promise<T>,
): Promise<{ answer: T; isReplay: boolean }> {
  const { worker, end } = beginWork();
  try {
    return await performAs(worker, registry, repeatable, perform);
  } finally {
    // Whatever the store has of this attempt: it is over, and another may begin.
    end();
  }
}

async function performAs<T>(
  worker: Worker,
  registry: Registry,
  repeatable: Repeatable,
  perform: (operation: string) => Promise<T>,
): Promise<{ answer: T; isReplay: boolean }> {
  const { org, actor, key, secret } = repeatable;
  const name = `idempotency/${org}/${hexOf(digestOf(`${actor}\n${key}`))}`;
  const author: Author = { actor, origin: null };
  const claimed = await claim(registry, name, repeatable, author, worker);
  // Nobody who reads the store learns a secret from an answer.
  const cipherKey = deriveKey(secret, key, 'stele idempotency');
  if (claimed.state === 'done')
    return { answer: settle<T>(JSON.parse(decrypt(cipherKey, claimed.sealed!)) as Ending), isReplay: true };

  /** What is not written down is decided again by a repetition: no reason to answer otherwise than it went. */
  async function finish(state: 'released' | 'done', ending: Ending | null): Promise<void> {
    const sealed = ending && encrypt(registry, cipherKey, JSON.stringify(ending));
    const work = registry.refs.update<Attempt>(name, (current) =>
      // Somebody took over because this process looked dead: its word counts now.
      current?.value.holder === worker.holder
        ? { value: { ...current.value, state, sealed }, change: { ...author, action: state } }
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

/** Makes this process the one that performs the request, or finds how it ended. Waits a while for whoever is at it. */
async function claim(
  registry: Registry,
  name: string,
  { request }: Repeatable,
  author: Author,
  worker: Worker,
): Promise<Attempt> {
  for (let waited = 0; ; waited += 100) {
    let mine: Attempt | null = null;
    const generation = await registry.refs.update<Attempt>(name, (current) => {
      mine = null;
      const at = registry.now().getTime();
      const known = current !== null && at - current.value.firstAt < lifetime ? current.value : null;
      if (known !== null && known.request !== request) {
        throw new RegistryError(
          'idempotency_mismatch',
          'This Idempotency-Key was already used for another request. Use a new key.',
        );
      }
      if (known?.state === 'done' || (known?.state === 'running' && isRunning(registry, current!))) return null;
      mine = {
        ...worker,
        request,
        operation: known?.operation ?? `${at.toString(36)}-${hexOf(digestOf(name)).slice(0, 24)}`,
        state: 'running',
        firstAt: known?.firstAt ?? at,
        at,
        sealed: null,
      };
      return { value: mine, change: { ...author, action: 'running' } };
    });
    if (mine !== null) return mine;
    if (generation!.value.state === 'done') return generation!.value;
    if (waited >= 5000) {
      const message = 'The first request with this Idempotency-Key is still running. Retry later.';
      throw new RegistryError('conflict', message, { retryAfter: 1 });
    }
    await delay(100);
  }
}

/** Attempts of other processes that have not ended, by `writeId`: since when they are watched, by the monotonic clock. */
const watched = new Map<string, number>();

/** Whether an attempt that has not ended may still end. Of another process nobody knows, so that it is watched for a while. */
function isRunning({ monotonic }: Registry, { value, writeId }: Generation<Attempt>): boolean {
  if (!mayWork(value)) return false;
  const since = watched.get(writeId) ?? monotonic();
  watched.set(writeId, since);
  if (watched.size > 10_000) watched.delete(watched.keys().next().value!);
  return isOwn(value) || monotonic() - since < lease;
}

function settle<T>(ending: Ending): T {
  if ('answer' in ending) return ending.answer as T;
  const { code, message, details } = ending.refusal;
  throw new RegistryError(code, message, details);
}
