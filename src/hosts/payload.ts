import { RegistryError } from '../model/errors.ts';
import type { Delivery, Pull } from './host.ts';
import { asRepositoryName } from './name.ts';

/** Commas and brackets in a payload, those in texts too: what it takes to make many values out of few bytes. Real payloads have thousands. */
const mostMarks = 2_000_000;

/** The event that a field of the delivery's header names. Refuses with `malformed` where it names none. */
export function readEvent({ headers }: Delivery, ...fields: string[]): string {
  const event = fields.map((field) => headers[field]).find((value) => value !== undefined);
  if (event === undefined || !/^[\w.: -]{1,100}$/.test(event))
    throw new RegistryError('malformed', `The delivery names no event (${fields[0]}).`);
  return event;
}

/** The payload: a JSON object. Refuses with `malformed` anything else, and with `too_large` more values than any payload has. */
export function readPayload(body: Uint8Array): object {
  let marks = 0;
  for (const byte of body) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) marks++;
  if (marks > mostMarks) throw new RegistryError('too_large', 'The payload has too many values.');
  const payload = parse(body);
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw malformed('it is no JSON object');
  return payload;
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw malformed('it is no JSON object');
  }
}

/** What is at these names, one inside the other; undefined where nothing is. */
export function valueAt(payload: unknown, ...names: string[]): unknown {
  let value = payload;
  for (const name of names) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** The text at these names; null where there is none. */
export function textAt(payload: unknown, ...names: string[]): string | null {
  const value = valueAt(payload, ...names);
  return typeof value === 'string' ? value : null;
}

/** The text as a repository's name. Refuses with `malformed` what can be none. */
export function repositoryIn(text: string | null): string {
  const name = text === null ? null : asRepositoryName(text);
  if (name === null) throw malformed('it names no repository');
  return name;
}

/** A pull request out of what somebody said about it; `ref` is made by us. Null where its number or a branch cannot be. */
export function asPull(number: unknown, base: unknown, ref: (number: number) => string | null): Pull | null {
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1 || !isBranch(base)) return null;
  return { number, base, ref: ref(number) };
}

/** The same out of a payload. Refuses with `malformed` in place of null. */
export function pullIn(number: unknown, base: unknown, ref: (number: number) => string | null): Pull {
  const pull = asPull(number, base, ref);
  if (pull === null) throw malformed('it has no pull request');
  return pull;
}

/** Whether it can be the name of a branch (git-check-ref-format(1)). */
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

function malformed(why: string): RegistryError {
  return new RegistryError('malformed', `The payload is not one of this host: ${why}.`);
}
