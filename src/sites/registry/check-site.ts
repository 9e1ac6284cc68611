import { isPagePath, ownFiles, pageAt, routeOf } from '../model/page-path.ts';
import { createReport, problemAtFile, type BlockOn, type Problem, type Report } from '../../model/problem.ts';
import type { DeploymentContents, NavigationItem } from '../model/documentation-site.ts';
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
export function checkSite({ settings, pages, files, embeds, absent }: Checked): Problem[] {
  const problems: Problem[] = [];
  const note = (rule: string, file: string, message: string, line = 1): void =>
    void problems.push({ ...problemAtFile(rule, file, message, 'warning'), line });
  const { redirects } = settings;
  const has = (path: string): boolean => Object.hasOwn(pages, path) || Object.hasOwn(files, path);
  const ids = new Map(
    Object.entries(pages).map(([path, { facts }]) => [path, new Set(facts.headings.map(({ id }) => id))]),
  );

  for (const [path, { facts }] of Object.entries(pages)) {
    const route = routeOf(path);
    if (has(route) || ownFiles.includes(route))
      note('site-page-hidden', path, `Nobody sees this page, because ${route} is another file. Rename the page.`);
    for (const { to, anchor, written, isImage, line } of facts.links) {
      const goal = to !== null && !has(to) && isPagePath(to) ? followRedirects(redirects, to) : to;
      if (goal === null || !has(goal))
        note(
          isImage ? 'site-image-missing' : 'site-link-broken',
          path,
          `${written} leads to nothing in this site.`,
          line,
        );
      // Anchors of an embedded reference are known only when it is shown.
      else if (
        anchor !== '' &&
        ids.has(goal) &&
        !ids.get(goal)!.has(anchor) &&
        pages[goal]!.facts.embeds.length === 0 &&
        !/^fn(?:ref)?\d/.test(anchor)
      )
        note('site-anchor-missing', path, `${written} leads to a heading that ${goal} does not have.`, line);
    }
    for (const { coordinate, operation, line } of facts.embeds) {
      if (!Object.hasOwn(embeds, coordinate))
        note(
          'site-reference-missing',
          path,
          `${coordinate} cannot be embedded: it does not exist, has no such version, or you may not read it.`,
          line,
        );
      else if (operation !== null && absent.has(`${coordinate} ${operation}`))
        note('site-operation-missing', path, `${coordinate} has no operation ${operation}.`, line);
    }
  }
  for (const page of pagesIn(settings.navigation ?? []))
    if (!Object.hasOwn(pages, page))
      note('site-page-missing', settingsFile, `navigation names ${page}, which the site does not have.`);
  for (const { folder } of settings.versions)
    if (folder !== undefined && !Object.keys(pages).some((page) => page.startsWith(folder)))
      note('site-version-missing', settingsFile, `versions names ${folder}, which has no pages.`);
  for (const { name, contrast } of faintIn(settings.theme))
    note(
      'site-theme-faint',
      settingsFile,
      `theme.${name} is hard to read on ${name === 'accent' ? 'light' : 'dark'} pages: its contrast is ${contrast}, and links need 4.5.`,
    );
  for (const name of themeFiles) {
    const path = settings.theme[name];
    if (path === undefined) continue;
    if (!Object.hasOwn(files, path))
      note('site-theme-missing', settingsFile, `theme.${name} names ${path}, which the site does not have.`);
    else if (files[path]!.size > themeFileBytes)
      problems.push(
        problemAtFile(
          'site-theme-too-large',
          path,
          `The file has ${files[path]!.size} bytes. Every page loads it, so the limit is ${themeFileBytes}.`,
        ),
      );
  }
  for (const [from, to] of Object.entries(redirects)) {
    const goal = followRedirects(redirects, pageOf(from));
    if (goal === null)
      problems.push(
        problemAtFile('site-redirect-loop', settingsFile, `The redirect from ${from} leads back to itself.`),
      );
    else if (!has(goal))
      note(
        'site-redirect-missing',
        settingsFile,
        `The redirect from ${from} leads to ${to}, which the site does not have.`,
      );
    else if (Object.hasOwn(pages, pageOf(from)))
      note('site-redirect-hidden', settingsFile, `The redirect from ${from} has no effect: the site has that page.`);
  }
  return problems;
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
