import markdownIt from 'markdown-it';
import { describe, expect, test } from 'vitest';
import type { Check } from '../../src/model/check.ts';
import { code, concludeChecks, mergeChecks, plain } from '../../src/sync/checks.ts';

const github = markdownIt({ html: true, linkify: true });

describe('text of documents in a check', () => {
  const hostile = [
    '[click](https://evil.example) https://evil.example/x www.evil.example mail a@evil.example',
    '<img src=x onerror=alert(1)> ![x](https://evil.example/pixel.png) &lt;b&gt;',
    '# heading',
    '- item',
    '---',
    '===',
    '+ item',
    '__bold__ _it_ a _b_ c',
    'see https://evil.example:80/a_b_c and ftp://evil.example',
    '1. item',
    '> quote',
    '```js',
    '| a | b |\n|---|---|',
    'a\n\n---\n\n# b',
    '**bold** _it_ ~~gone~~ `code`',
    '[x]: https://evil.example\n[x]',
    '\u0000\u0007\r\n\t    code',
  ];

  test.each(hostile)('has no effect as a sentence: %j', (text) => {
    expect(github.render(plain(text)).replace(/<\/?p>/g, '')).not.toMatch(/<[a-z]/i);
  });

  test.each([
    'GET /c was removed.',
    'Would be published as 1.1.0 (not 1.0.0), "as is".',
    'page_size: 10 to 50; 5% {less}?',
    'It’s read - mostly - as text = text',
  ])('is left as it is where Markdown reads nothing: %j', (text) => {
    expect(plain(text)).toBe(text);
  });

  test.each([
    ['#1 and @acme', '\\#\u200B1 and @\u200Bacme'],
    ['a $ref of :tada: in *b*', 'a \\$ref of \\:tada: in \\*b\\*'],
    ['/approve', '\\/approve'],
    ['::: mermaid', '\\::: mermaid'],
    ['See www.1a.com', 'See www\\.1a\\.com'],
  ])('is escaped where a host reads something: %j', (text, escaped) => {
    expect(plain(text)).toBe(escaped);
  });

  test.each(hostile)('cannot break out of code: %j', (text) => {
    expect(github.render(code(text))).toMatch(/^<p><code>[^<]*<\/code><\/p>\n$/);
  });
});

describe('several checks', () => {
  const check = (name: string, state: Check['state'], title: string): Check => {
    return { commit: 'c'.repeat(40), name, state, title, summary: title, annotations: [], url: null };
  };

  test('of one name are one, as bad as the worst', () => {
    const merged = mergeChecks([check('a', 'success', 'x'), check('a', 'failure', 'y'), check('b', 'success', 'z')]);
    expect(merged.map(({ name, state, title, summary }) => [name, state, title, summary])).toEqual([
      ['a', 'failure', 'y', 'y\n\nx'],
      ['b', 'success', 'z', 'z'],
    ]);
  });

  test('of a pull request end with one for the whole', () => {
    const whole = concludeChecks([check('stele', 'success', 'Nothing to publish')], 'c'.repeat(40));
    expect(whole).toMatchObject([{ name: 'stele', state: 'success', title: 'Nothing to publish' }]);
  });

  test('of a pull request count what waits for approval beside what is rejected', () => {
    const wholeOf = (...states: Check['state'][]) =>
      concludeChecks(
        states.map((state, at) => check(`stele @acme/apis/a${at}`, state, state)),
        'c'.repeat(40),
      ).at(-1);
    expect(wholeOf('success', 'waiting')).toMatchObject({ state: 'waiting', title: '1 waits for approval' });
    const both = { state: 'failure', title: '1 of 3 would be rejected, 1 waits for approval' };
    expect(wholeOf('success', 'waiting', 'failure')).toMatchObject(both);
  });
});
