import { isObject } from '../model/json.ts';
import { createHash } from 'node:crypto';
import type { Digest } from '../model/digest.ts';

/**
 * The digest of a JSON value, with sorted members and without spaces (RFC 8785). Equal values have
 * equal digests. Not recursive, so any depth works.
 */
export function digestOfValue(value: unknown): Digest {
  const hash = createHash('sha256');
  let text = '';
  const stack: ({ text: string } | { value: unknown })[] = [{ value }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if ('text' in next) text += next.text;
    else if (Array.isArray(next.value)) {
      const items = next.value as unknown[];
      stack.push({ text: ']' });
      for (let at = items.length - 1; at >= 0; at--) stack.push({ value: items[at] }, { text: at === 0 ? '' : ',' });
      stack.push({ text: '[' });
    } else if (isObject(next.value)) {
      const members = Object.entries(next.value).sort(([a], [b]) => (a < b ? -1 : 1));
      stack.push({ text: '}' });
      for (let at = members.length - 1; at >= 0; at--) {
        const [name, member] = members[at]!;
        stack.push({ value: member }, { text: `${at === 0 ? '' : ','}${JSON.stringify(name)}:` });
      }
      stack.push({ text: '{' });
    } else text += JSON.stringify(next.value) ?? 'null';
    if (text.length > 65_536) {
      hash.update(text);
      text = '';
    }
  }
  return `sha256:${hash.update(text).digest('hex')}`;
}
