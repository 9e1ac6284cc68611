import { isRegistryError, type ErrorCode, RegistryError, unreachable, malformed } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { netrcFile, readEnvironment, userConfigFolder } from '../config/environment.ts';
import { registryFault } from '../model/lock.ts';
import { isObject, parseJson } from '../model/json.ts';
import { parseKey } from '../model/key.ts';

const authority =
  'its certificate is of an authority that this machine does not know. Name the file of that authority in NODE_EXTRA_CA_CERTS';

const reasons = new Map([
  ['TimeoutError', 'it does not answer in time'],
  ['ENOTFOUND', 'the name does not exist'],
  ['EAI_AGAIN', 'the name server does not answer'],
  ['ECONNREFUSED', 'it refuses the connection'],
  ['ECONNRESET', 'it closed the connection'],
  ['UND_ERR_SOCKET', 'it closed the connection'],
  ['EHOSTUNREACH', 'there is no route to the host'],
  ['ENETUNREACH', 'there is no route to the host'],
  ['ETIMEDOUT', 'it does not answer in time'],
  ['UND_ERR_CONNECT_TIMEOUT', 'it does not answer in time'],
  ['UND_ERR_HEADERS_TIMEOUT', 'it does not answer in time'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'it speaks HTTP there, and no HTTPS'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', authority],
  ['SELF_SIGNED_CERT_IN_CHAIN', authority],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', authority],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', authority],
]);

/** For `catch` after a request to this origin: throws `unreachable`, and says why. */
export function refuseUnreachable(origin: string): (cause: unknown) => never {
  return (cause) => {
    const errors: Error[] = [];
    for (let one = cause; one instanceof Error; one = one.cause) errors.push(one);
    const known = errors.map(({ name, code = '' }: NodeJS.ErrnoException) => reasons.get(name) ?? reasons.get(code));
    const reason = known.find(Boolean) ?? errors.at(-1)?.message.trim();
    throw unreachable(`${origin} cannot be reached${reason ? `: ${reason}` : ''}.`, { cause });
  };
}

/** A response of a registry's management API. */
export interface RegistryAnswer {
  status: number;
  /** Empty if the response has no body. */
  body: Record<string, unknown>;
  /** Seconds after which to ask again, if it says so. */
  retryAfter?: number;
}

const organizationHeader = 'stele-organization';

/** The URL of the registry that a command needs, without a slash at its end. Throws `malformed` where nobody named one, and for another URL. */
export function requireRegistry(given: string | null | undefined): string {
  const advice = 'Use --registry https://contracts.example.com, or set STELE_REGISTRY.';
  if (!given) throw malformed(`Which registry? ${advice}`);
  const registry = given.replace(/\/+$/, '');
  const fault = registryFault(registry);
  if (fault === null) return registry;
  throw malformed(`${JSON.stringify(given)} ${fault}. ${advice}`);
}

/** The registry's URL and the user's key, if there is one. Throws as `requireRegistry`. */
export function readOpenTarget(registry: string): { base: string; key: string | undefined } {
  const base = requireRegistry(registry);
  return { base, key: keyFor(base) };
}

/**
 * Opens the registry for one command, with the user's key (`keyFor`). Each request names the organization of the key,
 * so that the registry refuses it if they differ. `org` is the organization that the command names, null if it
 * names none. Throws `malformed` if the key belongs to another one. That is asked first, because
 * older registries ignore the header and take a request for the key's organization.
 */
export async function openRegistryAt(registry: string, org: string | null): Promise<Client> {
  if (!readOpenTarget(registry).key)
    throw malformed('Log in with `stele login`, or set STELE_KEY to an API key of that registry.');
  const organization = await organizationOfKey(registry, org);
  return askingWith(organization, async (method, path, body) => {
    const ask = async () => bodyIn(await askRegistry(registry, method, path, { org: organization, body }));
    return ask().catch(async (error: unknown) => {
      const { retryAfter = Infinity } = isRegistryError(error, 'rate_limited') ? error : {};
      if (retryAfter > longestWait) throw error;
      // A folder may have more files than a registry takes in a minute.
      await delay(retryAfter * 1000);
      return ask();
    });
  });
}

/** Seconds that a command waits for a registry that takes no more requests for now. */
const longestWait = 120;

/** What asks the management API: of a running registry, or of the data folder. */
export type Client = ReturnType<typeof askingWith>;

/** The questions about an organization that rest on `demand`. */
export function askingWith(
  org: string,
  demand: (method: string, path: string, body?: unknown) => Promise<RegistryAnswer['body']>,
) {
  return {
    org,
    /**
     * Asks, with a body that becomes JSON, or bytes as they are. Throws the registry's own error, and `unreachable`
     * without a valid response, or on a redirect: the key must not go to another server.
     */
    demand,
    /** Yields every item of a list, page by page. */
    async *demandAll<T>(path: string): AsyncGenerator<T> {
      for (let next: string | null = ''; next !== null;) {
        const cursor: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
        const page = (await demand('GET', `${path}limit=100${cursor}`)) as { items: T[]; next: string | null };
        yield* page.items;
        next = page.next;
      }
    },
  };
}

/**
 * The organization of the user's key, or the one that a command names. Throws `malformed` if a command names one that
 * the key is not for.
 */
export async function organizationOfKey(registry: string, wanted: string | null): Promise<string> {
  const me = bodyIn(await askRegistry(registry, 'GET', '/v1/me'));
  const { organization: own } = me;
  if (typeof own !== 'string')
    throw unreachable(
      `${registry} does not say which organization the key is of. Check that this is a Stele registry.`,
    );
  const { organizations = [own] } = (me['user'] ?? {}) as { organizations?: string[] };
  if (wanted === null && organizations.length > 1)
    throw malformed(`Your key is for ${organizations.join(', ')}. Name one with --org.`);
  if (wanted === null || organizations.includes(wanted)) return wanted ?? own;
  throw malformed(
    `Your key belongs to the organization ${organizations.join(' and ')}, not to ${wanted}. Nothing was changed. Use a key of ${wanted}, or name @${own}.`,
  );
}

/**
 * Asks a registry. `org`: the organization that it is about. `key`: in place of the user's; null: none. `body`: bytes
 * as they are, or what becomes JSON. Rejects with `unreachable` as `Client.demand`.
 */
export async function askRegistry(
  registry: string,
  method: string,
  path: string,
  { org, key, body }: { org?: string; key?: string | null; body?: unknown } = {},
): Promise<RegistryAnswer> {
  const { base, key: own } = readOpenTarget(registry);
  const authorized = key === undefined ? own : key;
  const isFile = body instanceof Uint8Array;
  const url = new URL(base + path);
  const headers = {
    ...(authorized && { authorization: `Bearer ${authorized}` }),
    'content-type': isFile ? 'application/octet-stream' : 'application/json',
    accept: 'application/json',
    ...(org !== undefined && { [organizationHeader]: org }),
  };
  const sent = isFile ? body : JSON.stringify(body);
  const response = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body: sent }),
  }).catch(refuseUnreachable(url.origin));
  const location = response.headers.get('location');
  if (response.status >= 300 && response.status < 400 && location !== null)
    throw unreachable(
      `${url.origin} redirects to ${URL.parse(location, url)?.origin ?? location}. The key goes to no other address: if that is the registry, name it with --registry or STELE_REGISTRY.`,
    );
  if (response.status === 204) return { status: 204, body: {} };
  const answered: unknown = await response.json().catch(() => null);
  if (answered === null || typeof answered !== 'object') {
    throw unreachable(
      `${url.origin} returned ${response.status} without a JSON body. Check that this is a Stele registry.`,
    );
  }
  const retryAfter = Number(response.headers.get('retry-after'));
  return { status: response.status, body: answered as Record<string, unknown>, ...(retryAfter > 0 && { retryAfter }) };
}

/** By status: what a refusal is to the one who asked. Others are about what was sent. */
const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'malformed',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  413: 'too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
};

/** The body of a successful response. Throws the registry's own error for a status of 400 or more. */
export function bodyIn(answer: RegistryAnswer): RegistryAnswer['body'] {
  if (answer.status < 400) return answer.body;
  throw refusalIn(answer);
}

function refusalIn({ status, body, retryAfter }: RegistryAnswer): RegistryError {
  const detail = String(body['detail'] ?? body['title'] ?? `The registry returned status ${status}.`);
  const problems = Array.isArray(body['problems']) ? (body['problems'] as Problem[]) : [];
  const code = status >= 500 ? 'unavailable' : (codes[status] ?? 'refused');
  return new RegistryError(code, detail, { problems, extra: body, ...(retryAfter && { retryAfter }) });
}

/** A key that `stele login` got, for one registry. */
export interface SavedKey {
  id: string;
  key: string;
  expiresAt: string | null;
}

/**
 * The key to send to a registry that the user names: STELE_KEY, else the one that `stele login`
 * saved for it, else the password for its host in `~/.netrc`, if that is a key. Undefined if there
 * is none. Throws `malformed` for a file of saved keys that others may read.
 */
export function keyFor(registry: string): string | undefined {
  return readEnvironment().key ?? savedKeyOf(registry)?.key ?? passwordOf(new URL(registry));
}

/** The saved key of a registry; undefined if nobody logged in there. */
export function savedKeyOf(registry: string): SavedKey | undefined {
  return readSaved()[nameOf(registry)];
}

/** Saves the key of a registry, or forgets it (null), in a file that only the user can read. */
export async function saveKey(registry: string, saved: SavedKey | null): Promise<void> {
  const { [nameOf(registry)]: _before, ...others } = readSaved();
  const all = saved === null ? others : { ...others, [nameOf(registry)]: saved };
  const file = savedFile();
  if (Object.keys(all).length === 0) return rm(file, { force: true });
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 });
  const unnamed = `${file}.${process.pid}`;
  await writeFile(unnamed, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(unnamed, file);
}

/** The file with the saved keys, for people. */
export function savedFile(): string {
  return join(userConfigFolder(), 'stele', 'keys.json');
}

function nameOf(registry: string): string {
  return registry.replace(/\/+$/, '');
}

function readSaved(): Record<string, SavedKey> {
  const file = savedFile();
  const text = readPrivate(file);
  if (text === null) return {};
  const saved = parseJson(Buffer.from(text));
  const isSaved = (each: unknown) =>
    isObject(each) && typeof each['id'] === 'string' && typeof each['key'] === 'string';
  if (isObject(saved) && Object.values(saved).every(isSaved)) return saved as Record<string, SavedKey>;
  throw malformed(`${file} does not hold the keys of registries. Delete it, and log in again.`);
}

function readPrivate(file: string): string | null {
  // A home that cannot be entered, as of another user in a container, has no keys.
  if (!existsSync(file)) return null;
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0)
    throw malformed(`Others can read ${file}, which holds keys. Run: chmod 600 ${file}`);
  return readFileSync(file, 'utf8');
}

/** The password for a host in `~/.netrc` (the format of curl's manual). Plain http is only for this machine. */
function passwordOf({ protocol, hostname }: URL): string | undefined {
  if (protocol !== 'https:' && !/^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)) return undefined;
  const file = netrcFile();
  if (!existsSync(file) || !statSync(file).isFile()) return undefined;
  const words = readFileSync(file, 'utf8')
    .replace(/^\s*#.*$/gm, '')
    .split(/\s+/);
  let isHere = false;
  for (const [index, word] of words.entries()) {
    if (word === 'machine') isHere = words[index + 1] === hostname;
    else if (word === 'default') isHere = false;
    else if (word === 'password' && isHere) {
      const password = words[index + 1] ?? '';
      return parseKey(password) === null ? undefined : password;
    }
  }
  return undefined;
}
