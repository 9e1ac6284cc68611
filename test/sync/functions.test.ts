import { expect, test } from 'vitest';
import { createPulls } from '../../src/pulls/pulls.ts';
import { verify } from '../../src/registry/verify.ts';
import { follow } from '../../src/sync/follow.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { createWorld } from '../registry/world.ts';

const url = 'https://git.test/apis';
const year = 'export default (value) => (new Date().getUTCFullYear() !== value.year ? [{ message: "later" }] : [])';
const files = {
  'style.spectral.yaml':
    'x-title: style\nx-version: 1.0.0\nfunctions: [year]\nrules: {year: {given: $.info.x-since, severity: error, then: {function: year}}}\n',
  'functions/year.js': `${year};\n`,
};
const api = (version: string) =>
  `openapi: 3.1.0\ninfo: {title: Pay, version: ${version}, x-since: {year: 2025}}\npaths: {}\n`;

async function open(functions: string[]) {
  const world = createWorld({
    organizations: { one: { defaults: { ruleset: '@one/rulesets/style' } } },
    rulesets: { functions },
  });
  const registry = { ...world.registry, compiler: shareCompiler() };
  const settings = {
    url,
    branch: null,
    credential: null,
    discover: '',
    visibility: 'public',
    validation: 'strict',
  } as const;
  const id = await follow(registry, 'one', settings);
  const queue = createSyncQueue(registry, createPulls);
  return {
    registry,
    async push(more: Record<string, string>) {
      world.source.push(url, { ...files, ...more });
      return (await queue.request('one', id, 'manual')).done;
    },
  };
}

test('a ruleset with functions is published from its commit, checks documents, and both are derived again', async () => {
  const { registry, push } = await open(['one']);
  await push({});
  const run = await push({ 'pay.yaml': api('1.0.0') });
  const style = { org: 'one', type: 'rulesets', slug: 'style' } as const;
  const pay = { org: 'one', type: 'apis', slug: 'pay' } as const;
  // The date is the commit's, not today's.
  expect(run.documents.find(({ path }) => path === 'pay.yaml')).toMatchObject({ outcome: 'published' });
  for (const each of [style, pay])
    expect(await verify(registry, each, { kind: 'latest' })).toMatchObject({ outcome: 'same' });
});

test('a ruleset that is a module is found and published, or refused where code is off', async () => {
  const path = 'rules/.spectral.mjs';
  const module = { [path]: 'const base = `${"spectral"}:oas`;\nexport default { extends: [base] };\n' };
  const resource = '@one/rulesets/rules';
  const on = await (await open(['one'])).push(module);
  expect(on.documents).toContainEqual(expect.objectContaining({ path, resource, outcome: 'published' }));
  const off = await (await open([])).push(module);
  const refused = {
    path,
    resource,
    outcome: 'rejected',
    detail: expect.stringContaining('rulesets.functions') as string,
  };
  expect(off.documents).toContainEqual(expect.objectContaining(refused));
});

test('where they are off, the ruleset is refused', async () => {
  const { push } = await open([]);
  const { documents } = await push({});
  expect(documents).toMatchObject([{ outcome: 'rejected' }]);
});
