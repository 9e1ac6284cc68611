import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isRevision } from '../../src/source/git-names.ts';
import { openRevision } from '../../src/source/revision.ts';
import { contractLimits, testSnapshot, type ContractFiles } from '../contract/snapshot.ts';
import { createFixtureRepository } from '../servers/fixture-repository.ts';

function createRepository(files: ContractFiles) {
  const root = mkdtempSync(join(tmpdir(), 'stele-revision-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const repository = createFixtureRepository(join(root, '.git'));
  return { root, repository, commit: repository.commit({ files }) };
}

describe('a commit of a checkout', () => {
  testSnapshot(async (files) => {
    const { root, commit } = createRepository(files);
    return (await openRevision(`${commit}:any.yaml`, contractLimits, root)).snapshot;
  });
});

test('a path begins at the root of the repository, and with ./ at the folder', async () => {
  const { root, repository, commit } = createRepository({ 'apis/a.yaml': 'a: 1', 'b.yaml': 'b: 1' });
  repository.setConfig('core.bare', 'false');
  repository.commit({ files: { 'b.yaml': 'b: 2' } });
  const folder = join(root, 'apis');
  mkdirSync(folder);
  const entryOf = async (text: string) => {
    const { snapshot, entry } = await openRevision(text, contractLimits, folder);
    const [file] = await snapshot.read([entry]);
    return [entry, snapshot.origin.commit === commit, file?.found && Buffer.from(file.bytes).toString()];
  };
  expect(await entryOf('main~1:b.yaml')).toEqual(['b.yaml', true, 'b: 1']);
  expect(await entryOf('main:b.yaml')).toEqual(['b.yaml', false, 'b: 2']);
  expect(await entryOf('main:./a.yaml')).toEqual(['apis/a.yaml', false, 'a: 1']);
  expect(await entryOf('main:../b.yaml')).toEqual(['b.yaml', false, 'b: 2']);
});

test('a commit that git does not know, and a folder without a repository, are said to be so', async () => {
  const { root } = createRepository({ 'a.yaml': 'a: 1' });
  const absent = { code: 'not_found', message: expect.stringContaining('git does not know "nowhere" here: fatal:') };
  await expect(openRevision('nowhere:a.yaml', contractLimits, root)).rejects.toMatchObject(absent);
  const outside = mkdtempSync(join(tmpdir(), 'stele-outside-'));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  writeFileSync(join(outside, 'a.yaml'), '');
  await expect(openRevision('main:a.yaml', contractLimits, outside)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('not a git repository'),
  });
});

test('a revision is told from files, URLs and options', () => {
  for (const text of ['origin/main:openapi.yaml', 'HEAD~3:./a.yaml', 'v1.0.0:apis/a b.yaml', '@:a.yaml'])
    expect(isRevision(text), text).toBe(true);
  for (const text of ['a.yaml', 'https://a.test/a.yaml', '--upload-pack=x:y', ':a.yaml', 'main:', 'a b:c'])
    expect(isRevision(text), text).toBe(false);
});
