import type { Config } from '../../config.ts';
import { organizationIn } from '../../config/organization-config.ts';
import { escapeHtml } from '../../model/escape.ts';
import { coordinateOf } from '../../model/resource.ts';
import type { GrantedVersion } from '../../registry/read.ts';
import type { Site } from '../site.ts';

/** The origins whose pages may frame embeds of an organization, besides the registry itself. */
export function embedOrigins(config: Pick<Config, 'organizations' | 'embedOrigins'>, org: string): readonly string[] {
  return organizationIn(config, org)?.embedOrigins ?? config.embedOrigins;
}

/** The HTML that readers of a version's page may copy to embed it. Null: nobody may frame it. */
export function embedSnippet(site: Site, { resource, version }: GrantedVersion): string | null {
  const { links, registry } = site;
  if (site.isStatic || resource.visibility !== 'public') return null;
  if (embedOrigins(registry.config, resource.org).length === 0) return null;
  const url = links.whole(links.to(coordinateOf(resource), { label: version.label, view: 'embed' }));
  const id = `stele-${resource.slug}`;
  return `<iframe id="${id}" title="${escapeHtml(resource.name)}" src="${url}" width="100%" height="600" style="border: 0" loading="lazy"></iframe>
<script>
  addEventListener('message', ({ source, data }) => {
    const frame = document.getElementById('${id}');
    if (source === frame.contentWindow && data.stele === 'height') frame.height = data.height;
  });
</script>`;
}
