import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Rendered } from '../../../src/compile/sandboxes.ts';
import { digestOf } from '../../../src/model/digest.ts';
import { partItems } from '../../../src/site/build/build-items.ts';
import { ask } from '../http.ts';
import { deploy, writeSite } from '../../sites/server/site-world.ts';
import { openServed, type Served } from '../served.ts';

/** The pages of a long document, which is short here: the renderer says where its parts are. */

const one =
  '<h2 id="tag/a"><a href="#tag/a">A</a></h2><section class="operation" id="operation/x"><a href="#schema/S">S</a></section>';
const two =
  '<h2 id="schemas">Schemas</h2><section class="schema" id="schema/S"><a href="#operation/x">x</a> <a href="#intro">i</a></section>';
const start = '<div class="reference">';
const rendered: Rendered = {
  html: `${start}${one}${two}</div>`,
  navigation:
    '<ul class="nav"><li><details><summary>A</summary><ul><li><a href="#operation/x">X</a></li></ul></details></li><li><a href="#schema/S">S</a></li></ul>',
  markdown: 'All of it',
  truncated: false,
  pages: {
    overview:
      '<div class="reference"><ul class="index"><li id="operation/x"><a href="#operation/x">X</a></li></ul></div>',
    parts: [
      {
        name: 'a',
        title: 'A & B',
        from: start.length,
        to: start.length + one.length,
        anchors: ['tag/a', 'operation/x'],
      },
      {
        name: 'schemas',
        title: 'Schemas',
        from: start.length + one.length,
        to: start.length + one.length + two.length,
        anchors: ['schemas', 'schema/S'],
      },
    ],
  },
};

const operationX = {
  id: 'x',
  method: 'GET',
  path: '/x',
  summary: '',
  tags: [],
  parameters: [],
  deprecated: false,
  digest: digestOf('x'),
};
const emptyOutline = {
  title: 'Pay',
  description: '',
  truncated: false,
  servers: [],
  operations: [],
  schemas: [],
  tags: [],
  rules: [],
};

const pay = '/@acme/apis/pay';
const pinned = `${pay}@1.1.0`;
let served: Served;
beforeAll(async () => {
  served = await openServed();
  served.registry.compiler.render = async () => rendered;
});
afterAll(() => served[Symbol.asyncDispose]());

const get = async (target: string) => ask(served.port, { target, headers: [['Accept', 'text/html']] });
const text = async (target: string) => (await get(target)).body.toString();

test('the page of a long document is an overview, whose links lead to its parts', async () => {
  const page = await text(pay);
  expect(page).toContain(`<li id="operation/x"><a href="${pinned}/part-a#operation/x">X</a>`);
  expect(page).toContain(`<a href="${pinned}/part-schemas#schema/S">S</a>`);
  expect(page).toContain(`<a href="${pinned}/part-whole">`);
  expect(page).not.toContain('class="operation"');
});

test('a part has its operations, and links to those of other parts and to the overview', async () => {
  const page = await text(`${pinned}/part-schemas`);
  expect(page).toContain('<h1>Schemas ');
  expect(page).toContain(`<a href="${pinned}/part-a#operation/x">x</a> <a href="${pinned}#intro">i</a>`);
  expect(page).toContain('<a href="#schema/S">S</a>');
  expect(page).toContain(`<a rel="prev" href="${pinned}/part-a">A &amp; B</a>`);
  expect(page).not.toContain('id="operation/x"');
  expect(page).toContain('<details><summary>A</summary>');
  expect(await text(`${pinned}/part-a`)).toContain('<details open><summary>A</summary>');
});

test('the whole is one page, whose links stay on it', async () => {
  const page = await text(`${pay}/part-whole`);
  expect(page).toContain(rendered.html);
  expect(page).not.toMatch(/href="[^"]*part-(?:a|schemas)#/);
});

test('a part that is not there is absent, of a long document and of a short one', async () => {
  expect((await get(`${pay}/part-b`)).status).toBe(404);
  served.registry.compiler.render = async () => ({ ...rendered, pages: null });
  await served.registry.cache.clear();
  expect((await get('/@acme/schemas/order/part-whole')).status).toBe(404);
  served.registry.compiler.render = async () => rendered;
  await served.registry.cache.clear();
});

test('a site shows the overview of a long document, whose links lead to the registry, and any operation of it', async () => {
  served.registry.compiler.outline = async () => ({ ...emptyOutline, operations: [operationX] });
  await writeSite(served.registry, {
    'index.md': `::reference ${pay.slice(1)}`,
    'one.md': `::operation ${pay.slice(1)} GET /x`,
  });
  await deploy(served.registry);
  const whole = await text('/sites/acme/handbook/');
  expect(whole).toContain(`<li id="operation/x"><a href="${pinned}/part-a#operation/x">X</a>`);
  expect(whole).toContain(`<a href="${pinned}/part-schemas#schema/S">S</a>`);
  const operation = await text('/sites/acme/handbook/one');
  expect(operation).toContain(`id="operation/x"><a href="${pinned}#schema/S">S</a></section>`);
});

test('a part that is no longer kept is made again, the same', async () => {
  const before = await get(`${pinned}/part-a`);
  await served.registry.cache.clear();
  const after = await get(`${pinned}/part-a`);
  expect(after.body.equals(before.body)).toBe(true);
  expect(after.headers.get('content-location')).toBe(`${pinned}/part-a`);
});

test('the Markdown of a long document is all of it', async () => {
  await served.registry.cache.clear();
  for (const made of ['at first', 'from what is kept'])
    expect((await ask(served.port, { target: `${pay}/index.md` })).body.toString(), made).toContain('All of it');
});

test('a static build has a file for each part that the page links to', async () => {
  const items = partItems(`${pinned}/index.html`, await text(pay));
  expect(items.map(({ ask: path, file }) => [path, file])).toEqual(
    ['part-a', 'part-schemas', 'part-whole'].map((name) => [
      `${pinned}/${name}`,
      `${pinned.slice(1)}/${name}/index.html`,
    ]),
  );
});
