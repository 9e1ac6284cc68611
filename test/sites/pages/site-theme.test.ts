import { expect, test } from 'vitest';
import { themeCss } from '../../../src/sites/pages/site-theme.ts';

const cssOf = (theme: object) =>
  themeCss({
    settings: { title: 'A', description: '', theme, navigation: null, redirects: {}, versions: [] },
    files: {},
  });
const inDark = (css: string) => /^:root\{--accent:light-dark\(#[0-9a-f]+,(#[0-9a-f]+)\)/.exec(css)?.[1];

test('an accent that is dark on dark pages is lightened there, unless the site says which colour', () => {
  expect(cssOf({ accent: '#0b6e4f' })).toMatch(
    /^:root\{--accent:light-dark\(#0b6e4f,#60a18d\);--accent-ink:light-dark\(#ffffff,#000000\);/,
  );
  // 5.5 to 1 on #151613, by hand: WCAG 2.
  expect(inDark(cssOf({ accent: '#0b6e4f' }))).toBe('#60a18d');
  expect(inDark(cssOf({ accent: '#ffcc00' }))).toBe('#ffcc00');
  expect(inDark(cssOf({ accent: '#000' }))).toBe('#999999');
  expect(inDark(cssOf({ accent: '#0b6e4f', accentDark: '#123456' }))).toBe('#123456');
  expect(cssOf({ accent: 'red;}' })).toBe('');
});
