import { compareDocuments } from '../../src/diff/compare-documents.ts';
import type { Change, ChangeRules, Comparison } from '../../src/model/comparison.ts';

export type Json = Record<string, unknown>;

/** Compares two documents given as values. */
export function compare(
  before: Json,
  after: Json,
  kind: 'openapi' | 'json-schema' | 'redocly-ruleset' | 'spectral-ruleset' = 'openapi',
  rules?: ChangeRules,
): Comparison {
  const published = (value: Json) => ({ type: 'apis' as const, kind, json: Buffer.from(JSON.stringify(value)) });
  return compareDocuments(published(before), published(after), rules);
}

/** An OpenAPI 3.1 document with one operation, or with the parts given. */
export function api(operation: Json = {}, rest: Json = {}): Json {
  return {
    openapi: '3.1.0',
    info: { title: 'Things', version: '1' },
    paths: { '/things': { post: { responses: { 200: { description: 'Done.' } }, ...operation } } },
    ...rest,
  };
}

/** An API whose request body has this schema. */
export function taking(schema: unknown, rest: Json = {}): Json {
  return api({ requestBody: { content: { 'application/json': { schema } } } }, rest);
}

/** An API whose response has this schema. */
export function giving(schema: unknown, rest: Json = {}): Json {
  return api({ responses: { 200: { description: 'Done.', content: { 'application/json': { schema } } } } }, rest);
}

/** `verdict code`, sorted. */
export function told({ changes }: Comparison): string[] {
  return changes.map(({ verdict, code }) => `${verdict} ${code}`).sort();
}

/** The only change. Fails if there are none or more. */
export function only({ changes }: Comparison): Change {
  if (changes.length !== 1) throw new Error(`There are ${changes.length} changes: ${JSON.stringify(changes, null, 1)}`);
  return changes[0]!;
}
