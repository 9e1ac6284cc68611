import { organizationIn, quotaNames, type QuotaName, type Quotas } from '../../config/organization-config.ts';
import { type RegistryError, quotaExceeded } from '../../model/errors.ts';
import type { Resource, Version } from '../../model/resource.ts';
import type { Deployment, DocumentationSite, Draft } from '../../sites/model/documentation-site.ts';
import type { Projection } from '../../store/log/state.ts';
import { countLiveKeys } from '../keys/list-keys.ts';
import type { Registry } from '../registry.ts';

/** The quotas of an organization: its own, else those for all. */
export function quotasOf({ config }: Pick<Registry, 'config'>, org: string): Quotas {
  return { ...config.quotas, ...organizationIn(config, org)?.quotas };
}

/** How much an organization has of what has a quota. */
export type Usage = Record<QuotaName, number>;

/** What a change adds. */
export type Added = Partial<Usage>;

const counted: Readonly<Record<string, (value: never) => Added>> = {
  resources: ({ deletedAt }: Resource) => ({ resources: deletedAt === null ? 1 : 0 }),
  versions: ({ status, bytes = 0 }: Version) => (status.state === 'withdrawn' ? {} : { versions: 1, bytes }),
  sites: ({ deletedAt }: DocumentationSite) => ({ sites: deletedAt === null ? 1 : 0 }),
  deployments: ({ bytes = 0 }: Deployment) => ({ bytes }),
  'site-files': ({ file }: Draft) => (file === null ? {} : { drafts: 1, bytes: file.size }),
};

/** Sums that are kept up to date with the log: nothing is walked when something is added. */
const usage: Projection<Usage> = {
  create: () => ({ bytes: 0, resources: 0, versions: 0, keys: 0, sites: 0, drafts: 0 }),
  change(view, name, before, after) {
    const kind = name.slice(0, name.indexOf('/'));
    const count = Object.hasOwn(counted, kind) ? counted[kind]! : null;
    if (count === null) return;
    const [old, now]: Added[] = [before === undefined ? {} : count(before as never), count(after as never)];
    for (const each of quotaNames) view[each] += (now![each] ?? 0) - (old![each] ?? 0);
  },
};

/** How much an organization has. */
export async function usageOf(registry: Registry, org: string): Promise<Usage> {
  return { ...(await registry.refs.projected(org, usage)), keys: await countLiveKeys(registry, org) };
}

/** What changes of this process are about to add: those that are not committed yet. */
const underWay = new WeakMap<Registry['bucket'], Map<string, Set<Added>>>();

/**
 * Runs work that adds something to an organization. It calls `take` with what it adds, before it
 * stores anything or when it decides; again in place of the call before. `take` throws
 * `quota_exceeded` if the organization would have more than it may. Other processes may add
 * something at the same time: together they exceed a quota by as much as they add at once. `times`:
 * what replaces something that stays for a while may make it so many times as many.
 */
export async function withRoom<T>(
  registry: Registry,
  org: string,
  work: (take: (added: Added, times?: number) => void) => Promise<T>,
): Promise<T> {
  const quotas = quotasOf(registry, org);
  if (quotaNames.every((name) => quotas[name] === null)) return work(() => undefined);
  const all = underWay.getOrInsertComputed(registry.bucket, () => new Map<string, Set<Added>>());
  const others = all.getOrInsertComputed(org, () => new Set());
  // The sums go on changing while the work runs. Keys also expire.
  const sums = await registry.refs.projected(org, usage);
  const keys = quotas.keys === null ? 0 : await countLiveKeys(registry, org);
  let reserved: Added = {};
  const take = (added: Added, times = 1): void => {
    others.delete(reserved);
    for (const name of quotaNames) {
      const [limit, more] = [quotas[name], added[name] ?? 0];
      if (limit === null || more === 0) continue;
      const soon = [...others].reduce((sum, each) => sum + (each[name] ?? 0), 0);
      if ((name === 'keys' ? keys : sums[name]) + soon + more > times * limit) throw exceeded(org, name, limit);
    }
    reserved = { ...added };
    others.add(reserved);
  };
  try {
    return await work(take);
  } finally {
    others.delete(reserved);
    if (others.size === 0) all.delete(org);
  }
}

const advice: Readonly<Record<QuotaName, string>> = {
  bytes: 'Withdraw versions, or delete files of sites,',
  resources: 'Delete resources',
  versions: 'Withdraw versions',
  keys: 'Revoke keys',
  sites: 'Delete sites',
  drafts: 'Delete files of sites',
};

function exceeded(org: string, quota: QuotaName, limit: number): RegistryError {
  const what = quota === 'drafts' ? 'files of sites that were sent' : quota === 'keys' ? 'live keys' : quota;
  const message = `The organization ${org} may have at most ${limit} ${what}. ${advice[quota]} that nobody needs, or ask the operator of the registry for more.`;
  return quotaExceeded(message, { extra: { quota, limit } });
}
