import { repositoryId, repositoryRef, trustedCommit, type Repository } from '../../model/connection.ts';
import { RegistryError } from '../../model/errors.ts';
import { coordinateOf } from '../../model/resource.ts';
import { siteCoordinate, siteRef, type DocumentationSite } from '../../sites/model/documentation-site.ts';
import { updateRecord } from '../../registry/lives.ts';
import { listReadable } from '../../registry/readable.ts';
import type { Author, Registry } from '../../registry/registry.ts';
import { remoteOf } from '../../registry/remote.ts';
import { judge } from '../guard.ts';
import { withLease } from '../lease.ts';

/**
 * Lets a followed repository go on where a record of the same repository under a former name ended:
 * its resources and sites are published from the new URL from then on, and the former record only
 * says where it went. The caller has found out that the host means the same repository; this
 * function proves that what was published last is in its history, so that nobody takes over a name.
 * Rejects with `conflict` if it is not, and as the remote does. A repetition goes on where a crash
 * stopped it.
 */
export async function adopt(
  registry: Registry,
  former: Repository,
  successor: Repository,
  signal: AbortSignal,
): Promise<void> {
  const { org } = former;
  const formerId = repositoryId(former.url, former.branch);
  // No sync of the former record may run meanwhile: it would take the moved resources for others'.
  await withLease(registry, { org, name: formerId }, signal, async ({ registry: fenced, signal: held }) => {
    const name = repositoryRef(org, formerId);
    const standing = (await registry.refs.readFresh<Repository>(name))?.value;
    if (standing === undefined || standing.renamed !== undefined) return;
    const { url } = successor;
    await assertSameHistory(registry, standing, successor, held);
    const author: Author = { actor: `sync:${org}`, origin: null };
    await moveResources(fenced, standing, successor, author);
    await moveSites(fenced, standing, successor, author);
    await fenced.refs.update<Repository>(repositoryRef(org, repositoryId(url, successor.branch)), (current) => {
      const value = current?.value ?? successor;
      if (value.formerId === formerId) return null;
      const change = { ...author, action: `continue ${former.url}` };
      return { value: continued(standing, value, formerId), change };
    });
    await fenced.refs.update<Repository>(name, () => ({
      value: tombstone(standing, url),
      change: { ...author, action: `renamed to ${url}` },
    }));
    registry.log('info', 'repository renamed', { org, from: former.url, to: url });
  });
}

async function assertSameHistory(
  registry: Registry,
  former: Repository,
  { url, credential }: Repository,
  signal: AbortSignal,
): Promise<void> {
  // Judged as if it had been missing: its history must not even have been rewritten.
  const renamed: Repository = { ...former, url, credential, state: 'detached' };
  const tip = await registry.source.tip(await remoteOf(registry, renamed), signal);
  if (!tip.found) throw new RegistryError('conflict', tip.detail);
  const verdict = await judge(registry, renamed, tip.commit, signal);
  if (verdict.isAccepted) return;
  const trusted = trustedCommit(former);
  throw new RegistryError(
    'conflict',
    `The git host says that ${former.url} was renamed to ${url}, but ${trusted}, which was published last, is not known to be in the history there. Nothing is taken over. If it is the same repository, connect its resources to the new URL.`,
  );
}

/** The record of the successor with what the former one knew. How it is followed is the successor's. */
function continued(former: Repository, successor: Repository, formerId: string): Repository {
  const hookSecrets = [...(successor.hookSecrets ?? []), ...(former.hookSecrets ?? [])];
  const tags = { ...former.tags, ...successor.tags };
  const both = { formerId, hookSecrets, tags };
  const trusted = trustedCommit(successor);
  // It was synced under its new name, where resources of the former one were conflicts. Everything is read again.
  if (trusted !== null) return { ...successor, ...both, commit: null, trusted };
  const { commit, documents, sites, diverged, syncedAt } = former;
  const isReadAlike = former.discover === successor.discover && former.versions === successor.versions;
  return {
    ...successor,
    ...both,
    commit: isReadAlike ? commit : null,
    trusted: trustedCommit(former),
    syncedAt,
    documents,
    ...(sites && { sites }),
    ...(diverged && { diverged }),
  };
}

function tombstone({ org, branch, visibility, validation, state, url, ...rest }: Repository, to: string): Repository {
  const gone = `The repository was renamed on its host. It is followed as ${to}.`;
  const nothing = { commit: null, trusted: null, syncedAt: rest.syncedAt, documents: {}, tags: {} };
  const { hostId } = rest;
  const how = { credential: null, discover: null, visibility, validation, state, detail: gone, gone, renamed: to };
  return { org, url, branch, ...how, ...nothing, ...(hostId !== undefined && { hostId }) };
}

async function moveResources(
  registry: Registry,
  former: Repository,
  { url, credential }: Repository,
  author: Author,
): Promise<void> {
  const all = await listReadable(registry, { kind: 'operator', id: 'sync' }, { org: former.org });
  for (const resource of all) {
    const isFrom = ({ connection }: typeof resource) =>
      connection?.repository === former.url && connection.branch === former.branch;
    if (!isFrom(resource)) continue;
    await updateRecord(
      registry,
      coordinateOf(resource),
      author,
      () => undefined,
      (current) => {
        if (!isFrom(current)) return null;
        const { found } = current.connection!;
        const connection = { ...current.connection!, repository: url, ...(found && { credential }) };
        return { next: { ...current, connection }, action: `follow the renamed repository to ${url}` };
      },
    );
  }
}

async function moveSites(registry: Registry, former: Repository, { url }: Repository, author: Author): Promise<void> {
  const { org } = former;
  for await (const name of registry.refs.list(siteRef({ org, slug: '' }))) {
    const site = (await registry.refs.read<DocumentationSite>(name))?.value;
    const isFrom = ({ connection }: DocumentationSite) =>
      connection?.repository === former.url && connection.branch === former.branch;
    if (site === undefined || site.deletedAt !== null || !isFrom(site)) continue;
    await updateRecord(
      registry,
      siteCoordinate(site),
      author,
      () => undefined,
      (current) => {
        if (!isFrom(current)) return null;
        const next = { ...current, connection: { ...current.connection!, repository: url } };
        return { next, action: `follow the renamed repository to ${url}` };
      },
    );
  }
}
