import { formatCoordinate, parseCoordinate, parseSelector } from '../../model/address.ts';
import type { ReportedContract } from '../../model/dependency.ts';
import { findVersion, resourceRef, selectVersion, type Resource, type Version } from '../../model/resource.ts';
import { changesOf } from '../../model/compared-with.ts';
import { findReadable } from '../readable.ts';
import type { Registry } from '../registry.ts';
import { allConsumers } from './dependants.ts';
import { organizationReader } from './references.ts';

/** A contract that a consumer of an organization pinned. */
export interface Pin {
  org: string;
  consumer: string;
  contract: ReportedContract;
}

/** What is to be said about a pin. */
export interface Affected {
  /** When it happened. ISO 8601, UTC. */
  at: string;
  /**
   * - `deprecated`, `yanked`, `withdrawn`: the state of the pinned version.
   * - `breaking`: the range meant a newer version when it was published, and that breaks clients of the one before it.
   */
  because: 'deprecated' | 'yanked' | 'withdrawn' | 'breaking';
  /** The pinned version, or the one that breaks. */
  version: Version;
}

/** What the consumers of an organization pinned, by the record of the resource, as far as it may read them. */
export async function pinsOf(registry: Registry, org: string): Promise<Map<string, Pin[]>> {
  const consumers = await allConsumers(registry, org);
  const pins = consumers.flatMap(({ name, contracts }) =>
    contracts.map((contract) => ({ org, consumer: name, contract })),
  );
  const readable = new Map<string, Pin[]>();
  for (const [name, own] of Map.groupBy(pins, ({ contract }) => contract.contract)) {
    const coordinate = parseCoordinate(name)?.coordinate;
    if (!coordinate || formatCoordinate(coordinate) !== name) continue;
    if ((await findReadable(registry, organizationReader(org), coordinate)) !== null)
      readable.set(resourceRef(coordinate), own);
  }
  return readable;
}

/** How a pin is affected by a resource as it is now: by the state of the pinned version, then by newer ones. */
export function affectedBy(resource: Resource, { contract: { range, version: label, digest } }: Pin): Affected[] {
  const pinned = findVersion(resource, label);
  if (pinned?.manifest !== digest) return [];
  const { status } = pinned;
  const ended: Affected[] =
    status.state === 'active' ? [] : [{ at: status.since, because: status.state, version: pinned }];
  const selector = parseSelector(range);
  if (selector === null) return ended;
  const broken = resource.versions.flatMap((version, place): Affected[] => {
    if (version === pinned || changesOf(resource, version)?.verdict !== 'breaking') return [];
    const then = { versions: resource.versions.slice(0, place + 1), latest: resource.latest };
    const gotIt = selectVersion(then, selector)?.version === version;
    return gotIt ? [{ at: version.publishedAt, because: 'breaking', version }] : [];
  });
  return [...ended, ...broken];
}

/** How a consumer of an organization is affected by a contract. */
export interface AffectedConsumer extends Affected {
  pin: Pin;
  resource: Resource;
  /** Tells one from the others. They are in the order of these texts. */
  key: string;
}

/** Milliseconds between two looks at all consumers of an organization. */
const lookEvery = 60_000;

/**
 * How the consumers of an organization are affected by what they pinned, oldest first, as it was at most a minute ago.
 * Contracts that the organization may not read now are left out.
 */
export async function listAffected(registry: Registry, org: string): Promise<AffectedConsumer[]> {
  const minute = Math.floor(registry.monotonic() / lookEvery);
  const all = await registry.answers.answer(
    `affected ${org} ${minute}`,
    // What changes within the minute does not count.
    () => registry.answers.noting(new Map(), () => findAffected(registry, org)),
    ({ length }) => length * 300,
  );
  const seen: AffectedConsumer[] = [];
  for (const each of all)
    if ((await findReadable(registry, organizationReader(org), each.resource)) !== null) seen.push(each);
  return seen;
}

async function findAffected(registry: Registry, org: string): Promise<AffectedConsumer[]> {
  const found: AffectedConsumer[] = [];
  for (const [name, pins] of await pinsOf(registry, org)) {
    const resource = (await registry.refs.read<Resource>(name))!.value;
    for (const pin of pins)
      for (const each of affectedBy(resource, pin)) {
        const { consumer, contract } = pin;
        const key = [each.at, each.because, each.version.label, contract.version, contract.contract, consumer].join(
          ' ',
        );
        found.push({ ...each, pin, resource, key });
      }
  }
  return found.sort((a, b) => (a.key < b.key ? -1 : 1));
}
