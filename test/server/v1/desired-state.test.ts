import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestRegistry } from '../registry.ts';
import { openApi, unlimited, type Answered, type Api } from './api.ts';
import { createTestRepository } from './repository.ts';

/**
 * What a tool that keeps desired state needs of `/v1`: it sends what somebody wrote down, reads the same back, changes what
 * differs, finds nothing to do the next time, and makes again what somebody deleted. The tool below knows nothing of the
 * objects but their addresses.
 */
const repository = createTestRepository('https://github.com/acme/contracts');
const path = (folder: string) => `${folder}.json`;
let api: Api;

type Members = Readonly<Record<string, unknown>>;

interface ObjectUnderTest {
  /** Where objects of the kind are made with POST. Without: with PUT at their own address. */
  list?: string;
  /** The address. Null: its id is known only once it is made, and `name` finds it in the list. */
  at: string | null;
  name?: string;
  first: Members;
  /** What it is changed to. */
  second: Members;
  /** The member that says when it was deleted. Without: its address answers 404. */
  gone?: string;
  /** Whether making it again is how it is changed. */
  isMadeAgain?: boolean;
}

const gate = {
  ruleset: null,
  validation: null,
  blockOn: 'warn',
  ratchet: true,
  compatibility: 'semver',
  impact: 'block',
};
const resource = {
  first: {
    name: 'A',
    description: 'First.',
    owner: 'team-a',
    lifecycle: 'production',
    topics: ['money'],
    visibility: 'public',
    ...gate,
  },
  second: {
    name: 'B',
    description: '',
    owner: null,
    lifecycle: null,
    topics: [],
    visibility: 'private',
    blockOn: null,
    ratchet: null,
  },
};
const objects: Record<string, ObjectUnderTest> = {
  apis: { list: '/v1/apis', at: '/v1/apis/payments', ...resource },
  schemas: { list: '/v1/schemas', at: '/v1/schemas/payments', ...resource },
  rulesets: { list: '/v1/rulesets', at: '/v1/rulesets/payments', ...resource },
  sites: {
    list: '/v1/sites',
    at: '/v1/sites/handbook',
    first: {
      title: 'Handbook',
      description: 'All of it.',
      visibility: 'public',
      blockOn: 'warn',
      theme: { accent: '#123456' },
      navigation: [{ title: 'Start', page: 'index.md' }],
      redirects: { 'old.md': 'index.md' },
      versions: [{ title: '2', folder: 'v2/' }],
    },
    second: { title: 'Book', description: '', theme: {}, navigation: null, redirects: {}, versions: [] },
  },
  'pages of sites': {
    at: '/v1/sites/other/pages/index.md',
    first: { title: 'Home', markdown: 'Text.\n', api: null },
    second: { title: 'Start', markdown: 'More.\n', api: '@acme/apis/other' },
  },
  'connections of sites': {
    at: '/v1/sites/other/connection',
    first: { repository: repository.url, branch: 'main', folder: 'docs', credential: null },
    second: { repository: repository.url, branch: 'main', folder: 'guide', credential: null },
  },
  ...Object.fromEntries(
    ['apis', 'schemas', 'rulesets'].map((type): [string, ObjectUnderTest] => [
      `connections of ${type}`,
      {
        at: `/v1/${type}/other/connection`,
        first: { repository: repository.url, branch: 'main', path: path('a'), tags: null, credential: null },
        second: { repository: repository.url, branch: 'main', path: path('b'), tags: null, credential: null },
      },
    ]),
  ),
  keys: {
    list: '/v1/keys',
    at: null,
    name: 'name',
    gone: 'revokedAt',
    first: { name: 'ci', scopes: ['read', 'publish'], resources: ['apis/*'], expiresAt: '2100-01-01T00:00:00.000Z' },
    second: { name: 'ci', scopes: ['read'], resources: ['apis/payments'], expiresAt: '2099-01-01T00:00:00.000Z' },
  },
  webhooks: {
    list: '/v1/webhooks',
    at: null,
    name: 'description',
    first: {
      description: 'ours',
      url: 'https://example.com/a',
      events: ['latest.moved'],
      resources: ['apis/payments'],
    },
    second: { description: 'ours', url: 'https://example.com/b', events: ['version.published'], resources: null },
  },
  repositories: {
    list: '/v1/repositories',
    at: null,
    name: 'branch',
    isMadeAgain: true,
    first: {
      repository: repository.url,
      branch: 'next',
      path: null,
      visibility: 'private',
      validation: 'lenient',
      versions: 'branch',
      credential: null,
    },
    second: {
      repository: repository.url,
      branch: 'next',
      path: 'contracts',
      visibility: 'public',
      validation: 'strict',
      versions: 'tags',
      credential: null,
    },
  },
};

async function addressOf({ at, list, name, first, gone }: ObjectUnderTest): Promise<string | null> {
  if (at !== null) return at;
  const { json } = await api.call('GET', `${list}?limit=100`);
  const found = (json['items'] as Record<string, unknown>[]).find(
    (item) => item[name!] === first[name!] && (gone === undefined || item[gone] === null),
  );
  return found === undefined ? null : `${list}/${found['id'] as string}`;
}

async function read(kept: ObjectUnderTest): Promise<Answered | null> {
  const at = await addressOf(kept);
  const answer = at === null ? null : await api.call('GET', at);
  return answer?.status === 200 ? answer : null;
}

/** Makes an object what is desired. Returns the requests that it needed for that. */
async function keep(kept: ObjectUnderTest, desired: Members): Promise<string[]> {
  const sent: string[] = [];
  const send = async (method: string, at: string, body: Members, headers = {}): Promise<number> => {
    const { status, text } = await api.call(method, at, { body, headers });
    sent.push(`${method} ${status}`);
    if (status >= 400 && status !== 409) throw new Error(`${method} ${at}: ${text}`);
    return status;
  };
  const found = await read(kept);
  if (found === null) {
    if (kept.list === undefined) await send('PUT', kept.at!, desired);
    else {
      const slug = kept.at?.split('/').at(-1);
      const status = await send('POST', kept.list, { ...(slug !== undefined && { slug }), ...desired });
      // Somebody deleted it. It keeps its name, so it comes back.
      if (status === 409) {
        await send('POST', `${kept.at}/undelete`, {});
        sent.push(...(await keep(kept, desired)));
      }
    }
    return sent;
  }
  const differing = Object.entries(desired).filter(([name, value]) => !isSame(found.json[name], value));
  if (differing.length === 0) return sent;
  const headers = { 'If-Match': found.headers.get('etag')! };
  const at = (await addressOf(kept))!;
  if (kept.list === undefined) await send('PUT', at, desired);
  else if (kept.isMadeAgain) await send('POST', kept.list, desired);
  else await send('PATCH', at, Object.fromEntries(differing), headers);
  return sent;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

beforeAll(async () => {
  const plain = createTestRegistry(unlimited);
  api = await openApi({ ...plain, source: repository.source });
  repository.commit({ [path('a')]: '{}' });
  for (const list of ['/v1/apis', '/v1/schemas', '/v1/rulesets'])
    await api.call('POST', list, { body: { name: 'Other', slug: 'other' } });
  await api.call('POST', '/v1/sites', { body: { title: 'Other', slug: 'other' } });
});
afterAll(() => api[Symbol.asyncDispose]());

describe('in this order', { shuffle: false }, () => {
  test.for(Object.entries(objects))('%s', async ([, kept]) => {
    for (const desired of [kept.first, kept.second]) {
      expect(await keep(kept, desired)).toHaveLength(1);
      expect((await read(kept))!.json).toMatchObject(desired);
      expect(await keep(kept, desired)).toEqual([]);
    }
    const at = (await addressOf(kept))!;
    expect((await api.call('DELETE', at)).status).toBe(204);
    expect(await read(kept)).toBeNull();
    expect((await keep(kept, kept.second)).length).toBeGreaterThan(0);
    expect((await read(kept))!.json).toMatchObject(kept.second);
    expect(await keep(kept, kept.second)).toEqual([]);
    if (kept.isMadeAgain !== true)
      await expectNoChange((await addressOf(kept))!, kept.list === undefined ? 'PUT' : 'PATCH');
  });

  type Schema = Readonly<Record<string, unknown>>;

  /** What was read, with those members only that the operation at an address takes. */
  async function taken(address: string, method: string, record: Members): Promise<Members> {
    const { json } = await api.call('GET', '/v1/openapi.json');
    const { paths } = json as { paths: Record<string, Record<string, Schema>> };
    const pattern = (template: string) => new RegExp(`^${template.replaceAll(/[{][^}]*[}]/g, '[^/]+')}$`);
    const template = Object.keys(paths).find((each) => pattern(each).test(address))!;
    const resolve = (schema: Schema): Schema => {
      const reference = schema['$ref'] as string | undefined;
      if (reference === undefined) return schema;
      return resolve(
        reference
          .slice(2)
          .split('/')
          .reduce((node, key) => node[key] as Schema, json as Schema),
      );
    };
    const { content } = paths[template]![method.toLowerCase()]!['requestBody'] as {
      content: Record<string, { schema: Schema }>;
    };
    const known = Object.keys(resolve(content['application/json']!.schema)['properties'] as object);
    return Object.fromEntries(Object.entries(record).filter(([name]) => known.includes(name)));
  }

  const audit = async () => (await api.call('GET', '/v1/audit?limit=1')).json['items'];

  /** Sends an object as it was read, and expects that nothing happens. */
  async function expectNoChange(address: string, method: string): Promise<void> {
    const before = await api.call('GET', address);
    const log = await audit();
    const body = await taken(address, method, before.json);
    const headers = { 'If-Match': before.headers.get('etag')! };
    const sent = await api.call(method, address, { body, headers });
    const after = await api.call('GET', address);
    expect([address, sent.status]).toEqual([address, 200]);
    expect([after.text, after.headers.get('etag')]).toEqual([before.text, before.headers.get('etag')]);
    expect(await audit()).toEqual(log);
  }

  test('an object that is sent as it was read does not change, and nothing is logged', async () => {
    const publish = (version: string) =>
      api.call('POST', '/v1/apis/back/spec', {
        body: { document: JSON.stringify({ openapi: '3.1.0', info: { title: 'Back', version }, paths: {} }) },
      });
    await api.call('POST', '/v1/apis', { body: { name: 'Back', slug: 'back' } });
    for (const version of ['1.0.0', '1.1.0']) await publish(version);
    const status = { state: 'deprecated', reason: 'Old.', replacement: '1.1.0', sunset: '2100-01-01T00:00:00Z' };
    await api.call('PATCH', '/v1/apis/back/versions/1.0.0', { body: { status } });
    for (const address of ['back', 'back/versions/1.0.0', 'back/versions/1.1.0'])
      await expectNoChange(`/v1/apis/${address}`, 'PATCH');
    await expectNoChange('/v1/organization', 'PATCH');
    expect((await api.call('GET', '/v1/apis/back')).json).toMatchObject({ latest: '1.1.0', latestPinned: false });
  });

  test('the latest version is pinned where it is, and what says that it is not pinned pins nothing', async () => {
    const change = async (body: Members) => (await api.call('PATCH', '/v1/apis/back', { body })).json;
    expect(await change({ latestPinned: true })).toMatchObject({ latest: '1.1.0', latestPinned: true });
    expect(await change({ latest: '1.0.0' })).toMatchObject({ latest: '1.0.0', latestPinned: true });
    expect(await change({ latest: '1.0.0', latestPinned: true })).toMatchObject({
      latest: '1.0.0',
      latestPinned: true,
    });
    // Read before 1.1.0 was published, and sent after it.
    expect(await change({ latest: '1.0.0', latestPinned: false })).toMatchObject({
      latest: '1.1.0',
      latestPinned: false,
    });
    expect(await change({ latest: '1.1.0' })).toMatchObject({ latest: '1.1.0', latestPinned: true });
    expect(await change({ latest: null })).toMatchObject({ latest: '1.1.0', latestPinned: false });
  });
});
