import { parseExactly } from '../../model/exact-numbers.ts';
import { type JsonObject, isObject } from '../../model/json.ts';
import type { Example } from '../schema/example-html.ts';
import { entriesOf, textOf } from '../json-value.ts';
import { dereference } from '../local-reference.ts';
import { createOnce } from '../once.ts';

/** A body in the media types that share one schema. */
export interface Media {
  types: string[];
  schema: unknown;
  /** Schema of each item of a sequence (OpenAPI 3.2), or undefined. */
  itemSchema: unknown;
  examples: Example[];
  /** How fields of a form are written, by their names. */
  encoding?: unknown;
}

/** The most media types of a body that are read. */
export const maxMedia = 50;
/** The most examples of each. */
export const maxExamples = 20;

const once = createOnce();

/** The examples of a parameter or a body, with those that it refers to. `type`: the media type of what is serialized. */
export function examplesOf(document: JsonObject, from: JsonObject, type = ''): Example[] {
  const named = isObject(from['examples'])
    ? entriesOf(from['examples'])
        .slice(0, maxExamples)
        .flatMap(([name, one]) => {
          const example = dereference(document, one);
          if (example === null) return [];
          const value = example['value'] ?? example['dataValue'] ?? deserialized(example['serializedValue'], type);
          const title = textOf(example['summary']) || name;
          if (value !== undefined) return [{ name: title, value }];
          const address = textOf(example['externalValue']);
          return address === '' ? [] : [{ name: title, value: address, isElsewhere: true as const }];
        })
    : [];
  return from['example'] === undefined ? named : [{ name: '', value: from['example'] }, ...named];
}

/** The value that a text stands for (OpenAPI 3.2), where it is JSON; else the text. */
function deserialized(text: unknown, type: string): unknown {
  if (typeof text !== 'string' || !isJson(type)) return text;
  try {
    return parseExactly(text);
  } catch {
    return text;
  }
}

/** Whether it is a media type of JSON (RFC 6839 §3.1). */
export function isJson(type: string): boolean {
  return /^application\/(?:[\w.+-]*\+)?json\b/i.test(type);
}

/** The media types of a body. Those with the same schema and without own examples are combined. */
export function mediaOf(document: JsonObject, content: unknown): Media[] {
  return isObject(content) ? once(content, 'media', () => readMedia(document, content)) : [];
}

function readMedia(document: JsonObject, content: JsonObject): Media[] {
  const views: Media[] = [];
  for (const [type, one] of entriesOf(content).slice(0, maxMedia)) {
    const from = dereference(document, one) ?? {};
    const { schema, itemSchema, encoding } = from;
    const examples = examplesOf(document, from, type);
    const same = views.find(
      (media) =>
        isSame(media.schema, schema) && isSame(media.itemSchema, itemSchema) && isSame(media.encoding, encoding),
    );
    if (same === undefined) views.push({ types: [type], schema, itemSchema, examples, encoding });
    else {
      same.types.push(type);
      const texts = new Set(same.examples.map(({ value }) => value));
      same.examples.push(...examples.filter(({ value }) => !texts.has(value) && !isSameIn(same, value)));
    }
  }
  return views;
}

function isSameIn(media: Media, value: unknown): boolean {
  return media.examples.some((example) => isSame(example.value, value));
}

/** Whether two values are equal as written, comparing at most a few hundred values. */
function isSame(one: unknown, other: unknown, progress = { left: 300 }): boolean {
  if (one === other) return true;
  if (progress.left-- < 0 || typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length || one.length > 300) return false;
    return one.every((item, at) => isSame(item, other[at], progress));
  }
  const members = entriesOf(one);
  if (members.length > 300 || members.length !== entriesOf(other).length) return false;
  return members.every(
    ([name, value]) => Object.hasOwn(other, name) && isSame(value, (other as JsonObject)[name], progress),
  );
}
