import { connectionSection } from '../../console/resource-view.ts';
import { isPagePath } from '../model/page-path.ts';
import {
  may,
  performList,
  nextOf,
  perform,
  here,
  type ConsoleRequest,
  type Answered,
} from '../../console/console-request.ts';
import {
  facts,
  readersCell,
  timeCell,
  type Action,
  type Page,
  type Section,
  type ListCode,
  linksFrom,
  type FormCodes,
} from '../../console/pages.ts';
import { namesOf, whoCell } from '../../console/keys.ts';
import { fitsTheme, themeFiles } from '../model/theme.ts';
import type { Field } from '../../server/v1/described-field.ts';

export const siteList: ListCode<'listSites'> = {
  rows: (items, request) =>
    items.map(({ slug, title, visibility, current, connection, updatedAt }) => ({
      cells: [
        { text: title, href: here(request, '/sites/:site', { site: slug }), more: slug },
        readersCell(visibility),
        current === null
          ? { text: 'not published', tag: 'warn' }
          : { text: current, isCode: true, more: timeCell(updatedAt).text },
        { text: connection?.repository ?? 'edited here' },
      ],
    })),
};

const path = '/sites/:site';

/** The page of a documentation site. */
export const sitePage: Page = {
  path,
  async show(request) {
    const { body } = await perform(request, 'getSite');
    const edits = body.connection === null && 'publish';
    const connection = body.connection && (await perform(request, 'getSiteConnection')).body;
    // Where its stele.yaml says them, a change here would last until the next push.
    const isNamed = connection?.settings === 'stele.yaml';
    const settles = !isNamed && 'publish';
    return {
      eyebrow: `@${request.org}/sites/${body.slug}`,
      title: body.title,
      lead: body.description,
      tags: [{ text: body.visibility, tag: body.visibility === 'public' ? 'good' : '' }],
      actions: [
        ...linksFrom(
          request,
          path,
          ['Publish', '/publish', edits, { isMain: true }],
          ['Preview the site', '/preview', edits],
        ),
        ...(body.current === null ? [] : [{ text: 'Open the site', href: body.url }]),
      ],
      sections: [
        ...(may(request, 'read') ? [await filesSection(request, body)] : []),
        connectionSection(request, path, connection, {
          absent: 'Not connected: pages are written here or uploaded.',
          connect: 'Connect a folder',
          isFixed: isNamed,
          ...(isNamed && { lead: 'The stele.yaml of the repository names this site. Change its settings there.' }),
          ...(connection && {
            what: ['Folder', connection.folder ? { text: connection.folder, isCode: true } : 'the whole repository'],
          }),
        }),
        await deploymentsSection(request),
        {
          title: 'Settings',
          facts: facts([
            ['Address', { text: body.url, href: body.url, isCode: true }],
            ['Publishing stops at', { none: 'nothing', warn: 'errors and warnings', error: 'errors' }[body.blockOn]],
          ]),
          actions: linksFrom(
            request,
            path,
            ['Title and checks', '/settings', settles],
            ['Theme', '/theme', settles],
            ['Navigation', '/navigation', settles],
            ['Redirects', '/redirects', settles],
            ['Versions', '/versions', settles],
            ['Visibility', '/visibility', 'admin'],
            ['Delete', '/delete', 'admin', { isDanger: true }],
          ),
        },
      ],
    };
  },
};

async function filesSection(request: ConsoleRequest, { connection }: Answered<'getSite'>): Promise<Section> {
  const isEditable = may(request, 'publish');
  const title = 'Pages and files';
  if (connection !== null)
    return { title, lead: `They come from ${connection.repository}. Change them there: each push is published.` };
  const { body } = await performList(request, 'listSiteFiles');
  const to = (text: string, verb: string, file: string, more: Partial<Action> = {}): Action => ({
    text,
    href: `${here(request, `${path}${verb}`)}?file=${encodeURIComponent(file)}`,
    ...more,
  });
  return {
    title,
    lead: 'As they are now. Readers see them with the next deployment.',
    columns: ['File', 'Size', 'Changed'],
    rows: body.items.map(({ path: file, mediaType, size, updatedAt }) => {
      const isPage = isPagePath(file);
      const edit = to('Edit', '/edit', file);
      return {
        cells: [
          {
            text: file,
            isCode: true,
            ...(isPage && isEditable ? { href: edit.href } : !isPage && { more: mediaType }),
          },
          { text: size < 1000 ? `${size} B` : `${(size / 1000).toFixed(1)} kB` },
          timeCell(updatedAt),
        ],
        actions: isEditable ? [...(isPage ? [edit] : []), to('Delete', '/remove', file, { isDanger: true })] : [],
      };
    }),
    empty: 'No pages yet. Begin with index.md.',
    actions: linksFrom(request, path, ['New page', '/edit', 'publish'], ['Upload a file', '/upload', 'publish']),
    next: nextOf(body),
  };
}

async function deploymentsSection(request: ConsoleRequest): Promise<Section> {
  const { body } = await perform(request, 'listDeployments', { query: { limit: '20' } });
  const names = await namesOf(
    request,
    body.items.map(({ by }) => by),
  );
  return {
    title: 'Deployments',
    lead: 'Each is the whole site as it was published then. Publish one again and readers see it at once.',
    columns: ['Number', 'Published', 'By', 'State'],
    rows: body.items.map(({ id, publishedAt, by, again, followed, current }) => ({
      cells: [
        { text: id, isCode: true },
        timeCell(publishedAt),
        whoCell(by, names, followed ?? (again && `${again} again`)),
        current ? { text: 'served', tag: 'good' } : { text: 'kept' },
      ],
      actions: linksFrom({ ...request, params: { ...request.params, deployment: id } }, path, [
        'Publish again',
        '/deployments/:deployment/publish',
        !current && 'publish',
      ]),
    })),
    empty: 'Not published yet.',
  };
}

/** The code of forms about documentation sites. */
export const siteCodes: FormCodes = {
  [`${path}/preview`]: {
    show: ({ body }, { params }) => ({
      title: `Preview of ${params['site']}`,
      lead: `It expires on ${String(body['expiresAt']).slice(0, 10)}. Later changes do not show in it: make another preview then.`,
      actions: [{ text: 'Back to the site', href: path }],
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
  [`${path}/deployments/:deployment/publish`]: { fixed: ({ params }) => ({ deployment: params['deployment'] }) },
  [`${path}/theme`]: { complete: offerFiles },
};

async function offerFiles(request: ConsoleRequest): Promise<Record<string, Partial<Field>>> {
  const files = await filesOf(request);
  const fitting = (name: (typeof themeFiles)[number]) => files.filter((file) => fitsTheme(name, file));
  return Object.fromEntries(
    themeFiles.map((name) => [
      `/theme/${name}`,
      { options: fitting(name).map((file) => ({ value: file, text: file })) },
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
    files.push(...body.items.map((item) => item.path));
    cursor = body.next;
  }
  return files;
}
