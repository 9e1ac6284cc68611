import { RegistryError } from '../model/errors.ts';
import type { Delivery, Pull } from './host.ts';
import { asRepositoryName } from './name.ts';

/**
 * The most commas and brackets in a payload, including those in strings. They bound the number of
 * values; real payloads have thousands.
 */
const maxMarks = 2_000_000;

/** The event named by a header field. Throws `malformed` when there is none. */
export function readEvent({ headers }: Delivery, ...fields: string[]): string {
  const event = fields.map((field) => headers[field]).find((value) => value !== undefined);
  if (event === undefined || !/^[\w.: -]{1,100}$/.test(event))
    throw new RegistryError('malformed', `The delivery does not name its event in ${fields[0]}.`);
  return event;
}

/**
 * Parses the payload, a JSON object. Throws `malformed` for anything else, and `too_large` when it
 * has too many values.
 */
export function readPayload(body: Uint8Array): object {
  let marks = 0;
  for (const byte of body) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) marks++;
  if (marks > maxMarks) throw new RegistryError('too_large', 'The payload has too many values.');
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

/** Like `asPull`, but throws `malformed` instead of returning null. */
export function pullIn(number: unknown, base: unknown, ref: (number: number) => string | null): Pull {
  const pull = asPull(number, base, ref);
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
  return new RegistryError('malformed', `The payload is not valid for this host: ${why}.`);
}
