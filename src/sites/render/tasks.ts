import type { MarkdownIt } from 'markdown-it';

/** List items that begin with `[ ]` or `[x]` get a box that shows whether they are done. */
export function addTasks(markdown: MarkdownIt): void {
  markdown.core.ruler.push('tasks', ({ tokens, Token }) => {
    for (const [at, token] of tokens.entries()) {
      if (token.type !== 'inline' || tokens[at - 2]?.type !== 'list_item_open') continue;
      const first = token.children?.[0];
      const [mark, state] = /^\[([ xX])\][ \t]+/.exec(first?.type === 'text' ? first.content : '') ?? [];
      if (mark === undefined) continue;
      first!.content = first!.content.slice(mark.length);
      const box = new Token('task', 'input', 0);
      box.meta = { isDone: state !== ' ' };
      token.children!.unshift(box);
      tokens[at - 2]!.attrJoin('class', 'task');
    }
  });
  markdown.renderer.rules['task'] = (tokens, at) => {
    const { isDone } = tokens[at]!.meta as { isDone: boolean };
    return `<input type="checkbox" disabled${isDone ? ' checked' : ''} aria-label="${isDone ? 'done' : 'to do'}"> `;
  };
}
