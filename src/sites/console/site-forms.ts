import { type Form, facts } from '../../console/pages.ts';
import { fitsTheme, themeFiles } from '../model/theme.ts';
import type { Field, ReadText } from '../../console/fields.ts';
import { type ListPage, perform, type ConsoleRequest } from '../../console/console-request.ts';
import type { NavigationItem, SiteVersion } from '../model/documentation-site.ts';
import { isPagePath } from '../model/page-path.ts';

/** Forms about documentation sites. */
export const siteForms: readonly Form[] = [
  {
    // Not below /sites/, where a site can have any name.
    path: '/new-site',
    operation: 'createSite',
    title: 'New site',
    lead: ['A documentation site of pages in Markdown. Nothing is published yet.'],
    submit: 'Create it',
    fields: ['/title', '/slug', '/visibility'],
    after: ({ body }) => `/sites/${String(body['slug'])}`,
    cancel: '/sites',
    done: 'Created. Write its first page: index.md.',
  },
  {
    path: '/sites/:site/settings',
    operation: 'updateSite',
    current: 'getSite',
    title: 'Title and checks',
    lead: ['This takes effect with the next deployment.'],
    submit: 'Save',
    fields: ['/title', '/description', '/blockOn'],
    after: '/sites/:site',
    done: 'Saved.',
  },
  {
    path: '/sites/:site/visibility',
    operation: 'updateSite',
    scope: 'admin',
    current: 'getSite',
    title: 'Who can read the site',
    lead: [
      'Public: everybody, without an account. Private APIs that it embeds stay hidden from who may not read them.',
    ],
    submit: 'Change the visibility',
    fields: ['/visibility'],
    after: '/sites/:site',
    done: 'The visibility is changed.',
  },
  {
    path: '/sites/:site/preview',
    operation: 'previewSite',
    title: ({ org, params }) => `Preview @${org}/sites/${params['site']}`,
    lead: [
      'Shows all pages and files as they are saved now, at an address that nobody can guess. Nothing is published.',
      'Whoever has the address can read the preview of a public site. That of a private site is only for its readers.',
    ],
    submit: 'Preview the site',
    after: '/sites/:site',
    done: '',
    show: ({ body }, { params }) => ({
      title: `Preview of ${params['site']}`,
      lead: `It expires on ${String(body['expiresAt']).slice(0, 10)}. Later changes do not show in it: make another preview then.`,
      actions: [{ text: 'Back to the site', href: '/sites/:site' }],
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
  {
    path: '/sites/:site/connection',
    operation: 'connectSite',
    current: 'getSiteConnection',
    isNew: true,
    title: ({ org, params }) => `Connect @${org}/sites/${params['site']} to a folder`,
    lead: [
      'Each push that changes the folder is published. Pages are then edited there and no longer here.',
      'The title, the theme and the navigation stay those of the site.',
    ],
    submit: 'Connect',
    fields: ['/repository', '/folder', '/branch', '/credential'],
    after: '/sites/:site',
    done: 'Connected. Sync now to read the folder.',
  },
  {
    path: '/sites/:site/disconnect',
    operation: 'disconnectSite',
    title: ({ org, params }) => `Disconnect @${org}/sites/${params['site']}`,
    lead: ['Pushes will no longer be published. The site stays as it is. From then on, edit its pages here.'],
    submit: 'Disconnect',
    isDanger: true,
    after: '/sites/:site',
    done: 'Disconnected.',
  },
  {
    path: '/sites/:site/sync',
    operation: 'syncSite',
    title: ({ org, params }) => `Sync @${org}/sites/${params['site']} now`,
    lead: ['Reads the repository and publishes what changed.'],
    submit: 'Sync now',
    query: { wait: '10' },
    after: '/sites/:site',
    done: 'The sync was requested. Its result is below.',
  },
  {
    path: '/sites/:site/delete',
    operation: 'deleteSite',
    title: ({ org, params }) => `Delete @${org}/sites/${params['site']}`,
    lead: [
      'Its pages are no longer served. You can restore it within 30 days, unless another site has taken its name.',
    ],
    submit: 'Delete the site',
    isDanger: true,
    after: '/deleted',
    cancel: '/sites/:site',
    done: 'Deleted. You can bring it back here for 30 days.',
  },
  {
    path: '/sites/:site/undelete',
    operation: 'undeleteSite',
    title: ({ org, params }) => `Bring back @${org}/sites/${params['site']}`,
    lead: ['Its pages are served again as they were. Its connection to a repository does not come back.'],
    submit: 'Bring it back',
    after: '/sites/:site',
    cancel: '/deleted',
    done: 'It is back.',
  },
  {
    path: '/sites/:site/remove',
    operation: 'deleteSiteFile',
    title: ({ query }) => `Delete ${query.get('file') ?? ''}`,
    lead: ['The next deployment will not have it. Earlier deployments keep it.'],
    submit: 'Delete it',
    isDanger: true,
    after: '/sites/:site',
    done: 'The file is deleted. Publish the site so that readers no longer see it.',
  },
  {
    path: '/sites/:site/deployments/:deployment/publish',
    operation: 'deploySite',
    title: ({ params }) => `Publish deployment ${params['deployment']} again`,
    lead: ['Readers see the site as it was then. Drafts stay as they are.'],
    submit: 'Publish it again',
    fixed: ({ params }) => ({ deployment: params['deployment'] }),
    after: '/sites/:site',
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
  current: 'getSite',
  submit: 'Save',
  after: '/sites/:site',
  done: 'Saved. Readers see it when the site is published next.',
} as const;
const soon = 'Readers see it when the site is published next.';

/** Forms about how a site looks and what leads through it. */
export const appearanceForms: readonly Form[] = [
  {
    ...shared,
    path: '/sites/:site/theme',
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
    path: '/sites/:site/navigation',
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
    path: '/sites/:site/redirects',
    title: 'Redirects',
    lead: ['Readers who open an old address are sent to the new one. Both are within the site.', soon],
    fields: ['/redirects'],
    complete: async () => ({ '/redirects': { read: readRedirects, write: writeRedirects } }),
  },
  {
    ...shared,
    path: '/sites/:site/versions',
    title: 'Versions',
    lead: ['The versions that readers can switch between, in this order. Leave it empty to have no switcher.', soon],
    fields: ['/versions'],
    complete: async () => ({ '/versions': { read: readVersions, write: writeVersions } }),
  },
];

/** Offers the files of the site that fit. */
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
    const { body }: { body: ListPage<{ path: string }> } = await perform(request, 'listSiteFiles', { query });
    files.push(...body.items.map(({ path }) => path));
    cursor = body.next;
  }
  return files;
}
