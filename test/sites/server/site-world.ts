import type { Visibility } from '../../../src/model/access.ts';
import type { SiteName } from '../../../src/sites/model/documentation-site.ts';
import { putDraft } from '../../../src/sites/registry/drafts.ts';
import { publishSite, sentFiles, type SitePublished } from '../../../src/sites/registry/publish-site.ts';
import { createSiteRecord, type SiteChange } from '../../../src/sites/registry/site-record.ts';
import type { Registry } from '../../../src/registry/registry.ts';

export const author = { actor: 'operator:test', origin: null };
export const handbook: SiteName = { org: 'acme', slug: 'handbook' };
const operator = { kind: 'operator', id: 'test' } as const;

/** Sends files for a site, and makes it if it is not there. */
export async function writeSite(
  registry: Registry,
  files: Record<string, string | Uint8Array>,
  given: SiteChange & { visibility?: Visibility } = {},
  site: SiteName = handbook,
): Promise<void> {
  await createSiteRecord(registry, site, { title: 'Handbook', visibility: 'public', ...given }, author).catch(
    () => null,
  );
  for (const [path, content] of Object.entries(files))
    await putDraft(registry, site, path, Buffer.from(content), author);
}

/** Publishes what was sent, as the operator. */
export async function deploy(registry: Registry, site: SiteName = handbook, dryRun = false): Promise<SitePublished> {
  return publishSite(registry, { site, ...(await sentFiles(registry, site)), reader: operator, author, dryRun });
}

export const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
