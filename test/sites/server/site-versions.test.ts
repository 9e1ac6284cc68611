import { afterAll, beforeAll, expect, test } from 'vitest';
import { openServed, type Served } from '../../server/served.ts';
import { deploy, handbook, writeSite } from './site-world.ts';

/** A site that keeps two versions of its documentation, each in a folder. */

let served: Served;
beforeAll(async () => {
  served = await openServed();
  const { registry } = served;
  await writeSite(
    registry,
    {
      'index.md': '# Welcome\n\nZebra.',
      'v1/index.md': '# First',
      'v1/charge.md': '# Charge once\n\nZebra.',
      'v2/index.md': '# Second',
      'v2/charge.md': '# Charge twice\n\nZebra.',
    },
    {
      versions: [
        { title: '2.x', folder: 'v2/' },
        { title: '1.x', folder: 'v1/' },
      ],
    },
  );
  await deploy(registry);
});
afterAll(() => served[Symbol.asyncDispose]());

async function read(path: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${served.port}/sites/acme/${handbook.slug}/${path}`, {
    headers: { accept: 'text/html' },
  });
  return answer.text();
}

const partOf = (html: string, open: RegExp, close: string) => {
  const from = html.search(open);
  return from < 0 ? '' : html.slice(from, html.indexOf(close, from));
};
const pagesIn = (html: string) =>
  [...partOf(html, /<nav class="side"/, '</nav>').matchAll(/<a [^>]*>([^<]*)/g)].map(([, title]) => title);

test('a page shows the pages of its version, and leads to no other by turning pages', async () => {
  expect(pagesIn(await read('v2/'))).toEqual(['Second', 'Charge twice']);
  expect(pagesIn(await read('v1/charge'))).toEqual(['First', 'Charge once']);
  expect(pagesIn(await read(''))).toEqual(['Welcome']);
  const turn = partOf(await read('v2/charge'), /<nav class="turn"/, '</nav>');
  expect(turn).toContain('Second');
  expect(turn).not.toContain('First');
});

test('one switches to the same page of another version', async () => {
  const versions = partOf(await read('v2/charge'), /<nav class="site-versions"/, '</nav>');
  expect(versions).toContain('href="/sites/acme/handbook/v1/charge"');
});

test('search finds the pages of the version that one reads, and lists have those of all', async () => {
  expect(await read('v1/charge')).toContain('<input type="hidden" name="in" value="v1/">');
  const found = async (query: string) =>
    [...partOf(await read(`?q=zebra${query}`), /<ol class="site-results"/, '</ol>').matchAll(/<a [^>]*>([^<]*)/g)].map(
      ([, title]) => title,
    );
  expect(await found('')).toEqual(['Welcome']);
  expect(await found('&in=v1/')).toEqual(['Charge once']);
  expect(await found('&in=v3/')).toEqual(['Welcome']);
  expect((await read('llms.txt')).match(/^- .*/gm)).toHaveLength(5);
});
