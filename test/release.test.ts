import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { releaseChangelog } from '../scripts/release/changelog.ts';
import { nextVersion } from '../scripts/release/next-version.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const run = promisify(execFile);
const state = async () =>
  Promise.all(
    [['rev-parse', 'HEAD'], ['tag'], ['status', '--porcelain']].map(
      async (args) => (await run('git', args, { cwd: root })).stdout,
    ),
  );

describe('a dry run', () => {
  let out: string;
  let printed: string;
  let before: string[];

  beforeAll(async () => {
    out = await mkdtemp(join(tmpdir(), 'stele-release-'));
    before = await state();
    const args = ['scripts/release.ts', '99.1.0', '--dry-run', '--no-check', '--no-image', '--out', out];
    printed = (await run(process.execPath, args, { cwd: root })).stdout;
  }, 120_000);
  afterAll(() => rm(out, { recursive: true, force: true }));

  test('writes the files of a release', async () => {
    expect((await readdir(out)).toSorted()).toEqual(['SHA256SUMS', 'notes.md', 'provenance.json', 'stele-99.1.0.tgz']);
    expect(await readFile(join(out, 'notes.md'), 'utf8')).toMatch(/^### \w/m);
  });

  test('names the tarball by its digest, and what it was made from', async () => {
    const sha256 = createHash('sha256')
      .update(await readFile(join(out, 'stele-99.1.0.tgz')))
      .digest('hex');
    expect(await readFile(join(out, 'SHA256SUMS'), 'utf8')).toBe(`${sha256}  stele-99.1.0.tgz\n`);
    expect(JSON.parse(await readFile(join(out, 'provenance.json'), 'utf8'))).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'stele-99.1.0.tgz', digest: { sha256 } }],
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          externalParameters: { version: '99.1.0' },
          resolvedDependencies: [
            { name: 'source', digest: { gitCommit: expect.stringMatching(/^[0-9a-f]{40}$/) as string } },
            { name: 'package-lock.json', digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string } },
          ],
        },
      },
    });
  });

  test('changes nothing here', async () => {
    expect(printed).toContain('Nothing changed here.');
    expect(await state()).toEqual(before);
  });
});

describe('the changelog', () => {
  const text = '# Changelog\n\n## Unreleased\n\n### Added\n\n- A $& thing.\n\n## 1.0.0 - 2026-01-01\n\n- First.\n';

  test('gives what is unreleased a version and a date', () => {
    expect(releaseChangelog(text, '1.1.0', '2026-02-03')).toEqual({
      notes: '### Added\n\n- A $& thing.',
      text:
        '# Changelog\n\n## Unreleased\n\n## 1.1.0 - 2026-02-03\n\n### Added\n\n- A $& thing.\n\n' +
        '## 1.0.0 - 2026-01-01\n\n- First.\n',
    });
  });

  test('takes the last part to the end', () => {
    expect(releaseChangelog('# C\n\n## Unreleased\n\n- a\n\n- b\n', '1.0.0', '2026-02-03').notes).toBe('- a\n\n- b');
  });

  test.each(['# C\n', '# C\n\n## Unreleased\n\n## 1.0.0 - 2026-01-01\n\n- First.\n'])('refuses %j', (empty) => {
    expect(() => releaseChangelog(empty, '1.1.0', '2026-02-03')).toThrow('CHANGELOG.md');
  });
});

describe('the next version', () => {
  test.each([
    ['patch', '1.2.4'],
    ['minor', '1.3.0'],
    ['major', '2.0.0'],
    ['1.10.0', '1.10.0'],
  ])('%s of 1.2.3 is %s', (asked, next) => {
    expect(nextVersion('1.2.3', asked)).toBe(next);
  });

  test.each(['1.2.3', '1.1.9', '0.9.0', '1.3', 'v2.0.0', '01.3.0', 'next'])('is not %s', (asked) => {
    expect(() => nextVersion('1.2.3', asked)).toThrow(asked);
  });
});
