import { type RegistryError, malformed, tooLarge } from '../model/errors.ts';
import type { Delivery, Pull } from './host.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';

/** `owner/name`, or longer with nested groups. Lower case, because hosts ignore case. */
const repositoryName = /^[a-z0-9_.-]+(?:\/[a-z0-9_.-]+)+$/;

/** The text as a repository name, or null when it is invalid. */
export function asRepositoryName(text: string, grammar = repositoryName): string | null {
  const lower = text.toLowerCase();
  const isName = text.length <= 500 && grammar.test(lower) && !lower.split('/').some((part) => /^\.{1,2}$/.test(part));
  return isName ? lower : null;
}

/**
 * The repository name in a URL (https, ssh, `git@host:path`) of the host at `base`, or null for
 * another host. `isNested`: the host allows nested groups; otherwise a name is always `owner/name`.
 */
export function nameOn(base: string, url: string, isNested: boolean): string | null {
  const full = asRepositoryName(pathOn(base, url)?.path ?? '');
  return full !== null && (isNested || full.split('/').length === 2) ? full : null;
}

/**
 * The path of a repository in its URL (https, ssh, `git@host:path`), without the path of `base`,
 * slashes at the ends and `.git`. Null for a URL of another host. `isWeb`: the URL is for https.
 */
export function pathOn(base: string, url: string): { path: string; isWeb: boolean } | null {
  const host = new URL(base);
  // ssh.github.com, altssh.gitlab.com and altssh.bitbucket.org serve ssh on port 443.
  const isSshHost = (text: string) =>
    ['', 'ssh.', 'altssh.'].some((alias) => alias + host.hostname === text.toLowerCase());
  const scp = url.includes('://') ? null : /^(?:[^@:/\s]+@)?([^@:/\s]+):(.+)$/.exec(url);
  if (scp) return isSshHost(scp[1]!) ? { path: trim(scp[2]!), isWeb: false } : null;
  const parsed = URL.parse(url);
  if (parsed === null) return null;
  if (parsed.protocol === 'ssh:')
    return isSshHost(parsed.hostname) ? { path: trim(parsed.pathname), isWeb: false } : null;
  const folder = host.pathname.replace(/\/$/, '');
  const isWeb = parsed.protocol === 'https:' || parsed.protocol === 'http:';
  if (!isWeb || parsed.host !== host.host || !parsed.pathname.startsWith(`${folder}/`)) return null;
  return { path: trim(parsed.pathname.slice(folder.length)), isWeb };
}

function trim(path: string): string {
  return path
    .replace(/^\//, '')
    .replace(/\/$/, '')
    .replace(/\.git$/i, '');
}

/**
 * The most commas and brackets in a payload, including those in strings. They bound the number of
 * values; real payloads have thousands.
 */
const maxMarks = 2_000_000;

/** The event named by a header field. Throws `malformed` when there is none. */
export function readEvent({ headers }: Delivery, ...fields: string[]): string {
  const event = fields.map((field) => headers[field]).find((value) => value !== undefined);
  if (event === undefined || !/^[\w.: -]{1,100}$/.test(event))
    throw malformed(`The delivery does not name its event in ${fields[0]}.`);
  return event;
}

/**
 * Parses the payload, a JSON object. Throws `malformed` for anything else, and `too_large` when it
 * has too many values.
 */
export function readPayload(body: Uint8Array): object {
  let marks = 0;
  for (const byte of body) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) marks++;
  if (marks > maxMarks) throw tooLarge('The payload has too many values.');
  const payload = parse(body);
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw malformedPayload('it is not a JSON object');
  return payload;
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw malformedPayload('it is not a JSON object');
  }
}

/** The value at these nested names, or undefined. */
export function valueAt(payload: unknown, ...names: string[]): unknown {
  let value = payload;
  for (const name of names) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** The items of a list in an answer, which may be anything. */
export function itemsIn(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : [];
}

/** The text at these nested names, or null. */
export function textAt(payload: unknown, ...names: string[]): string | null {
  const value = valueAt(payload, ...names);
  return typeof value === 'string' ? value : null;
}

/** The text as a repository name. Throws `malformed` when it is invalid. */
export function repositoryIn(text: string | null): string {
  const name = text === null ? null : asRepositoryName(text);
  if (name === null) throw malformedPayload('it does not name a repository');
  return name;
}

/** A host's id of a repository as text; undefined when it cannot be one. */
export function idIn(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0 ? String(value) : undefined;
  return typeof value === 'string' && /^[\w{}-]{1,64}$/.test(value) ? value.toLowerCase() : undefined;
}

/** The id in a payload as a member of a hint, or nothing. */
export function idMember(value: unknown): { id?: string } {
  const id = idIn(value);
  return id === undefined ? {} : { id };
}

/** The name that a moved repository has now as a member of a hint, or nothing. */
export function nowMember(repository: string, name: string | null): { now?: string } {
  const now = name === null ? null : asRepositoryName(name);
  return now === null || now === repository ? {} : { now };
}

/** The text as a commit id. Throws `malformed` if it is not one. */
export function commitIn(text: string | null): string {
  if (text === null || !/^[0-9a-f]{40}$/.test(text)) throw malformedPayload('it does not name a commit');
  return text;
}

/** Makes a pull request from untrusted values. Null when the number or the branch is invalid. */
export function asPull(number: unknown, base: unknown, ref: (number: number) => string | null): Pull | null {
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1 || !isBranch(base)) return null;
  return { number, base, ref: ref(number) };
}

/** The pull request of a payload. Throws `malformed` when there is none. */
export function pullIn(pull: Pull | null): Pull {
  if (pull === null) throw malformedPayload('it does not describe a pull request');
  return pull;
}

/** Whether the value is a valid branch name (git-check-ref-format(1)). */
export function isBranch(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= 500 &&
    value.isWellFormed() &&
    !/[\p{Cc} ~^:?*[\\]|\.\.|@\{|\.$/u.test(value) &&
    value.split('/').every((part) => part !== '' && !/^[.-]|\.lock$/.test(part))
  );
}

/** The error for a payload that this host does not send. `why` follows a colon. */
export function malformedPayload(why: string): RegistryError {
  return malformed(`The payload is not valid for this host: ${why}.`);
}

/** Bytes to hash in one turn of the event loop. They take some milliseconds at most. */
const atOnce = 1024 * 1024;

/**
 * HMAC-SHA256 of a body under a key, `before` put in front of it. Yields to the event loop, so that
 * a large body does not block it.
 */
export async function hmacOf(key: string | Uint8Array, body: Uint8Array, before = ''): Promise<Buffer> {
  const hmac = createHmac('sha256', key).update(before);
  for (let from = 0; from < body.length; from += atOnce) {
    if (from > 0) await turn();
    hmac.update(body.subarray(from, from + atOnce));
  }
  return hmac.digest();
}

/**
 * Whether the signature is the body's HMAC-SHA256 under one of the secrets, as 64 hexadecimal
 * digits. Takes constant time. An empty secret is ignored.
 */
export async function isHmacOf(
  signature: string | undefined,
  body: Uint8Array,
  secrets: readonly string[],
): Promise<boolean> {
  if (signature === undefined || !/^[0-9a-f]{64}$/.test(signature)) return false;
  const given = Buffer.from(signature, 'hex');
  return fitsSome(secrets, async (secret) => timingSafeEqual(await hmacOf(secret, body), given));
}

/**
 * Whether the text is one of the secrets. Takes constant time, and compares digests, so that the
 * time does not reveal a secret's length.
 */
export function isOneOf(text: string, secrets: readonly string[]): boolean {
  const digest = (value: string) => createHmac('sha256', 'one of').update(value).digest();
  const given = digest(text);
  const matches = secrets.map((secret) => secret !== '' && timingSafeEqual(digest(secret), given));
  return matches.includes(true);
}

/** Whether one of the secrets fits; an empty one does not. Always tries all of them. */
export async function fitsSome(
  secrets: readonly string[],
  fits: (secret: string) => Promise<boolean>,
): Promise<boolean> {
  let isMatch = false;
  for (const secret of secrets) if (secret !== '' && (await fits(secret))) isMatch = true;
  return isMatch;
}

/** The branch that a full ref names, or undefined. */
export function branchOf(ref: unknown): unknown {
  return typeof ref === 'string' && ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined;
}

/** The value after `sha256=`, or undefined. */
export function behindSha256(value: string | undefined): string | undefined {
  return value?.startsWith('sha256=') ? value.slice('sha256='.length) : undefined;
}
