import { isPagePath, ownFiles, pageAt, routeOf } from '../model/page-path.ts';
import { createReport, problemAtFile, type BlockOn, type Problem, type Report } from '../../model/problem.ts';
import type { DeploymentContents, NavigationItem } from '../model/documentation-site.ts';
import { own } from '../../model/json.ts';
import { faintIn, themeFileBytes, themeFiles } from '../model/theme.ts';

type Redirects = Readonly<Record<string, string>>;

/** Where each page that has a redirect leads in the end (null: into a loop), and the anchor that its redirect names. */
interface Goals {
  goals: ReadonlyMap<string, string | null>;
  anchors: ReadonlyMap<string, string>;
}

const remembered = new WeakMap<Redirects, Goals>();

/** Where redirects lead from a page in the end; the page itself if none is for it, null for a loop. */
export function followRedirects(redirects: Redirects, page: string): string | null {
  const goal = goalsOf(redirects).goals.get(page);
  return goal === undefined ? page : goal;
}

/** The anchor that the redirect from a page names, or undefined. */
export function redirectAnchor(redirects: Redirects, page: string): string | undefined {
  return goalsOf(redirects).anchors.get(page);
}

/** Worked out once: a site may have thousands of redirects, and every link that is broken asks for them. */
const goalsOf = (redirects: Redirects): Goals => remembered.getOrInsertComputed(redirects, workOut);

/** The page that a path of a redirect means. */
function pageOf(route: string): string {
  return pageAt(route.split('#', 1)[0]!.replace(/\.md$/, ''));
}

/** Where redirects lead in the end. */
function workOut(redirects: Redirects): Goals {
  const next = new Map(Object.entries(redirects).map(([from, to]) => [pageOf(from), pageOf(to)]));
  const anchors = new Map(
    Object.entries(redirects).flatMap(([from, to]) => {
      const anchor = to.split('#')[1];
      return anchor === undefined ? [] : [[pageOf(from), anchor] as const];
    }),
  );
  const goals = new Map<string, string | null>();
  for (const start of next.keys()) {
    const way = new Set<string>();
    let at: string | undefined = start;
    while (at !== undefined && next.has(at) && !goals.has(at) && !way.has(at)) {
      way.add(at);
      at = next.get(at);
    }
    const end = at === undefined || way.has(at) ? null : goals.has(at) ? goals.get(at)! : at;
    for (const page of way) goals.set(page, end);
  }
  return { goals, anchors };
}

/** The input of checks that need all pages at once. */
export interface Checked extends Pick<DeploymentContents, 'settings' | 'pages' | 'files' | 'embeds'> {
  /** Operations that pages embed and that their API does not have, as `coordinate operation`. */
  absent: ReadonlySet<string>;
}

/** How many headings, links and embedded references pages have, themselves counted. */
export function factsIn(pages: Checked['pages']): number {
  let count = 0;
  for (const { facts } of Object.values(pages))
    count += 1 + facts.headings.length + facts.links.length + facts.embeds.length;
  return count;
}

/** The limit for all pages of a site together. Opening one page reads a list of all. */
const maxFacts = 200_000;

/** The problem of a site with too many headings, links and embedded references, or null. */
export function tooLarge(pages: Checked['pages']): Problem | null {
  const count = factsIn(pages);
  if (count <= maxFacts) return null;
  const message = `The site has ${count} pages, headings, links and embedded references; the limit is ${maxFacts}. Make several sites of it.`;
  return problemAtFile('site-limit', settingsFile, message);
}

/** Name that stands for the site's settings in a report. */
const settingsFile = 'site settings';

/**
 * Finds links, navigation and redirects that lead nowhere, and references that cannot be shown.
 * These are warnings; a redirect loop is an error.
 */
export function checkSite(checked: Checked): Problem[] {
  return [...inPages(checked), ...inSettings(checked), ...inTheme(checked), ...inRedirects(checked)];
}

/** A warning. `test/docs.test.ts` knows rules by this name. */
function note(rule: string, file: string, message: string, line = 1): Problem {
  return { ...problemAtFile(rule, file, message, 'warning'), line };
}

function hasPath({ pages, files }: Pick<Checked, 'pages' | 'files'>, path: string): boolean {
  return Object.hasOwn(pages, path) || Object.hasOwn(files, path);
}

function* inPages(checked: Checked): Generator<Problem> {
  const { settings, pages, embeds, absent } = checked;
  const ids = new Map(
    Object.entries(pages).map(([path, { facts }]) => [path, new Set(facts.headings.map(({ id }) => id))]),
  );
  for (const [path, { facts }] of Object.entries(pages)) {
    const route = routeOf(path);
    if (hasPath(checked, route) || ownFiles.includes(route))
      yield note('site-page-hidden', path, `Nobody sees this page, because ${route} is another file. Rename the page.`);
    for (const { to, anchor, written, isImage, line } of facts.links) {
      const isMoved = to !== null && !hasPath(checked, to) && isPagePath(to);
      const goal = isMoved ? followRedirects(settings.redirects, to) : to;
      const broken = `${written} leads to nothing in this site.`;
      if (goal === null || !hasPath(checked, goal))
        yield note(isImage ? 'site-image-missing' : 'site-link-broken', path, broken, line);
      // Anchors of an embedded reference are known only when it is shown.
      else if (
        anchor !== '' &&
        ids.has(goal) &&
        !ids.get(goal)!.has(anchor) &&
        pages[goal]!.facts.embeds.length === 0 &&
        !/^fn(?:ref)?\d/.test(anchor)
      )
        yield note('site-anchor-missing', path, `${written} leads to a heading that ${goal} does not have.`, line);
    }
    for (const { coordinate, operation, line } of facts.embeds) {
      const cannot = `${coordinate} cannot be embedded: it does not exist, has no such version, or you may not read it.`;
      if (!Object.hasOwn(embeds, coordinate)) yield note('site-reference-missing', path, cannot, line);
      else if (operation !== null && absent.has(`${coordinate} ${operation}`))
        yield note('site-operation-missing', path, `${coordinate} has no operation ${operation}.`, line);
    }
  }
}

function* inSettings({ settings, pages }: Checked): Generator<Problem> {
  for (const page of pagesIn(settings.navigation ?? []))
    if (!Object.hasOwn(pages, page))
      yield note('site-page-missing', settingsFile, `navigation names ${page}, which the site does not have.`);
  for (const { folder } of settings.versions)
    if (folder !== undefined && !Object.keys(pages).some((page) => page.startsWith(folder)))
      yield note('site-version-missing', settingsFile, `versions names ${folder}, which has no pages.`);
}

function* inTheme({ settings: { theme }, files }: Checked): Generator<Problem> {
  for (const { name, contrast } of faintIn(theme)) {
    const ground = name === 'accent' ? 'light' : 'dark';
    const message = `theme.${name} is hard to read on ${ground} pages: its contrast is ${contrast}, and links need 4.5.`;
    yield note('site-theme-faint', settingsFile, message);
  }
  for (const name of themeFiles) {
    const path = theme[name];
    if (path === undefined) continue;
    const size = own(files, path)?.size;
    if (size === undefined)
      yield note('site-theme-missing', settingsFile, `theme.${name} names ${path}, which the site does not have.`);
    else if (size > themeFileBytes) {
      const message = `The file has ${size} bytes. Every page loads it, so the limit is ${themeFileBytes}.`;
      yield problemAtFile('site-theme-too-large', path, message);
    }
  }
}

function* inRedirects(checked: Checked): Generator<Problem> {
  const { redirects } = checked.settings;
  for (const [from, to] of Object.entries(redirects)) {
    const goal = followRedirects(redirects, pageOf(from));
    const start = `The redirect from ${from}`;
    if (goal === null) yield problemAtFile('site-redirect-loop', settingsFile, `${start} leads back to itself.`);
    else if (!hasPath(checked, goal))
      yield note('site-redirect-missing', settingsFile, `${start} leads to ${to}, which the site does not have.`);
    else if (Object.hasOwn(checked.pages, pageOf(from)))
      yield note('site-redirect-hidden', settingsFile, `${start} has no effect: the site has that page.`);
  }
}

function pagesIn(items: readonly NavigationItem[]): string[] {
  return items.flatMap(({ page, items: inner = [] }) => [...(page === undefined ? [] : [page]), ...pagesIn(inner)]);
}

/** The report of a site. `blockOn` says which findings block. */
export function reportOf(problems: readonly Problem[], blockOn: BlockOn): Report {
  const report = createReport(problems);
  const { error, warning } = report.counts;
  if (blockOn === 'error') return report;
  return { ...report, blocking: blockOn === 'warn' ? error + warning : 0 };
}
