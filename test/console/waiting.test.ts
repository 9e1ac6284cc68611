import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatEvent } from '../../src/log.ts';
import { changeResource } from '../../src/registry/change-resource.ts';
import type { Log } from '../../src/registry/registry.ts';
import { createWorld } from '../registry/world.ts';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { unlimited } from '../server/v1/api.ts';
import { openConsole } from './harness.ts';

const url = 'https://github.com/acme/contracts';
const api = (version: string, ...paths: string[]) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Ledger', version },
    paths: Object.fromEntries(paths.map((path) => [path, { get: { responses: { 200: { description: 'OK.' } } } }])),
  });

const wrong = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Wrong', version: '1.0.0' },
  paths: { '/x': { $ref: 'gone.json' } },
});

/** A repository with one version that waits for approval, beside a document that is rejected. */
async function openWaiting() {
  const { registry, source } = createWorld(unlimited);
  source.push(url, { 'ledger.json': api('1.0.0', '/entries', '/accounts'), 'wrong.json': wrong });
  const logged: { event: string; fields: Record<string, unknown> }[] = [];
  const log: Log = (_, event, fields = {}) => void logged.push({ event, fields });
  const world = await openConsole({ ...registry, compiler: shareCompiler(), log });
  const person = await world.signIn();
  const typed = { '/repository': url, '/branch': '', '/path': '', '/visibility': 'public' };
  const followed = await person.send('/console/acme/repositories/new', typed);
  const run = followed.headers.get('location')!.replace(/\?.*/, '');
  await person.follow(run);
  const ledger = { org: 'acme', type: 'apis', slug: 'ledger' } as const;
  await changeResource(registry, ledger, { approval: 'required' }, { actor: 'operator:test', origin: null });
  source.push(url, { 'ledger.json': api('2.0.0', '/entries'), 'wrong.json': wrong });
  const repository = run.replace(/\/runs\/.*/, '');
  const synced = (await person.send(`${repository}/sync`)).headers.get('location')!;
  await person.follow(synced);
  return { world, person, logged, repository, synced };
}

let opened: Awaited<ReturnType<typeof openWaiting>>;
beforeAll(async () => void (opened = await openWaiting()));
afterAll(() => opened.world[Symbol.asyncDispose]());

test('what waits for approval has one word, tone and count, and leads to its approval', async () => {
  const { person, logged, repository, synced } = opened;
  const waits = /<a href="\/console\/acme\/approvals\/\w+"[^>]*>\s*<span class="tag wait">waits for approval<\/span>/;

  const overview = await person.get('/console/acme');
  expect(overview.text).toMatch(/<h2>Waits for approval<\/h2>/);
  expect(overview.text).toContain('<span class="tag wait">waits for approval</span>');
  expect(overview.text).toMatch(/href="\/console\/acme\/approvals\/\w+"[^>]*><code>@acme\/apis\/ledger@2\.0\.0/);
  expect(overview.text).toContain('href="/console/acme/apis/ledger">Its versions</a>');
  expect(overview.text).toContain('1 rejected document<');
  // The side menu counts both.
  expect(overview.text).toContain('aria-label="1 waits for approval">1<');
  expect(overview.text).toContain('aria-label="1 rejected">1<');

  const resource = await person.get('/console/acme/apis/ledger');
  expect(resource.text).toMatch(waits);
  expect(resource.text).not.toContain('>failed<');

  const run = await person.get(synced);
  expect(run.text).toContain('<h1>1 of 1 document waits for approval');
  expect(run.text).toMatch(waits);
  expect(run.text).not.toContain('approval-required');
  expect((await person.get(repository)).text).toContain('1 waits for approval');

  const line = logged.findLast(({ event }) => event === 'sync')!;
  expect(formatEvent('info', 'sync', line.fields)).toContain(
    '0 published, 1 waits for approval, 1 rejected, 2 followed',
  );
  const document = logged.findLast(({ event, fields }) => event === 'document' && fields['path'] === 'ledger.json')!;
  expect(formatEvent('info', 'document', document.fields)).toMatch(/^waits for approval @acme\/apis\/ledger/);
});

test('an approval says what it reaches, who may decide, and what becomes latest', async () => {
  const { person } = opened;
  const [at] = /\/console\/acme\/approvals\/\w+/.exec((await person.get('/console/acme')).text)!;
  const { text } = await person.get(at);
  expect(text).toContain('GET /accounts was removed.');
  expect(text).toMatch(/data-name="Reaches">\s*1 operation <span class="more">GET \/accounts/);
  expect(text).toContain('If approved, 2.0.0 becomes the latest version.');
  expect(text).toContain('The operator decides, with stele approvals approve.');
});

test('the check before publishing lists the breaks, also where they wait for approval', async () => {
  const { person } = opened;
  const path = '/console/acme/apis/ledger/publish';
  const { text } = await person.send(path, { '/document': api('3.0.0', '/entries'), '/latest': 'yes', do: 'check' });
  expect(text).toContain('waits for approval');
  expect(text).toMatch(/<span class="tag (?:bad|error)">breaking<\/span> GET \/accounts was removed\./);
});
