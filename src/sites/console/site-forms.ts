import { formsOfLife } from '../../console/resource-forms.ts';
import { siteWords } from '../../model/kinds.ts';
import { type Form, facts } from '../../console/pages.ts';
import { fitsTheme, themeFiles } from '../model/theme.ts';
import type { Field, ReadText } from '../../console/fields.ts';
import { perform, type ConsoleRequest } from '../../console/console-request.ts';
import type { NavigationItem, SiteVersion } from '../model/documentation-site.ts';
import { isPagePath } from '../model/page-path.ts';

const sitePath = '/sites/:site';

/** Forms about documentation sites. */
export const siteForms: readonly Form[] = [
  {
    path: `${sitePath}/preview`,
    operation: 'previewSite',
    title: 'Preview {subject}',
    lead: [
      'Shows all pages and files as they are saved now, at an address that nobody can guess. Nothing is published.',
      'Whoever has the address can read the preview of a public site. That of a private site is only for its readers.',
    ],
    submit: 'Preview the site',
    after: sitePath,
    done: '',
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
  ...formsOfLife(sitePath, siteWords, {
    visibility: {
      title: 'Who can read the site',
      lead: 'Public: everybody, without an account. Private APIs that it embeds stay hidden from who may not read them.',
    },
    connection: {
      title: 'Connect {subject} to a folder',
      lead: [
        'Each push that changes the folder is published. Pages are then edited there and no longer here.',
        'The title, the theme and the navigation stay those of the site.',
      ],
      fields: ['/repository', '/folder', '/branch', '/credential'],
      done: 'Connected. Sync now to read the folder.',
    },
    disconnect: {
      lead: 'Pushes will no longer be published. The site stays as it is. From then on, edit its pages here.',
    },
    sync: {
      lead: 'Reads the repository and publishes what changed.',
      query: { wait: '10' },
      done: 'The sync was requested. Its result is below.',
    },
    delete: {
      lead: 'Its pages are no longer served. You can restore it within 30 days, unless another site has taken its name.',
      submit: 'Delete the site',
      after: '/deleted',
    },
    undelete: { lead: 'Its pages are served again as they were. Its connection to a repository does not come back.' },
  }),
  {
    path: `${sitePath}/deployments/:deployment/publish`,
    operation: 'deploySite',
    title: 'Publish deployment {deployment} again',
    lead: 'Readers see the site as it was then. Drafts stay as they are.',
    submit: 'Publish it again',
    fixed: ({ params }) => ({ deployment: params['deployment'] }),
    after: sitePath,
    done: 'Readers see the earlier deployment now.',
  },
];

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

const shared = {
  operation: 'updateSite',
  after: sitePath,
  done: 'Saved. Readers see it when the site is published next.',
};
const soon = 'Readers see it when the site is published next.';

/** Forms about how a site looks and what leads through it. */
export const appearanceForms: readonly Form[] = [
  {
    ...shared,
    path: `${sitePath}/theme`,
    title: 'Theme',
    lead: [
      'The colours, pictures and fonts of the site. Upload the files first. Leave a field empty for the default.',
      soon,
    ],
    fields: ['accent', 'accentDark', ...themeFiles].map((name) => `/theme/${name}`),
    complete: offerFiles,
    fixed: { theme: {} },
  },
  {
    ...shared,
    path: `${sitePath}/navigation`,
    title: 'Navigation',
    lead: [
      'The pages in order, as a list. If it is empty, the navigation is made from the pages and their folders. Write "none" for no navigation at all.',
      soon,
    ],
    fields: ['/navigation'],
    complete: async () => ({ '/navigation': { read: readNavigation, write: writeNavigation } }),
  },
  {
    ...shared,
    path: `${sitePath}/redirects`,
    title: 'Redirects',
    lead: ['Readers who open an old address are sent to the new one. Both are within the site.', soon],
    fields: ['/redirects'],
    complete: async () => ({ '/redirects': { read: readRedirects, write: writeRedirects } }),
  },
  {
    ...shared,
    path: `${sitePath}/versions`,
    title: 'Versions',
    lead: ['The versions that readers can switch between, in this order. Leave it empty to have no switcher.', soon],
    fields: ['/versions'],
    complete: async () => ({ '/versions': { read: readVersions, write: writeVersions } }),
  },
];

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
