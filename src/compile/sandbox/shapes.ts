import { isDigest } from '../../model/digest.ts';
import { maxKnownFindings } from '../../model/gate.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import {
  blockOns,
  type Exempted,
  type Exemption,
  type ReportedGate,
  type Problem,
  type Report,
} from '../../model/problem.ts';
import { parseCoordinate } from '../../model/address.ts';
import type {
  Embed,
  PageContent,
  PageFacts,
  PageHeading,
  PageLink,
  RenderedPage,
} from '../../sites/model/source-page.ts';
import type { Written } from '../repository-settings.ts';
import type { Place } from '../text/text.ts';

/** The result for a value of the wrong shape. */
export const invalid = Symbol('invalid');

/** Copies the agreed members out of a value that a sandbox sent, which may be anything. */
export type Read<T> = (value: unknown) => T | typeof invalid;

const longestText = 10_000_000;

/**
 * Reads an object. The types demand a reader for each of its members, so that none is forgotten; other
 * members of the value are left out. A reader that returns undefined leaves its member out.
 */
export function record<T extends object>(members: { [K in keyof T]-?: Read<T[K]> }): Read<T> {
  const readers = Object.entries(members) as [string, Read<unknown>][];
  return (value) => {
    if (!isObject(value)) return invalid;
    const result: JsonObject = {};
    for (const [name, read] of readers) {
      const member = read(value[name]);
      if (member === invalid) return invalid;
      if (member !== undefined) result[name] = member;
    }
    return result as T;
  };
}

/** Reads a list of at most so many items. */
export function list<T>(read: Read<T>, maxItems = Infinity): Read<T[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length > maxItems) return invalid;
    const items = value.map((item) => read(item));
    return items.includes(invalid) ? invalid : (items as T[]);
  };
}

function map<T>(read: Read<T>): Read<Record<string, T>> {
  return (value) => {
    if (!isObject(value)) return invalid;
    const entries = Object.entries(value).map(([name, member]) => [name, read(member)] as const);
    return entries.some(([, member]) => member === invalid)
      ? invalid
      : (Object.fromEntries(entries) as Record<string, T>);
  };
}

/** A member that may be absent. One of the wrong shape counts as absent. */
export function optional<T>(read: Read<T>): Read<T | undefined> {
  return (value) => {
    const member = read(value);
    return member === invalid ? undefined : member;
  };
}

/** Accepts null, too. */
export function nullOr<T>(read: Read<T>): Read<T | null> {
  return (value) => (value === null ? null : read(value));
}

/** Reads a value of the wrong shape as null. */
export function orNull<T>(read: Read<T>): Read<T | null> {
  return (value) => {
    const member = read(value);
    return member === invalid ? null : member;
  };
}

/** Accepts only what passes the test. */
export function where<T, S extends T = T>(read: Read<T>, test: ((value: T) => value is S) | ((value: T) => boolean)) {
  return (value: unknown): S | typeof invalid => {
    const result = read(value);
    return result !== invalid && test(result) ? (result as S) : invalid;
  };
}

/** Reads by the first reader that accepts the value. */
export function either<T>(...readers: readonly Read<T>[]): Read<T> {
  return (value) => {
    for (const read of readers) {
      const result = read(value);
      if (result !== invalid) return result;
    }
    return invalid;
  };
}

/** Reads one of some values. */
export function oneOf<T>(values: readonly T[]): Read<T> {
  return (value) => (values.includes(value as T) ? (value as T) : invalid);
}

/** A text of at most so many characters. */
export function textUpTo(maxLength: number): Read<string> {
  return (value) => (typeof value === 'string' && value.length <= maxLength ? value : invalid);
}

export const text = textUpTo(longestText);
export const textOrNull = nullOr(text);
export const flag = oneOf([true, false]);
export const count: Read<number> = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : invalid;

export const digest = where(text, isDigest);

const place = { pointer: text, line: count, column: count };

// The order of members is that of stored reports.
const problemMembers = {
  rule: text,
  severity: oneOf(['error', 'warning', 'info'] as const),
  message: text,
  file: text,
  ...place,
  documentationUrl: optional(text),
  ofRuleset: optional(oneOf([true] as const)),
  known: optional(oneOf([true] as const)),
};

export const problem = record<Problem>(problemMembers);

const exemption = record<Exemption>({
  rule: text,
  pointer: optional(text),
  file: optional(text),
  reason: text,
  owner: optional(text),
  expires: optional(text),
  at: record<Exemption['at']>({ file: text, ...place }),
});

const exempted = record<Exempted>({
  ...problemMembers,
  exemption: record<Exempted['exemption']>({ reason: text, owner: optional(text), expires: optional(text), at: text }),
});

const gate = record<ReportedGate>({
  ruleset: record<ReportedGate['ruleset']>({ name: text, digest }),
  extended: optional(map(digest)),
  blockOn: oneOf(blockOns),
  exemptions: optional(list(exemption)),
  today: optional(text),
  ratchet: optional(digest),
});

export const report = record<Report>({
  problems: list(problem, 1000),
  counts: record<Report['counts']>({ error: count, warning: count, info: count }),
  truncated: flag,
  blocking: optional(count),
  gate: optional(gate),
  exempted: optional(list(exempted)),
  known: optional(list(text, maxKnownFindings)),
  hidden: () => undefined,
});

const facts = record<PageFacts>({
  title: text,
  description: text,
  order: nullOr((value) => (Number.isFinite(value) ? (value as number) : invalid)),
  hidden: flag,
  headings: list(record<PageHeading>({ id: text, text, level: where(count, (level) => level >= 2 && level <= 6) })),
  links: list(record<PageLink>({ to: textOrNull, anchor: text, written: text, isImage: flag, line: count })),
  embeds: list(
    record<Embed>({
      coordinate: where(text, (written) => parseCoordinate(written) !== null),
      operation: textOrNull,
      line: count,
    }),
  ),
});

const content = record<PageContent>({
  html: list(text),
  markdown: list(text),
  sections: list(record<PageContent['sections'][number]>({ id: text, text })),
});

const page = where(
  record<NonNullable<RenderedPage['page']>>({ facts, content }),
  // One part more than there are embeds between them.
  (read) =>
    read.content.html.length === read.facts.embeds.length + 1 &&
    read.content.markdown.length === read.content.html.length,
);

export const renderedPage = record<RenderedPage>({ path: text, page: nullOr(page), problems: list(problem) });

/** A checked `stele.yaml`. What its text says is read by its schema (`settingsFrom`). */
export const written = record<Written>({ json: text, places: map(record<Place>({ line: count, column: count })) });
