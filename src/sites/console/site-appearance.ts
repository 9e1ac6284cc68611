import { fitsTheme, themeFiles } from '../model/theme.ts';
import type { Field } from '../../console/fields.ts';
import type { Form } from '../../console/forms.ts';
import type { Listed } from '../../console/listed.ts';
import { ask, type Visit } from '../../console/visit.ts';
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
    fields: themeFields,
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
    fields: [
      {
        name: '/navigation',
        label: 'Navigation',
        kind: 'text',
        rows: 16,
        hint: 'One entry per line. "- guide/start.md" has the title of its page; "- [Title](guide/start.md)" and "- [Title](https://example.com)" have their own. "- Title" alone is a group: indent its entries by two spaces.',
        placeholder: '- index.md\n- Guide\n  - [Start here](guide/start.md)',
        read: readNavigation,
        write: writeNavigation,
      },
    ],
  },
  {
    ...shared,
    path: '/sites/:site/redirects',
    title: 'Redirects',
    lead: ['Readers who open an old address are sent to the new one. Both are within the site.', soon],
    fields: [
      {
        name: '/redirects',
        label: 'Redirects',
        kind: 'text',
        rows: 12,
        hint: 'One per line: the old path, a space and the new one, such as start guide/start.',
        placeholder: 'start guide/start',
        read: readRedirects,
        write: writeRedirects,
      },
    ],
  },
  {
    ...shared,
    path: '/sites/:site/versions',
    title: 'Versions',
    lead: ['The versions that readers can switch between, in this order. Leave it empty to have no switcher.', soon],
    fields: [
      {
        name: '/versions',
        label: 'Versions',
        kind: 'text',
        rows: 6,
        hint: 'One per line: a folder of this site with a slash at its end, or the name of another site, then its title: v2/ Version 2.',
        placeholder: 'v2/ Version 2\nhandbook-v1 Version 1',
        read: readVersions,
        write: writeVersions,
      },
    ],
  },
];

const labels = {
  logo: ['Logo', 'A picture for the header.'],
  logoDark: ['Logo on dark pages', 'Default: the logo.'],
  icon: ['Icon', 'Browsers show it with the title: PNG, ICO or SVG.'],
  font: ['Font of the text', 'WOFF2, WOFF, TTF or OTF.'],
  codeFont: ['Font of code', ''],
} as const satisfies Record<(typeof themeFiles)[number], readonly [string, string]>;

/** The members of a theme. Those that are files offer the files of the site that fit. */
async function themeFields(visit: Visit): Promise<Field[]> {
  const files = await filesOf(visit);
  const colour = (name: string, label: string, hint: string): Field => ({
    name: `/theme/${name}`,
    label,
    kind: 'line',
    hint,
    placeholder: '#0a7d55',
    maxLength: 7,
  });
  return [
    colour('accent', 'Colour of links', 'As #rrggbb.'),
    colour('accentDark', 'Colour of links on dark pages', 'Default: the same, lighter where that is hard to read.'),
    ...themeFiles.map((name): Field => {
      const [label, hint] = labels[name];
      const fitting = files.filter((path) => fitsTheme(name, path));
      return {
        name: `/theme/${name}`,
        label,
        kind: 'line',
        hint: [hint, 'A file of the site.'].filter((text) => text !== '').join(' '),
        maxLength: 300,
        options: fitting.map((path) => ({ value: path, text: path })),
      };
    }),
  ];
}

/** The most pages of the list of files that are read to offer some of them. */
const maxLists = 20;

async function filesOf(visit: Visit): Promise<string[]> {
  const files: string[] = [];
  let cursor: string | null = '';
  for (let list = 0; list < maxLists && cursor !== null; list++) {
    const query: Record<string, string> = { limit: '100', ...(cursor !== '' && { cursor }) };
    const { body }: { body: Listed<{ path: string }> } = await ask(visit, 'listSiteFiles', { query });
    files.push(...body.items.map(({ path }) => path));
    cursor = body.next;
  }
  return files;
}
