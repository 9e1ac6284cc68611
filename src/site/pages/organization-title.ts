import { organizationIn } from '../../config/organization-config.ts';
import type { Site } from '../site.ts';

/** The display name of an organization: from the configuration, or its name in URLs. */
export function organizationTitle(site: Site, org: string): string {
  return organizationIn(site.registry.config, org)?.name ?? org;
}
