import { expect, test } from 'vitest';
import { checkConfig } from '../../src/config/load-config.ts';
import { digestOf } from '../../src/model/digest.ts';
import { newResource } from '../../src/registry/change-resource.ts';
import { outlineDocument } from '../../src/render/render.ts';
import { openShards } from '../../src/search/ranking/shards.js';
import { parseQuery } from '../../src/search/ranking/words.js';
import { createSearchIndex } from '../../src/search/search-index.ts';
import { createLinks } from '../../src/site/links.ts';
import { searchShards } from '../../src/site/search-shards.ts';

const registry = { config: checkConfig({}, { base: '/', data: '/' }), now: () => new Date(0) };

type Operations = Record<string, [id: string | null, summary: string]>;

/** Small parts of real APIs, and what they are easily confused with. */
const apis: Record<string, { title: string; operations: Operations; schemas?: Record<string, string[]> }> = {
  github: {
    title: 'GitHub',
    operations: {
      'POST /orgs/{org}/issue-fields': ['orgs/create-issue-field', 'Create issue field for an organization'],
      'POST /orgs/{org}/issue-types': ['orgs/create-issue-type', 'Create issue type for an organization'],
      'GET /repos/{owner}/{repo}/issues': ['issues/list-for-repo', 'List repository issues'],
      'POST /repos/{owner}/{repo}/issues': ['issues/create', 'Create an issue'],
      'POST /repos/{owner}/{repo}/issues/{issue_number}/comments': ['issues/create-comment', 'Create an issue comment'],
      'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge': ['pulls/merge', 'Merge a pull request'],
      'GET /users/{username}/repos': ['repos/list-for-user', 'List repositories for a user'],
    },
    schemas: { issue: ['id', 'title', 'body', 'assignee'], 'minimal-repository': ['id', 'full_name'] },
  },
  asana: {
    title: 'Asana',
    operations: {
      'DELETE /tasks/{task_gid}': ['deleteTask', 'Delete a task'],
      'DELETE /task_templates/{task_template_gid}': ['deleteTaskTemplate', 'Delete a task template'],
      'POST /tasks/{task_gid}/addTag': ['addTagForTask', 'Add a tag to a task'],
    },
    schemas: { TaskResponse: ['gid', 'due_on', 'assignee'] },
  },
  wordnik: {
    title: 'Wordnik',
    operations: {
      'GET /word.json/{word}/scrabbleScore': ['getScrabbleScore', 'Returns the Scrabble score for a word'],
      'GET /words.json/wordOfTheDay': ['getWordOfTheDay', 'Returns a specific WordOfTheDay'],
    },
  },
  freee: { title: 'freee請求書 API', operations: { 'PUT /invoices/{id}/cancel': ['invoices/cancel', '請求書の取消'] } },
};

type Apis = typeof apis;

function indexOf(given: Apis) {
  const index = createSearchIndex();
  for (const [slug, { title, operations, schemas = {} }] of Object.entries(given)) {
    const paths: Record<string, Record<string, object>> = {};
    for (const [name, [operationId, summary]] of Object.entries(operations)) {
      const [method, path] = name.split(' ') as [string, string];
      (paths[path] ??= {})[method.toLowerCase()] = { operationId, summary };
    }
    const components = Object.entries(schemas).map(([name, properties]) => [
      name,
      { properties: Object.fromEntries(properties.map((property) => [property, {}])) },
    ]);
    const document = { info: { title }, paths, components: { schemas: Object.fromEntries(components) } };
    const outline = outlineDocument({ kind: 'openapi', json: Buffer.from(JSON.stringify(document)) });
    const resource = newResource(registry, { org: 'acme', type: 'apis', slug }, { name: slug, visibility: 'public' });
    index.set(`resources/acme/apis/${slug}`, { ...resource, latest: '1.0.0' }, outline, digestOf(slug));
  }
  return index;
}

function filesOf(index: ReturnType<typeof indexOf>) {
  const site = { links: createLinks('https://contracts.test/base') };
  return searchShards(
    site,
    index.entries().map(([, each]) => each),
  );
}

const index = indexOf(apis);
const files = filesOf(index);

function openCounted() {
  const read: string[] = [];
  const shards = openShards(async (path) => {
    read.push(path);
    return JSON.parse(files.find(path)!);
  });
  return { shards, read };
}

test.each([
  ['create issue', 'POST /repos/{owner}/{repo}/issues'],
  ['POST /repos/{owner}/{repo}/issues/', 'POST /repos/{owner}/{repo}/issues'],
  ['/repos/{owner}/{repo}/issues', 'GET /repos/{owner}/{repo}/issues'],
  ['ISSUES/CREATE', 'POST /repos/{owner}/{repo}/issues'],
  ['merge pull request', 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge'],
  ['repos/list-for-user', 'GET /users/{username}/repos'],
  ['minimal-repository', 'minimal-repository'],
  ['deletetask', 'DELETE /tasks/{task_gid}'],
  ['delete task', 'DELETE /tasks/{task_gid}'],
  ['asana add tag', 'POST /tasks/{task_gid}/addTag'],
  ['due', 'TaskResponse.due_on'],
  ['TaskResponse.assignee', 'TaskResponse.assignee'],
  ['scrable score', 'GET /word.json/{word}/scrabbleScore'],
  ['csrabble', 'GET /word.json/{word}/scrabbleScore'],
  ['word of the day', 'GET /words.json/wordOfTheDay'],
  ['請求書の取消', 'PUT /invoices/{id}/cancel'],
  ['org:acme type:api cancel', 'PUT /invoices/{id}/cancel'],
  ['org:other cancel', undefined],
  ['nothinglikeit', undefined],
  ['{}', undefined],
])('%s finds %s first, on a server and on a static host', async (text, wanted) => {
  const [first] = (await (await openCounted().shards.search(text)).hits(0, 3)).filter(({ item }) => item !== null);
  expect(first?.item?.name).toBe(wanted);
  const query = parseQuery(text);
  const { found } = index.find(query, ({ coordinate }) => query.org === null || coordinate.org === query.org);
  expect(found[0]?.matches()[0]?.name).toBe(wanted);
});

test('the answer names what was taken instead of a word that occurs nowhere', async () => {
  const { shards } = openCounted();
  expect((await shards.search('scrable score')).instead).toBe('scrabble score');
  expect((await shards.search('issue')).instead).toBe(null);
  expect(index.find(parseQuery('org:acme scrable'), () => true).instead).toBe('scrabble org:acme');
  expect(index.find(parseQuery('scrable'), ({ coordinate }) => coordinate.slug !== 'wordnik').instead).toBe(null);
});

test('an answer loads the files of its words and of its hits, and the next one only what is new', async () => {
  const { shards, read } = openCounted();
  await (await shards.search('create issue')).hits(0, 10);
  const first = read.length;
  expect(first).toBeLessThan(10);
  expect(new Set(read).size).toBe(first);
  await (await shards.search('create issue')).hits(0, 10);
  expect(read.length).toBe(first);
});

test('a changed summary changes the files of its words and its own, and no others', () => {
  const changed = { 'GET /words.json/wordOfTheDay': ['getWordOfTheDay', 'Returns a zebra'] } satisfies Operations;
  const operations = { ...apis['wordnik']!.operations, ...changed };
  const after = filesOf(indexOf({ ...apis, wordnik: { title: 'Wordnik', operations } }));
  const touched = after.paths().filter((path) => after.find(path) !== files.find(path));
  expect(touched).toEqual(expect.arrayContaining(['index.json', 'terms/ze.json', 'records/3-0.json']));
  expect(touched.length).toBeLessThan(8);
});
