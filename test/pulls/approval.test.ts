import { describe, expect, test } from 'vitest';
import type { Principal, Scope } from '../../src/model/access.ts';
import type { ArtifactConfig } from '../../src/model/artifact.ts';
import type { Person } from '../../src/model/key.ts';
import { approvalsRef, decidersText, maxPulls, nameOfAuthor, withHeld, type Held } from '../../src/model/approval.ts';
import { noteSignIn } from '../../src/registry/keys/people.ts';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import { readAudit } from '../../src/registry/audit.ts';
import { approversOf, decide, listHeld, whyNotDecide } from '../../src/registry/approval/decide.ts';
import { createResource } from '../../src/registry/change-resource.ts';
import { findResource } from '../../src/registry/lives.ts';
import { createKey } from '../../src/registry/keys/keys.ts';
import { openPreview } from '../../src/registry/preview.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { publish } from '../../src/registry/publish.ts';
import { repositoryId } from '../../src/model/connection.ts';
import { follow, listRepositories } from '../../src/sync/follow.ts';
import { importHistory } from '../../src/sync/import/import-repository.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { readJson, readManifestOf } from '../../src/registry/stored.ts';
import { verify } from '../../src/registry/verify.ts';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { snapshotOf } from '../registry/world.ts';
import { followed, id as repository, open, seven, url, waitFor } from './pulls-scene.ts';

const ann = { name: 'Ann Lee', email: 'ann@acme.test' };
const bob = { name: 'Bob Ray', email: 'bob@acme.test' };
const cid = { name: 'Cid', email: 'cid@acme.test' };
const pay = { org: 'acme', type: 'apis', slug: 'pay' } as const;

const settings = `resources:
  - { path: pay.yaml, approval: required }
`;
const exempting = `resources:
  - { path: pay.yaml, approval: required, exemptions: [{ rule: operation-removed, reason: Later. }] }
`;
const api = (version: string, ...paths: string[]) =>
  `openapi: 3.1.0\ninfo: { title: Pay, version: ${version} }\npaths:\n${paths
    .map((path) => `  ${path}: { get: { responses: { '200': { description: OK. } } } }\n`)
    .join('')}`;

function personOf({ name }: { name: string }, ...scopes: Scope[]): Extract<Principal, { kind: 'user' }> {
  return { kind: 'user', id: `https://login.test#${name}`, organizations: { acme: [{ scopes, resources: null }] } };
}

const approver = personOf(bob, 'approve');

async function signIn(
  registry: Registry,
  { id, ...person }: { id?: string; name: string; email?: string; username?: string },
) {
  const actor = `user:https://login.test#${id ?? person.name}`;
  const signed: Person = { actor, groups: [], signedInAt: '', ...person };
  await noteSignIn(registry, ['acme'], signed);
}

async function scene() {
  const world = await open();
  const { registry, source, sync } = world;
  for (const each of [ann, bob, cid]) await signIn(registry, each);
  const push = (text: string, options: Parameters<typeof source.push>[2] = {}) =>
    source.push(url, { 'stele.yaml': settings, 'pay.yaml': text }, { people: [ann, ann], ...options });
  push(api('1.0.0', '/a', '/b'));
  await sync();
  const held = () => listHeld(registry, approver, 'acme');
  return {
    ...world,
    push,
    held,
    labels: async () => (await findResource(registry, pay))!.versions.map(({ label }) => label),
    decideAs: async (principal: Principal, verdict: 'approved' | 'rejected', reason = 'Nobody calls it.') => {
      const [first] = await held();
      const author = { actor: principal.kind === 'user' ? `user:${principal.id}` : 'key:x', origin: null };
      return decide(registry, principal, 'acme', first!.held.id, { verdict, reason }, author);
    },
    provenance: (label: string) => provenanceOf(registry, label),
  };
}

async function provenanceOf(registry: Registry, label: string) {
  const version = (await findResource(registry, pay))!.versions.find((each) => each.label === label)!;
  const manifest = await readManifestOf(registry, version);
  return (await readJson<ArtifactConfig>(registry, manifest.config.digest, version.manifest)).provenance;
}

function uploading(text: string, actor: string): Parameters<typeof publish>[1] {
  return {
    coordinate: pay,
    snapshot: snapshotOf(null, null, { 'pay.yaml': text }),
    entry: 'pay.yaml',
    version: null,
    onConflict: 'reject',
    latest: true,
    dryRun: false,
    create: null,
    author: { actor, origin: null },
  };
}

describe('a breaking change of a resource that wants approval', () => {
  test('is held, approved by somebody else, and published', async () => {
    const { registry, push, sync, held, labels, decideAs, provenance, host } = await scene();
    const commit = push(api('2.0.0', '/a'));
    const run = await sync();
    // A program that knows no approvals would publish it: from now on it refuses the store.
    expect(await registry.refs.read('needs/approval')).not.toBeNull();
    expect(run.documents).toMatchObject([
      { outcome: 'waiting', detail: expect.stringContaining('waits for approval') },
    ]);
    expect(await labels()).toEqual(['1.0.0']);
    await waitFor(() =>
      expect(host.told).toContainEqual(expect.objectContaining({ commit, title: 'Waits for approval' })),
    );
    const [waiting] = await held();
    expect(waiting).toMatchObject({
      state: 'waiting',
      held: { label: '2.0.0', from: '1.0.0', source: 'branch', commit },
    });
    expect(waiting!.held.changes).toMatchObject([{ rule: 'operation-removed' }]);
    const opened = await openPreview(registry, approver, waiting!.held.preview!);
    expect(opened?.granted.version.label).toBe('2.0.0');

    await decideAs(approver, 'approved');
    expect((await sync()).documents).toMatchObject([{ outcome: 'published', label: '2.0.0' }]);
    expect(await held()).toEqual([]);
    expect((await provenance('2.0.0')).approvals).toMatchObject([
      { verdict: 'approved', by: 'Bob Ray', reason: 'Nobody calls it.' },
    ]);
    expect(await verify(registry, pay, { kind: 'latest' })).toMatchObject({ outcome: 'same' });
    const audit = await Array.fromAsync(readAudit(registry, 'acme', { resource: pay }));
    expect(audit.map(({ entry }) => entry)).toContainEqual(
      expect.objectContaining({ action: 'approve 2.0.0: Nobody calls it.', actor: `user:${approver.id}` }),
    );
    // The next version without a break needs nobody.
    push(api('2.1.0', '/a', '/c'));
    expect((await sync()).documents).toMatchObject([{ outcome: 'published', label: '2.1.0' }]);
  });

  test('stays rejected in later commits with the same change, until somebody approves it', async () => {
    const { push, sync, labels, decideAs, held, host } = await scene();
    push(api('2.0.0', '/a'));
    await sync();
    await decideAs(approver, 'rejected', 'Partners still call it.');
    expect((await sync()).documents).toMatchObject([
      { outcome: 'rejected', detail: 'Bob Ray rejected changes of this version: Partners still call it.' },
    ]);
    const rebased = push(api('2.0.0', '/a', '/c'));
    await sync();
    await waitFor(() =>
      expect(host.told).toContainEqual(expect.objectContaining({ commit: rebased, title: 'Changes rejected' })),
    );
    expect(await held()).toMatchObject([{ state: 'rejected' }]);
    await decideAs(personOf({ name: 'Cid' }, 'admin'), 'approved', 'They moved.');
    await sync();
    expect(await labels()).toEqual(['1.0.0', '2.0.0']);
  });

  test('needs approval again when it removes more, or another thing', async () => {
    const { push, sync, labels, decideAs, held } = await scene();
    push(api('2.0.0', '/a'));
    await sync();
    await decideAs(approver, 'approved');
    push(api('2.0.0', '/b'));
    await sync();
    expect(await labels()).toEqual(['1.0.0']);
    expect(await held()).toMatchObject([{ state: 'waiting' }]);
  });

  test('needs approval again when what it removes is another', async () => {
    const { push, sync, labels, decideAs, source } = await scene();
    push(api('2.0.0', '/a'));
    await sync();
    await decideAs(approver, 'approved');
    // A release between them says more about what the break removes.
    const described = api('1.1.0', '/a', '/b').replace(/(\/b.*?)OK\./, '$1Fine.');
    source.push(url, { 'stele.yaml': settings, 'pay.yaml': described }, { people: [bob, bob] });
    await sync();
    push(api('2.0.0', '/a'));
    await sync();
    expect(await labels()).toEqual(['1.0.0', '1.1.0']);
  });

  test.each([
    ['its author', personOf(ann, 'admin'), 'You wrote it'],
    ['whoever has the author’s name', personOf({ name: 'x' }, 'admin'), 'You wrote it'],
    [
      'a key of the organization',
      { kind: 'key', id: 'k', org: 'acme', scopes: ['admin'], resources: null },
      'Only a person',
    ],
    ['who may only publish', personOf(bob, 'publish'), 'scope approve'],
    ['who may only read', personOf(bob, 'read'), 'No held version has this id'],
    ['a stranger', { ...approver, organizations: {} }, 'No held version has this id'],
  ] as [string, Principal, string][])('is not approved by %s', async (_, principal, why) => {
    const { registry, push, sync, decideAs, held } = await scene();
    await signIn(registry, { id: 'x', name: ' ann lee' });
    push(api('2.0.0', '/a'));
    await sync();
    await expect(decideAs(principal, 'approved')).rejects.toThrow(why);
    const [waiting] = await held();
    const mayPublish = !why.includes('No held');
    expect((await listHeld(registry, principal, 'acme')).length).toBe(mayPublish ? 1 : 0);
    expect((await openPreview(registry, principal, waiting!.held.preview!)) !== null).toBe(mayPublish);
  });

  test('with very many changes is approved as a whole', async () => {
    const { registry, push, sync, held, labels, decideAs } = await scene();
    push(api('1.1.0', '/a', '/b', ...Array.from({ length: 300 }, (_, n) => `/n${n}`)));
    await sync();
    push(api('2.0.0', '/a'));
    await sync();
    const [waiting] = await held();
    expect(waiting!.held).toMatchObject({ count: 301, changes: { length: 50 }, fingerprints: { length: 1 } });
    await decideAs(approver, 'approved');
    push(api('2.0.0', '/a', '/c'));
    await sync();
    expect(await labels()).toEqual(['1.0.0', '1.1.0']);
    expect(await listHeld(registry, approver, 'acme')).toMatchObject([{ state: 'waiting' }]);
  });

  test('waits after its version was yanked, too: whoever may publish may yank', async () => {
    const { registry, push, sync, held, labels } = await scene();
    push(api('1.1.0', '/a', '/b', '/c'));
    await sync();
    const yanked = { state: 'yanked', reason: 'Not needed.' } as const;
    await changeStatus(registry, pay, '1.1.0', yanked, { actor: `user:${ann.name}`, origin: null });
    push(api('1.2.0', '/a', '/b'));
    await sync();
    expect(await labels()).toEqual(['1.0.0', '1.1.0']);
    expect(await held()).toMatchObject([{ held: { from: '1.1.0', count: 1 } }]);
  });

  test('of a merge is not approved by the author of what was merged', async () => {
    const { push, sync, decideAs, source } = await scene();
    const merges = source.push(url, tree(breaks), { branch: 'work', people: [bob, bob] });
    push(api('2.0.0', '/a'), { merges });
    await sync();
    await expect(decideAs(approver, 'approved')).rejects.toThrow('You wrote it');
  });

  const byAnn = { people: [ann, ann] };
  const byBob = { people: [bob, bob] };
  const breaks = api('2.0.0', '/a');
  const tree = (text: string, more: Record<string, string> = {}) => ({
    'stele.yaml': settings,
    'pay.yaml': text,
    ...more,
  });
  test.each<[string, (world: Awaited<ReturnType<typeof scene>>) => void | Promise<void>]>([
    [
      'whose colleague committed after her',
      ({ source }) => {
        source.push(url, tree(breaks), byAnn);
        source.push(url, tree(breaks, { 'README.md': 'Hello.' }), byBob);
      },
    ],
    [
      'whose colleague corrected the same file after her',
      ({ source }) => {
        source.push(url, tree(breaks), byAnn);
        source.push(url, tree(breaks.replace('OK.', 'Fine.')), byBob);
      },
    ],
    [
      'whose branch was updated',
      async ({ source }) => {
        const base = await source.tip({ url, ref: 'HEAD', credential: null });
        const parent = base.found ? base.commit : '';
        const work = source.push(url, tree(breaks), { ...byAnn, branch: 'work', parent });
        const main = source.push(url, tree(api('1.0.0', '/a', '/b'), { 'README.md': 'Hello.' }), byBob);
        source.push(url, tree(breaks, { 'README.md': 'Hello.' }), { ...byBob, parent: work, merges: main });
      },
    ],
    [
      'whose commit lies beneath the tip of a merge',
      ({ source }) => {
        source.push(url, tree(breaks), { ...byAnn, branch: 'work' });
        const merges = source.push(url, tree(breaks.replace('OK.', 'Fine.')), { ...byBob, branch: 'work' });
        source.push(url, tree(breaks.replace('OK.', 'Fine.')), { ...byBob, merges });
      },
    ],
    [
      'whose commit was squashed, as its trailer says',
      ({ source }) => void source.push(url, tree(breaks), { people: [bob, bob, ann] }),
    ],
    [
      'who hides her address behind that of the host',
      ({ source }) => {
        const hidden = { name: 'a-lee', email: '4711+ann-lee@users.noreply.github.com' };
        source.push(url, tree(breaks), { people: [hidden, { name: 'GitHub', email: 'noreply@github.com' }] });
      },
    ],
    [
      'who exempted it',
      ({ source }) => {
        source.push(url, { ...tree(breaks), 'stele.yaml': exempting }, byAnn);
        source.push(url, { ...tree(breaks.replace('OK.', 'Fine.')), 'stele.yaml': exempting }, byBob);
      },
    ],
  ])('is not approved by an author %s', async (_, write) => {
    const world = await scene();
    await write(world);
    await world.sync();
    await expect(world.decideAs(personOf(ann, 'approve'), 'approved')).rejects.toThrow('You wrote it');
  });

  test('is approved by somebody who changed other files meanwhile', async () => {
    const { source, sync, decideAs } = await scene();
    source.push(url, tree(breaks), byAnn);
    source.push(url, tree(breaks, { 'README.md': 'Hello.' }), byBob);
    await sync();
    expect(await decideAs(approver, 'approved')).toMatchObject({ state: 'approved' });
  });

  test('is not approved by the author of what a pull request held, after a colleague squashed it', async () => {
    const world = await scene();
    const { source, sync, hook, checked } = world;
    const head = source.push(url, tree(breaks), { ...byAnn, branch: seven.ref });
    await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true });
    await checked(head);
    expect(await world.held()).toMatchObject([{ held: { source: 'pull 7' } }]);
    await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: false });
    expect(await world.held()).toEqual([]);
    source.push(url, tree(breaks), byBob);
    await sync();
    await expect(world.decideAs(personOf(ann, 'approve'), 'approved')).rejects.toThrow('You wrote it');
    await expect(world.decideAs(personOf(bob, 'approve'), 'approved')).rejects.toThrow('You wrote it');
    await world.decideAs(personOf(cid, 'approve'), 'approved');
  });

  test('by somebody whom the registry does not know is approved by nobody but the operator', async () => {
    const { registry, source, sync, decideAs } = await scene();
    source.push(url, tree(breaks), { people: [{ name: 'al', email: 'ann@home.test' }] });
    await sync();
    await expect(decideAs(personOf(ann, 'admin'), 'approved')).rejects.toThrow('al is an author, and may be you');
    await expect(decideAs(personOf({ name: 'Stranger' }, 'approve'), 'approved')).rejects.toThrow('Sign in again');
    await signIn(registry, { id: 'Al', name: 'Ann B.', email: 'ann@home.test' });
    await decideAs(personOf(ann, 'admin'), 'approved');
  });

  test('by a program alone is approved by a person', async () => {
    const { source, sync, decideAs } = await scene();
    const bot = { name: 'dependabot[bot]', email: '49699333+dependabot[bot]@users.noreply.github.com' };
    source.push(url, tree(breaks), { people: [bot, { name: 'GitHub', email: 'noreply@github.com' }] });
    await sync();
    expect(await decideAs(personOf(ann, 'approve'), 'approved')).toMatchObject({ state: 'approved' });
  });

  test('by a branch that goes back to an older revision is not made: latest stays', async () => {
    const { registry, push, sync } = await scene();
    const latest = async () => (await findResource(registry, pay))!.latest;
    push(api('1.0.0', '/a', '/b', '/c'));
    await sync();
    const revised = await latest();
    expect(revised).toMatch(/^1\.0\.0\+/);
    push(api('1.0.0', '/a', '/b'));
    expect((await sync()).documents).toMatchObject([
      { outcome: 'conflict', detail: expect.stringContaining(`would be 1.0.0 instead of ${revised}`) },
    ]);
    expect(await latest()).toBe(revised);
  });

  test.each([
    ['that is held', { eachChange: true, tags: null }],
    ['above the highest release, from a tag', { eachChange: false, tags: 'v*' }],
  ])('is not published by an import of what is %s, while history below it is', async (_, what) => {
    const { registry, source, sync, held, labels, decideAs } = await scene();
    for (const [version, paths] of [
      ['0.9.0', ['/a', '/b', '/old']],
      ['0.9.1', ['/a', '/b']],
      ['1.5.0', ['/a']],
    ] as const)
      source.tag(
        url,
        `v${version}`,
        source.push(url, tree(api(version, ...paths)), { ...byAnn, branch: `b${version}` }),
      );
    if (what.eachChange) source.push(url, tree(breaks), byAnn);
    await sync();
    const run = await importHistory(registry, pay, { since: null, ...what }, new AbortController().signal);
    const isTags = what.tags !== null;
    expect(await labels()).toEqual(isTags ? expect.arrayContaining(['0.9.0', '0.9.1', '1.0.0']) : ['1.0.0']);
    expect(run.documents).toContainEqual(expect.objectContaining({ outcome: 'waiting' }));
    expect((await findResource(registry, pay))!.latest).toBe('1.0.0');
    expect(await held()).toMatchObject([{ state: 'waiting', held: { label: isTags ? '1.5.0' : '2.0.0' } }]);
    // Once it is approved, the same import publishes it.
    await decideAs(approver, 'approved');
    await importHistory(registry, pay, { since: null, ...what }, new AbortController().signal);
    expect((await findResource(registry, pay))!.latest).toBe(isTags ? '1.5.0' : '2.0.0');
  });

  test('is held no more after 30 days, and again when somebody asks', async () => {
    const { push, sync, held, pass } = await scene();
    push(api('2.0.0', '/a'));
    await sync();
    pass(31 * 86_400_000);
    expect(await held()).toEqual([]);
    await sync();
    expect(await held()).toMatchObject([{ state: 'waiting' }]);
  });

  test('of a folder of this machine is written by those who changed it since the version before, too', async () => {
    const { registry } = await scene();
    const other = { ...pay, slug: 'other' };
    const [first, second] = ['a', 'b'].map((digit) => digit.repeat(40)) as [string, string];
    const request = (commit: string, text: string) => ({
      ...uploading(text, 'sync:acme'),
      coordinate: other,
      create: { approval: 'required' as const },
      snapshot: {
        ...snapshotOf('/srv/repositories/pay', commit, { 'pay.yaml': text }),
        writers: async (since: string | null) => (since === first ? [ann] : [ann, bob]),
      },
    });
    await publish(registry, request(first, api('1.0.0', '/a', '/b')));
    await publish(registry, request(second, api('2.0.0', '/a')));
    const [waiting] = await listHeld(registry, approver, 'acme');
    expect(waiting!.held.authors).toEqual([ann]);
  });

  test('of the settings alone is not approved by who changed them', async () => {
    const { registry, source, sync } = await open({}, {}, shareCompiler());
    for (const each of [bob, cid]) await signIn(registry, each);
    const internal = api('1.0.0', '/a', '/b').replace('/b: { get: {', '/b: { get: { x-internal: true,');
    const files = (view: string) => ({
      'stele.yaml': `resources: [{ path: pay.yaml, slug: pay, approval: required${view} }]\n`,
      'pay.yaml': internal,
    });
    source.push(url, files(''), { people: [cid, cid] });
    await sync();
    source.push(url, files(', audience: public'), { people: [bob, bob] });
    await sync();
    const [waiting] = await listHeld(registry, approver, 'acme');
    const given = { verdict: 'approved', reason: 'Mine.' } as const;
    const author = { actor: `user:${approver.id}`, origin: null };
    await expect(decide(registry, approver, 'acme', waiting!.held.id, given, author)).rejects.toThrow('You wrote it');
  });

  test('of another file that the settings name is not approved by who named it', async () => {
    const { registry, source, sync, held } = await scene();
    const files = (path: string, more = '') => ({
      'stele.yaml': `resources:\n  - { path: ${path}, slug: pay, approval: required }\n`,
      '.steleignore': 'next.yaml\n',
      'pay.yaml': api('1.0.0', '/a', '/b'),
      'next.yaml': api('2.0.0', '/a') + more,
    });
    source.push(url, files('pay.yaml'), { people: [cid, cid] });
    source.push(url, { ...files('pay.yaml'), 'pay.yaml': api('1.0.1', '/a', '/b') }, { people: [cid, cid] });
    await sync();
    const moved = { ...files('next.yaml', '# Hello.\n'), 'pay.yaml': api('1.0.1', '/a', '/b') };
    source.push(url, { ...moved, 'stele.yaml': files('pay.yaml')['stele.yaml'] }, { people: [bob, bob] });
    source.push(url, moved, { people: [ann, ann] });
    expect((await sync()).documents).toMatchObject([{ outcome: 'waiting' }]);
    const [waiting] = await held();
    expect(await whyNotDecide(registry, personOf(ann, 'approve'), waiting!)).toContain('You wrote it');
    expect(await whyNotDecide(registry, personOf(cid, 'approve'), waiting!)).toBeNull();
  });

  test('that nobody wrote, as a new version of Stele compiles it, is decided about by whoever runs the registry', async () => {
    const { registry, sync, held, source, decideAs } = await scene();
    const files = {
      'stele.yaml': settings.replace(' }', ', onConflict: reject }'),
      'pay.yaml': api('1.1.0', '/a', '/b', '/c'),
    };
    source.push(url, files, { people: [cid, cid] });
    await sync();
    // The same files are read in another way.
    const { compile } = registry.compiler;
    registry.compiler.compile = async (input, load, turn) =>
      compile(
        input,
        async (paths) =>
          (await load(paths)).map((file) =>
            file.found && file.path === 'pay.yaml'
              ? {
                  ...file,
                  bytes: Buffer.from(
                    Buffer.from(file.bytes)
                      .toString()
                      .replace(/ {2}\/c.*\n/, ''),
                  ),
                }
              : file,
          ),
        turn,
      );
    files['stele.yaml'] = settings;
    source.push(url, files, { people: [cid, cid] });
    expect((await sync()).documents).toMatchObject([{ outcome: 'waiting' }]);
    const [waiting] = await held();
    const why = await whyNotDecide(registry, approver, waiting!);
    expect(why).toBe('Its authors are unknown: no commit changed its files, or their authors cannot be read. The operator decides, with stele approvals approve.'); // prettier-ignore
    expect(decidersText(await approversOf(registry, waiting!), waiting!.held.authors.map(nameOfAuthor))).toBe(
      'The operator decides, with stele approvals approve.',
    );
    await decideAs({ kind: 'operator', id: 'test' }, 'approved');
    expect((await sync()).documents).toMatchObject([{ outcome: 'published' }]);
  });

  test('of a tag is published once it is approved', async () => {
    const { registry, source, sync, held, labels, decideAs } = await scene();
    await registry.refs.update<Resource>(resourceRef(pay), (current) => {
      const connection = { ...current!.value.connection!, tags: 'v*' };
      return { value: { ...current!.value, connection }, change: { actor: 'test', origin: null, action: 'connect' } };
    });
    const text = settings.replace('}', `, tags: 'v*' }`);
    const files = { 'stele.yaml': text, 'pay.yaml': api('2.0.0', '/a') };
    source.tag(url, 'v2.0.0', source.push(url, files, { people: [ann, ann] }));
    await sync();
    expect(await held()).toMatchObject([{ held: { source: 'tag 2.0.0' } }]);
    await sync();
    expect(await labels()).toEqual(['1.0.0']);
    await decideAs(approver, 'approved');
    await sync();
    expect(await labels()).toEqual(['1.0.0', '2.0.0']);
  });

  test('of a branch is held no more once tags are published, and of a tag once the branch is', async () => {
    const { source, sync, held, labels } = await scene();
    const files = (more: string) => ({ 'stele.yaml': settings.replace(' }', `${more} }`), 'pay.yaml': breaks });
    const sources = async () => (await held()).map((each) => each.held.source);
    source.push(url, files(''), byAnn);
    await sync();
    expect(await sources()).toEqual(['branch']);
    const commit = source.push(url, files(", tags: 'v*'"), byAnn);
    await sync();
    expect(await sources()).toEqual([]);
    source.tag(url, 'v2.0.0', commit);
    await sync();
    expect(await sources()).toEqual(['tag 2.0.0']);
    source.push(url, files(', onConflict: revise'), byAnn);
    await sync();
    expect([await sources(), await labels()]).toEqual([['branch'], ['1.0.0']]);
  });

  test('is still held when another repository lists its name with tags', async () => {
    const { registry, source, queue, sync, held } = await scene();
    source.push(url, { 'stele.yaml': settings, 'pay.yaml': breaks }, byAnn);
    await sync();
    const other = 'https://git.test/acme/other.git';
    const files = { 'stele.yaml': settings.replace(' }', ", slug: pay, tags: 'v*' }"), 'pay.yaml': breaks };
    source.push(other, files, byAnn);
    await follow(registry, 'acme', { ...followed, url: other });
    await (
      await queue.request('acme', repositoryId(other, null), 'manual')
    ).done;
    expect(await held()).toHaveLength(1);
  });

  test('that is uploaded is not approved by who made the key', async () => {
    const { registry, held, decideAs } = await scene();
    const bobs = { actor: `user:${approver.id}`, origin: null };
    const { key } = await createKey(registry, { org: 'acme', name: 'ci', scopes: ['publish'] }, bobs);
    const upload = (actor: string) => publish(registry, uploading(breaks, actor));
    expect(await upload(`key:${key.id}`)).toMatchObject({ outcome: 'rejected' });
    expect(await held()).toMatchObject([{ held: { source: 'upload' } }]);
    await expect(decideAs(approver, 'approved')).rejects.toThrow('You wrote it');
    await decideAs(personOf(ann, 'approve'), 'approved');
    expect(await upload(`key:${key.id}`)).toMatchObject({ outcome: 'published' });
  });

  test('that is uploaded and pushed is approved by neither, wherever it is held', async () => {
    const { registry, source, sync, held } = await scene();
    await publish(registry, uploading(breaks, `user:https://login.test#${ann.name}`));
    source.push(url, tree(breaks), { people: [bob, bob] });
    await sync();
    const all = await held();
    expect(all.map(({ held: { source: from } }) => from).sort()).toEqual(['branch', 'upload']);
    for (const each of all)
      for (const person of [ann, bob])
        expect(await whyNotDecide(registry, personOf(person, 'approve'), each)).toContain('You wrote it');
  });

  test.each([
    ['makes a key that makes a key, and so on', 'user'],
    ['starts a job of CI whose key makes a key', 'job'],
  ])('that is uploaded is not approved by who %s', async (_, first) => {
    const { registry, decideAs } = await scene();
    let actor = first === 'user' ? `user:${approver.id}` : 'job:https://ci.test#s';
    for (let count = 0; count < (first === 'user' ? 12 : 1); count++) {
      const wanted = { org: 'acme', name: `${count}`, scopes: ['keys' as const] };
      actor = `key:${(await createKey(registry, wanted, { actor, origin: null })).key.id}`;
    }
    await publish(registry, uploading(breaks, actor));
    await expect(decideAs(approver, 'approved')).rejects.toThrow('decide');
  });

  test('that two people upload is approved by neither, also after another upload in between', async () => {
    const { registry, decideAs } = await scene();
    const [first, second] = [ann, bob].map(({ name }) => `user:https://login.test#${name}`) as [string, string];
    for (const [text, actor] of [
      [breaks, first],
      [api('2.0.0', '/b'), second],
      [breaks, second],
      [breaks, second],
    ] as const)
      await publish(registry, uploading(text, actor));
    for (const each of [ann, bob])
      await expect(decideAs(personOf(each, 'approve'), 'approved')).rejects.toThrow('You wrote it');
    await publish(registry, uploading(breaks, `user:https://login.test#${cid.name}`));
    await expect(decideAs(personOf(cid, 'approve'), 'approved')).rejects.toThrow('You wrote it');
  });

  test.each([
    ['not approved by who started the job', { startedBy: 'ann-lee' }, 'You wrote it'],
    ['approved by nobody if nothing says who started the job', {}, 'Its authors are unknown'],
  ])('that a job of CI uploads is %s', async (_, more, why) => {
    const { registry, decideAs } = await scene();
    const job = {
      issuer: 'https://ci.test',
      subject: 's',
      repository: url,
      commit: null,
      ref: null,
      workflow: null,
      run: null,
    };
    const request = { ...uploading(breaks, 'job:https://ci.test#s'), job: { ...job, ...more } };
    expect(await publish(registry, request)).toMatchObject({ outcome: 'rejected' });
    await expect(decideAs(personOf(ann, 'admin'), 'approved')).rejects.toThrow(why);
  });
});

describe('a decision', () => {
  const shared = (version: string, limit: number, users: number) =>
    `openapi: 3.1.0
info: { title: Pay, version: ${version} }
paths:
${['/x', '/y']
  .map(
    (path, at) =>
      `  ${path}: { get: { parameters: [{ name: n, in: query, schema: ${at < users ? `{ $ref: '#/components/schemas/N' }` : '{ type: integer }'} }], responses: { '200': { description: OK. } } } }\n`,
  )
  .join('')}components: { schemas: { N: { type: integer, maximum: ${limit} } } }
`;
  const both = ['/a', '/b'];

  test.each<[string, string[], string]>([
    ['another rank', [], api('1.0.1', '/a')],
    ['a pre-release', [], api('2.0.0-rc.1', '/a')],
    ['another version to compare with', [api('1.1.0', ...both)], api('2.0.0', '/a')],
  ])('does not hold for %s', async (_, between, text) => {
    const { push, sync, decideAs, labels, held } = await scene();
    push(api('2.0.0', '/a'));
    await sync();
    await decideAs(approver, 'approved');
    for (const each of between) {
      push(each);
      await sync();
    }
    const before = await labels();
    push(text);
    await sync();
    expect(await labels()).toEqual(before);
    expect(await held()).toMatchObject([{ state: 'waiting' }]);
  });

  test('about a schema does not hold once another operation uses the schema', async () => {
    const { push, sync, decideAs, labels, held } = await scene();
    // Both use it before; the approved version changes only what one of them does.
    push(shared('1.1.0', 10, 2));
    await sync();
    await decideAs(approver, 'approved');
    await sync();
    expect(await labels()).toEqual(['1.0.0', '1.1.0']);
    push(shared('2.0.0', 5, 1));
    await sync();
    expect(await held()).toMatchObject([{ state: 'waiting' }]);
    await decideAs(approver, 'approved');
    push(shared('2.0.0', 5, 2));
    await sync();
    expect(await labels()).toEqual(['1.0.0', '1.1.0']);
    expect(await held()).toMatchObject([{ state: 'waiting' }]);
  });

  test('is used once, and said in the check', async () => {
    const { registry, push, sync, decideAs, labels, host } = await scene();
    const commit = push(api('2.0.0', '/a'));
    await sync();
    await decideAs(approver, 'approved');
    await sync();
    expect(await labels()).toEqual(['1.0.0', '2.0.0']);
    const { value } = (await registry.refs.read<object>(approvalsRef(pay)))!;
    expect(value).toMatchObject({ held: [], decisions: [] });
    await waitFor(() =>
      expect(host.told).toContainEqual(
        expect.objectContaining({ commit, summary: expect.stringMatching(/Approved by Bob Ray: Nobody calls it/) }),
      ),
    );
  });

  test('about a version beside latest does not make it the latest', async () => {
    const { registry, decideAs } = await scene();
    const ci = `user:https://login.test#${ann.name}`;
    const beside = { ...uploading(api('1.1.0', '/a'), ci), latest: false };
    expect(await publish(registry, beside)).toMatchObject({ outcome: 'rejected' });
    await decideAs(approver, 'approved');
    expect(await publish(registry, { ...beside, latest: true })).toMatchObject({ outcome: 'rejected' });
    expect(await publish(registry, beside)).toMatchObject({ outcome: 'published' });
    expect((await findResource(registry, pay))!.latest).toBe('1.0.0');
  });

  test('comes too late for what is published', async () => {
    const { registry, push, sync, decideAs, held, labels } = await scene();
    push(api('2.0.0', '/a'));
    await sync();
    const [first] = await held();
    await decideAs(approver, 'approved');
    const { update } = registry.refs;
    // The sync publishes between the look and the decision.
    registry.refs.update = async (name, ...rest) => {
      registry.refs.update = update;
      if (name === approvalsRef(pay)) await sync();
      return update(name, ...rest);
    };
    const author = { actor: `user:${approver.id}`, origin: null };
    const given = { verdict: 'rejected', reason: 'Late.' } as const;
    await expect(decide(registry, approver, 'acme', first!.held.id, given, author)).rejects.toThrow('It was published');
    expect(await labels()).toEqual(['1.0.0', '2.0.0']);
  });

  test.each<[string, (text: string) => Record<string, string>]>([
    ['takes the change back', () => ({ 'stele.yaml': settings, 'pay.yaml': api('1.0.0', ...both) })],
    ['removes the file', () => ({ 'stele.yaml': settings })],
    ['is invalid', () => ({ 'stele.yaml': settings, 'pay.yaml': 'broken: true\nopenapi: 3.1.0\n' })],
  ])('is asked for no more once a newer commit %s', async (_, files) => {
    const { push, sync, held, source } = await scene();
    push(api('2.0.0', '/a'));
    await sync();
    expect(await held()).toHaveLength(1);
    source.push(url, files(''), { people: [ann, ann] });
    await sync();
    expect(await held()).toEqual([]);
  });
});

describe('a file whose resource wants approval', () => {
  const renamed = (more = ', approval: required') => `resources:\n  - { path: pay.yaml, slug: other${more} }\n`;
  const other = { org: 'acme', type: 'apis', slug: 'other' } as const;

  test.each([
    ['with a change', renamed(), api('2.0.0', '/a')],
    ['with a change under the same version', renamed(', approval: required, onConflict: reject'), api('1.0.0', '/a')],
    ['and is published by tags', renamed(', approval: required, tags: "v*"'), api('2.0.0', '/a')],
    ['and wants no approval any more', renamed(''), api('1.0.0', '/a', '/b')],
  ])(
    'changes its slug %s: it is not published under the new name either, also not by a later push',
    async (_, stele, text) => {
      const { registry, source, sync, hook, checked, host, labels } = await scene();
      const files = { 'stele.yaml': stele, 'pay.yaml': text };
      const head = source.push(url, files, { branch: 'refs/pull/7/head', people: [ann, ann] });
      await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true });
      await checked(head);
      const failed = { commit: head, name: 'stele @acme/apis/other', state: 'failure' };
      await waitFor(() => expect(host.told).toContainEqual(expect.objectContaining(failed)));
      for (const version of ['2.0.0', '2.0.1']) {
        const commit = source.push(url, { ...files, [version]: '' }, { people: [ann, ann] });
        source.tag(url, `v${version}`, commit);
        await sync();
        expect(await findResource(registry, other)).toBeNull();
      }
      const detail = expect.stringMatching(
        /pay\.yaml is published as @acme\/apis\/pay, which requires approval/,
      ) as string;
      expect((await listRepositories(registry))[0]!.documents['pay.yaml']).toMatchObject({
        outcome: 'conflict',
        detail,
      });
      expect(await labels()).toEqual(['1.0.0']);
    },
  );

  const decoy = api('1.0.0').replace('Pay', 'Decoy').replace('paths:', 'paths: {}');
  const decoyed = (path: string) =>
    `resources:\n  - { path: decoy.yaml, slug: pay }\n  - { path: ${path}, slug: other }\n`;

  test.each([
    ['becomes a view', `resources:\n  - { path: pay.yaml, slug: other, audience: public }\n`, { 'pay.yaml': api('1.0.1', '/a') }], // prettier-ignore
    ['moves', `resources:\n  - { path: moved.yaml, slug: other }\n`, { 'moved.yaml': api('1.0.0', '/a', '/b') }],
    ['moves and is published by tags', `resources:\n  - { path: moved.yaml, slug: other, tags: "v*" }\n`, { 'moved.yaml': api('1.0.1', '/a') }], // prettier-ignore
    [
      'moves with a change',
      `resources:\n  - { path: moved.yaml, slug: other }\n`,
      { 'moved.yaml': api('1.0.1', '/a') },
    ],
    ['leaves its slug to a decoy', decoyed('pay.yaml'), { 'pay.yaml': api('1.0.1', '/a'), 'decoy.yaml': decoy }],
    ['moves from a decoy', decoyed('moved.yaml'), { 'moved.yaml': api('1.0.1', '/a'), 'decoy.yaml': decoy }],
    [
      'moves from a decoy and is published by tags',
      decoyed('moved.yaml').replace('other', 'other, tags: "v*"'),
      { 'moved.yaml': api('1.0.1', '/a'), 'decoy.yaml': decoy },
    ],
    [
      'leaves its slug to a decoy that tags publish',
      decoyed('pay.yaml').replace('slug: pay', 'slug: pay, tags: "v*"'),
      { 'pay.yaml': api('1.0.1', '/a'), 'decoy.yaml': decoy },
    ],
  ])('%s under another slug: it is not published there, also not by the syncs after', async (_, stele, files) => {
    const { registry, source, sync, labels } = await scene();
    for (const more of ['1', '2', '3']) {
      source.push(url, { 'stele.yaml': stele, ...files, [more]: '' }, { people: [ann, ann] });
      for (let time = 0; time < 2; time++) await sync();
      expect(await findResource(registry, other)).toBeNull();
    }
    expect(await labels()).toEqual(['1.0.0']);
  });

  test.each([
    ['whose old tag', ', tags: "v*"'],
    ['of a lower version that', ''],
  ])('leaves its slug to a decoy %s is published there: it is not published under another', async (_, tags) => {
    const { registry, source, sync, labels } = await scene();
    const stele = decoyed('pay.yaml').replace('slug: pay', `slug: pay${tags}`);
    for (const more of ['1', '2']) {
      const documents = { 'pay.yaml': api('1.0.1', '/a'), 'decoy.yaml': decoy.replace('1.0.0', '0.1.0') };
      const files = { 'stele.yaml': stele, ...documents, [more]: '' };
      source.tag(url, 'v0.1.0', source.push(url, files, { people: [ann, ann] }));
      for (let time = 0; time < 2; time++) await sync();
    }
    expect(await labels()).toEqual(['1.0.0', '0.1.0']);
    expect(await findResource(registry, pay)).toMatchObject({ latest: '1.0.0' });
    expect(await findResource(registry, other)).toBeNull();
  });

  test('changes its slug to that of a resource which another file had: it is not published there', async () => {
    const { registry, source, sync } = await scene();
    const both = `resources:\n  - { path: pay.yaml, approval: required }\n  - { path: decoy.yaml, slug: other }\n`;
    source.push(url, { 'stele.yaml': both, 'pay.yaml': api('1.0.0', '/a', '/b'), 'decoy.yaml': decoy });
    await sync();
    expect((await findResource(registry, other))!.latest).toBe('1.0.0');
    for (const version of ['1', '2']) {
      const files = { 'stele.yaml': renamed(''), 'pay.yaml': api('2.0.0', '/a'), [version]: '' };
      source.push(url, files, { people: [ann, ann] });
      await sync();
      expect((await findResource(registry, other))!.latest).toBe('1.0.0');
    }
  });

  test('gets the slug of another one, which its break keeps it from: what was held there is held no more', async () => {
    const { source, sync, held } = await scene();
    const listed = (...slugs: string[]) =>
      `resources:\n${['pay', 'ship'].map((file, at) => `  - { path: ${file}.yaml, slug: ${slugs[at]}, approval: required }\n`).join('')}`;
    const ship = (version: string, ...paths: string[]) => api(version, ...paths).replace('Pay', 'Ship');
    const write = (stele: string, ...[first, second]: string[]) =>
      source.push(url, { 'stele.yaml': stele, 'pay.yaml': first!, 'ship.yaml': second! }, { people: [ann, ann] });
    write(listed('pay', 'ship'), api('1.0.0', '/a', '/b'), ship('1.0.0', '/s', '/t'));
    await sync();
    write(listed('pay', 'ship'), api('2.0.0', '/a'), ship('1.0.0', '/s', '/t'));
    await sync();
    expect(await held()).toMatchObject([{ held: { label: '2.0.0', source: 'branch' } }]);
    write(listed('ship', 'pay'), api('2.0.0', '/a'), ship('2.0.0', '/s'));
    const { documents } = await sync();
    expect(documents).toMatchObject([{ outcome: 'conflict' }, { outcome: 'conflict' }]);
    expect(await held()).toEqual([]);
  });

  test('moves with a change under its slug: another document, which is published by tags, is connected', async () => {
    const { registry, source, sync, labels } = await scene();
    const stele = `resources:\n  - { path: moved.yaml, slug: pay }\n  - { path: ship.yaml, slug: other, tags: "v*" }\n`;
    const ship = decoy.replace(
      'paths: {}',
      'paths: { /ships: { post: { responses: { 201: { description: Sent. } } } } }',
    );
    source.push(url, { 'stele.yaml': stele, 'moved.yaml': api('1.0.1', '/a', '/b'), 'ship.yaml': ship });
    await sync();
    expect(await labels()).toEqual(['1.0.0', '1.0.1']);
    expect(await findResource(registry, other)).toMatchObject({ connection: { path: 'ship.yaml', tags: 'v*' } });
  });

  test('is removed: another file of its repository is published as it was before', async () => {
    const { registry, source, sync } = await scene();
    const ship = `openapi: 3.1.0\ninfo: { title: Shipping, version: 1.0.0 }\npaths: { /ships: { post: { responses: { '201': { description: Sent. } } } } }\n`; // prettier-ignore
    source.push(url, { 'stele.yaml': `resources:\n  - { path: ship.yaml, slug: other }\n`, 'ship.yaml': ship });
    await sync();
    expect((await findResource(registry, other))!.latest).toBe('1.0.0');
  });

  test('changes its slug alone: it is published under the new name', async () => {
    const { registry, source, sync } = await scene();
    source.push(url, { 'stele.yaml': renamed(), 'pay.yaml': api('1.0.0', '/a', '/b') }, { people: [ann, ann] });
    await sync();
    expect((await findResource(registry, other))!.latest).toBe('1.0.0');
  });

  test('changes its slug to that of a resource which an administrator made and connected: that one begins anew', async () => {
    const { registry, source, sync } = await scene();
    const author = { actor: 'operator:test', origin: null };
    await createResource(registry, other, { name: 'Other' }, author);
    const connection = {
      repository: url,
      branch: null,
      path: 'pay.yaml',
      tags: null,
      onConflict: 'revise',
      credential: 'git',
    } as const;
    await registry.refs.update<Resource>(resourceRef(other), (current) => ({
      value: { ...current!.value, connection },
      change: { ...author, action: 'connect' },
    }));
    source.push(url, { 'stele.yaml': renamed(), 'pay.yaml': api('2.0.0', '/a') }, { people: [ann, ann] });
    await sync();
    expect((await findResource(registry, other))!.latest).toBe('2.0.0');
  });
});

test('what pull requests hold is bounded', () => {
  const heldBy = (number: number) => ({
    source: `pull ${number}`,
    fingerprints: [`sha256:${number}`],
    authors: [{ name: `${number}` }],
  });
  const all = Array.from({ length: maxPulls + 5 }, (__, number) => heldBy(number) as unknown as Held);
  const { held, ended: left } = all.reduce(withHeld, { held: [], decisions: [] });
  expect(held.map(({ source }) => source)).toEqual(all.slice(5).map(({ source }) => source));
  expect(left).toMatchObject(all.slice(0, 5).map(({ authors }) => ({ authors })));
  // Each commit of one of them ends what the commit before held: of that the authors are kept, for so many.
  const again = Array.from(
    { length: 200 },
    (__, number) => ({ ...heldBy(number), source: 'pull 1' }) as unknown as Held,
  );
  const { held: last, ended } = again.reduce(withHeld, { held: [], decisions: [] });
  expect([last.length, ended!.length]).toEqual([1, 50]);
});

test('an exemption is held, once, and again for another reason', async () => {
  const { source, sync, registry } = await open({}, {}, shareCompiler());
  for (const each of [ann, bob]) await signIn(registry, each);
  const style = 'extends: []\nrules:\n  titled: { given: $.info, then: { field: contact, function: truthy } }\n';
  const exempted = (reason: string) => `resources:
  - { path: style.yaml, slug: style }
  - path: pay.yaml
    ruleset: '@acme/rulesets/style'
    approval: required
    blockOn: warn
    exemptions: [{ rule: titled, reason: ${reason} }]
`;
  const push = async (version: string, reason: string) => {
    const files = { 'stele.yaml': exempted(reason), 'style.yaml': style, 'pay.yaml': api(version, '/a') };
    source.push(url, files, { people: [ann, ann] });
    await sync();
    return (await findResource(registry, pay))?.versions.map(({ label }) => label);
  };
  source.push(url, {
    'stele.yaml': exempted('x')
      .replace('    blockOn: warn\n', '')
      .replace(/ {4}exemptions.*\n/, ''),
    'style.yaml': style,
    'pay.yaml': api('1.0.0', '/a'),
  });
  await sync();
  expect(await push('1.1.0', 'Later.')).toEqual(['1.0.0']);
  const [first] = await listHeld(registry, approver, 'acme');
  expect(first?.held.changes).toMatchObject([{ rule: 'titled', message: expect.stringContaining('Exempted: Later.') }]);
  const decision = { verdict: 'approved', reason: 'For a month.' } as const;
  await decide(registry, approver, 'acme', first!.held.id, decision, { actor: `user:${approver.id}`, origin: null });
  expect(await push('1.1.0', 'Never.')).toEqual(['1.0.0']);
  expect(await push('1.1.0', 'Later.')).toEqual(['1.0.0', '1.1.0']);
  expect(await push('1.2.0', 'Later.')).toEqual(['1.0.0', '1.1.0', '1.2.0']);
});

test('what is approved in a pull request for tags holds for a tag that raises as much, and for no other', async () => {
  const { source, sync, labels, decideAs, held, hook, checked, registry } = await scene();
  const files = { 'stele.yaml': settings.replace('}', `, tags: 'v*' }`), 'pay.yaml': api('1.0.0', '/a', '/b') };
  source.push(url, files, { people: [cid, cid] });
  await sync();
  const breaking = { ...files, 'pay.yaml': api('1.0.0', '/a') };
  const head = source.push(url, breaking, { branch: seven.ref, people: [ann, ann] });
  await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true });
  await checked(head);
  expect(await held()).toMatchObject([{ held: { source: 'pull 7', label: '2.0.0' } }]);
  await decideAs(approver, 'approved');
  const merged = source.push(url, breaking, { people: [ann, ann] });
  source.tag(url, 'v1.1.0', merged);
  await sync();
  expect(await labels()).toEqual(['1.0.0']);
  expect((await held()).find(({ held: { source: from } }) => from === 'tag 1.1.0')).toMatchObject({ state: 'waiting' });
  source.tag(url, 'v2.0.0', merged);
  await sync();
  expect(await labels()).toEqual(['1.0.0', '2.0.0']);
  expect(await findResource(registry, pay)).toMatchObject({ latest: '2.0.0' });
});

test('a pull request says that it waits, and passes once it is approved', async () => {
  const { push, sync, labels, decideAs, held, hook, checked, host, queue } = await scene();
  const head = push(api('2.0.0', '/a'), { branch: seven.ref });
  await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true });
  await checked(head);
  const told = () => host.told.filter((each) => each.commit === head && each.name.endsWith('pay'));
  await waitFor(() => expect(told().at(-1)).toMatchObject({ state: 'waiting', title: /^Waits for approval/ }));
  expect(await held()).toMatchObject([{ held: { source: 'pull 7', commit: head } }]);
  await decideAs(approver, 'approved');
  await queue.checkAgain('acme', repository, head);
  await waitFor(() => expect(told().at(-1)).toMatchObject({ state: 'success' }));
  expect(await labels()).toEqual(['1.0.0']);
  push(api('2.0.0', '/a'));
  await sync();
  expect(await labels()).toEqual(['1.0.0', '2.0.0']);
  expect(await held()).toEqual([]);
});
