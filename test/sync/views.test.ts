import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { CompileGate } from '../../src/compile/compile.ts';
import { repositoryRef, type Repository } from '../../src/model/connection.ts';
import { imageLayers, sourceLayers, type ArtifactConfig } from '../../src/model/artifact.ts';
import { parseCoordinate } from '../../src/model/address.ts';
import { digestOf } from '../../src/model/digest.ts';
import { encodeJson } from '../../src/model/json.ts';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { findResource } from '../../src/registry/lives.ts';
import { keptComparison } from '../../src/registry/compare-versions.ts';
import { relint } from '../../src/registry/gate/compile-document.ts';
import { readPublished } from '../../src/registry/derived.ts';
import { readConfigOf, readJson, readManifestOf } from '../../src/registry/stored.ts';
import { verify } from '../../src/registry/verify.ts';
import { follow } from '../../src/sync/follow.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { createWorld } from '../registry/world.ts';

const url = 'https://git.test/acme/apis.git';

const settings = `resources:
  - { path: apis/*.yaml, slug: '{1}' }
  - { path: apis/*.yaml, slug: '{1}-public', audience: public, overlays: [look.yaml], visibility: public }
`;

const api = (version: string, more = '') => `openapi: 3.1.0
info: { title: Pay, version: ${version} }
paths:
  /pay: { get: { responses: { '200': { description: Done. } } } }
  /topsecret: { get: { x-internal: true, responses: { '200': { description: Done. } } } }
${more}`;

const overlay = (title: string) => `overlay: 1.0.0
info: { title: Look, version: 1.0.0 }
actions: [{ target: $.info, update: { title: ${title} } }]
`;

function open() {
  const world = createWorld();
  const real = shareCompiler();
  const { compile, compare, readSettings, detect } = real;
  const registry = {
    ...world.registry,
    compiler: { ...world.compiler, id: real.id, compile, compare, readSettings, detect },
  };
  const state = { branch: null, credential: null, discover: '', visibility: 'private', validation: 'strict' } as const;
  const following = follow(registry, 'acme', { url, ...state });
  const queue = createSyncQueue(registry, createPulls);
  return {
    ...world,
    registry,
    sync: async (files: Record<string, string>) => {
      world.source.push(url, files);
      const { documents } = await (await queue.request('acme', await following, 'manual')).done;
      return documents.map(({ path, outcome, label }) => `${path} ${outcome} ${label}`).sort();
    },
    repository: async () => (await registry.refs.read<Repository>(repositoryRef('acme', await following)))!.value,
    find: async (slug: string) => (await findResource(registry, { org: 'acme', type: 'apis', slug }))!,
  };
}

test('one file becomes several resources, and a view says nothing of what it leaves out', async () => {
  const { registry, sync, find } = open();
  const files = { 'stele.yaml': settings, 'apis/pay.yaml': api('1.0.0'), 'look.yaml': overlay('Payments') };
  expect(await sync(files)).toEqual(['apis/pay.yaml published 1.0.0', 'apis/pay.yaml#pay-public published 1.0.0']);
  const whole = await find('pay');
  const view = await find('pay-public');
  expect([whole.visibility, view.visibility, view.name]).toEqual(['private', 'public', 'Payments']);
  const [version] = view.versions;
  const manifest = await readManifestOf(registry, version!);
  const config = await readJson<ArtifactConfig>(registry, manifest.config.digest, version!.manifest);
  expect(config.view).toEqual({ overlays: ['look.yaml'], audience: 'public' });
  // By the id of a file, a guess at what it hides could be confirmed.
  expect(config.provenance.blobs).toEqual({ 'apis/pay.yaml': null, 'look.yaml': null });
  expect([...sourceLayers(manifest).keys(), ...imageLayers(manifest)]).toEqual(['view/apis/pay.yaml']);
  for (const { digest } of [manifest.config, ...manifest.layers]) {
    const bytes = await registry.objects.get(digest, version!.manifest);
    expect(Buffer.from(bytes!).toString()).not.toContain('topsecret');
  }
  expect(Buffer.from((await readPublished(registry, whole.versions[0]!)).json).toString()).toContain('topsecret');
  for (const name of ['@acme/apis/pay', '@acme/apis/pay-public'])
    expect(await verify(registry, parseCoordinate(name)!.coordinate, { kind: 'latest' })).toMatchObject({
      outcome: 'same',
    });
  // A ruleset is replayed on the result, which is all that is stored.
  const rules = { rules: { 'operation-summary': 'error' } };
  const ruleset = { digest: version!.manifest, name: 'r', json: JSON.stringify(rules) };
  const gate: CompileGate = { blockOn: 'none', exemptions: [], today: '', known: null };
  const report = await relint(registry, view, version!, ruleset, gate);
  expect(report.problems.map(({ message }) => message).join()).not.toContain('topsecret');
  expect(report.counts.error).toBe(1);
});

test('a view from when provenance named the blobs of all files is verified as before', async () => {
  const { registry, sync, find } = open();
  await sync({ 'stele.yaml': settings, 'apis/pay.yaml': api('1.0.0'), 'look.yaml': overlay('Payments') });
  const view = await find('pay-public');
  const [version] = view.versions;
  const [whole] = (await find('pay')).versions;
  const manifest = await readManifestOf(registry, version!);
  const config = await readConfigOf(registry, version!);
  const { blobs } = (await readConfigOf(registry, whole!)).provenance;
  const hash = createHash('sha1').update(overlay('Payments')).digest('hex');
  const named = { ...config, provenance: { ...config.provenance, blobs: { ...blobs, 'look.yaml': hash } } };
  const bytes = encodeJson(named);
  const old = encodeJson({
    ...manifest,
    config: { ...manifest.config, digest: digestOf(bytes), size: bytes.byteLength },
  });
  const parts = [config.report, ...manifest.layers.map(({ digest }) => digest)];
  const kept = await Promise.all(parts.map((digest) => registry.objects.get(digest, version!.manifest)));
  await registry.objects.putPack(old, [], [bytes, ...kept.map((each) => each!)]);
  await registry.refs.update<Resource>(resourceRef({ org: 'acme', type: 'apis', slug: 'pay-public' }), (current) => ({
    value: { ...current!.value, versions: [{ ...version!, manifest: digestOf(old) }] },
    change: { actor: 'test', origin: null, action: 'age' },
  }));
  const { coordinate } = parseCoordinate('@acme/apis/pay-public')!;
  expect(await verify(registry, coordinate, { kind: 'latest' })).toMatchObject({ outcome: 'same' });
});

test('a change of the overlay or of the settings publishes the view again, and of the rest nothing', async () => {
  const { sync, find, registry } = open();
  const files = { 'stele.yaml': settings, 'apis/pay.yaml': api('1.0.0'), 'look.yaml': overlay('Payments') };
  await sync(files);
  expect(await sync({ ...files, 'README.md': '' })).toEqual([]);
  expect(await sync({ ...files, 'look.yaml': overlay('Money') })).toEqual([
    expect.stringMatching(/^apis\/pay\.yaml#pay-public published 1\.0\.0\+/),
  ]);
  const all = {
    ...files,
    'look.yaml': overlay('Money'),
    'stele.yaml': settings.replace('audience: public', 'audience: internal'),
  };
  expect(await sync(all)).toEqual([expect.stringMatching(/^apis\/pay\.yaml#pay-public published 1\.0\.0\+/)]);
  // What is marked internal becomes a part of it, and then leaves it: a break that the source does not have.
  const next = { ...all, 'stele.yaml': settings, 'apis/pay.yaml': api('2.0.0') };
  expect(await sync(next)).toEqual(['apis/pay.yaml published 2.0.0', 'apis/pay.yaml#pay-public published 2.0.0']);
  const view = await find('pay-public');
  const [old, current] = [view.versions.at(-2)!, view.versions.at(-1)!];
  const { changes } = (await keptComparison(registry, old, current))!;
  expect(changes.map(({ message }) => message)).toContain(
    'GET /topsecret was removed. The document still has it: its overlays or audience leave it out.',
  );
});

test('a view that is listed no more is detached, and its file stays published', async () => {
  const { sync, repository } = open();
  const files = { 'stele.yaml': settings, 'apis/pay.yaml': api('1.0.0'), 'look.yaml': overlay('Payments') };
  await sync(files);
  const plain = { ...files, 'stele.yaml': "resources: [{ path: apis/*.yaml, slug: '{1}' }]" };
  expect(await sync(plain)).toEqual(['apis/pay.yaml#pay-public detached 1.0.0']);
  expect(Object.keys((await repository()).documents)).toEqual(['apis/pay.yaml', 'apis/pay.yaml#pay-public']);
  expect(await sync(files)).toEqual(['apis/pay.yaml#pay-public unchanged 1.0.0']);
});

test('a missing overlay, and a view without a slug, are told at their places', async () => {
  const { sync, repository, registry } = open();
  await sync({ 'stele.yaml': settings, 'apis/pay.yaml': api('1.0.0') });
  const { documents } = await repository();
  expect(documents['apis/pay.yaml#pay-public']).toMatchObject({
    outcome: 'rejected',
    detail: expect.stringContaining('look.yaml:1:1') as string,
  });
  await sync({ 'stele.yaml': 'resources: [{ path: a.yaml, audience: public }]', 'apis/pay.yaml': api('1.0.0') });
  expect(await registry.refs.read('resources/acme/apis/a')).toBeNull();
});

test('CODEOWNERS names the owner where nobody else is named', async () => {
  const { sync, find } = open();
  const files = { CODEOWNERS: '*.yaml @acme/pay', 'apis/pay.yaml': api('1.0.0') };
  await sync({ ...files, 'stele.yaml': 'resources: [{ path: apis/pay.yaml, slug: pay }]' });
  expect((await find('pay')).owner).toBe('@acme/pay');
  const links = '[{ title: Runbook, url: "https://wiki.example/pay" }]';
  await sync({
    ...files,
    CODEOWNERS: '*.yaml @acme/money',
    'stele.yaml': `resources: [{ path: apis/pay.yaml, slug: pay, system: checkout, links: ${links} }]`,
  });
  expect(await find('pay')).toMatchObject({
    owner: '@acme/money',
    system: 'checkout',
    links: [{ title: 'Runbook', url: 'https://wiki.example/pay' }],
  });
  await sync({ ...files, 'stele.yaml': 'resources: [{ path: apis/pay.yaml, slug: pay, owner: payments }]' });
  expect((await find('pay')).owner).toBe('payments');
  await sync({ ...files, 'stele.yaml': 'resources: [{ path: apis/pay.yaml, slug: pay }]' });
  expect((await find('pay')).owner).toBe('payments');
});

const wholeOnly = "resources:\n  - { path: 'apis/pay.yaml', slug: pay }\n";
const viewOnly = "resources:\n  - { path: 'apis/pay.yaml', slug: pay-public, audience: public }\n";

test.each([
  ['in place of the entry for the whole file', wholeOnly],
  ['and the entry for the whole file leaves', wholeOnly + viewOnly.split('\n').slice(1).join('\n')],
])('an entry for a view comes %s: the whole file is detached, and published no more', async (_, before) => {
  const { sync, find, repository } = open();
  await sync({ 'stele.yaml': before, 'apis/pay.yaml': api('1.0.0') });
  const outcomes = await sync({ 'stele.yaml': viewOnly, 'apis/pay.yaml': api('1.1.0') });
  expect(outcomes).toContain('apis/pay.yaml detached 1.0.0');
  expect(outcomes).toContain('apis/pay.yaml#pay-public published 1.1.0');
  expect((await find('pay')).versions.map(({ label }) => label)).toEqual(['1.0.0']);
  expect(await sync({ 'stele.yaml': viewOnly, 'apis/pay.yaml': api('1.2.0') })).toEqual([
    'apis/pay.yaml#pay-public published 1.2.0',
  ]);
  expect((await repository()).documents['apis/pay.yaml']?.outcome ?? 'detached').toBe('detached');
});

test('without stele.yaml, what was a view is not published whole', async () => {
  const { sync, find, repository } = open();
  await sync({ 'stele.yaml': viewOnly.replace('pay-public', 'pay'), 'apis/pay.yaml': api('1.0.0') });
  for (const version of ['1.1.0', '1.2.0']) {
    await sync({ 'apis/pay.yaml': api(version) });
    expect((await find('pay')).versions.map(({ label }) => label)).toEqual(['1.0.0']);
  }
  expect((await repository()).documents['apis/pay.yaml']).toMatchObject({
    outcome: 'conflict',
    detail: 'apis/pay.yaml is published as @acme/apis/pay for the audience public only, and nothing in stele.yaml says so any more. List it there, or delete the resource.', // prettier-ignore
  });
});
