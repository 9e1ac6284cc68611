import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { isRegistryError } from '../../src/model/errors.ts';
import { formatLock, maxContracts, parseLock, pathFault, type LockedContract } from '../../src/model/lock.ts';

const money: LockedContract = {
  path: 'schemas/money.json',
  contract: '@acme/schemas/money',
  range: '^1',
  version: '1.4.0',
  registry: 'https://contracts.acme.example',
  sha256: 'a'.repeat(64),
  digest: `sha256:${'b'.repeat(64)}`,
};

const text = `# Written by stele add. Do not edit.
version: 1
contracts:
  - path: schemas/money.json
    contract: '@acme/schemas/money'
    range: ^1
    version: 1.4.0
    registry: https://contracts.acme.example
    sha256: ${'a'.repeat(64)}
    digest: sha256:${'b'.repeat(64)}
`;

test('a lock is written as the documentation shows it, and read back', () => {
  expect(formatLock([money])).toBe(text);
  expect(parseLock(text)).toEqual([money]);
  expect(parseLock(text.replaceAll('\n', '\r\n'))).toEqual([money]);
  expect(formatLock([])).toBe('# Written by stele add. Do not edit.\nversion: 1\ncontracts: []\n');
  expect(parseLock(formatLock([]))).toEqual([]);
});

test('the expression for Renovate in the documentation finds each entry of a lock', () => {
  const docs = readFileSync(new URL('../../content/docs/use-a-contract.md', import.meta.url), 'utf8');
  const [, json] = /```json\n(\{\n {2}"customManagers".*?)```/s.exec(docs)!;
  const { customManagers } = JSON.parse(json!) as { customManagers: { matchStrings: string[] }[] };
  const found = [
    ...formatLock([money, { ...money, path: 'a.yaml', range: '~1.4' }]).matchAll(
      new RegExp(customManagers[0]!.matchStrings[0]!, 'g'),
    ),
  ];
  const groups = { depName: 'acme/schemas/money', currentValue: '1.4.0', registryUrl: money.registry };
  expect(found.map((each) => ({ ...each.groups }))).toEqual([groups, groups]);
});

test('entries are sorted by path, so that git merges what two branches add', () => {
  const paths = ['b.json', 'a/z.yaml', 'a.json', 'Z.json'].map((path) => ({ ...money, path }));
  expect(parseLock(formatLock(paths)).map(({ path }) => path)).toEqual(['Z.json', 'a.json', 'a/z.yaml', 'b.json']);
});

const odd = [
  '1',
  '1.0',
  '1e3',
  '0x1f',
  'true',
  'no',
  'y',
  'null',
  '2026-11-27',
  '12345',
  '1.4.0+2',
  '1_000',
  '0o7',
  '0b1',
];
const label = fc.oneof(fc.constantFrom(...odd), fc.stringMatching(/^[A-Za-z0-9](?:[A-Za-z0-9_+-]{0,8}[A-Za-z0-9])?$/));
const name = fc.stringMatching(/^[A-Za-z0-9_é' @~^#,[\]{}&!%-]{0,6}[a-z]$/);
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `${names.join('/')}.json`);
const entry = fc.record({ path, version: label, range: label, sha256: fc.stringMatching(/^[0-9a-f]{64}$/) });

test('YAML parsers read the same strings, whatever is in them', () => {
  fc.assert(
    fc.property(entry, (drawn) => {
      fc.pre(!/^latest|^sha256/i.test(drawn.version + drawn.range) && pathFault(drawn.path) === null);
      fc.pre(!/latest|^sha256/i.test(drawn.range) && !/latest|^sha256/i.test(drawn.version));
      const written = formatLock([{ ...money, ...drawn }]);
      const contracts = parseLock(written);
      expect(contracts).toEqual([{ ...money, ...drawn }]);
      expect(load(written)).toEqual({ version: 1, contracts });
      for (const version of ['1.1', '1.2'] as const)
        expect(parseDocument(written, { version }).toJS()).toEqual({ version: 1, contracts });
    }),
  );
});

const line = (key: keyof LockedContract, value: string) =>
  text.replace(new RegExp(`( (?:- )?${key}): .*`), `$1: ${value}`);
const many = (count: number) =>
  text +
  Array.from(
    { length: count },
    (_, n) => formatLock([{ ...money, path: `m${n}.json` }]).split('contracts:\n')[1]!,
  ).join('');

describe('what a lock may not be is a sentence with its line:', () => {
  test.for<[what: string, text: string, says: RegExp]>([
    ['an empty file', '', /^contracts\.lock:1: This is not a lock\. .*git checkout contracts\.lock/],
    ['another file', '{"lockfileVersion": 3}', /:1: This is not a lock/],
    [
      'a newer format',
      text.replace('version: 1\n', 'version: 2\n'),
      /:2: The format of this file is version 2, and this program reads version 1\. Use a newer stele\./,
    ],
    [
      'a merge conflict',
      text.replace('    range', '<<<<<<< HEAD\n    range: ^1\n=======\n    range'),
      /:6: There is a merge conflict\. Keep one side .*stele add again/,
    ],
    ['a cut file', text.slice(0, text.indexOf('    sha256')), /:9: The file is cut: an entry ends before its sha256/],
    ['a line that is cut', text.slice(0, -20), /:10: digest .* is not a digest/],
    ['an unknown key', text.replace('    range', '    branch: x\n    range'), /:6: range is expected here/],
    [
      'two entries for a path',
      text + text.split('contracts:\n')[1]!,
      /:11: There are two entries for schemas\/money\.json\. Run stele remove/,
    ],
    [
      'paths that differ in case',
      text + text.split('contracts:\n')[1]!.replace('money.json', 'Money.json'),
      /cannot both be files/,
    ],
    [
      'a file that is a folder too',
      text + text.split('contracts:\n')[1]!.replace('money.json', 'money.json/a.json'),
      /cannot both be files/,
    ],
    [
      'a folder that is a file too',
      text.replace('money.json', 'money.json/a.json') + text.split('contracts:\n')[1]!,
      /cannot both be files/,
    ],
    [
      'paths that differ in Unicode form',
      text.replace('money.json', 'mon\u00e9.json') +
        text.split('contracts:\n')[1]!.replace('money.json', 'mone\u0301.json'),
      /cannot both be files/,
    ],
    [
      '10,000 entries',
      many(10_000),
      /more than (?:2000 contracts|2097152 characters)\. Split (?:the file|it): each folder may have a contracts\.lock/,
    ],
    ['one entry too many', many(maxContracts), /:14004: There are more than 2000 contracts/],
    ['a path out of the folder', line('path', '../money.json'), /:4: path "\.\.\/money\.json" leads out of the folder/],
    ['an absolute path', line('path', '/etc/money.json'), /leads out of the folder/],
    ["Windows' absolute path", line('path', "'C:/money.json'"), /leads out of the folder/],
    ['a path into .git', line('path', "'.git/hooks/money.json'"), /begins with a dot, such as \.git/],
    ['a path into .GIT', line('path', "'a/.GIT/money.json'"), /begins with a dot/],
    ["Windows' short name of .git", line('path', "'git~1/money.json'"), /begins with a dot/],
    ['a backslash', line('path', "'a\\b.json'"), /has characters/],
    ['an invisible character', line('path', "'a\u200c.json'"), /has characters/],
    ['a hook', line('path', 'post-checkout'), /must end in \.json, \.yaml or \.yml/],
    ['an empty name', line('path', 'a//b.json'), /a name that is empty/],
    ['a coordinate with a version', line('contract', "'@acme/schemas/money@1'"), /is not a coordinate/],
    ['a range of another kind', line('range', "'>=1'"), /is not a range/],
    ['a registry of another kind', line('registry', 'file:///etc'), /is not the URL of a registry/],
    [
      'a registry with a password',
      line('registry', 'https://me:secret@contracts.acme.example'),
      /holds a user name or a password\. Put the key into STELE_KEY/,
    ],
    [
      'a registry with a user name alone',
      line('registry', 'https://secret@contracts.acme.example'),
      /holds a user name or a password\. Put the key into STELE_KEY/,
    ],
    ['a digest of another kind', line('sha256', 'abc'), /is not 64 hexadecimal digits/],
    ['a line that would take long', line('path', '//'.repeat(500_000)), /:4: This line has more than 2000 characters/],
    ['a value in double quotes', line('version', '"1.4.0"'), /:7: version is expected here/],
  ])('%s', ([, given, says]) => {
    const error: unknown = (() => {
      try {
        return parseLock(given);
      } catch (caught) {
        return caught;
      }
    })();
    expect(isRegistryError(error, 'malformed')).toBe(true);
    expect((error as Error).message).toMatch(says);
    expect((error as Error).message).not.toContain('secret');
  });
});

test.each([
  'con.json',
  'contracts/NUL.json',
  'aux.yaml',
  'Com1.json',
  'lpt9/a.json',
  'a/PRN.x.yml',
  'conout$.json',
  'com\u00b9.json',
])('the device %s of Windows is no file', (file) =>
  expect(pathFault(file)).toBe('has a name that Windows keeps for a device'),
);

test.each(['console.json', 'contracts/null.json', 'com.json', 'com10.json', 'a-con.json'])('%s is a file', (file) =>
  expect(pathFault(file)).toBeNull(),
);
