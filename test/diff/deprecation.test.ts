import { expect, test } from 'vitest';
import { compareDocuments } from '../../src/diff/compare-documents.ts';
import type { ChangeRules } from '../../src/model/comparison.ts';
import { api, compare, giving, only, taking, told } from './given.ts';

/** An operation that was deprecated with this sunset. */
const ending = (sunset?: string) => api({ deprecated: true, ...(sunset !== undefined && { 'x-sunset': sunset }) });
const without = api({}, { paths: {} });
const rules = (at: string, sunset: string | null = null, grace = 90): ChangeRules => ({
  enums: 'risky',
  removal: { grace, at, sunset },
});

const verdictAt = (sunset: string | undefined, at: string) =>
  only(compare(ending(sunset), without, 'openapi', rules(at)));

test('an operation may be removed when its sunset and the grace have passed, and not a day earlier', () => {
  const early = verdictAt('2026-01-01', '2026-03-31T23:59:59Z');
  expect(early).toMatchObject({ verdict: 'breaking', code: 'deprecated-operation-removed' });
  expect(early.message).toBe(
    'POST /things was removed; it was deprecated with the sunset 2026-01-01, and removing it would be safe from 2026-04-01.',
  );
  const late = verdictAt('2026-01-01', '2026-04-01T00:00:00Z');
  expect(late.verdict).toBe('safe');
  expect(late.message).toContain('removing it is safe from 2026-04-01.');
});

test.each([[undefined], ['soon'], ['1 Jan 2020'], ['2026-13-40'], ['+275760-09-13']])(
  'the sunset %j never makes a removal safe',
  (sunset) => expect(verdictAt(sunset, '2999-01-01T00:00:00Z').verdict).toBe('breaking'),
);

test('without a grace, a removal breaks; so does that of what has a sunset and is not deprecated', () => {
  expect(only(compare(ending('2000-01-01'), without)).verdict).toBe('breaking');
  const active = api({ 'x-sunset': '2000-01-01' });
  expect(only(compare(active, without, 'openapi', rules('2026-01-01T00:00:00Z'))).verdict).toBe('breaking');
});

test('the sunset of a deprecated version is that of all its operations', () => {
  const judged = (at: string) => only(compare(api(), without, 'openapi', rules(at, '2026-01-01T00:00:00Z'))).verdict;
  expect([judged('2026-03-01T00:00:00Z'), judged('2026-05-01T00:00:00Z')]).toEqual(['breaking', 'safe']);
});

test('parameters and properties are judged as operations are', () => {
  const past = { deprecated: true, 'x-sunset': '2026-01-01' };
  const later = rules('2026-05-01T00:00:00Z');
  const q = { name: 'q', in: 'query', schema: { type: 'string' } };
  expect(told(compare(api({ parameters: [{ ...q, ...past }] }), api(), 'openapi', later))).toEqual([
    'safe request-parameter-removed',
  ]);
  const object = (properties: object) => ({ type: 'object', additionalProperties: false, properties });
  const a = { type: 'string', ...past };
  for (const to of [taking, giving])
    expect(only(compare(to(object({ a })), to(object({})), 'openapi', later)).verdict).toBe('safe');
  expect(
    only(compare(taking(object({ a })), taking(object({})), 'openapi', rules('2026-02-01T00:00:00Z'))).verdict,
  ).toBe('breaking');
});

test('a sunset in the past is a removal without notice, so two versions at once get round no grace', () => {
  const at = rules('2026-05-01T00:00:00Z');
  const set = (before: string | undefined, after: string) =>
    told(compare(ending(before), ending(after), 'openapi', at)).join();
  expect(set(undefined, '2020-01-01')).toBe('breaking operation-sunset-passed');
  expect(set('2027-01-01', '2020-01-01')).toBe('breaking operation-sunset-passed');
  expect(set(undefined, '2026-06-01')).toBe('safe operation-sunset-set');
  expect(set('2020-01-01', '2020-02-01')).toBe('safe operation-sunset-later');
});

test('an organization sets verdicts by code, and the report says so', () => {
  const given: ChangeRules = { enums: 'risky', rules: { '*-removed': 'risky', 'operation-removed': 'docs' } };
  const change = only(compare(api(), without, 'openapi', given));
  expect(change).toMatchObject({ verdict: 'docs', usually: 'breaking', code: 'operation-removed' });
  expect(change.message).toBe("POST /things was removed. The organization's rules say docs; it is usually breaking.");
  const comparison = compare(ending(), without, 'openapi', given);
  expect([comparison.verdict, comparison.counts.risky]).toEqual(['risky', 1]);
  expect(
    only(compare(api(), without, 'openapi', { enums: 'risky', rules: { 'operation-removed': 'breaking' } })),
  ).not.toHaveProperty('usually');
});

test('what arrives with a sunset that has passed is a removal without notice, too', () => {
  const at = rules('2026-05-01T00:00:00Z');
  const past = { deprecated: true, 'x-sunset': '2020-01-01' };
  const q = { name: 'q', in: 'query', schema: { type: 'string' } };
  const object = (properties: object) => ({ type: 'object', properties });
  const a = { type: 'string', ...past };
  const arrivals = (given: ChangeRules) => [
    told(compare(without, ending('2020-01-01'), 'openapi', given)),
    told(compare(api(), api({ parameters: [{ ...q, ...past }] }), 'openapi', given)),
    told(compare(taking(object({})), taking(object({ a })), 'openapi', given)),
    told(compare(giving(object({})), giving(object({ a })), 'openapi', given)),
  ].map((lines) => lines.filter((line) => line.startsWith('breaking')).join());
  expect(arrivals(at)).toEqual([
    'breaking operation-sunset-passed',
    'breaking request-parameter-sunset-passed',
    'breaking property-sunset-passed',
    'breaking property-sunset-passed',
  ]);
  expect(arrivals(rules('2019-05-01T00:00:00Z'))).toEqual(['', '', '', '']);
  expect(arrivals({ enums: 'risky' })).toEqual(['', '', '', '']);
  expect(told(compare(without, api({ 'x-sunset': '2020-01-01' }), 'openapi', at))).toEqual(['safe operation-added']);
}); // prettier-ignore

test('no clock begins before there was a version to state its date', () => {
  const judged = (at: string, since: string) => {
    const given = { enums: 'risky', removal: { grace: 90, at, sunset: null, since } } as const;
    return only(compare(ending('2020-01-01'), without, 'openapi', given));
  };
  expect(judged('2026-01-20T00:00:00Z', '2026-01-10T12:00:00Z').verdict).toBe('breaking');
  expect(judged('2026-01-20T00:00:00Z', '2026-01-10T12:00:00Z').message).toContain('would be safe from 2026-04-10.');
  expect(judged('2026-04-11T00:00:00Z', '2026-01-10T12:00:00Z').verdict).toBe('safe');
  expect(judged('2026-01-20T00:00:00Z', '2019-01-01T00:00:00Z').verdict).toBe('safe');
});

test('a sunset ends only what the document said to end that readers had a grace ago', () => {
  const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
  const judged = (known: unknown) => {
    const published = { kind: 'openapi' } as const;
    const before = { ...published, json: bytes(ending('2026-01-01')), told: bytes(known) };
    const after = { ...published, json: bytes(without) };
    return only(compareDocuments(before, after, rules('2026-05-01T00:00:00Z')));
  };
  expect(judged(ending('2026-01-01')).verdict).toBe('safe');
  expect(judged(ending('2025-06-01')).verdict).toBe('safe');
  for (const known of [
    {},
    [],
    api(),
    without,
    ending(),
    ending('soon'),
    ending('2026-04-01'),
    api({ 'x-sunset': '2026-01-01' }),
  ])
    expect(judged(known).verdict).toBe('breaking');
  expect(judged({}).message).toBe('POST /things was removed; its sunset 2026-01-01 was not published 90 days ago.');
});

test('the sunset of an operation is known whose path has a percent sign', () => {
  const paths = { '/a%2Fb': { get: { deprecated: true, 'x-sunset': '2026-01-01', responses: {} } } };
  const published = { kind: 'openapi' } as const;
  const json = Buffer.from(JSON.stringify(api({}, { paths })));
  const after = { ...published, json: Buffer.from(JSON.stringify(without)) };
  const removed = compareDocuments({ ...published, json, told: json }, after, rules('2026-05-01T00:00:00Z'));
  expect(only(removed).verdict).toBe('safe');
});
