import { bundleFromJSON } from '@sigstore/bundle';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { expect, test } from 'vitest';
import { createKey } from '../../../src/registry/keys/keys.ts';
import { createApp } from '../../../src/server/app.ts';
import { listen } from '../../../src/server/listen.ts';
import { createTestQueue, createTestRegistry, publishVersion } from '../registry.ts';

async function serve(url: string | null) {
  const made = createTestRegistry();
  const logKey = {
    read: () => 'the secret of the key of this public log',
    make: () => 'the secret of the key of this public log',
  };
  const config = { ...made.config, url, store: { kind: 'fs', path: '/nowhere' } as const };
  const registry = { ...made, config, logKey };
  await publishVersion(registry, '@acme/apis/shop', '1.0.0');
  await publishVersion(registry, '@acme/apis/secret', '1.0.0', { visibility: 'private' });
  const author = { actor: 'operator:test', origin: null };
  const { text: key } = await createKey(registry, { org: 'acme', name: 'reader', scopes: ['read'] }, author);
  const app = createApp({ registry, queue: createTestQueue(registry), url: 'https://registry.test', isReady: () => true }); // prettier-ignore
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${server.url}${path}`, { headers });
  const json = async <T>(path: string) => (await (await get(path)).json()) as T;
  return { get, json, key, [Symbol.asyncDispose]: () => server.close() };
}

/** Verifies a bundle with Sigstore's own library, as `cosign verify-attestation --key` does. */
function verify(bundle: object, pem: string): void {
  const parsed = bundleFromJSON(bundle);
  const { hint } = (bundle as { verificationMaterial: { publicKey: { hint: string } } }).verificationMaterial.publicKey;
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\n/g, ''), 'base64');
  const root = { mediaType: '', certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [], signingConfig: undefined }; // prettier-ignore
  const trust = toTrustMaterial(root, { [hint]: { rawBytes: der, keyDetails: 7, validFor: undefined } });
  new Verifier(trust, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 }).verify(toSignedEntity(parsed));
}

test('a version has a signed statement of how it was made, as an OCI referrer and at its own address', async () => {
  await using registry = await serve('https://registry.test');
  const { get, json } = registry;
  const manifest = await get('/v2/acme/apis/shop/manifests/1.0.0');
  const digest = manifest.headers.get('docker-content-digest')!;
  const type = 'application/vnd.dev.sigstore.bundle.v0.3+json';
  const { manifests } = await json<{ manifests: { digest: string; artifactType: string; annotations: object }[] }>(
    `/v2/acme/apis/shop/referrers/${digest}?artifactType=${type}`,
  );
  expect(manifests).toMatchObject([
    { artifactType: type, annotations: { 'dev.sigstore.bundle.predicateType': 'https://slsa.dev/provenance/v1' } },
  ]);
  const referrer = await json<{ layers: { digest: string; size: number }[]; subject: { digest: string } }>(
    `/v2/acme/apis/shop/manifests/${manifests[0]!.digest}`,
  );
  expect(referrer.subject.digest).toBe(digest);
  const blob = await get(`/v2/acme/apis/shop/blobs/${referrer.layers[0]!.digest}`);
  const bundle = (await blob.json()) as { dsseEnvelope: { payload: string } };
  const pem = await (await get('/log/key.pem')).text();
  verify(bundle, pem);
  const forged = Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString().replace('shop', 'shpo');
  const other = { ...bundle.dsseEnvelope, payload: Buffer.from(forged).toString('base64') };
  expect(() => verify({ ...bundle, dsseEnvelope: other }, pem)).toThrow('signature verification failed');

  expect(await json('/@acme/apis/shop@1.0.0/attestation')).toEqual(bundle.dsseEnvelope);
  const { manifest: named, compiler } = await json<Record<string, string>>('/@acme/apis/shop@1.0.0/provenance');
  expect(named).toBe(digest);
  const statement = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString()) as object;
  expect(statement).toMatchObject({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'registry.test/acme/apis/shop', digest: { sha256: digest.slice('sha256:'.length) } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: { runDetails: { builder: { id: 'https://registry.test', version: { compiler } } } },
  });
});

test('an attestation of a private version is for its readers, and absent for all others', async () => {
  await using registry = await serve('https://registry.test');
  const { get, key } = registry;
  const bodyOf = async (response: Response) => (await response.text()).replace(/urn:uuid:[\w-]+/, '');
  const hidden = await get('/@acme/apis/secret@1.0.0/attestation');
  expect(hidden.status).toBe(404);
  expect(await bodyOf(hidden)).toBe(await bodyOf(await get('/@acme/apis/absent@1.0.0/attestation')));
  const read = await get('/@acme/apis/secret@1.0.0/attestation', { authorization: `Bearer ${key}` });
  expect(read.status).toBe(200);
  expect(read.headers.get('cache-control')).toContain('private');
});

test('a registry without an address signs nothing, and says so', async () => {
  await using registry = await serve(null);
  const { get, json } = registry;
  const answer = await get('/@acme/apis/shop@1.0.0/attestation', { accept: 'application/json' });
  expect(answer.status).toBe(404);
  expect(await answer.text()).toContain('This registry signs nothing');
  const digest = (await get('/v2/acme/apis/shop/manifests/1.0.0')).headers.get('docker-content-digest')!;
  const { manifests } = await json<{ manifests: { artifactType: string }[] }>(`/v2/acme/apis/shop/referrers/${digest}`);
  expect(manifests.map(({ artifactType }) => artifactType)).toEqual(['application/vnd.stele.report.v1+json']);
});
