import { digestOf } from '../../src/model/digest.ts';
import { type Resource, type Status, type Version } from '../../src/model/resource.ts';
import { type Place } from '../../src/site/discovery.ts';
import { createLinks } from '../../src/site/links.ts';

export const place: Place = {
  url: 'https://contracts.example',
  links: createLinks('https://contracts.example'),
  docs: () => [],
  config: { organizations: {} },
  hasManagement: true,
};

export function version(label: string, publishedAt: string, status: Status = { state: 'active' }): Version {
  return { label, manifest: digestOf(label), content: digestOf(label), publishedAt, status };
}

export function resource(coordinate: Pick<Resource, 'org' | 'type' | 'slug'>, given: Partial<Resource> = {}): Resource {
  const versions = given.versions ?? [version('1.0.0', '2026-01-01T00:00:00.000Z')];
  return {
    ...coordinate,
    name: coordinate.slug,
    description: '',
    visibility: 'public',
    ruleset: null,
    connection: null,
    latest: versions.at(-1)?.label ?? null,
    latestPinned: false,
    validation: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    deletedAt: null,
    ...given,
    versions,
  };
}
