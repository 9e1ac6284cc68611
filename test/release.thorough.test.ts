import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const script = fileURLToPath(new URL('../scripts/release.ts', import.meta.url));
const run = promisify(execFile);

describe('a release', () => {
  let folder: string;
  let out: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stele-release-'));
    out = join(folder, '.out');
    const write = (name: string, text: string) => writeFile(join(folder, name), text);
    const entry = { name: 'stele', version: '1.0.0' };
    await write('package.json', JSON.stringify(entry));
    await write('package-lock.json', JSON.stringify({ ...entry, lockfileVersion: 3, packages: { '': entry } }));
    await write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n- New.\n');
    await write('.gitignore', '.out\n');
    await git('init', '--quiet', '--initial-branch', 'main');
    await git('config', 'user.name', 'Ada');
    await git('config', 'user.email', 'ada@example.com');
    await git('add', '.');
    await git('commit', '--quiet', '--message', 'first');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function git(...args: string[]): Promise<string> {
    return (await run('git', args, { cwd: folder })).stdout.trim();
  }

  async function release(...args: string[]): Promise<{ code: number; stdout: string }> {
    const all = [script, 'minor', '--no-check', '--no-image', '--no-trial', '--out', out, ...args];
    return run(process.execPath, all, { cwd: folder }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
    );
  }

  test(`that is dry writes its files, and changes nothing`, async () => {
    const before = await git('for-each-ref');
    const { stdout, code } = await release('--dry-run');
    expect({ stdout, code }).toEqual({ stdout: `v1.1.0 is in ${out}. Nothing changed here.\n`, code: 0 });
    expect(await git('for-each-ref')).toBe(before);
    expect(await git('status', '--porcelain')).toBe('');

    const written = ['SHA256SUMS', 'notes.md', 'provenance.json', 'stele-1.1.0.cdx.json', 'stele-1.1.0.tgz'];
    expect((await readdir(out)).toSorted()).toEqual(written);
    const packages = await readFile(join(out, 'stele-1.1.0.cdx.json'), 'utf8');
    expect(JSON.parse(packages)).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { version: '1.1.0' } },
    });
    expect(await readFile(join(out, 'notes.md'), 'utf8')).toBe('- New.\n');
    const sha256 = await digestOf(join(out, 'stele-1.1.0.tgz'));
    expect(await readFile(join(out, 'SHA256SUMS'), 'utf8')).toContain(`${sha256}  stele-1.1.0.tgz\n`);
    expect(JSON.parse(await readFile(join(out, 'provenance.json'), 'utf8'))).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'stele-1.1.0.tgz', digest: { sha256 } }, { name: 'stele-1.1.0.cdx.json' }],
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          externalParameters: { version: '1.1.0' },
          resolvedDependencies: [
            { name: 'source', digest: { gitCommit: expect.stringMatching(/^[0-9a-f]{40}$/) as string } },
            { name: 'package-lock.json', digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string } },
          ],
        },
      },
    });
  });

  test(`is a commit and a tag, which its provenance names`, async () => {
    const { stdout } = await release();
    expect(stdout).toContain('git push origin main v1.1.0');
    expect(await git('log', '--format=%s by %an')).toBe('release: 1.1.0 by Ada\nfirst by Ada');
    expect(await git('status', '--porcelain')).toBe('');
    expect(await readFile(join(folder, 'CHANGELOG.md'), 'utf8')).toMatch(/## Unreleased\n\n## 1\.1\.0 - [\d-]{10}\n/);
    const [source, lock] = await dependencies();
    expect(source!.digest['gitCommit']).toBe(await git('rev-parse', 'v1.1.0^{commit}'));
    expect(lock!.digest['sha256']).toBe(await digestOf(join(folder, 'package-lock.json')));
  });

  test('is refused beside changes that are not committed, and away from main', async () => {
    await git('checkout', '--quiet', '-b', 'topic');
    await writeFile(join(folder, 'new.txt'), '');
    const before = await git('for-each-ref');
    const { stdout, code } = await release();
    expect(code).toBe(1);
    expect(stdout).toContain('There are changes that are not committed.');
    expect(stdout).toContain('The branch is topic.');
    expect(await git('for-each-ref')).toBe(before);
  });

  interface Dependency {
    digest: Record<string, string>;
  }

  async function dependencies(): Promise<Dependency[]> {
    const provenance = JSON.parse(await readFile(join(out, 'provenance.json'), 'utf8')) as {
      predicate: { buildDefinition: { resolvedDependencies: Dependency[] } };
    };
    return provenance.predicate.buildDefinition.resolvedDependencies;
  }

  async function digestOf(path: string): Promise<string> {
    return createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  }
});
