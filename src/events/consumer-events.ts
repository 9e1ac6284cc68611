import { coordinateOf, nameOf, type Resource } from '../model/resource.ts';
import { toldChanges } from '../model/versions/compared-with.ts';
import { affectedBy, type Affected, type Pin } from '../registry/graph/affected.ts';
import type { Generation } from '../store/generations.ts';
import { happened, versionData, type Happened } from './events.ts';

/**
 * The events for those who pinned a version, between two successive generations of the resource's record: how it
 * affects them now, and did not before. As `eventsOfResource`.
 */
export function eventsOfPins(
  url: string,
  pins: readonly Pin[],
  before: Generation<Resource> | null,
  after: Generation<Resource>,
): Happened[] {
  if (before === null) return [];
  const resource = after.value;
  const keyOf = ({ because, version }: Affected) => `${because} ${version.label}`;
  return pins.flatMap((pin) => {
    const old = new Set(affectedBy(before.value, pin).map(keyOf));
    const { consumer, contract } = pin;
    return affectedBy(resource, pin)
      .filter((each) => !old.has(keyOf(each)))
      .map(({ because, version }) => {
        const changes = because === 'breaking' ? toldChanges(resource, version) : null;
        const data = {
          consumer,
          coordinate: nameOf(resource),
          range: contract.range,
          pinned: contract.version,
          because,
          ...(changes ? {} : { status: version.status }),
          ...versionData(url, resource, version),
          ...(changes && { changes }),
        };
        const detail = changes ? `${contract.version} ${version.label}` : `${version.label} ${because}`;
        const whole = { type: 'consumer.affected', subject: consumer, detail, data } as const;
        return happened(url, pin.org, after, whole, [coordinateOf(resource)]);
      });
  });
}
