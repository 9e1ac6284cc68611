import { isBlocking } from '../../model/problem.ts';
import type { Resource, Version } from '../../model/resource.ts';
import { type Compiled, hasDied } from '../../compile/compile.ts';
import { appendDraft, isHistory, type Draft, type PublishRequest, type Placed } from '../append-version.ts';
import type { Registry } from '../registry.ts';
import { checkNext, compileDocument, turnOf } from './compile-document.ts';
import { checkImpact } from '../graph/impact.ts';
import type { Policy } from './policy.ts';

/** The version that a draft would become. Null: none. */
export function nextOf(
  registry: Registry,
  request: PublishRequest,
  existing: Resource | null,
  draft: Draft,
): { resource: Resource; version: Version } | null {
  const notStored = { manifest: draft.content, bytes: 0, changes: null };
  const next = appendDraft(registry, request, existing, draft, notStored);
  return next?.outcome === 'published' ? next : null;
}

/**
 * A document that its ruleset rejects, compiled without it, with the report that rejects it: it may
 * equal the published version, which a stricter ruleset leaves as it is, and whoever fixes its
 * findings should see its breaking changes too. Null: the document itself is invalid, or nothing is
 * published that it could be compared with.
 */
export async function compileBare(
  registry: Registry,
  request: PublishRequest,
  existing: Resource | null,
  policy: Policy,
  { report }: Compiled,
): Promise<Compiled | null> {
  if (existing === null || existing.versions.length === 0 || hasDied(report)) return null;
  const bare = await compileDocument(registry, request, existing, policy, null);
  return bare.artifact && { ...bare, report };
}

/** The document, with the breaking changes in its report that its gate does not allow. */
export async function judge(
  registry: Registry,
  request: PublishRequest,
  existing: Resource | null,
  policy: Policy,
  { placed, draft }: { placed: Placed; draft: Draft },
  compiled: Compiled,
): Promise<Compiled> {
  if (placed.outcome !== 'published') return compiled;
  const next = nextOf(registry, request, existing, draft);
  if (next === null || isHistory(request, existing, next.resource, placed.label)) return compiled;
  const report = await checkNext(registry, request, existing, policy, next, compiled);
  const judged = { ...compiled, report };
  if (existing === null || compiled.artifact === null || isBlocking(report) || policy.impact !== 'block') return judged;
  const { entry, exemptions = [] } = request;
  const checked = { entry, report, exemptions };
  const impact = await checkImpact(registry, { ...next, artifact: compiled.artifact }, checked, turnOf(request));
  return { ...compiled, report: impact };
}
