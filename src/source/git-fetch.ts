import { isUnadvertised, runGit, type GitResult } from './command.ts';
import { tooLarge } from '../model/errors.ts';
import type { ReadOptions } from './git-objects.ts';
import { packBytes } from './scratch.ts';
import type { Transport } from './transport.ts';

/** A fetch. */
export interface FetchRequest {
  options: readonly string[];
  /** Object ids and full ref names. */
  wants: readonly string[];
  input?: string;
  config?: Readonly<Record<string, string>>;
  /** Failures that the caller handles, besides the server's refusal to provide an id. */
  expects?: (stderr: string) => boolean;
}

export interface FetchLimit {
  /** Bytes. */
  sizeLimit: number;
  /** Repositories whose packs count too. */
  counted: readonly string[];
}

/**
 * Fetches into a scratch repository. Returns false when the server does not provide an object, or
 * for a failure that the caller expects. Stops the fetch and rejects with `too_large` when it
 * exceeds the size limit.
 */
export async function fetchInto(
  repository: string,
  transport: Transport,
  request: FetchRequest,
  limit: FetchLimit,
): Promise<boolean> {
  const { location, signal } = transport;
  return withinLimit(repository, location.url, limit, signal, (stopped) =>
    transport.run({
      folder: repository,
      args: (url) => [...fetchArguments(transport), ...request.options, '--', url, ...request.wants],
      ...(request.config === undefined ? {} : { config: request.config }),
      ...(request.input === undefined ? {} : { input: request.input }),
      expects: (stderr) => isUnadvertised(stderr) || request.expects?.(stderr) === true,
      signal: stopped,
    }),
  );
}

/**
 * Writes a pack that comes into a scratch repository. Returns false when it is none, for whatever
 * reason: git is asked then. Rejects with `too_large` as `fetchInto` does.
 */
export async function indexPack(
  { folder, searchPath, signal }: ReadOptions,
  { url }: { url: string },
  pack: AsyncIterable<Buffer>,
  limit: FetchLimit,
): Promise<boolean> {
  const command = { args: ['index-pack', '--stdin'], folder, protocols: 'none', input: pack, searchPath };
  return withinLimit(folder, url, limit, signal, (stopped) => runGit({ ...command, signal: stopped }));
}

// The settings of a local repository must not decide what can be fetched.
const serveLocally = 'git -c uploadpack.allowFilter=true -c uploadpack.allowAnySHA1InWant=true upload-pack';

function fetchArguments({ location }: Transport): string[] {
  return [
    'fetch',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    '--no-auto-maintenance',
    ...(location.kind === 'local' ? [`--upload-pack=${serveLocally}`] : []),
  ];
}

/** Runs git on a scratch repository, and returns whether it succeeded. Stops it where its packs exceed the limit. */
async function withinLimit(
  repository: string,
  url: string,
  { sizeLimit, counted }: FetchLimit,
  signal: AbortSignal,
  run: (stopped: AbortSignal) => Promise<GitResult>,
): Promise<boolean> {
  const over = new AbortController();
  async function check(): Promise<void> {
    const sizes = await Promise.all([repository, ...counted].map(packBytes));
    if (sizes.reduce((sum, size) => sum + size, 0) > sizeLimit)
      over.abort(tooLarge(`${url} has more than ${Math.ceil(sizeLimit / 2 ** 20)} MiB to fetch, which is the limit.`));
  }
  // If the size cannot be measured, the fetch is stopped, since the limit cannot be enforced.
  const timer = setInterval(() => {
    check().catch((error: unknown) => over.abort(error));
  }, 200);
  try {
    const { ok } = await run(AbortSignal.any([signal, over.signal]));
    await check();
    over.signal.throwIfAborted();
    return ok;
  } finally {
    clearInterval(timer);
  }
}
