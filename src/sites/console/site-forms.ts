import { type FormCode, type FormCodes, facts } from '../../console/pages.ts';
import { fitsTheme, themeFiles } from '../model/theme.ts';
import type { Field, ReadText } from '../../console/fields.ts';
import { perform, type ConsoleRequest } from '../../console/console-request.ts';
import type { NavigationItem, SiteVersion } from '../model/documentation-site.ts';
import { isPagePath } from '../model/page-path.ts';

const sitePath = '/sites/:site';

// Settings of a site as text that people write: one line for each entry.

/** What says that a site has no navigation. No entry is written so. */
const none = 'none';

/**
 * Navigation as a list of Markdown: `- guide/start.md`, `- [Start](guide/start.md)`,
 * `- [Elsewhere](https://example.com)`, and `- Group` above lines that are indented. No line: null,
 * the tree of the pages. The word `none`: an empty list.
 */
function readNavigation(text: string): ReadText {
  if (text.trim() === none) return { value: [] };
  const items: NavigationItem[] = [];
  const open: { indent: number; items: NavigationItem[] }[] = [];
  for (const { line, number } of linesOf(text)) {
    const [, indent, said] = /^([ \t]*)[-*+][ \t]+(\S.*)$/.exec(line) ?? [];
    if (indent === undefined)
      return { fault: `must have an entry in line ${number}: write "- guide/start.md" or "- [Title](guide/start.md)"` };
    const depth = indent.replaceAll('\t', '    ').length;
    while (open.length > 0 && open.at(-1)!.indent >= depth) open.pop();
    const item = entryOf(said!);
    if (item === null)
      return { fault: `must name a page or a web address in line ${number}: write "- [Title](guide/start.md)"` };
    const above = open.at(-1)?.items ?? items;
    above.push(item);
    open.push({ indent: depth, items: (item.items = []) });
  }
  return { value: items.length === 0 ? null : items.map(withoutEmpty) };
}

function entryOf(line: string): NavigationItem | null {
  if (isPagePath(line)) return { page: line };
  // The last one: titles may have brackets, and addresses parentheses.
  const at = line.startsWith('[') && line.endsWith(')') ? line.lastIndexOf('](') : -1;
  if (at === -1) return { title: line };
  const [title, target] = [line.slice(1, at), line.slice(at + 2, -1)];
  const name = title.trim() === '' ? {} : { title: title.trim() };
  if (target === '') return name;
  if (/^https?:\S*$/i.test(target)) return { ...name, href: target };
  return isPagePath(target) ? { ...name, page: target } : null;
}

function withoutEmpty({ items = [], ...entry }: NavigationItem): NavigationItem {
  return items.length === 0 ? entry : { ...entry, items: items.map(withoutEmpty) };
}

function writeNavigation(value: unknown): string {
  if (Array.isArray(value) && value.length === 0) return none;
  const write = (items: readonly NavigationItem[], indent: string): string[] =>
    items.flatMap((item) => [`${indent}- ${entryText(item)}`, ...write(item.items ?? [], `${indent}  `)]);
  return write((value ?? []) as NavigationItem[], '').join('\n');
}

function entryText({ title, page, href }: NavigationItem): string {
  const target = page ?? href?.replaceAll('](', '%5D(') ?? '';
  if (title === undefined) return target;
  const name = title.replaceAll(/\s+/g, ' ').trim();
  const isPlain = target === '' && !isPagePath(name) && !name.startsWith('[');
  return isPlain ? name : `[${name}](${target})`;
}

/** Redirects: the old path and the new one on a line. */
function readRedirects(text: string): ReadText {
  const redirects = new Map<string, string>();
  for (const { line, number } of linesOf(text)) {
    const [from, to, ...more] = line.trim().split(/\s+/);
    if (to === undefined || more.length > 0)
      return { fault: `must have two paths in line ${number}: the old one, a space and the new one` };
    if (redirects.has(from!)) return { fault: `must have ${from} only once: line ${number} has it again` };
    redirects.set(from!, to);
  }
  return { value: Object.fromEntries(redirects) };
}

function writeRedirects(value: unknown): string {
  return Object.entries((value ?? {}) as Record<string, string>)
    .map(([from, to]) => `${from} ${to}`)
    .join('\n');
}

/** Versions: the folder or the other site first, then its title. A folder ends in a slash. */
function readVersions(text: string): ReadText {
  const versions: SiteVersion[] = [];
  for (const { line, number } of linesOf(text)) {
    const [target, ...words] = line.trim().split(/\s+/);
    if (words.length === 0)
      return { fault: `must have a folder or a site and a title in line ${number}, such as "v2/ Version 2"` };
    const title = words.join(' ');
    versions.push(target!.endsWith('/') ? { title, folder: target! } : { title, site: target! });
  }
  return { value: versions };
}

function writeVersions(value: unknown): string {
  return ((value ?? []) as SiteVersion[])
    .map(({ title, folder, site }) => `${folder ?? site} ${title.replaceAll(/\s+/g, ' ').trim()}`)
    .join('\n');
}

function linesOf(text: string): { line: string; number: number }[] {
  return text.split('\n').flatMap((whole, index) => {
    const line = whole.trimEnd();
    return line === '' ? [] : [{ line, number: index + 1 }];
  });
}

/** The code of forms about documentation sites. */
export const siteCodes: FormCodes = {
  [`${sitePath}/preview`]: {
    show: ({ body }, { params }) => ({
      title: `Preview of ${params['site']}`,
      lead: `It expires on ${String(body['expiresAt']).slice(0, 10)}. Later changes do not show in it: make another preview then.`,
      actions: [{ text: 'Back to the site', href: sitePath }],
      sections: [
        { title: 'Open it', facts: facts([['Address', { text: 'Open the preview', href: String(body['url']) }]]) },
      ],
      secret: {
        label: 'Address',
        text: String(body['url']),
        advice: 'It is not shown again. Send it to whoever should look.',
      },
    }),
  },
  [`${sitePath}/deployments/:deployment/publish`]: { fixed: ({ params }) => ({ deployment: params['deployment'] }) },
  [`${sitePath}/theme`]: { complete: offerFiles },
  [`${sitePath}/navigation`]: { complete: asText('/navigation', readNavigation, writeNavigation) },
  [`${sitePath}/redirects`]: { complete: asText('/redirects', readRedirects, writeRedirects) },
  [`${sitePath}/versions`]: { complete: asText('/versions', readVersions, writeVersions) },
};

/** A field that people read and write as text. */
function asText(
  name: string,
  read: (text: string) => ReadText,
  write: (value: unknown) => string,
): NonNullable<FormCode['complete']> {
  return async () => ({ [name]: { read, write } });
}

async function offerFiles(request: ConsoleRequest): Promise<Record<string, Partial<Field>>> {
  const files = await filesOf(request);
  const fitting = (name: (typeof themeFiles)[number]) => files.filter((path) => fitsTheme(name, path));
  return Object.fromEntries(
    themeFiles.map((name) => [
      `/theme/${name}`,
      { options: fitting(name).map((path) => ({ value: path, text: path })) },
    ]),
  );
}

/** The most pages of the list of files that are read to offer some of them. */
const maxLists = 20;

async function filesOf(request: ConsoleRequest): Promise<string[]> {
  const files: string[] = [];
  let cursor: string | null = '';
  for (let list = 0; list < maxLists && cursor !== null; list++) {
    const query: Record<string, string> = { limit: '100', ...(cursor !== '' && { cursor }) };
    const { body } = await perform(request, 'listSiteFiles', { query });
    files.push(...body.items.map(({ path }) => path));
    cursor = body.next;
  }
  return files;
}
