import MarkdownIt from 'markdown-it';
import { createHeadingIds } from '../../sites/model/heading-id.ts';
import type { PageHeading } from '../../sites/model/source-page.ts';

/**
 * Renders the documentation's Markdown as HTML. `link` maps link targets. Heading ids match
 * GitHub's, so that links work there too.
 */
export function renderDoc(markdown: string, link: (href: string) => string): { html: string; headings: PageHeading[] } {
  const headings: PageHeading[] = [];
  const ids = createHeadingIds();
  const renderer = new MarkdownIt('default', { html: false, linkify: false });

  renderer.core.ruler.push('stele', ({ tokens }) => {
    for (const [at, token] of tokens.entries()) {
      if (token.type === 'heading_open') {
        const content = tokens[at + 1]!.children ?? [];
        const text = content.map((child) => child.content).join('');
        const id = ids.idOf(text);
        token.attrSet('id', id);
        headings.push({ id, text, level: Number(token.tag.slice(1)) });
      }
      for (const child of token.children ?? [])
        if (child.type === 'link_open') child.attrSet('href', link(String(child.attrGet('href'))));
    }
  });
  const { rules } = renderer.renderer;
  rules['heading_open'] = (tokens, at) =>
    `<${tokens[at]!.tag} id="${tokens[at]!.attrGet('id')}"><a href="#${tokens[at]!.attrGet('id')}">`;
  rules['heading_close'] = (tokens, at) => `</a></${tokens[at]!.tag}>\n`;
  // The default is a style attribute, which the pages' Content-Security-Policy blocks.
  for (const name of ['th_open', 'td_open'])
    rules[name] = (tokens, at) => (tokens[at]!.tag === 'th' ? '<th scope="col">' : '<td>');
  for (const name of ['fence', 'code_block'])
    rules[name] = (tokens, at) => `<pre><code>${renderer.utils.escapeHtml(tokens[at]!.content)}</code></pre>\n`;
  return { html: renderer.render(markdown), headings };
}
