import { expect, test } from 'vitest';
import { checkConfig } from '../../src/config/load-config.ts';
import type { Outline } from '../../src/model/outline.ts';
import { digestOf, hexOf } from '../../src/model/digest.ts';
import { newResource } from '../../src/registry/change-resource.ts';
import { createSearchIndex } from '../../src/search/search-index.ts';
import { parseQuery } from '../../src/search/ranking/words.js';

const registry = { config: checkConfig({}, { base: '/', data: '/' }), now: () => new Date(0) };
const empty: Outline = {
  title: '',
  description: '',
  operations: [],
  schemas: [],
  tags: [],
  rules: [],
  servers: [],
  truncated: false,
};

/** Words of no meaning, that no other seed gives. */
function wordsOf(seed: number, count: number): string {
  return Array.from({ length: count }, (_, i) => hexOf(digestOf(`${seed} ${i}`)).slice(0, 4 + (i % 9))).join(' ');
}

const put = (index: ReturnType<typeof createSearchIndex>, number: number, description: string, org = 'acme') => {
  const resource = newResource(registry, { org, type: 'apis', slug: `a${number}` }, { name: `Number ${number}` });
  const schemas = [{ name: '', properties: description.split(' '), digest: digestOf('') }];
  index.set(`resources/${org}/apis/a${number}`, resource, { ...empty, schemas }, null);
};

test('what is replaced leaves nothing behind', () => {
  const index = createSearchIndex();
  for (let i = 0; i < 300; i++) put(index, i, wordsOf(i, 40));
  for (let round = 1; round <= 5; round++) {
    for (let i = 0; i < 300; i++) put(index, i, wordsOf(1_000 * round + i, 40));
  }
  expect(index.entries()).toHaveLength(300);
  for (const [text, found] of [
    [wordsOf(5_000, 12).split(' ').at(-1)!, 1],
    [wordsOf(0, 12).split(' ').at(-1)!, 0],
    ['number', 200],
  ] as const)
    expect(index.find(parseQuery(text), () => true).found).toHaveLength(found);
});

test('a name that is written in one piece is found in one piece and in parts', () => {
  const index = createSearchIndex();
  const resource = newResource(registry, { org: 'acme', type: 'apis', slug: 'events' }, { name: 'Events' });
  const operation = {
    method: 'POST',
    path: '/enqueue',
    summary: 'Send an event to PagerDuty',
    tags: [],
    parameters: [],
  };
  const outline = {
    ...empty,
    title: 'PagerDuty V2',
    operations: [{ ...operation, id: null, isWebhook: false, digest: digestOf('') }],
  };
  index.set('resources/acme/apis/events', resource, outline as never, null);
  for (const text of ['pagerduty', 'PagerDuty', 'pager duty', 'send event pagerduty', 'pagerd'])
    expect(index.find(parseQuery(text), () => true).found, text).toHaveLength(1);
  const [{ own = 0, matches } = { matches: () => [] }] = index.find(parseQuery('pagerduty'), () => true).found;
  expect(own).toBeGreaterThan(0);
  expect(matches()).toMatchObject([{ name: 'POST /enqueue' }]);
});

test('an organization that has had its share is found by names, and takes nothing from others', () => {
  const index = createSearchIndex({ all: 126_000, organization: 63_000 });
  for (let i = 0; i < 20; i++) put(index, i, wordsOf(i, 300), 'greedy');
  put(index, 1, wordsOf(5_000, 300), 'modest');
  const find = (text: string) => index.find(parseQuery(text), () => true).found.length;
  const last = (seed: number) =>
    wordsOf(seed, 300)
      .split(' ')
      .findLast((word) => word.length === 12)!;
  expect(find(last(0))).toBe(1);
  expect(find(last(19))).toBe(0);
  const [first] = index.find(parseQuery('greedy number 19'), () => true).found;
  expect(first!.indexed.coordinate.slug).toBe('a19');
  expect(find(last(5_000))).toBe(1);
});

test('a schema of very many properties is indexed', () => {
  const index = createSearchIndex();
  put(index, 1, 'x '.repeat(200_000));
  expect(index.find(parseQuery('number 1'), () => true).found).toHaveLength(1);
});

test('a term that occurs once takes more of the share than a posting', () => {
  const index = createSearchIndex({ all: 6_000, organization: 3_000 });
  for (let i = 0; i < 3; i++) put(index, i, wordsOf(i, 200));
  expect(index.get('resources/acme/apis/a0')!.entry).not.toBeNull();
  expect(index.get('resources/acme/apis/a2')!.entry).toBeNull();
});

test('a query compares no more terms than a limit, and those of others do not count', () => {
  const index = createSearchIndex(undefined, 100);
  const similar = (seed: number) => Array.from({ length: 40 }, (_, i) => `zebra${'abcd'[seed]}${'x'.repeat(i)}`);
  put(index, 0, ['zebrafish', ...similar(0)].join(' '));
  for (const seed of [1, 2, 3]) put(index, seed, similar(seed).join(' '), 'secret');
  const find = (text: string, orgs: string[]) =>
    index.find(parseQuery(text), ({ coordinate }) => orgs.includes(coordinate.org));
  const namesOf = ({ found }: ReturnType<typeof find>) => found.map(({ indexed }) => indexed.coordinate.slug);
  // The 41 of one organization are compared; the 161 of both are not.
  expect(namesOf(find('zebrafihs', ['acme']))).toEqual(['a0']);
  expect(namesOf(find('zebrafis', ['acme']))).toEqual(['a0']);
  expect(namesOf(find('zebrafihs', ['acme', 'secret']))).toEqual([]);
  expect(namesOf(find('zebrafis', ['acme', 'secret']))).toEqual([]);
  expect(namesOf(find('zebrafish', ['acme', 'secret']))).toEqual(['a0']);
  // The limit is for all words together: the first two looks take 82 of 100.
  expect(find('zebrafis', ['acme']).instead).toBeNull();
  expect(find('zebrafihs', ['acme']).instead).toBe('zebrafish');
  expect(find('zebrafis zebrafihs', ['acme']).instead).toBeNull();
});

test('a document of very many parts is looked into no further than a wall', () => {
  const index = createSearchIndex();
  const resource = newResource(registry, { org: 'acme', type: 'apis', slug: 'huge' }, { name: 'Huge' });
  const digest = digestOf('');
  // 200 million properties, if anything went through them all.
  const properties = Array.from({ length: 10_000 }, () => 'again');
  const schemas = Array.from({ length: 20_000 }, (_, i) => ({ name: `S${i}`, properties, digest }));
  index.set('resources/acme/apis/huge', resource, { ...empty, schemas }, null);
  const [found] = index.find(parseQuery('s1'), () => true).found;
  expect(found!.matches()[0]!.name).toBe('S1');
  expect(found!.indexed.entry!.lines.join('\n').length).toBeLessThanOrEqual(2_000_000);
  expect(found!.indexed.entry!.lines.length).toBeLessThan(20_000);
});
