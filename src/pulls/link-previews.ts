import type { Check } from '../model/check.ts';
import { trimPreviews } from '../store/previews.ts';
import { storePreview, type Preview } from '../registry/preview.ts';
import { storeSitePreview, type SitePreview } from '../sites/registry/site-preview.ts';
import type { Registry } from '../registry/registry.ts';

/** Whether the configuration asks for previews, and gives them a URL. */
export function canPreview({ config }: Pick<Registry, 'config'>): boolean {
  return config.url !== null && config.pulls.previewDays > 0;
}

/** Stores the previews of an organization's checks, and links each check to its own. */
export async function linkPreviews(
  registry: Registry,
  org: string,
  checks: readonly Check[],
  previews: ReadonlyMap<string, Preview | SitePreview>,
): Promise<Check[]> {
  const days = registry.config.pulls.previewDays;
  const linked = await Promise.all(
    checks.map(async (check) => {
      const preview = previews.get(check.name);
      if (preview === undefined) return check;
      const isSite = 'site' in preview;
      const token = isSite
        ? (await storeSitePreview(registry, preview, days)).token
        : await storePreview(registry, preview);
      const url = `${registry.config.url}/previews/${token}${isSite ? '/' : ''}`;
      return { ...check, url, summary: `${check.summary}\n\n[Preview of the ${isSite ? 'site' : 'page'}](${url})` };
    }),
  );
  if (previews.size > 0) await trimPreviews(registry, org);
  return linked;
}
