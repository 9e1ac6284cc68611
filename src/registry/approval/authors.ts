import { formatJob, type JobOrigin } from '../../model/access.ts';
import { isUrlPath, parseCoordinate } from '../../model/address.ts';
import { isAccount, type HeldAuthor } from '../../model/approval.ts';
import type { ArtifactConfig } from '../../model/artifact.ts';
import { repositoryName } from '../../model/connection.ts';
import type { Dependency } from '../../model/dependency.ts';
import type { Digest } from '../../model/digest.ts';
import { onRefusal } from '../../model/errors.ts';
import { keyRef, type Key } from '../../model/key.ts';
import { resourceRef, type Version } from '../../model/resource.ts';
import type { Compiled } from '../../compile/compile.ts';
import type { Snapshot } from '../../source/snapshot.ts';
import type { PublishRequest } from '../append-version.ts';
import { signerOf } from '../commit-signer.ts';
import { listKeys } from '../keys/list-keys.ts';
import { listMembers } from '../keys/people.ts';
import { findResource } from '../lives.ts';
import type { Registry } from '../registry.ts';
import { remoteOf, whereFrom } from '../remote.ts';
import { readConfigOf } from '../stored.ts';

/** Keys that made each other, which are followed to the person who made the first. */
const maxKeys = 10;

/**
 * Who wrote what is published. Of a commit: everybody who changed one of its files, those of the version before, its
 * exemptions, or the settings that say what of them is published since that version, and the verified signer. Of an upload: who sent it, who made the key that was sent, and
 * who started the job. Of both: who wrote what their references into the registry did not mean before. An empty author
 * stands for those who cannot be read.
 */
export async function authorsOf(
  registry: Registry,
  { coordinate, snapshot, entry, author, job, exemptions = [], settings, view }: PublishRequest,
  { files, dependencies = [] }: Compiled,
  before: Version | null,
): Promise<HeldAuthor[]> {
  const old = before && (await readConfigOf(registry, before));
  const others = await authorsBehind(registry, dependencies, old?.dependencies ?? []);
  if (snapshot.writers === undefined)
    return [...(await makersOf(registry, coordinate.org, author.actor, job)), ...others];
  const named = [
    ...(settings !== undefined && isOfSettings(old, entry, view) ? [settings] : []),
    ...files.map(({ path }) => path),
    ...exemptions.map(({ at }) => at.file),
  ];
  const writers = await writersOf(snapshot, old, named);
  const signer = await signerOf(registry, coordinate.org, snapshot.signature);
  const all = [...writers, ...(signer === null ? [] : [{ name: signer.name }]), ...others];
  return all.length === 0 ? [{}] : all;
}

/** Whether the settings say what is new: which file is published, or what of it. */
function isOfSettings(old: ArtifactConfig | null, path: string, view: ArtifactConfig['view']): boolean {
  return view !== undefined || old?.view !== undefined || old?.provenance.path !== path;
}

/** Who changed one of these files, or of those of an older version, since that version. */
async function writersOf(
  { origin: { repository }, writers }: Snapshot,
  old: ArtifactConfig | null,
  paths: readonly string[],
): Promise<HeldAuthor[]> {
  const since = repository !== null && old?.provenance.repository === repositoryName(repository) ? old.provenance.commit : null; // prettier-ignore
  const named = new Set([...paths, ...Object.keys(old?.provenance.blobs ?? {})]);
  const found = await writers!(
    since,
    [...named].filter((path) => !isUrlPath(path)),
  );
  return found ?? [{}];
}

/**
 * Who wrote what references into the registry mean now and did not mean before, also through others. Where the files of a
 * document are as they were, nobody else wrote what breaks. `seen`: versions that were looked at.
 */
async function authorsBehind(
  registry: Registry,
  now: readonly Dependency[],
  before: readonly Dependency[],
  seen = new Set<Digest>(),
): Promise<HeldAuthor[]> {
  const authors: HeldAuthor[] = [];
  for (const each of now) {
    const named = before.filter(({ coordinate }) => coordinate === each.coordinate);
    const old = named.find(({ range }) => range === each.range) ?? named[0];
    if (each.how === 'lock' || old === undefined || old.digest === each.digest || seen.has(each.digest)) continue;
    seen.add(each.digest);
    // Nobody knows where its repository does not answer, or the version before was withdrawn.
    authors.push(...(await authorsBetween(registry, old, each, seen).catch(onRefusal(null, () => [{}]))));
  }
  return authors;
}

/** Who wrote the versions of a resource after one of them, up to another. Members of its organization are known as such. */
async function authorsBetween(
  registry: Registry,
  from: Dependency,
  to: Dependency,
  seen: Set<Digest>,
): Promise<HeldAuthor[]> {
  const { coordinate } = parseCoordinate(to.coordinate)!;
  const since: { actor: string; action: string }[] = [];
  for await (const each of registry.refs.history(resourceRef(coordinate))) {
    if (each.action === `publish ${from.version}`) break;
    since.push(each);
  }
  // Where it means an older version again, whoever yanked the newer one, or pinned latest, wrote what is new.
  const end = since.findIndex(({ action }) => action === `publish ${to.version}`);
  const changes = end < 0 ? since : since.slice(end).filter(({ action }) => action.startsWith('publish '));
  const actors = new Set(changes.map(({ actor }) => actor).filter((actor) => !actor.startsWith('sync:')));
  const makers = [...actors].map((actor) => makersOf(registry, coordinate.org, actor));
  const authors = (await Promise.all(makers)).flat();
  const old = await readConfigOf(registry, { manifest: from.digest });
  const now = await readConfigOf(registry, { manifest: to.digest });
  const { commit, job, signer, path, blobs } = now.provenance;
  const resource = await findResource(registry, coordinate);
  if (resource !== null && commit !== null && !job) {
    const remote = await remoteOf(registry, await whereFrom(registry, resource, now));
    // The settings stand beside the file, or above it.
    const above = path.split('/').map((_, depth, all) => [...all.slice(0, depth), 'stele.yaml'].join('/'));
    const paths = [...(isOfSettings(old, path, now.view) ? above : []), ...Object.keys(blobs)];
    authors.push(...(await writersOf(await registry.source.snapshot(remote, commit), old, paths)));
    if (signer) authors.push({ name: signer.name });
  } else if (changes.some(({ actor }) => actor.startsWith('sync:'))) authors.push({});
  authors.push(...(await authorsBehind(registry, now.dependencies ?? [], old.dependencies ?? [], seen)));
  const members = await listMembers(registry, coordinate.org);
  return authors.map((author) => {
    const member = members.find((each) => isAccount(author, each));
    return member === undefined ? author : { ...author, actor: member.actor };
  });
}

/** Who sent an upload, and if that is a key of the organization, whoever made it; if it is a CI job, who started that. */
async function makersOf(registry: Registry, org: string, actor: string, given?: JobOrigin): Promise<HeldAuthor[]> {
  const makers: HeldAuthor[] = [{ actor }];
  let last = actor;
  while (last.startsWith('key:')) {
    const made = (await Array.fromAsync(registry.refs.history(keyRef(last.slice('key:'.length))))).at(-1);
    if (made === undefined || makers.length === maxKeys) return [...makers, {}];
    last = made.actor;
    makers.push({ actor: last });
  }
  if (!last.startsWith('job:')) return makers;
  const isOurs = ({ job: each }: Key) => each !== undefined && `job:${formatJob(each)}` === last;
  const job = given ?? (await listKeys(registry, org)).find(isOurs)?.job;
  return [...makers, job?.startedBy === undefined ? {} : { login: job.startedBy }];
}
