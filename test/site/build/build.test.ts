import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deploy, writeSite } from '../../sites/server/site-world.ts';
import { createTestRegistry, publishVersion } from '../../server/registry.ts';
import { build, filesIn, openFolder, textOf } from './build-world.ts';

test('a build holds every version in both formats and every coding, and its pages', async () => {
  await using folder = await openFolder();
  const registry = createTestRegistry();
  const { text } = await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  await publishVersion(registry, '@acme/apis/pay', '1.1.0');
  const out = join(folder.path, 'site');
  // Brotli takes most of the time of a build.
  const built = await build(registry, out, { precompressed: 'gzip' });
  expect(built).toMatchObject({ outcome: 'built', resources: 1 });
  const files = await filesIn(out);
  expect(built.files + 1).toBe(files.length);
  for (const base of ['@acme/apis/pay', '@acme/apis/pay@1.0.0', '@acme/apis/pay@1.1.0']) {
    const own = ['.json', '.yaml', '/index.html', '/index.md', '/report.json', '/provenance.json', '/try/index.html'];
    own.push('/diff/index.html', '/diff.json', '/diff.md');
    expect(files).toEqual(expect.arrayContaining(own.map((ending) => `${base}${ending}`)));
    for (const coding of ['.gz']) {
      for (const ending of ['.json', '.yaml', '/index.html', '/index.md'])
        expect(await textOf(out, `${base}${ending}${coding}`)).toBe(await textOf(out, `${base}${ending}`));
    }
  }
  expect(await textOf(out, '@acme/apis/pay@1.0.0.json')).toBe(text);
  expect(await textOf(out, '@acme/apis/pay.json')).toBe(await textOf(out, '@acme/apis/pay@1.1.0.json'));
  expect(files).toEqual(
    expect.arrayContaining([
      '.well-known/api-catalog',
      '404.html',
      '@acme.json',
      '@acme/apis/index.html',
      '@acme/apis/pay/dependants.json',
      '@acme/apis/pay/dependants/index.html',
      '@acme/apis/pay/versions.json',
      '@acme/graph.json',
      '@acme/graph/index.html',
      '@acme/index.html',
      'feed.atom',
      'feeds/acme/apis/pay.json',
      'index.html',
      'llms.txt',
      'problems/gone/index.html',
      'robots.txt',
      'search/index.html',
      'search/index.json',
      'sitemap.xml',
    ]),
  );
});

test('an empty registry builds a site, too', async () => {
  await using folder = await openFolder();
  const built = await build(createTestRegistry(), join(folder.path, 'deep', 'site'));
  expect(built).toMatchObject({ outcome: 'built', resources: 0 });
  expect(await filesIn(join(folder.path, 'deep', 'site'))).toContain('index.html');
});

test('an organization that has only sites has its page, to which the front page leads', async () => {
  await using out = await openFolder();
  const registry = createTestRegistry();
  await writeSite(registry, { 'index.md': 'Words' });
  await deploy(registry);
  await build(registry, out.path);
  expect(await textOf(out.path, 'index.html')).toContain('href="/@acme"');
  expect(await textOf(out.path, '@acme/index.html')).toContain('href="/sites/acme/handbook/"');
});

test('a file that somebody deleted is made again', async () => {
  await using folder = await openFolder();
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  const out = join(folder.path, 'site');
  await build(registry, out);
  await rm(join(out, '@acme/apis/pay@1.0.0.json'));
  expect(await build(registry, out)).toMatchObject({ outcome: 'built' });
  expect(await filesIn(out)).toContain('@acme/apis/pay@1.0.0.json');
});

test.each([
  ['another letter in a document', '@acme/apis/pay@1.0.0.json', (text: string) => text.replace('1.0.0', '1.0.9')],
  ['a page that is cut', '@acme/apis/pay@1.0.0/index.html', (text: string) => text.slice(1)],
])('a file that somebody changed is made again: %s', async (_what, name, change) => {
  await using folder = await openFolder();
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  const out = join(folder.path, 'site');
  await build(registry, out);
  const before = await textOf(out, name);
  await writeFile(join(out, name), change(before));
  const { mtimeMs } = await stat(join(out, '.stele-build.json'));
  await utimes(join(out, name), mtimeMs / 1000 + 1, mtimeMs / 1000 + 1);
  expect(await build(registry, out)).toMatchObject({ outcome: 'built' });
  expect(await textOf(out, name)).toBe(before);
});

test.for([
  ['a file of somebody', async (out: string) => writeFile(join(out, 'thesis.doc'), 'x')],
  ['a file within an earlier build', async (out: string) => writeFile(join(out, '@acme', 'CNAME'), 'x')],
])('a folder that holds %s is refused, and stays as it is', async ([, spoil]) => {
  await using folder = await openFolder();
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  const out = join(folder.path, 'site');
  const isEarlier = (spoil as () => unknown).toString().includes('CNAME');
  if (isEarlier) await build(registry, out);
  else await mkdir(out);
  await (spoil as (out: string) => Promise<void>)(out);
  const before = await filesIn(out);
  await expect(build(registry, out)).rejects.toMatchObject({ code: 'conflict' });
  expect(await filesIn(out)).toEqual(before);
  expect(await readdir(folder.path)).toEqual(['site']);
});
