import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';
import { createAssets } from '../../src/site/assets.ts';

const folder = new URL('../../templates/assets/', import.meta.url);
const written = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const assets = createAssets(null);
const sent = (name: string) => Buffer.from(assets.find(assets.path(name))!.asset.bytes).toString();

/** What a script means, without where it stands in its file. */
function meaningOf(name: string, text: string): string {
  const { program, errors } = parseSync(name, text);
  expect(errors).toEqual([]);
  return JSON.stringify(program.body, (key, value) => (key === 'start' || key === 'end' ? undefined : value));
}

test.for(readdirSync(folder).filter((name) => name.endsWith('.js')))('%s is sent without comments', (name) => {
  expect(meaningOf(name, sent(name))).toBe(meaningOf(name, written(name)));
  expect(parseSync(name, sent(name)).comments).toEqual([]);
});

test.for(readdirSync(folder).filter((name) => name.endsWith('.css')))('%s is sent without comments', (name) => {
  const words = (text: string) =>
    text
      .replace(/\/\*[^]*?\*\//g, '')
      .replace(/\s+/g, ' ')
      .trim();
  const unhashed = sent(name).replaceAll(/\.[0-9a-f]{8}\.woff2/g, '.woff2');
  expect(words(unhashed)).toBe(words(written(name)));
  expect(sent(name)).not.toMatch(/\/\*|^ /m);
});

test('the fonts of a stylesheet are files of theirs, 60 KB in all, with their licence', () => {
  const fonts = [...sent('style.css').matchAll(/url\('([^']+)'\)/g)].map(([, file]) => assets.find(`/assets/${file}`));
  expect(fonts).toHaveLength(3);
  expect(fonts.every((font) => font?.isCurrent && font.asset.mediaType === 'font/woff2')).toBe(true);
  expect(fonts.reduce((sum, font) => sum + font!.asset.bytes.byteLength, 0)).toBeLessThan(60_000);
  expect(sent('fonts.txt')).toContain('SIL OPEN FONT LICENSE');
});

test("an operator's file is sent as it was written", async () => {
  const own = await mkdtemp(join(tmpdir(), 'stele-assets-'));
  await mkdir(join(own, 'assets'));
  const text = '/* ours */\n  h1 { color: tomato }\n';
  await writeFile(join(own, 'assets', 'style.css'), text);
  const theirs = createAssets(own);
  expect(Buffer.from(theirs.find(theirs.path('style.css'))!.asset.bytes).toString()).toBe(text);
  await rm(own, { recursive: true });
});
