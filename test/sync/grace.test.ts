import { expect, test } from 'vitest';
import { createPulls } from '../../src/pulls/pulls.ts';
import { follow } from '../../src/sync/follow.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { createWorld } from '../registry/world.ts';

const url = 'https://git.test/acme/apis.git';
const day = 24 * 60 * 60 * 1000;

const api = (version: string, b: string | null = '') => `openapi: 3.1.0
info: { title: Pay, version: ${version} }
paths:
  /a: { get: { responses: { '200': { description: Done. } } } }
${b === null ? '' : `  /b: { get: { ${b} responses: { '200': { description: Done. } } } }\n`}`;
const ending = (sunset: string) => `deprecated: true, x-sunset: '${sunset}',`;

/** A repository of an organization with a grace of 90 days. The clock begins on 2026-01-01. */
function open() {
  const changes = { deprecation: { grace: '90d' } };
  const defaults = { compatibility: 'semver', visibility: 'public' } as const;
  const world = createWorld({ organizations: { acme: { changes, defaults } } });
  const { id, compile, compare, readSettings, detect } = shareCompiler();
  const registry = { ...world.registry, compiler: { ...world.compiler, id, compile, compare, readSettings, detect } };
  const state = { branch: null, credential: null, discover: '', visibility: 'public', validation: 'strict' } as const;
  const following = follow(registry, 'acme', { url, ...state });
  const queue = createSyncQueue(registry, createPulls);
  const push = async (text: string, committedAt?: string) => {
    world.source.push(url, { 'pay.yaml': text }, { ...(committedAt && { committedAt }) });
    const { documents } = await (await queue.request('acme', await following, 'manual')).done;
    return documents.map(({ outcome, label }) => `${outcome} ${label}`).join();
  };
  return { push, pass: (days: number) => world.pass(days * day) };
}

test('a sunset that lies before its publication is in the past, whatever day its commit says', async () => {
  const { push, pass } = open();
  expect(await push(api('1.0.0'))).toBe('published 1.0.0');
  pass(300);
  expect(await push(api('1.1.0', ending('2026-02-20')), '2026-01-02T12:00:00Z')).toMatch(/^rejected/);
});

test('a grace begins when a version that says the end is published, and other versions do not begin it again', async () => {
  const { push, pass } = open();
  expect(await push(api('1.0.0'))).toBe('published 1.0.0');
  pass(10);
  expect(await push(api('1.1.0', ending('2026-02-01')))).toBe('published 1.1.0');
  pass(100);
  expect(await push(api('1.1.1', `description: More, ${ending('2026-02-01')}`))).toBe('published 1.1.1');
  expect(await push(api('1.2.0', null))).toMatch(/^rejected/);
  pass(20);
  expect(await push(`${api('1.2.0', null)}# again\n`)).toBe('published 1.2.0');
});

test('an end in the past that a new major version says counts from its publication', async () => {
  const { push, pass } = open();
  expect(await push(api('1.0.0'))).toBe('published 1.0.0');
  pass(300);
  expect(await push(api('2.0.0', ending('2026-02-20')))).toBe('published 2.0.0');
  pass(89);
  expect(await push(api('2.1.0', null))).toMatch(/^rejected/);
  pass(1);
  expect(await push(`${api('2.1.0', null)}# again\n`)).toBe('published 2.1.0');
});
