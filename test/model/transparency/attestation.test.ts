import { expect, test } from 'vitest';
import type { ArtifactConfig, Manifest } from '../../../src/model/artifact.ts';
import { digestOf } from '../../../src/model/digest.ts';
import { provenanceStatement } from '../../../src/model/transparency/attestation.ts';

test('a statement has what the token of a CI job stated, and every file and document that was read', () => {
  const job = { issuer: 'https://ci.test', subject: 'repo:acme/apis', ref: 'refs/heads/main', workflow: null, run: 'https://ci.test/runs/7' }; // prettier-ignore
  const repository = 'https://git.test/acme/apis';
  const commit = 'c'.repeat(40);
  const schema = 'https://registry.test/@acme/schemas/money@1';
  const digest = digestOf('a schema');
  const blobs = { 'pay.yaml': 'b'.repeat(40), 'absent.yaml': null, [schema]: digest };
  const provenance = { repository, commit, path: 'pay.yaml', blobs, job };
  const facts = { kind: 'openapi', specification: '3.1.0', title: 'Pay', description: '', version: '1.0.0' } as const;
  const config: ArtifactConfig = { ...facts, provenance, compiler: 'stele 1', validation: 'strict', ruleset: null, report: digest }; // prettier-ignore
  const empty = { mediaType: '', digest, size: 0 };
  const manifest: Manifest = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.manifest.v1+json', artifactType: '', config: empty, layers: [] }; // prettier-ignore
  const about = { registry: 'https://registry.test', repository: 'acme/apis/pay', digest, manifest, config };
  expect(provenanceStatement({ ...about, publishedAt: '2026-11-27T12:00:00.000Z' })).toMatchObject({
    predicate: {
      buildDefinition: {
        externalParameters: { repository, commit, path: 'pay.yaml' },
        internalParameters: { job },
        resolvedDependencies: [
          { uri: `git+${repository}`, digest: { gitCommit: commit } },
          { name: 'pay.yaml', digest: { gitBlob: 'b'.repeat(40) } },
          { uri: schema, digest: { sha256: digest.slice('sha256:'.length) } },
        ],
      },
      runDetails: { metadata: { invocationId: job.run, finishedOn: '2026-11-27T12:00:00.000Z' } },
    },
  });
});
