import markdownIt from 'markdown-it';
import { describe, expect, test } from 'vitest';
import type { Check } from '../../src/model/check.ts';
import { createReport, firstBlocker, problemAtFile, type Report } from '../../src/model/problem.ts';
import {
  annotationsOf,
  blockersText,
  code,
  concludeChecks,
  mergeChecks,
  plain,
  checkTitle,
} from '../../src/sync/checks.ts';

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

test('of a ratchet say which findings reject, and that the others are known', () => {
  const finding = (rule: string, severity: 'error' | 'warning', known: boolean) =>
    ({ ...problemAtFile(rule, 'a.yaml', `About ${rule}.`, severity), ofRuleset: true as const, ...(known && { known: true as const }) });
  const gate = { ruleset: { name: 'r', digest: 'sha256:' as const }, blockOn: 'warn' as const };
  const problems = [finding('old-error', 'error', true), finding('new-warning', 'warning', false), finding('old-warning', 'warning', true)];
  const report: Report = { ...createReport(problems), blocking: 1, gate };
  expect(checkTitle(report, null)).toBe('1 new problem');
  expect(firstBlocker(report)?.rule).toBe('new-warning');
  expect(blockersText(report)).toBe('These reject it; 2 others are in the latest version, too, and do not:\n\n- `a.yaml:1` new-warning: About new-warning.');
  expect(annotationsOf(report).map(({ severity, rule, message }) => [severity, rule, message])).toEqual([
    ['warning', 'new-warning', 'About new-warning.'],
    ['warning', 'old-error', 'About old-error. It is in the latest version, too, and does not reject this one.'],
    ['warning', 'old-warning', 'About old-warning. It is in the latest version, too, and does not reject this one.'],
  ]);
  const plainReport = createReport([problemAtFile('a', 'a.yaml', 'A.')]);
  expect([checkTitle(plainReport, null), blockersText(plainReport)]).toEqual(['1 problem', '']);
}); // prettier-ignore
