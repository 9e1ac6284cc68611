import { expect, test } from 'vitest';
import { createLong } from '../../src/render/page.ts';
import { renderDocument } from '../../src/render/render.ts';
import { published } from './published.ts';

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

test('what is too long for a page has a line for each part, below its heading', () => {
  // 15 MB in a tag, then webhooks and schemas.
  const description = '**Many** words. '.repeat(3_700);
  const responses = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [String(200 + at), { description }]));
  const get = { tags: ['Long'], responses };
  const paths = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`/${at}`, { get }]));
  const { html, truncated } = renderDocument(
    published({
      openapi: '3.1.0',
      paths,
      webhooks: { done: { post: { responses: {} } } },
      components: { schemas: { Pet: { type: 'object' } } },
    }),
  )!;
  expect(truncated).toBe(true);
  expect(html.slice(html.indexOf('<h2 id="webhooks">')).replaceAll(/<(?!h[23]|\/h)[^>]*>/g, '')).toBe(
    '<h2 id="webhooks">Webhooks</h2><h3>POST done</h3>POST done<h2 id="schemas">Schemas</h2><h3>Pet</h3>',
  );
});
