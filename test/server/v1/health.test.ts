import { expect, test } from 'vitest';
import { formula, scoreOf, trendOf } from '../../../src/registry/estate/health.ts';
import type { Resource } from '../../../src/model/resource.ts';
import { cellOf } from '../../../src/model/escape.ts';
import { documentOf, openApi } from './api.ts';

test('the worst come first, a rule narrows the list, and the CSV runs nothing', async () => {
  await using api = await openApi();
  const make = async (slug: string, name: string, more: object, version = '1.0.0') => {
    await api.call('POST', '/v1/apis', { body: { name, slug, ...more } });
    await api.call('POST', `/v1/apis/${slug}/spec`, { body: { document: documentOf(version) } });
  };
  await make('pay', 'Pay', { owner: 'payments', lifecycle: 'production', visibility: 'private' });
  await make('old', '=HYPERLINK("http://evil.test")', {});
  await api.call('POST', '/v1/apis', { body: { name: 'Empty', slug: 'empty' } });
  const { status, json } = await api.call('GET', '/v1/organizations/acme/health');
  expect(status).toBe(200);
  const items = json['items'] as { resource: string; score: number; owner: string | null; counts: object }[];
  expect(items.map(({ resource, owner }) => [resource, owner])).toEqual([
    ['@acme/apis/old', null],
    ['@acme/apis/pay', 'payments'],
  ]);
  expect(items[0]!.counts).toMatchObject({ owner: 1, lifecycle: 1, behind: 0, age: 0 });
  expect(items[0]!.score).toBeLessThan(items[1]!.score);
  expect(json).toMatchObject({ organization: 'acme', formula, truncated: false });
  expect((json['trend'] as object[]).length).toBe(12);
  expect((await api.call('GET', '/v1/organizations/acme/health?rule=no-such-rule')).json['items']).toEqual([]);
  const csv = await api.call('GET', '/v1/organizations/acme/health?format=csv');
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const lines = csv.text.split('\r\n');
  expect(lines[0]).toBe(
    'resource,name,version,published,owner,lifecycle,score,errors,warnings,undated,behind,age,blocking,deprecated,consumers,uncompared,operations',
  );
  expect(lines[1]).toContain('acme/apis/old,"\'=HYPERLINK(""http://evil.test"")",1.0.0,');
  const reader = await api.makeKey({ scopes: ['read'], resources: ['apis/pay'] });
  const part = (await api.call('GET', '/v1/organizations/acme/health', { key: reader })).json;
  expect(part).toMatchObject({ items: [{ resource: '@acme/apis/pay' }], score: items[1]!.score });
  const [absent, other] = await Promise.all(
    ['nobody', 'other'].map((org) => api.call('GET', `/v1/organizations/${org}/health`)),
  );
  expect([absent!.status, other!.status]).toEqual([404, 404]);
});

test.each([
  ['=1+1', '"\'=1+1"'],
  ['+1', '"\'+1"'],
  ['-1', '"\'-1"'],
  ['@SUM(A1)', '"\'@SUM(A1)"'],
  ['\t=1', '"\'\t=1"'],
  ['a,"b"', '"a,""b"""'],
  ['plain', 'plain'],
])('the cell %j is written as %j', (value, written) => expect(cellOf(value)).toBe(written));

test('a score is the weighted mean of what is counted', () => {
  const none = Object.fromEntries(formula.parts.map(({ name }) => [name, 0]));
  const worst = Object.fromEntries(formula.parts.map(({ name, most }) => [name, 2 * most]));
  expect([scoreOf(none), scoreOf(worst), scoreOf({ errors: 0, owner: 1 })]).toEqual([100, 0, 60]);
});

test('the trend has the version that was the latest at the end of each week', () => {
  const at = (days: number) => new Date(Date.parse('2026-11-27T00:00:00Z') - days * 86_400_000).toISOString();
  const version = (days: number, error: number) => ({
    publishedAt: at(days),
    status: { state: 'active' },
    problems: { error, warning: 0 },
  });
  const resource = {
    owner: 'a',
    lifecycle: 'production',
    versions: [version(20, 5), version(3, 0)],
  } as unknown as Resource;
  const scores = trendOf([resource], new Date('2026-11-27T00:00:00Z')).map(({ score }) => score);
  expect(scores.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => null));
  expect(scores.slice(9)).toEqual([62, 62, 100]);
});
