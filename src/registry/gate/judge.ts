import { releaseBefore } from '../../model/compared-with.ts';
import { isBlocking } from '../../model/problem.ts';
import { type Compiled, hasDied } from '../../compile/compile.ts';
import { isHistory, type Next, type Publication } from '../append-version.ts';
import { checkCompatibility, replacedLatest } from './compatibility.ts';
import { compileDocument, turnOf } from './compile-document.ts';
import { checkImpact } from '../graph/impact.ts';

/**
 * A document that its ruleset rejects, compiled without it, with the report that rejects it: it may
 * equal the published version, which a stricter ruleset leaves as it is, and whoever fixes its
 * findings should see its breaking changes too. Null: the document itself is invalid, or nothing is
 * published that it could be compared with.
 */
export async function compileBare(
  { registry, request, existing, policy }: Publication,
  { report }: Compiled,
): Promise<Compiled | null> {
  if (existing === null || existing.versions.length === 0 || hasDied(report)) return null;
  const bare = await compileDocument(registry, request, existing, policy, null);
  return bare.artifact && { ...bare, report };
}

/** The document, with the breaking changes in its report that its gate does not allow. `next`: the version that it would become. */
export async function judge(
  { registry, request, existing, policy }: Publication,
  next: Next,
  compiled: Compiled,
): Promise<Compiled> {
  const { label } = next.version;
  if (existing === null || isHistory(request, existing, next.resource, label)) return compiled;
  const { entry, exemptions = [] } = request;
  const replaced = replacedLatest(existing, next, releaseBefore(existing, { label }));
  const compared = { label, entry, compiled, exemptions, replaced };
  const report = await checkCompatibility(registry, existing, policy.compatibility, compared, turnOf(request));
  if (compiled.artifact === null || isBlocking(report) || policy.impact !== 'block') return { ...compiled, report };
  const checked = { entry, report, exemptions };
  const impact = await checkImpact(registry, { ...next, artifact: compiled.artifact }, checked, turnOf(request));
  return { ...compiled, report: impact };
}
