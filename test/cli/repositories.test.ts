import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { runCommandLine } from '../../src/cli/run-command-line.ts';
import { createFixtureRepository } from '../servers/fixture-repository.ts';
import { openGiteaApi } from '../servers/gitea-api.ts';

test('stele sync looks at owners, and stele repositories prints what is followed and what was left out', async () => {
  await using gitea = await openGiteaApi();
  const folder = await mkdtemp(join(tmpdir(), 'stele-repositories-'));
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += String(text);
      return true;
    }),
  );
  try {
    gitea.owned.repositories.push(
      { full_name: 'acme/one', archived: true },
      { full_name: 'acme/two', fork: true },
      { full_name: 'acme/three', fork: true },
    );
    const document = 'openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {}\n';
    createFixtureRepository(join(folder, 'apis.git')).commit({ files: { 'pay.yaml': document } });
    const config = {
      hosts: { gitea: { url: 'https://git.test', apiUrl: `${gitea.url}/api/v1` } },
      organizations: { acme: { repositories: [{ url: './apis.git' }, { gitea: 'acme/*' }] } },
    };
    const file = join(folder, 'registry.config.ts');
    await writeFile(file, `export default ${JSON.stringify(config)};\n`);
    const common = ['--config', file, '--data', join(folder, 'data')];
    expect(await runCommandLine(['sync', ...common])).toBe(0);
    Object.assign(written, { stdout: '', stderr: '' });
    expect(await runCommandLine(['repositories', ...common])).toBe(0);
    expect(written).toEqual({
      stdout: 'synced apis (1 document)\n',
      stderr: 'gitea acme/*: 0 followed, not followed: 1 archived, 2 forked\n',
    });
  } finally {
    process.exitCode = undefined;
    for (const spy of spies) spy.mockRestore();
    await rm(folder, { recursive: true, force: true });
  }
});
