import container from 'markdown-it-container';
import type { MarkdownIt } from 'markdown-it';
import { escapeText } from '../../model/text/escape.ts';

/** Kinds of boxes, each with its usual title. `danger` and `warning` look alike. */
const kinds: Readonly<Record<string, string>> = {
  note: 'Note',
  info: 'Info',
  tip: 'Tip',
  important: 'Important',
  warning: 'Warning',
  caution: 'Caution',
  danger: 'Danger',
  details: 'Details',
};

/**
 * Boxes as `:::note Title` or `:::note[Title]` … `:::`, and as GitHub writes them: `> [!NOTE]`. Unknown kinds stay text.
 */
export function addAdmonitions(markdown: MarkdownIt): void {
  for (const kind of Object.keys(kinds)) {
    markdown.use(container, kind, {
      validate: (parameters: string) => parameters.trim().split(/[\s[]/, 1)[0] === kind,
      render(tokens: { nesting: number; info: string }[], at: number) {
        if (tokens[at]!.nesting < 0) return kind === 'details' ? '</details>\n' : '</div>\n';
        return opening(
          kind,
          tokens[at]!.info.trim()
            .slice(kind.length)
            .trim()
            .replace(/^\[(.*)\]$/, '$1'),
        );
      },
    });
  }
  // Its pieces are tabs (`groupCode`).
  markdown.use(container, 'code-group', {
    render: (tokens: { nesting: number }[], at: number) =>
      tokens[at]!.nesting < 0 ? '</div>\n' : '<div class="answers">\n',
  });
  markdown.core.ruler.before('inline', 'alerts', ({ tokens }) => {
    const open: (string | null)[] = [];
    for (const [at, token] of tokens.entries()) {
      if (token.type === 'blockquote_open') {
        const text = tokens[at + 1]?.type === 'paragraph_open' ? tokens[at + 2] : undefined;
        const [mark, name] = /^\[!([A-Za-z]+)\][ \t]*(?:\n|$)/.exec(text?.content ?? '') ?? [];
        const kind = name?.toLowerCase() ?? '';
        const isKnown = mark !== undefined && kind !== 'details' && Object.hasOwn(kinds, kind);
        open.push(isKnown ? kind : null);
        if (!isKnown) continue;
        text!.content = text!.content.slice(mark.length);
        Object.assign(token, { type: 'alert_open', tag: 'div', info: kind });
      } else if (token.type === 'blockquote_close' && (open.pop() ?? null) !== null) {
        Object.assign(token, { type: 'alert_close', tag: 'div' });
      }
    }
  });
  markdown.renderer.rules['alert_open'] = (tokens, at) => opening(tokens[at]!.info, '');
}

function opening(kind: string, title: string): string {
  if (kind === 'details') return `<details class="box"><summary>${escapeText(title || kinds[kind]!)}</summary>\n`;
  return `<div class="box ${kind}" role="note"><p class="box-title">${escapeText(title || kinds[kind]!)}</p>\n`;
}
