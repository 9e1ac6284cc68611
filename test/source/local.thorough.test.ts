import { execFileSync } from 'node:child_process';
import { realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Remote, Source } from '../../src/source/source.ts';
import type { FixtureRepository } from '../servers/fixture-repository.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let repository: FixtureRepository;
let source: Source;
let commits: string[];
beforeEach(async () => {
  world = await openWorld();
  repository = world.createRepository();
  commits = repository.commitAll([{ files: { 'a.yaml': 'a: 1\n' } }, { files: { 'a.yaml': 'a: 2\n' } }]);
  source = world.openSource({ allowLocalRepositories: true });
});
afterEach(() => world[Symbol.asyncDispose]());

const at = (url: string): Remote => ({ url, ref: 'HEAD', credential: null });

function git(...args: string[]): void {
  execFileSync('git', args, { cwd: world.folder, stdio: 'pipe' });
}

async function readTip(remote: Remote): Promise<string | false | undefined> {
  const tip = await source.tip(remote);
  const [file] = await (await source.snapshot(remote, tip.found ? tip.commit : '')).read(['a.yaml']);
  return file?.found && Buffer.from(file.bytes).toString();
}

describe('a local repository', () => {
  test('may be bare, a work tree, a linked work tree, or shallow, and be named by path or by URL', async () => {
    const { folder } = repository;
    git('clone', '--quiet', folder, 'tree');
    git('clone', '--quiet', '--depth=1', pathToFileURL(folder).href, 'shallow');
    git('-C', 'tree', 'worktree', 'add', '--quiet', '--detach', join(world.folder, 'linked'), commits[0] ?? '');
    git('clone', '--quiet', '--bare', folder, 'with space, ü%20 and : colon.git');
    symlinkSync(folder, join(world.folder, 'link'));
    const of = (name: string): string => join(world.folder, name);
    expect(await readTip(at(folder))).toBe('a: 2\n');
    expect(await readTip(at(pathToFileURL(folder).href))).toBe('a: 2\n');
    expect(await readTip(at(of('tree')))).toBe('a: 2\n');
    expect(await readTip(at(of('tree/.git')))).toBe('a: 2\n');
    expect(await readTip(at(of('shallow')))).toBe('a: 2\n');
    expect(await readTip(at(of('linked')))).toBe('a: 1\n');
    expect(await readTip(at(of('with space, ü%20 and : colon.git')))).toBe('a: 2\n');
    expect(await readTip(at(of('link')))).toBe('a: 2\n');
  });

  test('is watched where its branches are', () => {
    const { folder } = repository;
    git('clone', '--quiet', folder, 'tree');
    git('-C', 'tree', 'worktree', 'add', '--quiet', '--detach', join(world.folder, 'linked'));
    const real = (name: string): string => realpathSync(join(world.folder, name));
    expect(source.watchable(at(folder))).toBe(realpathSync(folder));
    expect(source.watchable(at(pathToFileURL(folder).href))).toBe(realpathSync(folder));
    expect(source.watchable(at(real('tree')))).toBe(real('tree/.git'));
    expect(source.watchable(at(real('linked')))).toBe(real('tree/.git'));
    expect(source.watchable(at(join(world.folder, 'absent')))).toBeNull();
    expect(source.watchable(at(world.folder))).toBeNull();
  });

  test('is refused where the configuration does not allow it', async () => {
    const closed = world.openSource();
    for (const url of [repository.folder, pathToFileURL(repository.folder).href]) {
      const refusal = { code: 'forbidden', message: expect.stringContaining('allowLocalRepositories') };
      await expect(closed.tip(at(url))).rejects.toMatchObject(refusal);
      await expect(closed.snapshot(at(url), commits[0] ?? '')).rejects.toMatchObject(refusal);
      expect(() => closed.watchable(at(url))).toThrow('allowLocalRepositories');
    }
  });

  test('that is absent, a file, a bundle or no repository is described as such', async () => {
    const bundle = join(world.folder, 'a.bundle');
    repository.git('bundle', 'create', bundle, 'main');
    writeFileSync(join(world.folder, 'file'), '');
    const refusalOf = (name: string): Promise<unknown> => source.tip(at(join(world.folder, name)));
    for (const name of ['absent', 'file', 'a.bundle']) {
      await expect(refusalOf(name)).rejects.toMatchObject({ code: 'unreachable', message: /There is no folder at .*/ });
    }
    await expect(refusalOf('root')).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining(`${join(world.folder, 'root')} is not a git repository`),
    });
  });
});
