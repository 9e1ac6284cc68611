import { hash, sign, createPublicKey } from 'node:crypto';
import { sourceLayers, type ArtifactConfig, type Manifest } from '../artifact.ts';
import { isUrlPath } from '../address.ts';
import { hexOf, type Digest } from '../digest.ts';
import { keyId, type SigningKey } from './note.ts';

/**
 * Statements about how versions were made (in-toto Statement v1, SLSA provenance v1), in signed envelopes (DSSE) and in
 * bundles that Sigstore's tools read.
 */

/** What a statement is made of. */
export interface Attested {
  /** The registry's address. */
  registry: string;
  /** `acme/apis/shop`. */
  repository: string;
  digest: Digest;
  manifest: Manifest;
  config: ArtifactConfig;
  /** When it was published. ISO 8601, UTC. */
  publishedAt: string;
}

const statementType = 'application/vnd.in-toto+json';
export const predicateType = 'https://slsa.dev/provenance/v1';
export const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** The statement about a version. The same version always has the same. */
export function provenanceStatement({ registry, repository, digest, manifest, config, publishedAt }: Attested): object {
  const { provenance, compiler, validation, ruleset, report, view } = config;
  const { job, signer, blobs } = provenance;
  const sources = sourceLayers(manifest);
  const files = Object.entries(blobs).flatMap(([path, id]): object[] => {
    if (isUrlPath(path)) return id === null ? [] : [{ uri: path, digest: { sha256: id.replace('sha256:', '') } }];
    const layer = sources.get(path);
    const digests = { ...(id !== null && { gitBlob: id }), ...(layer && { sha256: hexOf(layer.digest) }) };
    return Object.keys(digests).length === 0 ? [] : [{ name: path, digest: digests }];
  });
  const { repository: from, commit, path } = provenance;
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: `${registry.replace(/^\w+:\/\//, '')}/${repository}`, digest: { sha256: hexOf(digest) } }],
    predicateType,
    predicate: {
      buildDefinition: {
        buildType: `${registry}/docs/attestations`,
        externalParameters: { repository: from, commit, path, validation, ...(view && { view }) },
        internalParameters: { ...(job && { job }), ...(signer && { signedBy: signer }) },
        resolvedDependencies: [
          ...(from === null || commit === null ? [] : [{ uri: `git+${from}`, digest: { gitCommit: commit } }]),
          ...files,
          ...(ruleset === null ? [] : [{ name: 'ruleset', digest: { sha256: hexOf(ruleset) } }]),
        ],
      },
      runDetails: {
        builder: { id: registry, version: { compiler } },
        metadata: { ...(job?.run && { invocationId: job.run }), finishedOn: publishedAt },
        byproducts: [{ name: 'report', digest: { sha256: hexOf(report) } }],
      },
    },
  };
}

/** A signed statement (DSSE, JSON form). */
export interface Envelope {
  /** In base64. */
  payload: string;
  payloadType: string;
  signatures: { keyid: string; sig: string }[];
}

/** Signs a statement. */
export function signStatement(key: SigningKey, statement: object): Envelope {
  const payload = Buffer.from(JSON.stringify(statement));
  const encoded = Buffer.concat([
    Buffer.from(`DSSEv1 ${statementType.length} ${statementType} ${payload.byteLength} `),
    payload,
  ]);
  const sig = sign(null, encoded, key.secret).toString('base64');
  return { payload: payload.toString('base64'), payloadType: statementType, signatures: [{ keyid: keyId(key), sig }] };
}

/** An envelope as a bundle of Sigstore, which is verified with the key and without a log of Sigstore. */
export function bundleOf(key: SigningKey, dsseEnvelope: Envelope): object {
  const der = createPublicKey(key.secret).export({ format: 'der', type: 'spki' });
  const hint = hash('sha256', der, 'base64');
  return { mediaType: bundleType, verificationMaterial: { publicKey: { hint }, tlogEntries: [] }, dsseEnvelope };
}

/** The public key in PEM, as Sigstore's tools take it. */
export function formatPem(key: SigningKey): string {
  return createPublicKey(key.secret).export({ format: 'pem', type: 'spki' }) as string;
}
