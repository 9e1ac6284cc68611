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
  expect(words(sent(name))).toBe(words(written(name)));
  expect(sent(name)).not.toMatch(/\/\*|^ /m);
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
