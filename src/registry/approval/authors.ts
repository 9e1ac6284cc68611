import { isUrlPath } from '../../model/address.ts';
import type { ArtifactConfig } from '../../model/artifact.ts';
import { repositoryName } from '../../model/connection.ts';
import { keyRef } from '../../model/key.ts';
import type { Version } from '../../model/resource.ts';
import type { HeldAuthor } from '../../model/approval.ts';
import type { Compiled } from '../../compile/compile.ts';
import type { PublishRequest } from '../append-version.ts';
import { signerOf } from '../commit-signer.ts';
import type { Registry } from '../registry.ts';
import { readJson, readManifestOf } from '../stored.ts';

/** Keys that made each other, which are followed to the person who made the first. */
const maxKeys = 10;

/**
 * Who wrote what is published. Of a commit: everybody who changed one of its files, those of the version before, its
 * exemptions, or the settings that say what of them is published since that version, and the verified signer. Of an upload: who sent it, who made the key that was sent, and
 * who started the job. An empty author stands for those who cannot be read.
 */
export async function authorsOf(
  registry: Registry,
  { coordinate, snapshot, author, job, exemptions = [], settings, view }: PublishRequest,
  { files }: Compiled,
  before: Version | null,
): Promise<HeldAuthor[]> {
  if (snapshot.writers === undefined) {
    const makers = (await makersOf(registry, author.actor)).map((actor) => ({ actor }));
    return job === undefined ? makers : [...makers, job.startedBy === undefined ? {} : { login: job.startedBy }];
  }
  const old = before && (await provenanceOf(registry, before));
  const { repository } = snapshot.origin;
  const since = repository !== null && old?.repository === repositoryName(repository) ? old.commit : null;
  // Its settings say what of the files is published.
  const isView = view !== undefined || old?.view !== undefined;
  const named = [
    ...(isView && settings !== undefined ? [settings] : []),
    ...files.map(({ path }) => path),
    ...Object.keys(old?.blobs ?? {}),
    ...exemptions.map(({ at }) => at.file),
  ];
  const writers = await snapshot.writers(
    since,
    [...new Set(named)].filter((path) => !isUrlPath(path)),
  );
  const signer = await signerOf(registry, coordinate.org, snapshot.signature);
  const authors = (writers ?? [null]).map((one): HeldAuthor => one ?? {});
  const all = signer === null ? authors : [...authors, { name: signer.name }];
  return all.length === 0 ? [{}] : all;
}

async function provenanceOf(
  registry: Registry,
  version: Version,
): Promise<ArtifactConfig['provenance'] & Pick<ArtifactConfig, 'view'>> {
  const manifest = await readManifestOf(registry, version);
  const { provenance, view } = await readJson<ArtifactConfig>(registry, manifest.config.digest, version.manifest);
  return { ...provenance, ...(view && { view }) };
}

/** Who sent an upload, and if that is a key of the organization, whoever made it. */
async function makersOf({ refs }: Pick<Registry, 'refs'>, actor: string): Promise<string[]> {
  const makers = [actor];
  for (let last = actor; last.startsWith('key:') && makers.length < maxKeys; last = makers.at(-1)!) {
    const [made] = await Array.fromAsync(refs.history(keyRef(last.slice('key:'.length))));
    if (made === undefined || makers.includes(made.actor)) return makers;
    makers.push(made.actor);
  }
  return makers;
}
