import { expect, test } from 'vitest';
import { checkConfig } from '../../../src/config/load-config.ts';
import { shareCompiler } from '../shared-compiler.ts';

const { limits } = checkConfig({}, { base: '/', data: '/nowhere' });

test('pages of sites are rendered in the sandbox, in order, with their code in colours', async () => {
  const code = '```json\n{ "id": 1, "x": "</code><script>" }\n```\n\n```klingon\n<b>\n```\n';
  const pages = [
    { path: 'b.md', bytes: Buffer.from(code) },
    { path: 'a.md', bytes: Buffer.from('# Plain\n\nText') },
    { path: 'c.md', bytes: new Uint8Array([0xff]) },
  ];
  const made = await shareCompiler().renderPages(pages, limits);
  expect(made.map(({ path }) => path)).toEqual(['b.md', 'a.md', 'c.md']);
  const [html] = made[0]!.page!.content.html;
  expect(html).toContain('<span class="hn">1</span>');
  expect(html).toContain('&lt;/code&gt;&lt;script&gt;');
  expect(html).toContain('<pre data-language="klingon" tabindex="0"><code>&lt;b&gt;\n</code></pre>');
  expect(html).not.toMatch(/<script|style=/);
  expect(made[1]!.page!.facts.title).toBe('Plain');
  expect(made[2]).toMatchObject({ page: null, problems: [{ rule: 'encoding' }] });
});
