import { viewInWords, type ArtifactConfig } from '../../model/artifact.ts';
import { formatJob } from '../../model/access.ts';
import { kinds } from '../../model/kinds.ts';
import { commitLinks } from './commit-links.ts';

/** `OpenAPI 3.1.0`. */
export function specificationOf({ kind, specification }: ArtifactConfig): string {
  const { title, isVersioned } = kinds[kind];
  return isVersioned ? `${title} ${specification}` : title;
}

/** Links to the commit. Null if the document does not come from one. */
export function fileLinks({ provenance: { repository, commit, job } }: ArtifactConfig): ReturnType<typeof commitLinks> {
  return job ? null : commitLinks(repository, commit);
}

/** Where a version came from, for pages. */
export function provenanceOf(config: ArtifactConfig): object {
  const { provenance, compiler, view } = config;
  const { repository, commit, path, job, signer } = provenance;
  const pages = commitLinks(repository, commit);
  return {
    repository: pages?.repository.replace('https://', '') ?? repository,
    repositoryHref: pages?.repository ?? null,
    commit,
    commitHref: pages?.commit ?? null,
    path,
    fileHref: fileLinks(config)?.file(path) ?? null,
    signer: signer ?? null,
    job: job ? formatJob(job) : null,
    jobHref: job?.run?.startsWith('https://') ? job.run : null,
    view: view ? viewInWords(view) : null,
    compiler,
  };
}
