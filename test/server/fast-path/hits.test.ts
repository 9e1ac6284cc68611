import { readdirSync, readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandboxes } from '../../../src/compile/sandboxes.ts';
import { digestOf } from '../../../src/model/digest.ts';
import { createReport } from '../../../src/model/problem.ts';
import { changeOrganization } from '../../../src/registry/gate/organization-settings.ts';
import { createAnswerCache, type AnswerCache } from '../../../src/registry/answer-cache.ts';
import type { Reads } from '../../../src/store/log/reads.ts';
import { createKey, revokeKey } from '../../../src/registry/keys/keys.ts';
import { createApp } from '../../../src/server/app.ts';
import { listen, type App, type Listening } from '../../../src/server/listen.ts';
import { createRefs, type Refs } from '../../../src/store/refs.ts';
import { createClock, createIds } from '../../contract/refs.ts';
import { anonymise, type Answer, type Ask } from '../http.ts';
import { openConnection, type Connection } from './connection.ts';
import { changeResource, createTestQueue, publishVersion, setStatus, type TestRegistry } from '../registry.ts';
import { openServed, type Served } from '../served.ts';
import { fillStep, parseScript } from '../script.ts';

const author = { actor: 'operator:test', origin: null };
const clock = createClock();
let world: Served;
let registry: TestRegistry;
/** The same application, which may answer at once, and which may not. */
let [early, usual]: [Listening | null, Listening | null] = [null, null];
let connections: { early: Connection; usual: Connection };
let hits = 0;
/** What was read for each answer, by the first word of its key. */
const readFor = new Map<string, Reads>();

/** Answers of which it is noted what they were made of. */
function watched(answers: AnswerCache, refs: Refs): AnswerCache {
  return {
    ...answers,
    async answer(key, make, bytesOf) {
      const reads: Reads = new Map();
      const answer = await answers.noting(reads, () => answers.answer(key, make, bytesOf));
      readFor.set(key.split(' ')[0]!, reads);
      refs.noteAll(reads);
      return answer;
    },
    scope: (other) => watched(answers.scope(other), refs),
  };
}

beforeAll(async () => {
  world = await openServed({ rateLimit: { failures: 10_000 }, sites: { hosts: { 'docs.test': '@acme/sites/none' } } });
  // Time stands still, so that what was read stays at hand.
  const refs = createRefs(world.registry.bucket, { ...clock, uniqueId: createIds('hits'), maxAge: 500 });
  registry = { ...world.registry, refs, answers: watched(createAnswerCache(refs), refs), monotonic: clock.monotonic };
  registry.compiler.render = async () => ({
    html: '<p>All of it</p>',
    navigation: '',
    markdown: 'All of it',
    truncated: false,
    pages: null,
  });
  const app = createApp({
    registry,
    queue: createTestQueue(registry),
    url: 'http://registry.test',
    isReady: () => true,
  });
  const counted: App = Object.assign(((request, response) => app(request, response)) satisfies RequestListener, {
    early: ((request, socket) => {
      const isHit = app.early!(request, socket);
      hits += Number(isHit);
      return isHit;
    }) satisfies App['early'],
  });
  const local = { host: '127.0.0.1', port: 0 };
  early = await listen(counted, local);
  usual = await listen((request, response) => app(request, response), local);
  connections = { early: await openConnection(early.port), usual: await openConnection(usual.port) };
});
afterAll(async () => {
  connections.early.close();
  connections.usual.close();
  await Promise.all([early?.close(0), usual?.close(0), world[Symbol.asyncDispose]()]);
});

/**
 * The response of the usual way, and those to the same request where it may be answered at once: before it, from what
 * was kept until now, and after it. Both ways keep what they send in the same place.
 */
async function askBoth(asked: Ask): Promise<{ whole: string; hits: number; answer: Answer }> {
  const kept = anonymise(await connections.early.ask(asked));
  const expected = anonymise(await connections.usual.ask(asked));
  const before = hits;
  const answer = await connections.early.ask(asked);
  const whole = anonymise(answer);
  expect(kept, JSON.stringify(asked)).toBe(expected);
  expect(whole, JSON.stringify(asked)).toBe(expected);
  return { whole, hits: hits - before, answer };
}

const key = (name: string): [string, string] => ['Authorization', `Bearer ${world.values[name]!}`];

test('at the host name of a site, nothing of the registry is answered early', async () => {
  const at = (host: string) => ({ target: '/@acme/apis/pay@1.0.0.json', headers: [['Host', host]] as const });
  for (let turn = 0; turn < 2; turn++) expect((await connections.early.ask(at('registry.test'))).status).toBe(200);
  const before = hits;
  expect((await connections.early.ask(at('registry.test'))).status).toBe(200);
  expect(hits).toBe(before + 1);
  for (const host of ['docs.test', 'DOCS.test', 'docs.test:80', 'docs.test.'])
    expect((await connections.early.ask(at(host))).status).toBe(404);
  expect(hits).toBe(before + 1);
});

describe('an answer at once is the usual one, byte by byte', () => {
  const targets = [
    '/@acme/apis/pay',
    '/@acme/apis/pay.yaml',
    '/@acme/apis/pay?format=yaml',
    '/@acme/apis/pay@1.1.0',
    '/%40acme/apis/pay@1.1.0.json',
    '/@acme/apis/pay@1.0.1',
    '/@acme/apis/pay@1.0.2',
    '/@acme/schemas/order',
    '/@acme/rulesets/style@1.0.0',
    '/@acme/apis/secret@1.0.0',
  ];
  const accepts = [null, '*/*', 'application/yaml', 'application/openapi+json;q=0.5, text/yaml'];
  const codings = [null, 'br', 'gzip, zstd', 'identity'];

  test.each(targets)('%s, in every format and coding, whole and conditional', async (target) => {
    const credentials = target.includes('secret') ? [[key('acme')], [key('narrow')], []] : [[], [key('acme')]];
    for (const credential of credentials)
      for (const accept of accepts)
        for (const coding of codings) {
          const headers: [string, string][] = [...credential];
          if (accept !== null) headers.push(['Accept', accept]);
          if (coding !== null) headers.push(['Accept-Encoding', coding]);
          const { answer, hits: first } = await askBoth({ target, headers });
          expect(first).toBe(answer.status === 200 ? 1 : 0);
          if (answer.status !== 200) continue;
          const tag = answer.headers.get('etag')!;
          expect((await askBoth({ target, headers, method: 'HEAD' })).hits).toBe(1);
          const current = await askBoth({ target, headers: [...headers, ['If-None-Match', tag]] });
          expect([current.answer.status, current.hits]).toEqual([304, 1]);
        }
  });

  const pages = [
    '/@acme',
    '/@acme/apis',
    '/@acme?limit=2',
    '/@acme/apis/pay',
    '/@acme/apis/pay@1.1.0',
    '/@acme/apis/pay/index.html',
    '/@acme/apis/pay@1.1.0/index.md',
    '/@acme/apis/pay@1?format=yaml',
  ];

  test.each(pages)('%s, a page, a list or a redirect, whole and conditional', async (target) => {
    for (const accept of ['text/html', '*/*'])
      for (const coding of ['br', 'gzip', null]) {
        const headers: [string, string][] = [
          ['Accept', accept],
          ...(coding ? [['Accept-Encoding', coding] as [string, string]] : []),
        ];
        const { answer, hits: first } = await askBoth({ target, headers });
        expect([answer.status, first]).toEqual([target.includes('pay@1?') ? 307 : 200, 1]);
        expect((await askBoth({ target, headers, method: 'HEAD' })).hits).toBe(1);
        for (const tag of [answer.headers.get('etag') ?? '*', '"other"'])
          expect((await askBoth({ target, headers: [...headers, ['If-None-Match', tag]] })).hits).toBe(1);
        for (const more of [key('acme'), ['Cookie', 'session=x'] as [string, string]])
          expect(await askBoth({ target, headers: [...headers, more] })).toBeDefined();
      }
  });

  test('whatever the conditions and ranges are', async () => {
    const { answer } = await askBoth({ target: '/@acme/apis/pay@1.1.0' });
    const tag = answer.headers.get('etag')!;
    const fields: [string, string][] = [
      ...[tag, `W/${tag}`, `"a", ${tag}`, '*', '"other"', '', 'garbage'].map((tags): [string, string] => [
        'If-None-Match',
        tags,
      ]),
      ...[tag, '"other"', '*'].map((tags): [string, string] => ['If-Match', tags]),
      ...['bytes=0-9', 'bytes=-5', 'bytes=5-', 'bytes=99999-', 'bytes=0-1,3-4', 'lines=1-2'].map(
        (range): [string, string] => ['Range', range],
      ),
      ['If-Range', tag],
      ['Cookie', 'session=x'],
      ['Accept', ''],
      ['Accept-Encoding', ''],
      ['Authorization', 'Bearer nonsense'],
      ['Authorization', 'Basic !'],
      ['X-Other', 'field'],
    ];
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST'])
      for (const [index, field] of fields.entries())
        for (const more of [[], [fields[(index + 8) % fields.length]!], [field]])
          expect(await askBoth({ method, target: '/@acme/apis/pay@1.1.0', headers: [field, ...more] })).toBeDefined();
  });

  test.each(readdirSync(new URL('../read/scripts/', import.meta.url)))('whatever %s asks', async (name) => {
    const text = readFileSync(new URL(`../read/scripts/${name}`, import.meta.url), 'utf8');
    for (const step of parseScript(text)) expect(await askBoth(fillStep(step, world.values))).toBeDefined();
  });

  test('to requests that are sent in one piece, in their order', async () => {
    const asked = ['/@acme/apis/pay@1.1.0', '/@acme/apis/nothing', '/@acme/apis/pay', '/@acme', '/@acme/apis/pay.yaml'];
    for (const target of asked) await askBoth({ target });
    const many = [...asked, ...asked, ...asked].map((target) => ({ target }));
    const expected = (await connections.usual.askAll(many)).map(anonymise);
    expect((await connections.early.askAll(many)).map(anonymise)).toEqual(expected);
  });
});

test('a publish of another resource drops lists, and neither the page nor the document of this one', async () => {
  const [page, list] = [
    { target: '/@acme/apis/still', headers: [['Accept', 'text/html']] as const },
    { target: '/@acme', headers: [['Accept', 'text/html']] as const },
  ];
  const asked: Ask[] = [page, { target: '/@acme/apis/still.json' }, { ...page, target: '/@acme/apis/still@1' }, list];
  const atOnce = async () => {
    const before = hits;
    for (const each of asked) await connections.early.ask(each);
    return hits - before;
  };
  await publishVersion(registry, '@acme/apis/still', '1.0.0');
  await atOnce();
  expect(await atOnce()).toBe(4);
  await publishVersion(registry, '@acme/apis/other', '1.0.0');
  expect(await atOnce()).toBe(3);
  await setStatus(registry, '@acme/apis/still', '1.0.0', { state: 'yanked', reason: 'x', since: '2026-01-01' });
  expect(await atOnce()).toBe(0);
});

test('each answer that records are in read them itself', async () => {
  const asBrowser = [['Accept', 'text/html']] as const;
  for (const target of ['/', '/@acme', '/@acme/graph', '/@acme/apis/pay/dependants'])
    expect((await connections.usual.ask({ target, headers: asBrowser })).status, target).toBe(200);
  const ofRecords = ['home', 'list', 'uses', 'living', 'public', 'organizations'];
  expect(ofRecords.filter((name) => (readFor.get(name)?.size ?? 0) === 0)).toEqual([]);
  const ofTheirKeys = ['page', 'document'];
  expect([...readFor.keys()].sort()).toEqual([...ofRecords, ...ofTheirKeys].sort());
});

describe('an answer at once is never an old one', () => {
  test('after a publish, a change of a status, or a deprecation', async () => {
    const target = '/@acme/apis/moving';
    const versionNow = async () => (await askBoth({ target })).answer.headers.get('content-location');
    await publishVersion(registry, '@acme/apis/moving', '1.0.0');
    expect(await versionNow()).toBe(`${target}@1.0.0`);
    await publishVersion(registry, '@acme/apis/moving', '1.1.0');
    expect(await versionNow()).toBe(`${target}@1.1.0`);
    await setStatus(registry, '@acme/apis/moving', '1.1.0', {
      state: 'withdrawn',
      reason: 'wrong',
      since: '2026-01-01',
    });
    expect(await versionNow()).toBe(`${target}@1.0.0`);
    expect((await askBoth({ target: `${target}@1.1.0` })).answer.status).toBe(410);
  });

  test('of a list or a page, after a publish, and when the ruleset of a page turns private', async () => {
    const asBrowser = [['Accept', 'text/html']] as const;
    const [page, list, ruleset] = ['/@acme/apis/paged', '/@acme', '@acme/rulesets/shown'];
    await publishVersion(registry, ruleset, '1.0.0');
    await publishVersion(registry, '@acme/apis/paged', '1.0.0');
    await changeResource(registry, '@acme/apis/paged', (resource) => ({ ...resource, ruleset }));
    const seen = async (target: string) => {
      const { answer, hits: hit } = await askBoth({ target, headers: asBrowser });
      expect(hit).toBe(1);
      return answer.body.toString();
    };
    expect(await seen(page)).toContain(ruleset);
    expect(await seen(list)).toContain(ruleset);
    await changeResource(registry, ruleset, (resource) => ({ ...resource, visibility: 'private' }));
    expect(await seen(page)).not.toContain(ruleset);
    expect(await seen(list)).not.toContain(ruleset);
    await publishVersion(registry, '@acme/apis/paged', '2.0.0');
    expect(await seen(list)).toContain('paged@2.0.0');
    expect(await seen(page)).toContain('paged@2.0.0');
  });

  test('of a page, when the ruleset of another organization turns private', async () => {
    const [name, ruleset] = ['apis/guest', '@hidden/rulesets/host'];
    await publishVersion(registry, ruleset, '1.0.0');
    await publishVersion(registry, `@acme/${name}`, '1.0.0');
    await changeResource(registry, `@acme/${name}`, (resource) => ({ ...resource, ruleset }));
    const seen = async () => {
      const { answer, hits: hit } = await askBoth({ target: `/@acme/${name}`, headers: [['Accept', 'text/html']] });
      expect(hit).toBe(1);
      return answer.body.toString().includes(ruleset);
    };
    expect(await seen()).toBe(true);
    await changeResource(registry, ruleset, (resource) => ({ ...resource, visibility: 'private' }));
    expect(await seen()).toBe(false);
  });

  test('of a page, when its organization names a default ruleset, or that one turns private', async () => {
    const ruleset = '@acme/rulesets/usual';
    await publishVersion(registry, ruleset, '1.0.0');
    await publishVersion(registry, '@acme/apis/inheriting', '1.0.0');
    await publishVersion(registry, '@acme/schemas/free', '1.0.0');
    const seen = async (name: string) => {
      const { answer, hits: hit } = await askBoth({ target: `/@acme/${name}`, headers: [['Accept', 'text/html']] });
      expect(hit).toBe(1);
      return answer.body.toString().includes(ruleset);
    };
    const both = async () => [await seen('apis/inheriting'), await seen('schemas/free')];
    expect(await both()).toEqual([false, false]);
    await changeOrganization(registry, 'acme', { ruleset }, author);
    expect(await both()).toEqual([true, false]);
    await changeResource(registry, ruleset, (resource) => ({ ...resource, visibility: 'private' }));
    expect(await both()).toEqual([false, false]);
    await changeOrganization(registry, 'acme', { ruleset: null }, author);
    expect(await both()).toEqual([false, false]);
  });

  test('of a page, when the ruleset that made its findings turns private', async () => {
    const [name, ruleset] = ['apis/judged', '@acme/rulesets/judge'];
    await publishVersion(registry, ruleset, '1.0.0');
    const { compiler } = registry;
    const compile: Sandboxes['compile'] = async (...given) => {
      const made = await compiler.compile(...given);
      const problems = made.report.problems.map((problem) => ({ ...problem, ofRuleset: true as const }));
      const gate = { ruleset: { name: ruleset, digest: digestOf('judge') }, blockOn: 'none' as const };
      return { ...made, report: { ...createReport(problems), gate } };
    };
    await publishVersion({ ...registry, compiler: { ...compiler, compile } }, `@acme/${name}`, '1.0.0');
    const seen = async () => {
      const { answer, hits: hit } = await askBoth({ target: `/@acme/${name}`, headers: [['Accept', 'text/html']] });
      expect(hit).toBe(1);
      return answer.body.toString().includes('fake-hint');
    };
    expect(await seen()).toBe(true);
    await changeResource(registry, ruleset, (resource) => ({ ...resource, visibility: 'private' }));
    expect(await seen()).toBe(false);
  });

  test('of a ruleset, when what it checks turns private', async () => {
    const [ruleset, used] = ['@acme/rulesets/used', '@acme/apis/using'];
    for (const name of [ruleset, used]) await publishVersion(registry, name, '1.0.0');
    await changeResource(registry, used, (resource) => ({ ...resource, ruleset }));
    const seen = async () =>
      (await askBoth({ target: `/${ruleset}`, headers: [['Accept', 'text/html']] })).answer.body.toString();
    expect(await seen()).toContain(used);
    await changeResource(registry, used, (resource) => ({ ...resource, visibility: 'private' }));
    expect(await seen()).not.toContain(used);
  });

  test('once another process changed the resource and the time of what is at hand has passed', async () => {
    const target = '/@acme/apis/elsewhere@1.0.0';
    await publishVersion(registry, '@acme/apis/elsewhere', '1.0.0');
    expect((await askBoth({ target })).hits).toBe(1);
    await setStatus(world.registry, '@acme/apis/elsewhere', '1.0.0', {
      state: 'withdrawn',
      reason: 'x',
      since: '2026-01-01',
    });
    expect((await askBoth({ target })).answer.status).toBe(200);
    clock.advance(500);
    expect((await askBoth({ target })).answer.status).toBe(410);
  });

  test('for a key that was revoked', async () => {
    const made = await createKey(registry, { org: 'hidden', name: 'soon gone', scopes: ['read'] }, author);
    const asked: Ask = { target: '/@hidden/apis/plan', headers: [['Authorization', `Bearer ${made.text}`]] };
    expect(await askBoth(asked)).toMatchObject({ hits: 1, answer: { status: 200 } });
    await revokeKey(registry, 'hidden', made.key.id, author);
    expect(await askBoth(asked)).toMatchObject({ hits: 0, answer: { status: 401 } });
    expect((await askBoth({ target: asked.target })).answer.status).toBe(404);
  });
});
