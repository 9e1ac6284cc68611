import { expect, it } from 'vitest';
import { formatHtml, isSafeLink, joinHtml, markup, nothing, type Html } from '../../src/render/html.ts';

it('escapes what is no HTML, in text and in attributes, once', () => {
  const text = `<b> & "x" 'y'`;
  const part = markup`<p class="${text}">${text}${markup`<i>${text}</i>`}${[nothing, markup`!`]}${1}</p>`;
  expect(formatHtml(part)).toBe(
    `<p class="&lt;b&gt; &amp; &quot;x&quot; &#39;y&#39;">&lt;b&gt; &amp; "x" 'y'<i>&lt;b&gt; &amp; "x" 'y'</i>!1</p>`,
  );
  expect(formatHtml(joinHtml([markup`a`, markup`b`], markup`<br>`))).toBe('a<br>b');
  expect(formatHtml(markup`${'\0\uD800x\u{1F600}'}`)).toBe('\uFFFD\uFFFDx\u{1F600}');
});

it('leaves out the line breaks of a template, not those of a value', () => {
  expect(
    formatHtml(markup`<ul>
      <li>${'a\n  b'}</li>
    </ul>`),
  ).toBe('<ul><li>a\n  b</li></ul>');
});

it('lets nothing stand where it could mean more than text', () => {
  const x = 'x';
  expect(() => markup`<p ${x}>a</p>`).toThrow('in an unsafe position');
  expect(() => markup`<p class=${x}>a</p>`).toThrow('in an unsafe position');
  expect(() => markup`<${x}>`).toThrow('in an unsafe position');
  expect(() => markup`<p onclick="${x}">a</p>`).toThrow('in an unsafe position');
  expect(() => markup`<p style="color:${x}">a</p>`).toThrow('in an unsafe position');
  expect(() => markup`<img src="${x}">`).toThrow('in an unsafe position');
  expect(() => markup`<p class="${markup`x`}">a</p>`).toThrow('HTML stands in an attribute');
});

it('takes nothing that JSON can hold for HTML', () => {
  for (const value of [
    {},
    { text: '<b>' },
    { html: '<b>' },
    null,
    undefined,
    JSON.parse('{"Symbol(HTML text)": "<b>"}'),
  ])
    expect(() => markup`${value as unknown as Html}`).toThrow('The value is not HTML');
});

it('leads nowhere but to the web, to mailboxes and to places on the page', () => {
  for (const href of ['https://example.com', 'HTTP://example.com/a?b#c', 'mailto:a@example.com', '#a'])
    expect([href, isSafeLink(href), formatHtml(markup`<a href="${href}">x</a>`)]).toEqual([
      href,
      true,
      `<a href="${href}">x</a>`,
    ]);
  for (const href of [
    'javascript:alert(1)',
    ' https://a',
    'https:a',
    '//a',
    '/a',
    'a',
    '',
    'data:x',
    'https://a b',
    'java\nscript:x',
  ]) {
    expect([href, isSafeLink(href)]).toEqual([href, false]);
    expect(() => markup`<a href="${href}">x</a>`).toThrow('Unsafe link target');
  }
});
