import { cut } from '../model/escape.ts';
import { mayUseCredential } from '../config/credential-config.ts';
import { formatCoordinate, parseCoordinate } from '../model/address.ts';
import type { Annotation, Check, CheckState } from '../model/check.ts';
import type { Repository, RunDocument } from '../model/connection.ts';
import { blockersIn, blockingIn, countText, holdIn, outcomeIn, type Report } from '../model/problem.ts';
import { asTitle, countState, shownState } from '../model/states.ts';
import { findResource } from '../registry/lives.ts';
import type { Registry } from '../registry/registry.ts';
import { readJson } from '../registry/stored.ts';

/** The name of the check for the whole repository. */
export const wholeCheck = 'stele';

/** The name of the check for one resource (`@org/type/slug`). */
export function checkName(resource: string): string {
  return `${wholeCheck} ${resource}`;
}

/** A check without findings, about nothing that has a page. `summary`: Markdown. */
export function plainCheck(commit: string, name: string, state: CheckState, title: string, summary: string): Check {
  return { commit, name, state, title, summary, annotations: [], url: null };
}

const maxNames = 50;
const maxAnnotations = 500;

const checkStates: Partial<Record<RunDocument['outcome'], CheckState>> = { detached: 'neutral', waiting: 'waiting' };

/** The checks to report after a sync: one for each document that was read. */
export async function checksOfDocuments(
  registry: Registry,
  documents: readonly RunDocument[],
  commit: string,
): Promise<Check[]> {
  return Promise.all(
    documents.map(async ({ path, resource, site, outcome, label, report, detail, commit: own }): Promise<Check> => {
      const about = resource ?? site;
      const stored = report === null ? null : await readJson<Report>(registry, report);
      const isAccepted = outcome === 'published' || outcome === 'unchanged';
      const latest = isAccepted && resource !== null ? await latestNow(registry, resource) : null;
      const title =
        isAccepted && label !== null
          ? `${outcome === 'published' ? 'Published as' : 'Unchanged:'} ${label}${latest === null || latest === label ? '' : `; latest stays ${latest}`}`
          : checkTitle(isAccepted ? null : stored, detail);
      const state = isAccepted ? 'success' : (checkStates[outcome] ?? 'failure');
      const isLatest = outcome === 'published' && label !== null && label === latest;
      const summary = [
        `${code(path)}: ${shownState(outcome).text}.`,
        ...(isLatest ? [plain(`${label} is the latest version.`)] : []),
        ...(detail === null ? [] : [plain(detail)]),
        ...(outcome === 'rejected' && stored !== null ? [blockersText(stored)].filter((text) => text !== '') : []),
      ].join('\n\n');
      return {
        commit: own ?? commit,
        name: about === undefined ? wholeCheck : checkName(about),
        state,
        title,
        summary,
        annotations: stored === null ? [] : annotationsOf(stored),
        url: resource === null ? null : pageOf(registry, resource),
      };
    }),
  );
}

async function latestNow(registry: Registry, name: string): Promise<string | null> {
  const parsed = parseCoordinate(name);
  return parsed === null ? null : ((await findResource(registry, parsed.coordinate))?.latest ?? null);
}

const maxChecks = 50;

/**
 * The checks to report for a pull request: one for each document, failures first, up to the limit;
 * and one for the whole pull request, which fails if any of them does.
 */
export function concludeChecks(checks: readonly Check[], commit: string): Check[] {
  const failed = checks.filter(isBad).length;
  const waiting = checks.filter(({ state }) => state === 'waiting').length;
  const whole = wholeOf(checks);
  const breaking = checks.reduce((sum, check) => sum + (check.breaking ?? 0), 0);
  const breaks = breaking === 0 ? '' : `, ${countText(breaking, 'breaking change')}`;
  const held = waiting > 0 ? [countState(waiting, 'waiting')] : [];
  const rejected = failed > 0 ? [`${failed} of ${checks.length} would be rejected`] : [];
  const counts = [...rejected, ...held].join(', ') || `${checks.length} checked`;
  const documentChecks = checks.filter((check) => !isWhole(check));
  const ordered = documentChecks.toSorted((one, other) => rankOf(other) - rankOf(one));
  const listed = ordered.slice(0, maxChecks - 1);
  const rest =
    listed.length < documentChecks.length
      ? [`${documentChecks.length - listed.length} documents have no separate check.`]
      : [];
  const isSaid = whole !== null && (isBad(whole) || failed + waiting === 0);
  const last: Check = {
    commit,
    name: wholeCheck,
    state:
      failed > 0
        ? 'failure'
        : waiting > 0
          ? 'waiting'
          : isSaid && documentChecks.length === 0
            ? whole.state
            : 'success',
    title: `${isSaid ? whole.title : counts}${breaks}`,
    summary: [
      ...(isSaid && documentChecks.length === 0 ? [] : [`${counts}${breaks}.`]),
      ...(whole === null ? [] : [whole.summary]),
      ...(listed.length === 0 ? [] : [listed.map(lineOf).join('\n')]),
      ...rest,
    ].join('\n\n'),
    annotations: whole?.annotations ?? [],
    url: null,
  };
  return [...listed, last];
}

/** The check of the repository as a whole, such as a mistake in `stele.yaml`. Null: there is none. */
export function wholeOf(checks: readonly Check[]): Check | null {
  return mergeChecks(checks.filter(isWhole))[0] ?? null;
}

function isWhole({ name }: Check): boolean {
  return name === wholeCheck;
}

function isBad({ state }: Check): boolean {
  return state === 'failure';
}

function lineOf({ name, state, title }: Check): string {
  return `- ${checkSigns[state]} ${code(name.slice(wholeCheck.length + 1))}: ${plain(title)}`;
}

/** The sign of a state in Markdown. */
export const checkSigns: Readonly<Record<CheckState, string>> = {
  success: '✅',
  failure: '❌',
  neutral: '➖',
  cancelled: '➖',
  waiting: '✋',
  running: '⏳',
};

/**
 * Merges checks with the same name and commit, because a host shows only the last. The worst of
 * them gives the title.
 */
export function mergeChecks(checks: readonly Check[]): Check[] {
  const groups = Map.groupBy(checks, ({ commit, name }) => `${commit} ${name}`);
  return [...groups.values()].map((group) => {
    const sorted = group.toSorted((one, other) => rankOf(other) - rankOf(one));
    const summaries = sorted.slice(0, maxNames).map(({ summary }) => summary);
    const rest = sorted.length > maxNames ? [`… and ${sorted.length - maxNames} more.`] : [];
    const annotations = sorted.flatMap((check) => check.annotations).slice(0, maxAnnotations);
    return { ...sorted[0]!, summary: [...summaries, ...rest].join('\n\n'), annotations };
  });
}

function rankOf({ state }: Check): number {
  return ['success', 'neutral', 'cancelled', 'running', 'waiting', 'failure'].indexOf(state);
}

/** The title of a check that failed. */
export function checkTitle(report: Report | null, detail: string | null): string {
  if (report === null) return cut(detail ?? 'Rejected', longest);
  const held = holdIn(report);
  if (held !== null) return outcomeIn(report) === 'waiting' ? asTitle(shownState('waiting').text) : 'Changes rejected';
  const count = blockingIn(report);
  if (count === 0) return countText(report.counts.warning, 'warning');
  return countText(count, report.problems.some(({ known }) => known) ? 'new problem' : 'problem');
}

/** Which findings reject a document, as Markdown, where others do not because the latest version has them (`ratchet`). Else empty. */
export function blockersText(report: Report): string {
  const others = report.problems.filter(({ known }) => known).length;
  const blockers = blockersIn(report);
  if (others === 0 || blockers.length === 0) return '';
  const known = others === 1 ? '1 other is in the latest version, too, and does' : `${others} others are in the latest version, too, and do`; // prettier-ignore
  const lines = blockers
    .slice(0, maxNames)
    .map(({ file, line, rule, message }) => `- ${code(`${file}:${line}`)} ${plain(rule)}: ${plain(message)}`);
  return `These reject it; ${known} not:\n\n${lines.join('\n')}`;
}

/** Every problem with its place: first those that reject the document, the worst first. */
export function annotationsOf({ problems }: Report): Annotation[] {
  const ordered = [...problems.filter(({ known }) => !known), ...problems.filter(({ known }) => known)];
  return ordered
    .slice(0, maxAnnotations)
    .map(({ file, line, column, severity, rule, message, known }) => ({
      path: file,
      line,
      column,
      severity: known && severity === 'error' ? 'warning' : severity,
      rule,
      message: known ? `${message} It is in the latest version, too, and does not reject this one.` : message,
    }));
}

/** The URL of a resource's page. Null when the configuration has no `url`. */
export function pageOf({ config }: Pick<Registry, 'config'>, resource: string): string | null {
  const parsed = parseCoordinate(resource);
  return config.url === null || parsed === null ? null : `${config.url}/${formatCoordinate(parsed.coordinate)}`;
}

/** Untrusted text as Markdown code that it cannot break out of. */
export function code(text: string): string {
  return `\`${cut(text.replace(/[\p{Cc}\p{Bidi_Control}`]+/gu, ' '), longest)}\``;
}

/**
 * What Markdown, or a git host in its Markdown, reads inside a line: marks, links, addresses, emoji,
 * formulas, and references to milestones and pull requests.
 */
const readByMarkdown =
  /[\\`*[\]<>~|&$]|!(?=[[\d])|%(?=["\p{L}])|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|:(?=\/\/|[\w+-]+:)|(?<=[\p{L}\p{N}])\.(?=\p{L}{2})|(?<=\bw{3})\./giu;

/**
 * What is read at the start of a line only: lists, headings, blocks of Azure DevOps, and commands
 * such as `/approve`, which GitLab and bots carry out for the author of a comment.
 */
const readAtStart = /^[-+=#/:]|(?<=^\d+)[.)](?=\s|$)/;

/** Of a detail, in characters. */
const longest = 200;

/**
 * A sentence that may quote a document, escaped so that Markdown shows it literally. Text like a
 * URL does not become a link.
 */
export function plain(text: string): string {
  const line = cut(text.replace(/[\s\p{Cc}\p{Bidi_Control}]+/gu, ' ').trim(), 1000);
  const escaped = line.replace(readByMarkdown, '\\$&').replace(readAtStart, '\\$&');
  // A space of no width keeps hosts from taking a name for a mention, which escaping does not.
  return escaped.replace(/[@#]/g, '$&\u200B');
}

/** Whether checks can be reported to the repository's host: that needs an API credential, not an SSH key. */
export function canReportChecks(
  { config }: Pick<Registry, 'config'>,
  { org, credential }: Pick<Repository, 'org' | 'credential'>,
): boolean {
  if (credential === null || !mayUseCredential(config, org, credential)) return false;
  return !('sshKeyFile' in config.credentials[credential]!);
}
