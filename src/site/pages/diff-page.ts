import { diff } from 'node:util';
import type { AddressView } from '../../model/address.ts';
import { createAnchors, operationName, type Outline } from '../../model/outline.ts';
import { comparedWith, whyCompared } from '../../model/compared-with.ts';
import {
  countsInWords,
  verdicts,
  verdictsInWords,
  type Change,
  type Comparison,
  type Verdict,
  isAtLeast,
} from '../../model/comparison.ts';
import { unescapeKey } from '../../model/pointer.ts';
import { nameOf, type Resource } from '../../model/resource.ts';
import { outlineOf, renderedMarkdown } from '../../registry/derived.ts';
import { type GrantedVersion, grantVersion } from '../../registry/read.ts';
import { comparisonMarkdown, comparisonTitle } from '../../sync/describe-changes.ts';
import { pageWithin } from './describe-version.ts';
import type { Site } from '../site.ts';
import { comparisonOf } from '../../registry/compare-versions.ts';

/** Operations of a change that are shown before the others are folded. */
const operationsShown = 8;

/** What a verdict is called on pages, and its colour. */
export const verdictTags: Readonly<Record<Verdict, { text: string; tone: string }>> = {
  breaking: { text: 'breaking', tone: 'error' },
  unknown: { text: 'cannot be judged', tone: 'warn' },
  risky: { text: 'risky', tone: 'warn' },
  safe: { text: 'safe', tone: 'good' },
  docs: { text: 'texts', tone: '' },
};

/** The page of what changed between two versions. `from` null: there is no earlier version. */
export async function diffPage(
  site: Site,
  from: GrantedVersion | null,
  to: GrantedVersion,
  comparison: Comparison | null,
): Promise<string> {
  const { resource, version } = to;
  const link = (granted: GrantedVersion) => ({
    label: granted.version.label,
    href: site.links.to(resource, { label: granted.version.label }),
  });
  const parts = async (granted: GrantedVersion) => {
    const rendered = comparison?.changes.length ? await renderedMarkdown(site.registry, granted) : null;
    return partsIn(rendered?.markdown ?? '');
  };
  const places = {
    before: from && (await anchorsOf(site, from)),
    after: await anchorsOf(site, to),
    ...(from && { parts: { before: await parts(from), after: await parts(to) } }),
  };
  return site.page('diff', {
    ...pageWithin(site, resource, 'What changed'),
    title: `${resource.name}: what changed in ${version.label}`,
    from: from && link(from),
    to: link(to),
    comparison: comparison && describeComparison(comparison, places),
    why: from && whyOf(from, to),
    compare: compareForm(site, resource, from?.version.label ?? null, version.label),
    others: ['json', 'md'].map((form) => ({
      form: form === 'json' ? 'JSON' : 'Markdown',
      href: hrefOf(site, from, to, form === 'json' ? 'diff-json' : 'diff-markdown'),
    })),
  });
}

/** The page of what changes from a version to a document that is not published. */
export function uploadDiffPage(site: Site, resource: Resource, from: string, comparison: Comparison): string {
  return site.page('diff', {
    ...pageWithin(site, resource, 'What changed'),
    title: `${resource.name}: what changes after ${from}`,
    from: { label: from, href: site.links.to(resource, { label: from }) },
    to: null,
    comparison: describeComparison(comparison, { before: null, after: new Map() }),
    why: null,
    compare: null,
    others: [],
  });
}

function whyOf(from: GrantedVersion, { resource, version }: GrantedVersion): string {
  const isUsual = comparedWith(resource, version)?.label === from.version.label;
  return `${version.label} is compared with ${from.version.label}, ${isUsual ? whyCompared(resource, version) : 'as you chose'}.`;
}

const maxChoices = 100;

/** Two choices of versions to compare. Null where there is one version, and in a build, which cannot compare. */
export function compareForm(site: Site, resource: Resource, from: string | null, to: string): object | null {
  const readable = resource.versions.filter(({ status }) => status.state !== 'withdrawn').map(({ label }) => label);
  if (readable.length < 2 || site.isStatic) return null;
  const newest = readable.slice(-maxChoices).toReversed();
  const labels = [...new Set([...newest, to, ...(from === null ? [] : [from])])];
  const other = from ?? labels.find((label) => label !== to)!;
  return { action: site.links.to(resource, { view: 'diff' }), labels, from: other, to };
}

function describeComparison(comparison: Comparison, places: Places): object {
  const { reason, truncated, changes } = comparison;
  const sections = sectionsOf(comparison, places);
  return { title: comparisonTitle(comparison), reason, truncated, shown: changes.length, sections };
}

/** The path of a comparison. One with the version before needs no parameters, so a static build has it too. */
function hrefOf(site: Site, from: GrantedVersion | null, to: GrantedVersion, view: AddressView): string {
  const before = comparedWith(to.resource, to.version);
  if (from === null || from.version.label === before?.label)
    return site.links.to(to.resource, { label: to.version.label, view });
  const query = new URLSearchParams({ from: from.version.label, to: to.version.label });
  return `${site.links.to(to.resource, { view })}?${query.toString()}`;
}

type Anchored = ReadonlyMap<string, string>;

/** URLs of the operations on the page of a version. */
async function anchorsOf(site: Site, granted: GrantedVersion): Promise<Anchored> {
  const outline: Outline | null = await outlineOf(site.registry, granted);
  const anchors = createAnchors();
  const page = site.links.to(granted.resource, { label: granted.version.label });
  return new Map(
    (outline?.operations ?? []).map((operation) => [
      operationName(operation),
      `${page}#${anchors.operation(operation)}`,
    ]),
  );
}

interface Places {
  before: Anchored | null;
  after: Anchored;
  /** What both documents say, to stand beside each other. */
  parts?: { before: Parts; after: Parts };
}

/** The most parts that a page shows both sides of. */
const maxSides = 40;

/** The changes by verdict, and by operation within each. */
function sectionsOf({ changes, counts }: Comparison, places: Places): object[] {
  const shown = new Set<string>();
  return verdicts.flatMap((verdict) => {
    const group = changes.filter((change) => change.verdict === verdict);
    if (counts[verdict] === 0) return [];
    const groups = Map.groupBy(group, groupOf);
    return [
      {
        ...verdictTags[verdict],
        heading: verdictsInWords[verdict],
        verdict,
        count: counts[verdict],
        groups: [...groups].map(([name, members]) => ({
          name,
          ...linksOf(name, places),
          changes: members.map((change) => describe(change, places)),
          sides: sidesOf(name, members, places, shown),
        })),
      },
    ];
  });
}

/** Both sides of what changed, each part once on a page. */
function sidesOf(name: string, members: readonly Change[], { parts }: Places, shown: Set<string>): object[] {
  if (parts === undefined) return [];
  const operation = name === theDocument ? '' : name;
  return bothSides(operation, members, parts.before, parts.after).flatMap((part) => {
    if (shown.has(part.name) || shown.size >= maxSides) return [];
    shown.add(part.name);
    return [{ ...part, name: part.name || theDocument, isShort: part.rows.length <= shortSides }];
  });
}

/** Rows of both sides that are not folded. */
const shortSides = 14;
const theDocument = 'The document';

/** Changes of one operation stand together. So do those of shared schemas, and of the document. */
function groupOf({ operations, reach }: Change): string {
  return reach === 0 ? theDocument : reach === 1 ? operations[0]! : 'Several operations';
}

function linksOf(name: string, { before, after }: Places): { before: string | null; after: string | null } {
  return { before: before?.get(name) ?? null, after: after.get(name) ?? null };
}

function describe(change: Change, places: Places): object {
  const { message, code, before, after, pointers, operations, reach } = change;
  const [only] = before === null ? [after] : after === null ? [before] : [null];
  // "GET /pets was removed" says it all.
  const hasValues = only === null ? before !== null : !message.startsWith(only);
  const place = pointers.after ?? pointers.before;
  // An addition has no old place: the old pointer names the part that it was added to.
  const isMoved = pointers.before !== null && place !== pointers.before && !place!.startsWith(`${pointers.before}/`);
  const named = reach < 2 ? [] : operations.map((name) => ({ name, ...linksOf(name, places) }));
  return {
    message,
    code,
    values: hasValues ? { before, after } : null,
    place,
    placeBefore: isMoved ? pointers.before : null,
    reach,
    first: named.slice(0, operationsShown),
    folded: named.slice(operationsShown),
  };
}

/** What changes from a version to a document that is not published, as Markdown. */
export function uploadDiffMarkdown(resource: Resource, from: string, comparison: Comparison): string {
  const counts = countsInWords(comparison.counts);
  const heading = `# What changes after ${nameOf(resource)}@${from}`;
  return paragraphs(heading, counts === '' ? '' : `${counts}.`, comparisonMarkdown(comparison, 1000));
}

function paragraphs(...parts: string[]): string {
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** What changed between two versions as Markdown. */
export function diffMarkdown(
  site: Site,
  from: GrantedVersion | null,
  to: GrantedVersion,
  comparison: Comparison | null,
): string {
  const { resource, version } = to;
  const heading = `# What changed in ${nameOf(resource)}@${version.label}`;
  if (from === null || comparison === null) return paragraphs(heading, 'There is no earlier version.');
  const link = ({ version: { label } }: GrantedVersion) => `[${label}](${site.links.url(resource, { label })})`;
  const counts = countsInWords(comparison.counts);
  const compared = `${link(from)} → ${link(to)}${counts === '' ? '' : `: ${counts}`}`;
  return paragraphs(heading, compared, comparisonMarkdown(comparison, 1000));
}

/** A line of both sides. Null: not there. */
interface SideRow {
  before: string | null;
  after: string | null;
  isChanged: boolean;
}

/** A part of a document that changed, its lines before and after in pairs. Null: lines that are the same and left out. */
interface BothSides {
  name: string;
  rows: (SideRow | null)[];
}

/** The parts of a document's Markdown, in lines: operations and schemas by their names, and what precedes them as ''. */
type Parts = ReadonlyMap<string, readonly string[]>;

/** Lines around what changed. */
const context = 3;
/** Longer parts are not shown: comparing takes the product of both lengths. */
const maxLines = 400;

/** The parts in the Markdown of a document, which has a heading of the third level for each. */
export function partsIn(markdown: string): Parts {
  const parts = new Map<string, string[]>();
  let lines: string[] = [];
  parts.set('', lines);
  for (const line of markdown.split('\n')) {
    const [, heading] = /^### (.*)$/.exec(line) ?? [];
    if (heading !== undefined) {
      const text = heading.replace(/\\([!-/:-@[-`{-~])/g, '$1');
      parts.set(/^[A-Z]+ \/.*?(?=: |$)/.exec(text)?.[0] ?? text, (lines = []));
    } else if (line.startsWith('## ')) lines = [];
    else if (line !== '') lines.push(line.replace(/^( *)- /, '$1'));
  }
  return parts;
}

/**
 * Both sides of what some changes are in, where both have it: the operation (''; the document), and the schemas that
 * their pointers name.
 */
export function bothSides(operation: string, changes: readonly Change[], before: Parts, after: Parts): BothSides[] {
  const schemas = changes.flatMap(({ pointers }) =>
    [pointers.before, pointers.after].flatMap((pointer) => {
      const [, name] = /^\/(?:components\/schemas|definitions|\$defs)\/([^/]+)/.exec(pointer ?? '') ?? [];
      return name === undefined ? [] : [unescapeKey(name)];
    }),
  );
  return [...new Set([operation, ...schemas])].flatMap((name) => {
    const [old, now] = [before.get(name), after.get(name)];
    if (old === undefined || now === undefined || Math.max(old.length, now.length) > maxLines) return [];
    const rows = pair(old, now);
    return rows.some(({ isChanged }) => isChanged) ? [{ name, rows: nearChanges(rows) }] : [];
  });
}

/** The lines of two texts in pairs: what is the same, and between that what was there beside what is there now. */
function pair(old: readonly string[], now: readonly string[]): SideRow[] {
  const rows: SideRow[] = [];
  // It throws for two empty lists.
  for (const [kind, line] of old.length + now.length === 0 ? [] : diff(now, old)) {
    const side = kind === 1 ? 'after' : 'before';
    const from = rows.findLastIndex(({ isChanged }) => !isChanged) + 1;
    const other = kind === 0 ? undefined : rows.slice(from).find((row) => row[side] === null);
    if (other) other[side] = line;
    else rows.push({ before: kind === 1 ? null : line, after: kind === -1 ? null : line, isChanged: kind !== 0 });
  }
  return rows;
}

function nearChanges(rows: readonly SideRow[]): (SideRow | null)[] {
  const isNear = (at: number) =>
    rows.slice(Math.max(0, at - context), at + context + 1).some(({ isChanged }) => isChanged);
  return rows.flatMap((row, at) => (isNear(at) ? [row] : at === 0 || isNear(at - 1) ? [null] : []));
}

/** Changes that the page of a version names. The others are on their own page. */
const shown = 6;

/**
 * The changes of a version since the previous one, the worst first. Null for the first version, or
 * if the two cannot be compared now.
 */
export async function describeChanges(site: Site, granted: GrantedVersion): Promise<object | null> {
  const previous = comparedWith(granted.resource, granted.version);
  if (previous === null) return null;
  const before = grantVersion(granted, { kind: 'version', version: previous.label });
  if (before === null || !before.exact) return null;
  const comparison: Comparison | null = await comparisonOf(site.registry, before.granted, granted).catch(() => null);
  if (comparison === null) return null;
  const notable = comparison.changes.filter(({ verdict }) => isAtLeast(verdict, 'safe'));
  const count = Object.values(comparison.counts).reduce((sum, each) => sum + each, 0);
  const first = (notable.length > 0 ? notable : comparison.changes).slice(0, shown);
  return {
    count,
    verdict: comparison.verdict,
    title: comparisonTitle(comparison),
    tone: comparison.verdict === 'none' ? 'good' : verdictTags[comparison.verdict].tone,
    reason: comparison.reason,
    from: { label: previous.label, href: site.links.to(granted.resource, { label: previous.label }) },
    why: whyCompared(granted.resource, granted.version),
    // Where nobody signs in, the page of a version has the bytes that it has in a build.
    compare: site.hasLogin ? compareForm(site, granted.resource, previous.label, granted.version.label) : null,
    href: site.links.to(granted.resource, { label: granted.version.label, view: 'diff' }),
    items: first.map(({ verdict, message, operations, reach }) => ({
      ...verdictTags[verdict],
      message,
      operation: operationBeside(message, operations[0]),
      others: Math.max(0, reach - 1),
    })),
    more: count - first.length,
  };
}

/** The operation that a change is in, unless its message names it already. */
function operationBeside(message: string, operation: string | undefined): string | null {
  return operation === undefined || message.includes(operation) ? null : operation;
}
