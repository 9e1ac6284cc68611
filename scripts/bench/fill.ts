import { digestOf } from '../../src/model/digest.ts';
import { resourceRef, type Resource, type Version } from '../../src/model/resource.ts';
import type { Refs } from '../../src/store/refs.ts';

/** Writes a resource with so many versions in one change. They have the document of `like`, or only records. */
export async function fill(refs: Refs, made: Resource, count: number, like: Version | null = null): Promise<void> {
  const versions = Array.from({ length: count }, (_, index): Version => {
    const label = `1.${index}.0`;
    const digest = digestOf(`${made.slug} ${label}`);
    const publishedAt = made.createdAt;
    const { manifest, content } = like ?? { manifest: digest, content: digest };
    return { label, manifest, content, publishedAt, status: { state: 'active' } };
  });
  const value = { ...made, versions, latest: versions.at(-1)?.label ?? null };
  const change = { actor: 'operator:bench', origin: null, action: 'fill' };
  await refs.update<Resource>(resourceRef(made), () => ({ value, change }));
}

/** Writes so many public APIs of an organization, `api-000000` and so on. */
export async function fillOrganization(
  refs: Refs,
  make: (slug: string) => Resource,
  { resources, versions, like = null }: { resources: number; versions: number; like?: Version | null },
): Promise<void> {
  for (let from = 0; from < resources; from += 500) {
    const some = Array.from({ length: Math.min(500, resources - from) }, (_, index) =>
      fill(refs, make(`api-${String(from + index).padStart(6, '0')}`), versions, like),
    );
    await Promise.all(some);
  }
}
