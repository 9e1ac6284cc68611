import type { Turn } from '../../compile/compile.ts';
import { anonymous, type Principal } from '../../model/access.ts';
import { getsText, impactText, type Impact } from '../../model/dependency.ts';
import { countText, problemAtFile, type Exemption, type Report } from '../../model/problem.ts';
import type { Resource } from '../../model/resource.ts';
import { impactOf, type NextVersion } from '../graph/impact.ts';
import { organizationReader } from '../graph/references.ts';
import type { Registry } from '../registry.ts';
import { withBreaks } from './compatibility.ts';

/**
 * Who counts as a user of a resource. The report of a public document, and the pull request that changes it, are read
 * by anybody, so they name public users only.
 */
export function usersReader({ org, visibility }: Pick<Resource, 'org' | 'visibility'>): Principal {
  return visibility === 'public' ? anonymous : organizationReader(org);
}

/** The report of a new version, with an error for each user that it breaks and that gets it. */
export async function checkImpact(
  registry: Registry,
  next: NextVersion,
  { entry, report, exemptions }: { entry: string; report: Report; exemptions: readonly Exemption[] },
  turn: Turn,
): Promise<Report> {
  const { resource } = next;
  const impact = await impactOf(registry, usersReader(resource), next, { org: resource.org, ...turn, decides: true });
  const problems = brokenUsers(impact).map((user) => {
    const name = `${user.coordinate}@${user.version}`;
    return problemAtFile('user-broken', entry, `It breaks ${name} (${getsText[user.gets]}): ${impactText(user)}`);
  });
  const message = `Undo the change, publish it as a version that their ranges leave out, or exempt user-broken in stele.yaml. It breaks ${countText(problems.length, 'user')} of ${resource.slug}.`;
  const advice = problemAtFile('impact', entry, message, 'info');
  const today = registry.now().toISOString().slice(0, 10);
  return withBreaks(report, { problems, truncated: false }, advice, exemptions, today);
}

/** Those that a new version breaks although nobody changes what they refer to. */
function brokenUsers({ users }: Impact): Impact['users'] {
  return users.filter(({ verdict, gets }) => verdict === 'breaking' && gets !== 'pinned');
}
