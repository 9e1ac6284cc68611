/** A file or an image that a release consists of. */
export interface Artifact {
  name: string;
  /** SHA-256, in lower-case hexadecimal. */
  sha256: string;
}

/** What a release was made from, when and with what. */
export interface Build {
  version: string;
  /** The release's commit. */
  commit: string;
  /** Where the repository is; null where it has no https remote. */
  repository: string | null;
  lock: Artifact;
  node: string;
  startedOn: string;
  finishedOn: string;
}

/** The provenance of the artifacts: an in-toto Statement v1 with SLSA Provenance v1, which is not signed. */
export function provenanceOf(artifacts: readonly Artifact[], build: Build): object {
  const { version, commit, repository, lock, node, startedOn, finishedOn } = build;
  const source = { name: 'source', ...(repository && { uri: `git+${repository}` }), digest: { gitCommit: commit } };
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: artifacts.map(describe),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:stele:release:v1',
        externalParameters: { version, commit },
        internalParameters: { node },
        resolvedDependencies: [source, describe(lock)],
      },
      runDetails: { builder: { id: 'urn:stele:scripts/release.ts' }, metadata: { startedOn, finishedOn } },
    },
  };
}

function describe({ name, sha256 }: Artifact): object {
  return { name, digest: { sha256 } };
}
