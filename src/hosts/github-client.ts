import type { ThrottlingOptions } from '@octokit/plugin-throttling';
import type { Octokit } from '@octokit/rest';
import PQueue from 'p-queue';
import { setTimeout as wait } from 'node:timers/promises';
import { RegistryError } from '../model/errors.ts';
import { notAnswering, createFetch, refusalOf, type ApiCredential, type Ask, type HostSettings } from './ask.ts';
import type { HostRepository } from './host.ts';

/** Loads Octokit with the first client, because most commands never contact GitHub. */
async function loadOctokit() {
  const [{ Octokit }, { createAppAuth }, { retry }, { throttling }] = await Promise.all([
    import('@octokit/rest'),
    import('@octokit/auth-app'),
    import('@octokit/plugin-retry'),
    import('@octokit/plugin-throttling'),
  ]);
  return { Client: Octokit.plugin(retry, throttling), createAppAuth };
}

/** A client that may write to a repository on GitHub. */
interface Speaker {
  client: Octokit;
  /** Set for an app. Tokens cannot write check runs. */
  appId: string | null;
}

type Auth = string | { appId: string; privateKey: string; installationId?: number };

/** The longest rate limit, in seconds, that a call waits for. */
const longestWait = 30;

/** The clients of one GitHub server: one for each token and each installation of an app. */
export function createSpeakers(settings: HostSettings) {
  const { apiUrl, second, credential, stopping } = settings;
  const clients = new Map<string, Promise<Octokit>>();
  const installations = new Map<string, number>();

  async function createClient(id: string, auth: Auth | null): Promise<Octokit> {
    const { Client, createAppAuth } = await loadOctokit();
    /** Waits, so that the plugin need not: it would not stop. */
    const isOver = async (seconds: number, _options: unknown, _client: unknown, count: number) =>
      count < 2 && seconds <= longestWait && wait(seconds * second, true, stopping).catch(() => false);
    const silent = () => undefined;
    return new Client({
      ...(auth !== null && { auth }),
      ...(auth !== null && typeof auth !== 'string' && { authStrategy: createAppAuth }),
      baseUrl: apiUrl,
      userAgent: 'stele',
      request: { fetch: createFetch(apiUrl, second) },
      log: { debug: silent, info: silent, warn: silent, error: silent },
      // The throttling plugin retries rate limits.
      retry: { retryAfterBaseValue: second, doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451] },
      throttle: {
        id: `${apiUrl} ${id}`,
        retryAfterBaseValue: 0,
        onRateLimit: isOver,
        onSecondaryRateLimit: isOver,
        write: pacedBy(second),
        notifications: pacedBy(3 * second),
      },
    });
  }

  function clientOf(id: string, auth: Auth | null): Promise<Octokit> {
    return clients.getOrInsertComputed(id, () => createClient(id, auth));
  }

  async function findInstallation(
    { name }: HostRepository,
    key: string,
    { appId, privateKey }: ApiCredential & { kind: 'app' },
    signal: AbortSignal,
  ): Promise<number> {
    const installation = installations.get(key);
    if (installation !== undefined) return installation;
    const app = await clientOf(`app ${appId}`, { appId, privateKey });
    const { owner, repo } = ownerOf(name);
    const request = { signal };
    const { data } =
      repo === '*'
        ? await app.rest.apps
            .getOrgInstallation({ org: owner, request })
            .catch((error: unknown) =>
              userInstead(error, () => app.rest.apps.getUserInstallation({ username: owner, request })),
            )
        : await app.rest.apps.getRepoInstallation({ owner, repo, request });
    installations.set(key, data.id);
    return data.id;
  }

  const keyOf = ({ name, credential: credentialName }: HostRepository) => `${credentialName} ${name}`;

  /**
   * The client for the repository's credential; for `acme/*`, for that of the owner. Null without a
   * credential.
   */
  async function find(repository: HostRepository, signal: AbortSignal): Promise<Speaker | null> {
    const secret = credential(repository.credential);
    if (secret === null) return null;
    if (secret.kind === 'token')
      return { client: await clientOf(`token ${repository.credential}`, secret.token), appId: null };
    const { appId, privateKey } = secret;
    const installationId = await ask(repository, () => findInstallation(repository, keyOf(repository), secret, signal));
    const client = await clientOf(`app ${appId} ${installationId}`, { appId, privateKey, installationId });
    return { client, appId };
  }

  /**
   * Runs a request. Rejects with `unreachable` if it fails. Forgets a cached installation when
   * access is refused.
   */
  async function ask<T>(repository: HostRepository, request: () => Promise<T>): Promise<T> {
    try {
      return await request();
    } catch (error) {
      if (error instanceof RegistryError) throw error;
      if (isRefusal(error)) installations.delete(keyOf(repository));
      const { status, response } = error as Partial<ApiError>;
      if (status === undefined || response === undefined) throw notAnswering('GitHub', (error as Error).cause ?? error);
      throw refusalOf('GitHub', repository.name, isRateLimited(error) ? 429 : status);
    }
  }

  /** Sends a request with the repository's credential, or anonymously without one. */
  const request: Ask = async (repository, { method, path, body, isDone }, signal) => {
    // The installation of an app is looked for by the owner's name: that of the repository may be a former one.
    const isSearch = /^\/(?:repos\/[^/]+|repositories)\/[^/]+$/.test(path);
    const asked = isSearch ? { ...repository, name: `${ownerOf(repository.name).owner}/*` } : repository;
    const client = (await find(asked, signal))?.client ?? (await clientOf('nobody', null));
    return ask(repository, async () => {
      try {
        const { status, data } = await client.request({ method, url: path, ...body, request: { signal } });
        return { status, headers: new Headers(), json: data as unknown };
      } catch (error) {
        const { status } = error as Partial<ApiError>;
        if (status === undefined || isRateLimited(error) || !isDone?.(status, '')) throw error;
        return { status, headers: new Headers(), json: undefined };
      }
    });
  };

  return { find, ask, request };
}

/**
 * Lets one request begin in so many milliseconds, as GitHub asks for writes. The throttling plugin
 * does the same, with seconds that tests cannot shorten. It uses `schedule` alone.
 */
function pacedBy(milliseconds: number): ThrottlingOptions['write'] {
  const queue = new PQueue({ concurrency: 1, interval: milliseconds, intervalCap: 1 });
  const group = { key: () => ({ schedule: (_options: unknown, begin: () => Promise<void>) => queue.add(begin) }) };
  return group as unknown as ThrottlingOptions['write'];
}

/** A path may name a user instead of an organization. */
function userInstead<T>(error: unknown, ask: () => Promise<T>): Promise<T> {
  if (isRefusal(error)) return ask();
  throw error;
}

/** The parts of Octokit's errors that are used. `response` is absent when there was none. */
interface ApiError {
  status: number;
  response?: { headers: Record<string, string | undefined> };
}

/**
 * Whether GitHub denies access: rights are missing, or the resource does not exist for this
 * credential.
 */
export function isRefusal(error: unknown): boolean {
  const { status } = error as Partial<ApiError>;
  return (status === 401 || status === 403 || status === 404) && !isRateLimited(error);
}

function isRateLimited(error: unknown): boolean {
  const { status, response } = error as Partial<ApiError>;
  const { headers = {} } = response ?? {};
  return status === 429 || (status === 403 && ('retry-after' in headers || headers['x-ratelimit-remaining'] === '0'));
}

/** `owner/name` as parameters of Octokit's methods. */
export function ownerOf(name: string): { owner: string; repo: string } {
  const [owner = '', repo = ''] = name.split('/');
  return { owner, repo };
}
