import { expect, test } from 'vitest';
import { createLong } from '../../src/render/page.ts';

test('over its budget a page has short parts, and far over it none', () => {
  const long = createLong<string>(({ length }) => length, 10);
  const add = (whole: string, short?: string) => long.add(() => whole, short === undefined ? undefined : () => short);
  add('123456789', 'a');
  expect(long.isCut()).toBe(false);
  add('a single part may go over it', 'b');
  expect(long.isCut()).toBe(false);
  add('whole', 'c');
  expect([...long.parts, long.isCut()]).toEqual(['123456789', 'a single part may go over it', true]);

  const other = createLong<string>(({ length }) => length, 10);
  for (const short of ['1', '12', '123', undefined, '1234'])
    other.add(() => '1234567890', short === undefined ? undefined : () => short);
  expect(other.parts).toEqual(['1234567890', '12', '123']);
});
