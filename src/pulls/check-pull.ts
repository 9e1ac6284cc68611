import { formatCoordinate } from '../model/address.ts';
import type { Check } from '../model/check.ts';
import type { PullCheck, Repository, Run } from '../model/connection.ts';
import { compareOutlines } from '../model/outline.ts';
import { selectVersion } from '../model/resource.ts';
import { filesOf } from '../source/snapshot.ts';
import {
  annotationsOf,
  checkName,
  checksOfDocuments,
  code,
  describeChanges,
  pageOf,
  plain,
  titleOf,
  wholeCheck,
} from '../sync/checks.ts';
import { outlineVersion } from '../registry/derived.ts';
import type { Planned } from '../plan/planned.ts';
import { findMoves, withMoves } from '../plan/moves.ts';
import { viewAsReader } from './reader-view.ts';
import { detachedDocuments, planAll } from '../plan/plan.ts';
import { publishDocument, refusable, refusalOf } from '../sync/publish-document.ts';
import type { PublishResult } from '../registry/publish.ts';
import type { Registry } from '../registry/registry.ts';
import { remoteOf } from '../registry/remote.ts';
import { findResource } from '../registry/find-resource.ts';
import { isUnchanged } from '../sync/sync-document.ts';

const mostInFull = 100;

/**
 * Checks what merging the commit of a pull request would publish: for each document that differs
 * from the last sync, whether it would be published, its version, its problems, and its changes
 * since the latest version. Publishes and connects nothing, and shows only what any reader of the
 * repository may know (see viewAsReader).
 */
export async function checkPull(
  inside: Registry,
  repository: Repository,
  pull: Pick<PullCheck, 'ref' | 'number'>,
  head: string,
  run: Run,
  signal: AbortSignal,
): Promise<Check[]> {
  const registry = await viewAsReader(inside, repository);
  const snapshot = await registry.source.snapshot(await remoteOf(registry, repository, pull.ref), head, signal);
  const files = filesOf(await snapshot.entries());
  const moves = await findMoves(registry, repository, files);
  const standing = withMoves(repository, moves);
  const { planned, notes, isRefused } = await planAll(registry, standing, snapshot, signal, moves);
  const detached = detachedDocuments(standing, planned, isRefused);
  const checks = await checksOfDocuments(registry, [...notes, ...detached.results], head);
  for (const document of planned) {
    signal.throwIfAborted();
    const known = standing.documents[document.path];
    const isSame = known?.resource === formatCoordinate(document.coordinate);
    if (isSame && (await isUnchanged(registry, known, document, files))) continue;
    const result = await refusable(() =>
      publishDocument({ registry, repository: standing, run, signal }, snapshot, document, { dryRun: true }),
    );
    const check = await checkOf(registry, document, result, head);
    // Only the first checks are reported one by one, so only they need annotations.
    checks.push(checks.length < mostInFull ? check : { ...check, annotations: [] });
  }
  return checks.length > 0 ? checks : [nothingChanged(head)];
}

function nothingChanged(commit: string): Check {
  const summary = 'This pull request changes no document that the registry publishes.';
  const title = 'Nothing to publish';
  return { commit, name: wholeCheck, state: 'success', title, summary, annotations: [], url: null };
}

async function checkOf(
  registry: Registry,
  document: Planned,
  result: PublishResult | { refusal: string },
  commit: string,
): Promise<Check> {
  const name = formatCoordinate(document.coordinate);
  const told = { commit, name: checkName(name), url: pageOf(registry, name) };
  const where = `${code(document.path)} → ${code(name)}`;
  if ('refusal' in result) {
    const refusal = refusalOf(document, result.refusal);
    const summary = `${where}\n\n${plain(refusal)}`;
    return { ...told, state: 'failure', title: titleOf(null, refusal), summary, annotations: [] };
  }
  const { report } = result;
  const annotations = annotationsOf(report);
  if (result.outcome === 'rejected') {
    const summary = `${where} would be rejected: ${report.counts.error} errors, ${report.counts.warning} warnings.`;
    return { ...told, state: 'failure', title: titleOf(report, null), summary, annotations };
  }
  const changes = await changesOf(registry, document, result);
  if (result.outcome === 'conflict') {
    const summary = [where, plain(result.detail), changes].join('\n\n');
    return { ...told, state: 'failure', title: titleOf(null, result.detail), summary, annotations };
  }
  const title = titleOfPlanned(document, result);
  const warnings = report.counts.warning === 0 ? '' : `${report.counts.warning} warnings.`;
  const summary = [where, `${title}.`, warnings, changes].filter((part) => part !== '').join('\n\n');
  return { ...told, state: 'success', title, summary, annotations };
}

function titleOfPlanned(
  { tags }: Planned,
  { outcome, version }: Extract<PublishResult, { outcome: 'published' | 'unchanged' }>,
): string {
  if (tags !== null) return 'Valid; the next tag publishes it';
  return outcome === 'unchanged' ? `Same content as ${version.label}` : `Would be published as ${version.label}`;
}

/** The changes since the latest version, as Markdown. */
async function changesOf(
  registry: Registry,
  { coordinate }: Planned,
  { compiled }: Pick<PublishResult, 'compiled'>,
): Promise<string> {
  const resource = await findResource(registry, coordinate);
  const latest = resource && selectVersion(resource, { kind: 'latest' });
  if (!resource || !latest) return 'This would be the first version, if the name is free.';
  const { artifact } = compiled;
  const json = artifact?.representations.find(({ format, coding }) => format === 'json' && coding === 'identity');
  if (!artifact || !json) return '';
  const { type, kind } = artifact;
  const limits = registry.config.limits;
  const after = await registry.compiler.outline({ type, kind, json: json.bytes }, limits, { org: coordinate.org });
  const before = await outlineVersion(registry, resource, latest.version);
  if (before === null || after === null) return '';
  return describeChanges(compareOutlines(before, after), latest.version.label);
}
