import { describe, expect, test } from 'vitest';
import { formatPrincipal, type Principal } from '../../src/model/access.ts';
import { decide, listHeld, whyNotDecide } from '../../src/registry/approval/decide.ts';
import { noteSignIn } from '../../src/registry/keys/people.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { createKey, revokeKey } from '../../src/registry/keys/keys.ts';
import { findResource } from '../../src/registry/lives.ts';
import { publish } from '../../src/registry/publish.ts';
import { readConfigOf } from '../../src/registry/stored.ts';
import { follow } from '../../src/sync/follow.ts';
import { repositoryId } from '../../src/model/connection.ts';
import { createUpload } from '../../src/source/upload.ts';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { createDraw } from '../lives/draw.ts';
import { open, url } from './pulls-scene.ts';

const ann = { name: 'Ann Lee', email: 'ann@acme.test' };
const bob = { name: 'Bob Ray', email: 'bob@acme.test' };
const cid = { name: 'Cid Poe', email: 'cid@acme.test' };
const pay = { org: 'acme', type: 'apis', slug: 'pay' } as const;
const other = 'https://git.test/acme/schemas.git';

const settings = `resources:
  - { path: pay.yaml, approval: required }
`;
const api = `openapi: 3.1.0
info: { title: Pay, version: 1.0.0 }
paths:
  /pay:
    post:
      requestBody: { content: { application/json: { schema: { $ref: 'https://r.test/@acme/schemas/money@^1' } } } }
      responses: { '200': { description: OK. } }
`;
const money = (...required: string[]) =>
  JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Money',
    type: 'object',
    required,
    properties: { amount: { type: 'integer' } },
  });

function personOf({ name }: { name: string }): Extract<Principal, { kind: 'user' }> {
  const rights = [{ scopes: ['approve'], resources: null }] as const;
  return { kind: 'user', id: `https://login.test#${name}`, organizations: { acme: rights as never } };
}

async function scene(organization: 'acme' | 'base' = 'acme') {
  const world = await open({}, { organizations: { acme: {}, base: {} } }, shareCompiler());
  const { registry, source, sync } = world;
  for (const each of [ann, bob, cid]) {
    const person = { actor: `user:https://login.test#${each.name}`, groups: [], signedInAt: '', ...each };
    await noteSignIn(registry, each === ann ? [organization] : ['acme'], person);
  }
  const upload = (version: string, required: string[], actor: string) =>
    send('money', version, money(...required), actor);
  const send = async (slug: string, version: string, document: string, actor: string) => {
    const result = await publish(registry, {
      coordinate: { org: organization, type: 'schemas', slug },
      snapshot: createUpload(`${slug}.json`, Buffer.from(document)),
      entry: `${slug}.json`,
      version,
      onConflict: 'reject',
      latest: true,
      dryRun: false,
      create: { visibility: 'public' },
      author: { actor, origin: null },
    });
    expect(result.outcome).toBe('published');
  };
  const text = api.replace('@acme', `@${organization}`);
  const push = async (readme: string, { description = '', person = cid } = {}) => {
    const own = text.replace('title: Pay', `title: Pay, description: '${description}'`);
    const people = [person, person];
    source.push(url, { 'stele.yaml': settings, 'pay.yaml': own, 'README.md': readme }, { people });
    return sync();
  };
  /** Why each of the three may not decide about the one version that is held. */
  const whyNot = async () => {
    const [held, ...more] = await listHeld(registry, personOf(bob), 'acme');
    expect(more).toEqual([]);
    const reasons = await Promise.all([ann, bob, cid].map((each) => whyNotDecide(registry, personOf(each), held!)));
    return { reasons, held: held! };
  };
  return { ...world, upload, send, push, whyNot };
}

const byAnn = `user:https://login.test#${ann.name}`;
const annAlone = ['You wrote it. Somebody else has to decide.', null, null];

describe('a break that comes through a reference into the registry', () => {
  test('changes nothing of the referrer before its next publish; there it is held for somebody who wrote neither', async () => {
    const { registry, upload, push, sync, whyNot } = await scene();
    await upload('1.0.0', [], byAnn);
    expect((await push('one')).documents).toMatchObject([{ outcome: 'published', label: '1.0.0' }]);
    const published = await findResource(registry, pay);
    await upload('1.1.0', ['amount'], byAnn);
    await sync();
    expect(await findResource(registry, pay)).toEqual(published);

    expect((await push('two')).documents).toMatchObject([{ outcome: 'waiting' }]);
    const { reasons, held } = await whyNot();
    expect(held.held.changes).toMatchObject([{ rule: 'request-property-became-required' }]);
    expect(reasons).toEqual(annAlone);
    await decide(
      registry,
      personOf(bob),
      'acme',
      held.held.id,
      { verdict: 'approved', reason: 'Everybody sends it.' },
      { actor: `user:${personOf(bob).id}`, origin: null },
    );
    expect((await sync()).documents).toMatchObject([{ outcome: 'published' }]);
    const { versions } = (await findResource(registry, pay))!;
    expect((await readConfigOf(registry, versions.at(-1)!)).dependencies).toMatchObject([{ version: '1.1.0' }]);
  });

  test('was written by whoever changed the files of the other document in its own repository', async () => {
    const { registry, source, queue, push, whyNot } = await scene();
    await follow(registry, 'acme', { url: other, branch: null, credential: 'git', visibility: 'public', validation: 'lenient', discover: '' }); // prettier-ignore
    const pushMoney = async (text: string, person: typeof ann) => {
      const tree = { 'stele.yaml': 'resources:\n  - { path: money.json, slug: money, type: schemas }\n', 'money.json': text }; // prettier-ignore
      source.push(other, tree, { people: [person, person] });
      return (await queue.request('acme', repositoryId(other, null), 'manual')).done;
    };
    expect((await pushMoney(money(), bob)).documents).toMatchObject([{ outcome: 'published' }]);
    await push('one');
    await pushMoney(money('amount'), ann);
    await pushMoney(money('amount', 'currency'), ann);
    expect((await push('two')).documents).toMatchObject([{ outcome: 'waiting' }]);
    expect((await whyNot()).reasons).toEqual(annAlone);
  });

  test('was written by whoever pushed it before somebody uploaded the document: nothing says who that was', async () => {
    const { registry, source, queue, upload, push, whyNot } = await scene();
    await follow(registry, 'acme', { url: other, branch: null, credential: 'git', visibility: 'public', validation: 'lenient', discover: '' }); // prettier-ignore
    const pushMoney = async (text: string) => {
      const tree = { 'stele.yaml': 'resources:\n  - { path: money.json, slug: money, type: schemas }\n', 'money.json': text }; // prettier-ignore
      source.push(other, tree, { people: [ann, ann] });
      return (await queue.request('acme', repositoryId(other, null), 'manual')).done;
    };
    await pushMoney(money());
    await push('one');
    await pushMoney(money('amount'));
    await upload('1.9.0', ['amount', 'currency'], `user:https://login.test#${bob.name}`);
    await push('two');
    const { reasons, held } = await whyNot();
    expect(reasons[0]).toContain('Its authors are unknown');
    expect(reasons[1]).toBe('You wrote it. Somebody else has to decide.');
    expect(held.held.authors).toContainEqual({});
  });

  test('was written by whoever named another file in the settings of the other repository', async () => {
    const { registry, source, queue, push, whyNot } = await scene();
    await follow(registry, 'acme', { url: other, branch: null, credential: 'git', visibility: 'public', validation: 'lenient', discover: '' }); // prettier-ignore
    const pushMoney = async (path: string, next: string, person: typeof ann) => {
      const tree = { 'stele.yaml': `resources:\n  - { path: ${path}, slug: money, type: schemas }\n`, '.steleignore': '*\n', 'money.json': money(), 'next.json': next }; // prettier-ignore
      source.push(other, tree, { people: [person, person] });
      return (await queue.request('acme', repositoryId(other, null), 'manual')).done;
    };
    await pushMoney('money.json', money('amount'), cid);
    await push('one');
    await pushMoney('money.json', `${money('amount')}\n`, bob);
    expect((await pushMoney('next.json', `${money('amount')}\n`, ann)).documents).toMatchObject([
      { outcome: 'published' },
    ]);
    expect((await push('two')).documents).toMatchObject([{ outcome: 'waiting' }]);
    const mine = 'You wrote it. Somebody else has to decide.';
    expect((await whyNot()).reasons).toEqual([mine, mine, null]);
  });

  const job = { issuer: 'https://ci.test', subject: 's', repository: 'r', commit: null, ref: null, workflow: null, run: null }; // prettier-ignore
  test.each([
    ['made a key that somebody else revoked since', undefined, byAnn],
    ['started the CI job that sent it', { ...job, startedBy: 'ann-lee' }, 'job:https://ci.test#s'],
  ])('was written by whoever %s', async (_, given, maker) => {
    const { registry, upload, push, whyNot } = await scene();
    await upload('1.0.0', [], `user:https://login.test#${cid.name}`);
    await push('one');
    const wanted = { org: 'acme', name: 'CI', scopes: ['publish' as const], ...(given && { job: given }) };
    const { key } = await createKey(registry, wanted, { actor: maker, origin: null });
    const sender = { kind: 'key', id: key.id, org: 'acme', scopes: ['publish'], resources: null } as const;
    await upload('1.1.0', ['amount'], formatPrincipal({ ...sender, ...(given && { job: given }) }));
    await revokeKey(registry, 'acme', key.id, { actor: `user:${personOf(bob).id}`, origin: null });
    await push('two');
    expect((await whyNot()).reasons).toEqual(annAlone);
  });

  test('was written by whoever yanked the version that the reference meant', async () => {
    const { registry, upload, push, whyNot } = await scene();
    await upload('1.0.0', ['amount'], `user:https://login.test#${cid.name}`);
    await upload('1.1.0', [], `user:https://login.test#${cid.name}`);
    await push('one');
    const yanked = { state: 'yanked', reason: 'Wrong.' } as const;
    const schema = { org: 'acme', type: 'schemas', slug: 'money' } as const;
    await changeStatus(registry, schema, '1.1.0', yanked, { actor: byAnn, origin: null });
    await push('two');
    expect((await whyNot()).reasons).toEqual(annAlone);
  });

  test('was written by members of the other organization, who are known there', async () => {
    const { upload, push, whyNot } = await scene('base');
    await upload('1.0.0', [], byAnn);
    await push('one');
    await upload('1.1.0', ['amount'], byAnn);
    await push('two');
    expect((await whyNot()).reasons).toEqual(annAlone);
  });
});

// Three people change a document, what it refers to, and what that refers to; each may decide who wrote none of it.
test('walks: whoever wrote nothing of what is new decides, and nobody else', async () => {
  let decided = 0;
  for (let seed = 0; seed < 8; seed++) decided += await walk(seed);
  expect(decided).toBeGreaterThan(6);
});

/** Returns how often somebody decided. */
async function walk(seed: number): Promise<number> {
  const draw = createDraw(seed);
  const { registry, sync, send, push, whyNot } = await scene();
  const all = [ann, bob, cid];
  const userOf = ({ name }: typeof ann) => `user:https://login.test#${name}`;
  const ours = ['coin', 'money'] as const;
  /** What each demands, and who wrote what of it is not yet in what refers to it. */
  const required = { coin: [] as string[], money: [] as string[] };
  const writers = { coin: new Set<typeof ann>(), money: new Set<typeof ann>(), pay: new Set<typeof ann>() };
  let version = 0;
  const change = async (slug: (typeof ours)[number], person: typeof ann) => {
    version++;
    if (version > 2 && draw.chance(0.6)) required[slug].push(`p${version}`);
    const coin = slug === 'money' && { coin: { $ref: 'https://r.test/@acme/schemas/coin@^1' } };
    const document = { ...(JSON.parse(money(...required[slug])) as object), description: `${version}`, properties: { ...coin } }; // prettier-ignore
    await send(slug, `1.${version}.0`, JSON.stringify(document), userOf(person));
    writers[slug].add(person);
    if (slug === 'coin') return;
    writers.money = writers.money.union(writers.coin);
    writers.coin.clear();
  };
  for (const slug of ours) await change(slug, ann);
  let description = '';
  await push('begin');
  writers.money.clear();
  let decided = 0;
  for (let step = 0; step < 14; step++) {
    const person = draw.of(all);
    const what = draw.of([...ours, ...ours, 'pay', 'readme'] as const);
    if (what === 'coin' || what === 'money') {
      await change(what, person);
      continue;
    }
    if (what === 'pay') {
      description = `${step}`;
      writers.pay.add(person);
    }
    let [document] = (await push(`${step}`, { description, person })).documents;
    if (document?.outcome === 'waiting') {
      const wrote = writers.pay.union(writers.money);
      const { reasons, held } = await whyNot();
      expect([seed, step, ...reasons.map((reason) => reason === null)]).toEqual([
        seed,
        step,
        ...all.map((each) => !wrote.has(each)),
      ]);
      const free = all.find((each) => !wrote.has(each));
      if (free === undefined || draw.chance(0.3)) continue;
      const author = { actor: userOf(free), origin: null };
      await decide(registry, personOf(free), 'acme', held.held.id, { verdict: 'approved', reason: 'Fine.' }, author);
      [document] = (await sync()).documents;
      expect(document?.outcome).toBe('published');
      decided++;
    }
    for (const each of [writers.pay, writers.money]) if (document?.outcome === 'published') each.clear();
  }
  return decided;
}
