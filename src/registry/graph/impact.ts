import { storedEntry, sourceLayers } from '../../model/artifact.ts';
import { type Artifact, type Load, type Turn, bytesIn, isSandboxLost } from '../../compile/compile.ts';
import { notRead } from '../../compile/reference.ts';
import { type Principal, anonymous } from '../../model/access.ts';
import { formatOfFile, isUrlPath, parseDocumentUrl, parseSelector } from '../../model/address.ts';
import { notCompared, verdicts } from '../../model/comparison.ts';
import { digestOf } from '../../model/digest.ts';
import { isRegistryError } from '../../model/errors.ts';
import {
  findDependency,
  type ConsumerTouched,
  type Dependency,
  maxUsersChecked,
  type Impact,
  type ImpactOnUser,
  getsText,
  impactText,
} from '../../model/dependency.ts';
import { lockName, parseLock } from '../../model/lock.ts';
import { nameOf, selectVersion, type Resource, type Version } from '../../model/resource.ts';
import { publishedAs, compareWith } from '../compare-versions.ts';
import type { Registry } from '../registry.ts';
import { readConfigOf, readManifestOf, readObject } from '../stored.ts';
import { listDependants, openUsers, listUsers } from './dependants.ts';
import { countText, problemAtFile, type Exemption, type Report } from '../../model/problem.ts';
import { organizationReader } from './references.ts';
import { withBreaks } from '../gate/compatibility.ts';

/** A new version of a resource, as it would be published. */
export interface NextVersion {
  /** The resource with the version in it. */
  resource: Resource;
  version: Version;
  artifact: Artifact;
}

/** A resource that uses the new version, or another user of it. */
interface User {
  resource: Resource;
  version: Version;
  /** Its references to the new version, and to other users of it. */
  uses: Dependency[];
}

/** Milliseconds after which no further user is tried: whoever uses a document must not hold up its checks. */
const maxTime = 60_000;

/** The most users that are counted. Each costs a look at the logs of all organizations. */
const maxUsersFound = 1000;

/**
 * Whom a new version breaks, of those that the principal may read. The latest version of each user is
 * compiled again from its stored files with the new bytes in place of the old ones, and compared with what
 * it was; then its own users, with its new bytes, unless it stays with the old version. One after the other, so
 * that other work of the organization goes first, and for a minute at most. `turn.org`: whose work it is, which is
 * never that of the user. Nothing is stored. `decides`: whether it decides about the version. Then all are tried, however
 * slow the machine is, and one that could not be makes it reject with `unavailable`.
 */
export async function impactOf(
  registry: Registry,
  principal: Principal,
  next: NextVersion,
  { decides = false, ...turn }: Turn & { decides?: boolean } = {},
): Promise<Impact> {
  const target = nameOf(next.resource);
  const found = await findUsers(registry, principal, next.resource);
  const changed = new Map<string, Artifact>([[target, next.artifact]]);
  const users: ImpactOnUser[] = [];
  const until = decides ? Infinity : registry.monotonic() + maxTime;
  let unchecked = 0;
  for (const user of inOrder(found)) {
    const touching = user.uses.filter(({ coordinate }) => changed.has(coordinate));
    if (touching.length === 0) continue;
    if (users.length >= maxUsersChecked || registry.monotonic() > until) {
      unchecked++;
      continue;
    }
    turn.signal?.throwIfAborted();
    const ways = touching.map((each) => wayOf(each, each.coordinate === target ? next : found.get(each.coordinate)!));
    const gets = (['range', 'update', 'pinned'] as const).find((way) => ways.includes(way))!;
    const uses = touching[ways.indexOf(gets)]!;
    const replaced = touching.filter((_, at) => ways[at] === gets);
    const tried = await tryWith(registry, user, { changed, replaced }, turn).catch((error: unknown) => {
      if (decides && isSandboxLost(error)) throw error;
      return asUnknown(error);
    });
    const { artifact, ...impact } = tried;
    users.push({ coordinate: nameOf(user.resource), version: user.version.label, uses, gets, ...impact });
    if (artifact !== null && gets !== 'pinned' && impact.verdict !== 'none')
      changed.set(nameOf(user.resource), artifact);
  }
  const order = ['breaking', ...verdicts, 'none'];
  const consumers = (await listUsers(registry, principal, next.resource)).flatMap((user): ConsumerTouched[] => {
    if ('resource' in user) return [];
    const gets = wayOf(user.uses, next) === 'pinned' ? 'pinned' : 'update';
    return [{ organization: user.org, name: user.name, version: user.uses.version, gets }];
  });
  return { users: users.sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict)), consumers, unchecked };
}

/** All that use a resource, also through others, by name. */
async function findUsers(registry: Registry, principal: Principal, target: Resource): Promise<Map<string, User>> {
  const usersOf = await openUsers(registry);
  const users = new Map<string, User>();
  const left: Resource[] = [target];
  for (let each = left.shift(); each !== undefined && users.size < maxUsersFound; each = left.shift())
    for (const { resource, version, uses } of await listDependants(registry, principal, each, usersOf)) {
      // A ruleset is extended anew each time it is used; its own check is the replay.
      if (uses.how === 'extends' || nameOf(resource) === nameOf(target)) continue;
      const user = users.get(nameOf(resource));
      if (user === undefined) left.push(resource);
      users.set(nameOf(resource), { resource, version, uses: [...(user?.uses ?? []), uses] });
    }
  return users;
}

/** Users after those that they use themselves. Those that refer to each other in a circle come last, by name. */
function inOrder(users: ReadonlyMap<string, User>): User[] {
  const left = new Map([...users].sort(([a], [b]) => (a < b ? -1 : 1)));
  const ordered: User[] = [];
  while (left.size > 0) {
    const free = [...left].filter(([name, { uses }]) =>
      uses.every(({ coordinate }) => coordinate === name || !left.has(coordinate)),
    );
    const some = free.length > 0 ? free : [...left];
    for (const [name, user] of some) {
      left.delete(name);
      ordered.push(user);
    }
  }
  return ordered;
}

/** How a reference comes to mean the new version of a resource. */
function wayOf(
  { range, how }: Dependency,
  { resource, version }: Pick<NextVersion, 'resource' | 'version'>,
): ImpactOnUser['gets'] {
  const selector = range === '' ? ({ kind: 'latest' } as const) : parseSelector(range);
  const getsIt = selector !== null && selectVersion(resource, selector)?.version.label === version.label;
  if (!getsIt) return 'pinned';
  return how === 'lock' ? 'update' : 'range';
}

/** A user that could not be tried, such as one whose files are damaged, is no reason to say nothing of the others. */
function asUnknown(error: unknown): Awaited<ReturnType<typeof tryWith>> {
  if (!isRegistryError(error)) throw error;
  const comparison = notCompared(`It could not be compiled with the new version: ${error.message}`);
  return { verdict: comparison.verdict, rejected: null, comparison, artifact: null };
}

/** New documents, by coordinate, and the references that shall mean them. */
interface Replacement {
  changed: ReadonlyMap<string, Artifact>;
  replaced: readonly Dependency[];
}

async function tryWith(
  registry: Registry,
  { resource, version }: User,
  replacement: Replacement,
  turn: Turn,
): Promise<Pick<ImpactOnUser, 'verdict' | 'rejected' | 'comparison'> & { artifact: Artifact | null }> {
  const config = await readConfigOf(registry, version);
  const { artifact, report } = await registry.compiler.compile(
    {
      type: resource.type,
      entry: storedEntry(config),
      validation: config.validation,
      ruleset: null,
      limits: registry.config.limits,
    },
    await storedFiles(registry, version, replacement),
    turn,
  );
  if (artifact === null) {
    const error = report.problems.find(({ severity }) => severity === 'error');
    return { verdict: 'breaking', rejected: error?.message ?? 'Its check failed.', comparison: null, artifact };
  }
  const comparison = await compareWith(registry, resource, version, publishedAs(artifact), turn);
  return { verdict: comparison.verdict, rejected: null, comparison, artifact };
}

/** The files that a version was made of, with new bytes where a reference shall mean them. */
async function storedFiles(registry: Registry, version: Version, { changed, replaced }: Replacement): Promise<Load> {
  const sources = sourceLayers(await readManifestOf(registry, version));
  const read = async (path: string) => readObject(registry, sources.get(path)!.digest, version.manifest);
  const locked = new Map<string, Artifact>();
  for (const path of sources.keys()) {
    if (path !== lockName && !path.endsWith(`/${lockName}`)) continue;
    for (const { path: file, contract, range } of parseLock(Buffer.from(await read(path)).toString())) {
      const isReplaced = replaced.some(
        (each) => each.how === 'lock' && each.coordinate === contract && each.range === range,
      );
      if (isReplaced) locked.set(path.slice(0, -lockName.length) + file, changed.get(contract)!);
    }
  }
  const artifactAt = (path: string): Artifact | undefined => {
    if (!isUrlPath(path)) return locked.get(path);
    const named = parseDocumentUrl(path);
    const dependency = named && findDependency(replaced, named.coordinate, named.selector);
    return dependency?.how === 'url' ? changed.get(dependency.coordinate) : undefined;
  };
  return (paths) =>
    Promise.all(
      paths.map(async (path) => {
        const artifact = artifactAt(path);
        if (artifact !== undefined) {
          const format = isUrlPath(path) ? 'json' : formatOfFile(path);
          const bytes = bytesIn(artifact, format);
          return { path, found: true as const, bytes, blob: digestOf(bytes) };
        }
        const source = sources.get(path);
        return source === undefined
          ? notRead(path)
          : { path, found: true as const, bytes: await read(path), blob: source.digest };
      }),
    );
}

/**
 * Who counts as a user of a resource. The report of a public document, and the pull request that changes it, are read
 * by anybody, so they name public users only.
 */
export function usersReader({ org, visibility }: Pick<Resource, 'org' | 'visibility'>): Principal {
  return visibility === 'public' ? anonymous : organizationReader(org);
}

/** The report of a new version, with an error for each user that it breaks and that gets it. */
export async function checkImpact(
  registry: Registry,
  next: NextVersion,
  { entry, report, exemptions }: { entry: string; report: Report; exemptions: readonly Exemption[] },
  turn: Turn,
): Promise<Report> {
  const { resource } = next;
  const impact = await impactOf(registry, usersReader(resource), next, { org: resource.org, ...turn, decides: true });
  // Who is pinned breaks only when somebody changes what it refers to.
  const broken = impact.users.filter(({ verdict, gets }) => verdict === 'breaking' && gets !== 'pinned');
  const problems = broken.map((user) => {
    const name = `${user.coordinate}@${user.version}`;
    return problemAtFile('user-broken', entry, `It breaks ${name} (${getsText[user.gets]}): ${impactText(user)}`);
  });
  const message = `Undo the change, publish it as a version that their ranges leave out, or exempt user-broken in stele.yaml. It breaks ${countText(problems.length, 'user')} of ${resource.slug}.`;
  const advice = problemAtFile('impact', entry, message, 'info');
  const today = registry.now().toISOString().slice(0, 10);
  return withBreaks(report, { problems, truncated: false }, advice, exemptions, today);
}
