import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFolder } from '../../src/sites/cli/sites-command.ts';
import { runHere } from './in-process.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-folder-'));
  await mkdir(join(folder, 'guide'));
  await mkdir(join(folder, '.git'));
  await mkdir(join(folder, 'node_modules'));
  for (const path of ['index.md', 'guide/start.md', '.git/config.md', '.env', 'node_modules/readme.md'])
    await writeFile(join(folder, path), 'text');
  await writeFile(join(folder, 'font.woff2'), '');
  await truncate(join(folder, 'font.woff2'), 2 ** 30);
  await symlink('/etc/hostname', join(folder, 'host.txt'));
  await symlink(folder, join(folder, 'again'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('a folder has its files, without links, hidden files and packages; a font of 1 GB is not read', async () => {
  const { files, problems } = readFolder(folder, 1024);
  expect(files.map(({ path }) => path)).toEqual(['guide/start.md', 'index.md']);
  expect(problems.map(({ file, message }) => [file, message])).toEqual([
    ['font.woff2', 'The file has 1073741824 bytes; the limit is 1024.'],
  ]);
});

test('what is not a folder is named', async () => {
  expect(() => readFolder(join(folder, 'index.md'), 1)).toThrow(
    expect.objectContaining({ code: 'malformed' }) as Error,
  );
});

test('a report counts what was found in the folder beside more findings than a report keeps', async () => {
  const pages = await mkdtemp(join(tmpdir(), 'stele-pages-'));
  const links = Array.from({ length: 1100 }, (_, at) => `[x](nowhere${at})`).join(' ');
  await writeFile(join(pages, 'index.md'), `# Book\n\n${links}\n`);
  await writeFile(join(pages, 'run.exe'), 'text');
  const { stdout } = await runHere(['sites', 'publish', '@acme/sites/book', '.', '--data', '.data', '--json'], {
    cwd: pages,
  });
  await rm(pages, { recursive: true, force: true });
  const { report } = JSON.parse(stdout) as { report: { counts: object; truncated: boolean } };
  expect([report.counts, report.truncated]).toEqual([{ error: 0, warning: 1101, info: 0 }, true]);
});
