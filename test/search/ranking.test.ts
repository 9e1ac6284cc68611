import { describe, expect, test } from 'vitest';
import { distance } from '../../src/search/ranking/rank.js';
import { packParts, unpackParts } from '../../src/search/ranking/shards.js';
import { parseQuery, stem, wordsOf } from '../../src/search/ranking/words.js';

test.each([
  ['listPetsByID', 'list pet id'],
  ['HTTPServer2Names', 'http server2 name'],
  ['repos/list-for-user', 'repo list user'],
  ['/repos/{owner}/{repo}/issues', 'repo owner repo issue'],
  ['Größe café', 'grosse cafe'],
  ['ＡＰＩ　①', 'api 1'],
  ['請求書の取消', '請求 求書 書の の取 取消'],
  ['한국어 API', '한국 국어 api'],
  ['が', 'が'.normalize('NFD').replace(/\p{M}/gu, '')],
  ['O’Reilly’s_name', 'o reilly name'],
  ['the of and', ''],
])('the words of %s', (text, expected) => {
  const terms = wordsOf(text).map(({ term }) => term);
  expect(terms.filter((term) => term !== 's').join(' ')).toBe(expected);
});

test.each([
  ['issues', 'issue'],
  ['repositories', 'repository'],
  ['addresses', 'address'],
  ['status', 'status'],
  ['analysis', 'analysis'],
  ['boxes', 'box'],
  ['branches', 'branch'],
  ['caches', 'cache'],
  ['dns', 'dns'],
])('the singular of %s is %s', (word, expected) => {
  expect(stem(word)).toBe(expected);
});

test.each([
  ['pets', 'pets', 0],
  ['ptes', 'pets', 1],
  ['epts', 'pets', 1],
  ['pet', 'pets', 1],
  ['peets', 'pets', 1],
  ['recipt', 'receipt', 1],
  ['abcdefgh', 'zzcdefgh', 2],
  ['abcd', 'wxyz', 3],
])('%s is %s but for %i letters', (a, b, far) => {
  expect(distance(a, b, 2)).toBe(far);
  expect(distance(b, a, 2)).toBe(far);
});

describe('a query', () => {
  test.each([
    ['org:acme type:schema address', { text: 'address', org: 'acme', type: 'schemas' }],
    ['org:@acme', { text: '', org: 'acme', type: null }],
    ['pay type:nothing', { text: 'pay type:nothing', type: null }],
    ['author:me', { text: 'author:me', org: null }],
    ['POST /pets/', { method: 'post', key: '/pets' }],
    ['post a comment', { method: null, key: 'post a comment' }],
    ['Pet.name', { owner: 'pet', key: 'pet.name' }],
    ['/pets.json', { owner: '' }],
  ])('%s', (text, expected) => {
    expect(parseQuery(text)).toMatchObject(expected);
  });

  test('has at most eight words, each once', () => {
    const { words } = parseQuery('a b c pets pet d e f g h i j k l m n o p');
    expect(words).toHaveLength(8);
    expect(words.filter(({ term }) => term === 'pet')).toHaveLength(1);
  });
});

test('postings are the same after packing', () => {
  const postings = Uint32Array.from([1 * 256 + 200, 2 * 256 + 80, 3 * 256 + 200, 70_000 * 256 + 30]);
  const parts = [
    { source: 0, postings, from: 0, to: 2 },
    { source: 1300, postings, from: 1, to: 4 },
  ];
  const unpacked = unpackParts(packParts(parts));
  expect(unpacked.map(({ source, postings: found }) => [source, [...found]])).toEqual([
    [0, [...postings.subarray(0, 2)]],
    [1300, [...postings.subarray(1, 4)]],
  ]);
});
