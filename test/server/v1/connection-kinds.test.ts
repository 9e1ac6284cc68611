import { expect, test } from 'vitest';
import { resourceRef, type Resource } from '../../../src/model/resource.ts';
import { repositoryId, repositoryRef, type Repository } from '../../../src/model/connection.ts';
import { follow } from '../../../src/sync/follow.ts';
import { createTestRegistry } from '../registry.ts';
import { shareCompiler } from '../../compile/shared-compiler.ts';
import { documentOf, openApi, unlimited, type Api } from './api.ts';
import { createTestRepository } from './repository.ts';

/** Of each kind, an address of a repository, and the name that answers have for it. */
const kinds = [
  ['GitHub', 'https://github.com/acme/contracts', null],
  ['GitLab', 'https://gitlab.com/acme/group/contracts.git', null],
  ['a host of one’s own, with a port', 'https://git.acme.example:8443/contracts.git', null],
  ['ssh', 'ssh://git@git.acme.example:2222/contracts.git', null],
  ['ssh as git writes it', 'git@github.com:acme/contracts.git', null],
  ['a folder', '/srv/apis', 'apis'],
  ['a bare folder', '/srv/apis.git', 'apis'],
] as const;

const hosts = ['github.com', 'gitlab.com', 'git.acme.example:8443', 'git.acme.example:2222'];
const members = ['repository', 'branch', 'path', 'tags', 'onConflict', 'credential'];
const at = '/v1/apis/pay/connection';

async function open(url: string, { allowLocalRepositories = true } = {}) {
  const repository = createTestRepository(url);
  const registry = {
    ...createTestRegistry({ ...unlimited, sync: { allowLocalRepositories, hosts } }),
    source: repository.source,
    compiler: shareCompiler(),
  };
  const api = await openApi(registry);
  const followed = { url, branch: null, credential: null, discover: '', visibility: 'public', validation: 'lenient' } as const; // prettier-ignore
  return { api, repository, follow: async () => (await follow(registry, 'acme', followed))! };
}

/** What an answer says of a connection, with those members alone that a request takes. */
async function read(api: Api) {
  const answer = await api.call('GET', at);
  return { answer, body: Object.fromEntries(members.map((name) => [name, answer.json[name]])) };
}

const audit = async (api: Api) => (await api.call('GET', '/v1/audit?limit=1')).json['items'];

test.each(kinds)('a connection to %s is sent back as it was read: nothing changes', async (...[, url, name]) => {
  const { api } = await open(url);
  await using _ = api;
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  expect((await api.call('PUT', at, { body: { repository: url, path: 'pay.json' } })).status).toBe(200);
  const { answer, body } = await read(api);
  expect(body['repository']).toBe(name ?? url);
  const before = await audit(api);
  const sent = await api.call('PUT', at, { body, headers: { 'If-Match': answer.headers.get('etag')! } });
  expect([sent.status, sent.json]).toEqual([200, answer.json]);
  expect(await audit(api)).toEqual(before);
});

const all = 'resources:\n  - { path: pay.json, slug: pay }\n';
const view = all.replace(' }', ', audience: public }');
const connected = kinds.flatMap(
  ([kind, url]) =>
    [
      ['a file', kind, url, all],
      ['a view', kind, url, view],
    ] as const,
);
test.each(connected)(
  '%s that a sync of %s connected is sent back as it was read, also after undelete',
  async (...[, , url, settings]) => {
    const { api, repository, follow: begin } = await open(url, { allowLocalRepositories: false });
    await using _ = api;
    const push = async (version: string) => {
      repository.commit({ 'pay.json': documentOf(version), 'stele.yaml': settings });
      await api.call('POST', `/v1/repositories/${await begin()}/sync?wait=30`);
    };
    await push('1.0.0');
    const { answer, body } = await read(api);
    expect(answer.json['state']).toBe('synced');
    const sent = await api.call('PUT', at, { body });
    expect([sent.status, sent.json]).toEqual([200, answer.json]);
    const stored = await api.registry.refs.read<Resource>(resourceRef({ org: 'acme', type: 'apis', slug: 'pay' }));
    expect(stored!.value.connection!.view).toEqual(settings === view ? expect.anything() : undefined);

    await api.call('DELETE', '/v1/apis/pay');
    await api.call('POST', '/v1/apis/pay/undelete');
    expect((await api.call('GET', at)).status).toBe(404);
    expect((await api.call('PUT', at, { body })).json).toMatchObject(body);
    await push('1.1.0');
    expect((await api.call('GET', '/v1/apis/pay')).json['latest']).toBe('1.1.0');
  },
);

test.each(kinds)(
  'the connection of a site to %s is sent back as it was read, also without it',
  async (...[, url, name]) => {
    const { api } = await open(url);
    await using _ = api;
    const place = '/v1/sites/guide/connection';
    await api.call('POST', '/v1/sites', { body: { title: 'Guide', slug: 'guide' } });
    expect((await api.call('PUT', place, { body: { repository: url, folder: 'docs' } })).status).toBe(200);
    const { json, text } = await api.call('GET', place);
    const body = Object.fromEntries(['repository', 'branch', 'folder', 'credential'].map((each) => [each, json[each]]));
    expect(body['repository']).toBe(name ?? url);
    const before = await audit(api);
    expect(await api.call('PUT', place, { body })).toMatchObject({ status: 200, text });
    expect(await audit(api)).toEqual(before);
    await api.call('DELETE', place);
    expect((await api.call('PUT', place, { body })).json).toMatchObject(body);
  },
);

test('a name is that of a folder which the organization follows, and of one file that its sync found', async () => {
  const { api, repository, follow: begin } = await open('/srv/apis', { allowLocalRepositories: false });
  await using _ = api;
  repository.commit({ 'pay.json': documentOf('1.0.0'), 'stele.yaml': all });
  await api.call('POST', `/v1/repositories/${await begin()}/sync?wait=30`);
  await api.call('POST', '/v1/apis', { body: { name: 'Other', slug: 'other' } });
  const connect = async (repositoryName: string, path: string) =>
    (await api.call('PUT', '/v1/apis/other/connection', { body: { repository: repositoryName, path } })).status;
  expect(await connect('/srv/apis', 'pay.json')).toBe(403);
  expect(await connect('apis', 'secret.json')).toBe(403);
  expect(await connect('other', 'pay.json')).toBe(400);
  // The operator took it out of the configuration.
  const ref = repositoryRef('acme', repositoryId('/srv/apis', null));
  const setGone = (gone: string | null) =>
    api.registry.refs.update<Repository>(ref, (stored) => ({
      value: { ...stored!.value, gone },
      change: { actor: 'operator:test', origin: null, action: 'leave' },
    }));
  const again = async () => (await api.call('PUT', at, { body: { repository: 'apis', path: 'pay.json' } })).status;
  expect(await again()).toBe(200);
  await setGone('It is configured no more.');
  expect([await again(), await connect('apis', 'pay.json')]).toEqual([403, 403]);
  await setGone(null);
  const another = { url: '/opt/apis', branch: null, credential: null, discover: '', visibility: 'public', validation: 'lenient' } as const; // prettier-ignore
  await follow(api.registry, 'acme', another);
  expect(await connect('apis', 'pay.json')).toBe(409);
});
