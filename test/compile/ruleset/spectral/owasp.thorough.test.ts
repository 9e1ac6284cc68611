import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kindOf } from '../../../../src/compile/detect.ts';
import { lintWithSpectral } from '../../../../src/compile/ruleset/spectral/lint.ts';
import { parseFile } from '../../../../src/compile/text/parse.ts';
import { given } from '../../given.ts';
import { limits } from '../../limits.ts';

const corpus = join(import.meta.dirname, '../../../../../shared/corpus/openapi');
const present = existsSync(corpus);
const skipped = present ? '' : ' (skipped: no corpus beside the project)';
const ruleset = { extends: '@stoplight/spectral-owasp-ruleset' };
const levels = { error: 0, warning: 1, info: 2 } as const;

/** The number of findings of the package (2.0.1, by spectral-core 1.24.1) and the digest of their list. */
const measured: readonly [document: string, count: number, digest: string][] = [
  ['apis-guru/letmccombasic-tier.yaml', 746, 'b6a9957a91b9a13a'],
  ['apis-guru/googleapiscomforms.yaml', 219, 'e6257bfbc58bfa99'],
  ['apis-guru/azurecombatch-batchmanagement.yaml', 739, '70bd91038792560e'],
  ['company/train-travel-3.1.yaml', 108, '4a5169d8f6f06440'],
  ['company/osap-3.1.yaml', 98, 'db451148b9a8174e'],
  ['multi/azure-autorest-testserver/body-dictionary.json', 413, '3e0058590fd8b519'],
];

describe.skipIf(!present)(`the OWASP set finds what the package finds: rule, severity, node${skipped}`, () => {
  test.each(measured)('%s', (document, count, digest) => {
    const parsed = parseFile(basename(document), readFileSync(join(corpus, document)), limits);
    if (!parsed.ok) throw new Error('It does not parse.');
    const entry = parsed.file;
    const files = new Map([[entry.path, entry]]);
    const problems = lintWithSpectral({ entry, files }, { ruleset, name: 'r', find: () => null });
    const found = [...new Set(problems.map(({ rule, severity, pointer }) => `${rule} ${levels[severity]} ${pointer}`))];
    const list = found.sort().join('\n');
    expect([found.length, createHash('sha256').update(list).digest('hex').slice(0, 16)]).toEqual([count, digest]);
  });
});

test('operations of administrators have security schemes of their own', () => {
  const operation = { security: [{ key: [] }] };
  const paths = { '/a': { get: operation }, '/admin/a': { get: operation, put: { security: [{ other: [] }] } } };
  const document = { openapi: '3.0.3', info: { title: 'A', version: '1' }, paths };
  const problems = lintWithSpectral(given({ 'a.json': document }, 'apis'), { ruleset, name: 'r', find: () => null });
  const found = problems.filter(({ rule }) => rule === 'owasp:api5:2023-admin-security-unique');
  expect(found.map(({ pointer }) => pointer)).toEqual(['/paths/~1admin~1a/get/security/0']);
});

test('a ruleset that extends the package or its URL is one of Spectral', () => {
  for (const name of [
    '@stoplight/spectral-owasp-ruleset',
    'https://unpkg.com/@stoplight/spectral-owasp-ruleset/dist/ruleset.mjs',
  ])
    expect(kindOf({ extends: [name] })?.kind).toBe('spectral-ruleset');
});
