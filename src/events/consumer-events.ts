import { formatCoordinate, parseCoordinate, parseSelector } from '../model/address.ts';
import type { ReportedContract } from '../model/graph/consumer.ts';
import { coordinateOf, findVersion, nameOf, resourceRef, selectVersion, type Resource } from '../model/resource.ts';
import { changesOf } from '../model/versions/compared-with.ts';
import { allConsumers } from '../registry/graph/consumers.ts';
import { organizationReader } from '../registry/graph/references.ts';
import { findReadable } from '../registry/readable.ts';
import type { Registry } from '../registry/registry.ts';
import type { Generation } from '../store/generations.ts';
import { happened, versionData, type Happened } from './events.ts';

/** A contract that a consumer of an organization pinned. */
export interface Pin {
  org: string;
  consumer: string;
  contract: ReportedContract;
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

/**
 * The events for those who pinned a version, between two successive generations of the resource's record: its status
 * changed for the worse, or a version was published that their range means and that breaks clients of the version
 * before it. As `eventsOfResource`.
 */
export function eventsOfPins(
  url: string,
  pins: readonly Pin[],
  before: Generation<Resource> | null,
  after: Generation<Resource>,
): Happened[] {
  const [old, resource] = [before?.value ?? null, after.value];
  return pins.flatMap(({ org, consumer, contract: { range, version: label, digest } }) => {
    const pinned = findVersion(resource, label);
    if (old === null || pinned?.manifest !== digest) return [];
    const about = { consumer, coordinate: nameOf(resource), range, pinned: label };
    const affected = (because: string, detail: string, data: object) => {
      const whole = {
        type: 'consumer.affected',
        subject: consumer,
        detail,
        data: { ...about, because, ...data },
      } as const;
      return happened(url, org, after, whole, [coordinateOf(resource)]);
    };
    const { status } = pinned;
    const isWorse = status.state !== 'active' && findVersion(old, label)?.status.state !== status.state;
    const changed = isWorse
      ? [affected(status.state, `${label} ${status.state}`, { status, ...versionData(url, resource, pinned) })]
      : [];
    const selector = parseSelector(range);
    const next = selector && selectVersion(resource, selector)?.version;
    const isNew = next && next.label !== label && findVersion(old, next.label) === null;
    const changes = isNew ? changesOf(resource, next) : null;
    if (changes?.verdict !== 'breaking') return changed;
    const { from, verdict, counts } = changes;
    const data = { ...versionData(url, resource, next!), changes: { from, verdict, counts } };
    return [...changed, affected('breaking', `${label} ${next!.label}`, data)];
  });
}
