import { fitsTheme, themeFiles } from '../model/theme.ts';
import type { Field } from '../../console/fields.ts';
import type { Form } from '../../console/forms.ts';
import type { ListPage } from '../../console/list-page.ts';
import { perform, type ConsoleRequest } from '../../console/console-request.ts';
import {
  readNavigation,
  readRedirects,
  readVersions,
  writeNavigation,
  writeRedirects,
  writeVersions,
} from './site-lines.ts';

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
