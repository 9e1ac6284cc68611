import { bundleOf, provenanceStatement, signStatement, type Envelope } from '../../model/transparency/attestation.ts';
import { encodeJson } from '../../model/json.ts';
import { readConfig, readManifest, type GrantedVersion } from '../read.ts';
import type { Registry } from '../registry.ts';
import { publicLogOf } from './public-log.ts';

/**
 * The signed statement of how a version was made: as an envelope, and the bytes of its bundle. The key that signs the public
 * log signs it, so that it is always the same. Null for a registry without that key.
 */
export async function attest(
  registry: Registry,
  granted: GrantedVersion,
): Promise<{ envelope: Envelope; bundle: Uint8Array } | null> {
  const key = (await publicLogOf(registry))?.signer();
  if (key === undefined) return null;
  const { resource, version } = granted;
  const [config, manifest] = await Promise.all([readConfig(registry, granted), readManifest(registry, granted)]);
  const statement = provenanceStatement({
    registry: registry.config.url!,
    repository: `${resource.org}/${resource.type}/${resource.slug}`,
    digest: version.manifest,
    manifest,
    config,
    publishedAt: version.publishedAt,
  });
  const envelope = signStatement(key, statement);
  return { envelope, bundle: encodeJson(bundleOf(key, envelope)) };
}
