import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { UserConfig } from '../../src/config.ts';
import { checkConfig } from '../../src/config/load-config.ts';
import { readBranding } from '../../src/site/site.ts';
import { contrastOf } from '../../src/sites/model/theme.ts';

const folder = mkdtempSync(join(tmpdir(), 'stele-brand-'));
afterAll(() => rmSync(folder, { recursive: true }));

const read = (acme: NonNullable<UserConfig['organizations']>[string]) =>
  readBranding(checkConfig({ organizations: { acme, plain: {} } }, { base: folder, data: folder }));

test('an organization has a stylesheet of its colors and a logo, and others have none', () => {
  writeFileSync(join(folder, 'acme.svg'), '<svg/>');
  const { brands, assets } = read({ logo: 'acme.svg', accent: { light: '#1b4fd8', dark: '#8fb0ff' } });
  expect([...brands]).toEqual([['acme', { style: 'brand-acme.css', logo: 'logo-acme.svg' }]]);
  expect(Buffer.from(assets.get('logo-acme.svg')!).toString()).toBe('<svg/>');
  const style = Buffer.from(assets.get('brand-acme.css')!).toString();
  expect(style).toMatch(
    /^:root \{ --accent: light-dark\(#1b4fd8, #8fb0ff\); --accent-ink: light-dark\(#ffffff, #000000\); --accent-wash: light-dark\(#[0-9a-f]{6}, #[0-9a-f]{6}\); \}\n$/,
  );
});

test.for([
  [{ light: '#777777', dark: '#8fb0ff' }, /accent\.light: #777777 has a contrast of 4\.\d .* Choose a darker color/],
  [{ light: '#1b4fd8', dark: '#1b4fd8' }, /accent\.dark: .* Choose a lighter color/],
  [{ light: 'red;}', dark: '#8fb0ff' }, /accent/],
] as const)('colors that nobody can read, or that are none, are refused: %j', ([accent, message]) => {
  expect(() => read({ accent })).toThrow(message);
});

test('a logo that cannot be read, or is too large, is refused', () => {
  expect(() => read({ logo: 'absent.png' })).toThrow(/absent\.png cannot be read/);
  writeFileSync(join(folder, 'large.png'), new Uint8Array(100_001));
  expect(() => read({ logo: 'large.png' })).toThrow(/has 100001 bytes; the limit is 100000/);
  expect(() => read({ logo: 'page.html' })).toThrow(/logo/);
});

test('contrasts are those of WCAG', () => {
  expect(contrastOf('#000000', '#ffffff')).toBe(21);
  expect(contrastOf('#767676', '#ffffff')).toBeCloseTo(4.54, 2);
});

test.for(['.tag.good', '.banner.good', '.verdict.good', '.method.get', '.status.s2'])(
  'what is good stays green in the colors of an organization: %s',
  (selector) => {
    const style = readFileSync(new URL('../../templates/assets/style.css', import.meta.url), 'utf8');
    const rules = style.split('}').filter((rule) => rule.split('{')[0]!.includes(selector));
    expect(rules.some((rule) => rule.includes('var(--good)'))).toBe(true);
    expect(rules.filter((rule) => rule.includes('var(--accent'))).toEqual([]);
  },
);
