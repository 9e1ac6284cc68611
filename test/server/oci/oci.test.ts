import { describe, expect, test } from 'vitest';
import type { Manifest } from '../../../src/model/artifact.ts';
import type { Resource } from '../../../src/model/resource.ts';
import { digestOf } from '../../../src/model/digest.ts';
import { publishVersion } from '../registry.ts';
import { anonymise, ask } from '../http.ts';
import { openOci } from './oci-world.ts';

const oci = openOci();
const { get, json, withKey } = oci;
const pay = '/v2/acme/apis/pay';

describe('reading as an OCI client', () => {
  test('the ping says that the API is here, and how to send a key', async () => {
    for (const target of ['/v2/', '/v2']) {
      const { status, headers } = await get(target);
      expect(status).toBe(200);
      expect(headers.get('docker-distribution-api-version')).toBe('registry/2.0');
      expect(headers.get('www-authenticate')).toBe('Basic realm="stele"');
    }
    const { headers, body } = await get('/v2/', withKey());
    expect([headers.get('content-length'), body.toString()]).toEqual(['2', '{}']);
    expect((await get('/v2/', [['Authorization', 'Basic Og==']])).status).toBe(200);
    const options = await get('/v2/', [], 'OPTIONS');
    expect([options.status, options.headers.get('content-length'), options.headers.get('allow')]).toEqual([
      204,
      undefined,
      'GET, HEAD, OPTIONS',
    ]);
  });

  test('a credential that is not valid is refused with a challenge', async () => {
    for (const target of ['/v2/', `${pay}/tags/list`]) {
      const { status, headers, body } = await get(target, [['Authorization', `Basic ${oci.served.values['unbasic']}`]]);
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toBe('Basic realm="stele"');
      expect(JSON.parse(body.toString())).toMatchObject({ errors: [{ code: 'UNAUTHORIZED' }] });
    }
  });

  test('a manifest by tag and by digest is the stored manifest, byte by byte', async () => {
    const { manifest } = oci.served.values;
    for (const reference of ['1.1.0', manifest, manifest!.replace(':', '%3A')]) {
      const { status, headers, body } = await get(`${pay}/manifests/${reference}`);
      expect(status).toBe(200);
      expect(digestOf(body)).toBe(manifest);
      expect(headers.get('docker-content-digest')).toBe(manifest);
      expect(headers.get('content-type')).toBe('application/vnd.oci.image.manifest.v1+json');
      expect(headers.get('cache-control')).toContain('immutable');
    }
    const head = await get(`${pay}/manifests/latest`, [], 'HEAD');
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers.get('docker-content-digest')).toBe(manifest);
    expect(head.headers.get('cache-control')).not.toContain('immutable');
  });

  test('each blob of a manifest is there, whole and in ranges', async () => {
    const { config, layers } = (await json(`${pay}/manifests/1.1.0`)) as unknown as Manifest;
    for (const { digest, size } of [config, ...layers]) {
      const { status, headers, body } = await get(`${pay}/blobs/${digest}`);
      expect([status, body.length, digestOf(body)]).toEqual([200, size, digest]);
      expect(headers.get('docker-content-digest')).toBe(digest);
      const head = await get(`${pay}/blobs/${digest}`, [], 'HEAD');
      expect([head.status, head.headers.get('content-length'), head.body.length]).toEqual([200, String(size), 0]);
      const part = await get(`${pay}/blobs/${digest}`, [['Range', 'bytes=2-5']]);
      expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 2-5/${size}`]);
      expect(part.body).toEqual(body.subarray(2, 6));
    }
    expect((await get(`${pay}/blobs/${config.digest}`, [['Range', 'bytes=99999999-']])).status).toBe(416);
  });

  test('tags are the labels that can be read, in pages', async () => {
    const all = ['1.0.0', '1.0.0_abc', '1.0.1', '1.0.2', '1.1.0', '2.0.0-beta.1', 'latest'];
    expect(await json(`${pay}/tags/list`)).toEqual({ name: 'acme/apis/pay', tags: all });
    const seen: string[] = [];
    for (let next: string | undefined = `${pay}/tags/list?n=3`; next !== undefined;) {
      const { headers, body } = await get(next);
      seen.push(...(JSON.parse(body.toString()) as { tags: string[] }).tags);
      next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
    }
    expect(seen).toEqual(all);
    expect(await json(`${pay}/tags/list?n=0`)).toMatchObject({ tags: [] });
    expect(await json(`${pay}/tags/list?n=${'9'.repeat(30)}`)).toEqual(await json(`${pay}/tags/list`));
    expect((await get(`${pay}/tags/list?n=x`)).status).toBe(400);
    expect(await json('/v2/acme/apis/empty/tags/list')).toMatchObject({ tags: [] });
  });

  test('the report refers to its version as an artifact', async () => {
    const { manifest } = oci.served.values;
    const index = (await json(`${pay}/referrers/${manifest}`)) as unknown as { manifests: Record<string, string>[] };
    expect(index).toMatchObject({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json' });
    const [{ digest, artifactType }] = index.manifests as [Record<string, string>];
    expect(artifactType).toBe('application/vnd.stele.report.v1+json');
    const artifact = await get(`${pay}/manifests/${digest}`);
    expect(digestOf(artifact.body)).toBe(digest);
    const named = JSON.parse(artifact.body.toString()) as Manifest & { subject: { digest: string } };
    expect(named.subject.digest).toBe(manifest);
    const [report] = named.layers;
    expect(JSON.parse((await get(`${pay}/blobs/${report!.digest}`)).body.toString())).toMatchObject({ problems: [{}] });
    expect((await get(`${pay}/blobs/${named.config.digest}`)).body.toString()).toBe('{}');
    const none = await get(`${pay}/referrers/${manifest}?artifactType=text/plain`);
    expect(none.headers.get('oci-filters-applied')).toBe('artifactType');
    expect(JSON.parse(none.body.toString())).toMatchObject({ manifests: [] });
    expect(await json(`${pay}/referrers/${digestOf('absent')}`)).toMatchObject({ manifests: [] });
    const { versions } = (await oci.served.registry.refs.read<Resource>('resources/acme/apis/pay'))!.value;
    const withdrawn = versions.find(({ status }) => status.state === 'withdrawn')!;
    expect(await json(`${pay}/referrers/${withdrawn.manifest}`)).toMatchObject({ manifests: [] });
  });

  test('what a server that just started is asked for by digest alone is found', async () => {
    const index = await json(`${pay}/referrers/${oci.served.values['manifest']}`);
    const [{ digest }] = (index as unknown as { manifests: [{ digest: string }] }).manifests;
    const { layers } = (await json(`${pay}/manifests/1.0.0`)) as unknown as Manifest;
    await using fresh = await openServedAgain();
    for (const path of [`manifests/${digest}`, `blobs/${layers[0]!.digest}`]) {
      expect((await ask(fresh.port, { target: `${pay}/${path}` })).status, path).toBe(200);
    }
    expect((await ask(fresh.port, { target: `${pay}/blobs/${digestOf('absent')}` })).status).toBe(404);
  });

  test.each([
    ['manifests/7.0.0', 404, 'MANIFEST_UNKNOWN'],
    ['manifests/1.0', 404, 'MANIFEST_UNKNOWN'],
    ['manifests/1.0.3', 410, 'MANIFEST_UNKNOWN'],
    [`manifests/${digestOf('x')}`, 404, 'MANIFEST_UNKNOWN'],
    [`blobs/${digestOf('x')}`, 404, 'BLOB_UNKNOWN'],
    ['blobs/sha256:x', 400, 'DIGEST_INVALID'],
    ['nonsense', 404, 'NAME_UNKNOWN'],
  ])('%s is answered %i %s', async (path, status, code) => {
    const answer = await get(`${pay}/${path}`);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ errors: [{ code }] });
    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  test('a push is refused in words that say what to do', async () => {
    const answer = await get(`${pay}/blobs/uploads/`, [], 'POST');
    expect(answer.status).toBe(405);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ errors: [{ code: 'UNSUPPORTED' }] });
  });
});

async function openServedAgain(): Promise<{ port: number } & AsyncDisposable> {
  const { createApp } = await import('../../../src/server/app.ts');
  const { listen } = await import('../../../src/server/listen.ts');
  const { createTestQueue } = await import('../registry.ts');
  const { registry } = oci.served;
  const context = { registry, queue: createTestQueue(registry), url: 'http://registry.test', isReady: () => true };
  const listening = await listen(createApp(context), { host: '127.0.0.1', port: 0 });
  return { port: listening.port, [Symbol.asyncDispose]: () => listening.close(1000) };
}

describe('who may not read', () => {
  const paths = ['manifests/1.0.0', 'manifests/1.0.3', 'manifests/latest', 'tags/list', `blobs/${digestOf('x')}`];

  test('cannot tell private from absent', async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT']) {
      for (const path of [...paths, 'blobs/x', 'tags/list?n=x', `referrers/${digestOf('x')}`]) {
        const [secret, absent] = await Promise.all(
          ['secret', 'absent'].map((slug) => get(`/v2/acme/apis/${slug}/${path}`, [['Range', 'bytes=0-1']], method)),
        );
        expect({ path, answer: anonymise(secret!) }).toEqual({ path, answer: anonymise(absent!) });
        expect(secret!.status).toBe(method === 'PUT' ? 405 : 404);
      }
    }
  });

  test('gets no blob of a private resource through another repository', async () => {
    const { layers } = (await json('/v2/acme/apis/secret/manifests/1.0.0', withKey())) as unknown as Manifest;
    const { digest } = layers[0]!;
    expect((await get(`/v2/acme/apis/secret/blobs/${digest}`, withKey())).status).toBe(200);
    for (const headers of [[], withKey()]) {
      expect((await get(`${pay}/blobs/${digest}`, headers)).status).toBe(404);
    }
    expect((await get(`/v2/acme/apis/secret/blobs/${digest}`)).status).toBe(404);
  });
});

test('of two labels with one tag, the first keeps it', async () => {
  const first = await publishVersion(oci.served.registry, '@acme/apis/twins', '1.0+x');
  await publishVersion(oci.served.registry, '@acme/apis/twins', '1.0_x');
  expect(await json('/v2/acme/apis/twins/tags/list')).toMatchObject({ tags: ['1.0_x', 'latest'] });
  const { headers } = await get('/v2/acme/apis/twins/manifests/1.0_x');
  expect(headers.get('docker-content-digest')).toBe(first.version.manifest);
});
