import { expect, test } from 'vitest';
import { noteText } from '../../src/hosts/comments.ts';

test('a finding cannot write Markdown, commands or mentions into a comment', () => {
  const rule = 'rule/x`\n/approve\n/merge\n[a](https://evil.test) <b>';
  const message = 'see @acme/everyone and #12\n/close `x` <img src=x> [a](https://evil.test)';
  const text = noteText({ severity: 'error', rule, message, path: 'a.yaml', line: 1 } as never);
  expect(text).toMatch(/^\*\*error\*\* `[\w./-]+`: /);
  expect(text).not.toMatch(/\n|[^\\]<|@acme|#12|[^\\]\[a|`x`/);
  expect(text.split('`')).toHaveLength(5);
});
