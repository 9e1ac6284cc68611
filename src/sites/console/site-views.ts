import { isPagePath } from '../model/page-path.ts';
import {
  may,
  performList,
  nextOf,
  perform,
  here,
  mayPublish,
  type ConsoleRequest,
  type Answered,
} from '../../console/console-request.ts';
import { facts, readersCell, stateCell, timeCell, type Action, type Page, type Section } from '../../console/pages.ts';
import { namesOf, whoCell } from '../../console/keys.ts';

type SiteRecord = Answered<'getSite'>;

type ConnectionRecord = Answered<'getSiteConnection'>;

const sites: Page = {
  path: '/sites',
  async show(request) {
    const { body } = await performList(request, 'listSites');
    return {
      eyebrow: `@${request.org}`,
      title: 'Sites',
      lead: 'Documentation around your APIs: pages in Markdown, with references in them. Open one to write and publish.',
      actions: mayPublish(request) ? [{ text: 'New site', href: here(request, '/new-site'), isMain: true }] : [],
      sections: [
        {
          title: 'All sites',
          columns: ['Title', 'Readers', 'Deployment', 'Source'],
          rows: body.items.map(({ slug, title, visibility, current, connection, updatedAt }) => ({
            cells: [
              { text: title, href: here(request, '/sites/:site', { site: slug }), more: slug },
              readersCell(visibility),
              current === null
                ? { text: 'not published', tag: 'warn' }
                : { text: current, isCode: true, more: timeCell(updatedAt).text },
              { text: connection?.repository ?? 'edited here' },
            ],
          })),
          empty: 'No sites yet. Create one here, or put a site into the stele.yaml of a repository.',
          next: nextOf(body),
        },
      ],
    };
  },
};

const site: Page = {
  path: '/sites/:site',
  async show(request) {
    const { body } = await perform(request, 'getSite');
    const isPublisher = may(request, 'publish');
    const isAdmin = may(request, 'admin');
    const isEditable = isPublisher && body.connection === null;
    const connection = body.connection && (await perform(request, 'getSiteConnection')).body;
    // Where its stele.yaml says them, a change here would last until the next push.
    const hasOwnSettings = isPublisher && connection?.settings !== 'stele.yaml';
    const link = (text: string, to: string, more: Partial<Action> = {}): Action => ({
      text,
      href: here(request, `/sites/:site${to}`),
      ...more,
    });
    return {
      eyebrow: `@${request.org}/sites/${body.slug}`,
      title: body.title,
      lead: body.description,
      tags: [{ text: body.visibility, tag: body.visibility === 'public' ? 'good' : '' }],
      actions: [
        ...(isEditable ? [link('Publish', '/publish', { isMain: true }), link('Preview the site', '/preview')] : []),
        ...(body.current === null ? [] : [{ text: 'Open the site', href: body.url }]),
      ],
      sections: [
        await filesSection(request, body, { isEditable, link }),
        connectionSection(connection, { isPublisher, isAdmin, link }),
        await deploymentsSection(request, isPublisher),
        {
          title: 'Settings',
          facts: facts([
            ['Address', { text: body.url, href: body.url, isCode: true }],
            ['Publishing stops at', { none: 'nothing', warn: 'errors and warnings', error: 'errors' }[body.blockOn]],
          ]),
          actions: [
            ...(hasOwnSettings
              ? [
                  link('Title and checks', '/settings'),
                  link('Theme', '/theme'),
                  link('Navigation', '/navigation'),
                  link('Redirects', '/redirects'),
                  link('Versions', '/versions'),
                ]
              : []),
            ...(isAdmin ? [link('Visibility', '/visibility'), link('Delete', '/delete', { isDanger: true })] : []),
          ],
        },
      ],
    };
  },
};

async function filesSection(
  request: ConsoleRequest,
  { connection }: SiteRecord,
  { isEditable, link }: { isEditable: boolean; link: (text: string, to: string) => Action },
): Promise<Section> {
  const title = 'Pages and files';
  if (connection !== null)
    return { title, lead: `They come from ${connection.repository}. Change them there: each push is published.` };
  const { body } = await performList(request, 'listSiteFiles');
  const to = (text: string, path: string, file: string, more: Partial<Action> = {}): Action => ({
    text,
    href: `${here(request, `/sites/:site${path}`)}?file=${encodeURIComponent(file)}`,
    ...more,
  });
  return {
    title,
    lead: 'As they are now. Readers see them with the next deployment.',
    columns: ['File', 'Size', 'Changed'],
    rows: body.items.map(({ path, mediaType, size, updatedAt }) => {
      const isPage = isPagePath(path);
      const edit = to('Edit', '/edit', path);
      return {
        cells: [
          {
            text: path,
            isCode: true,
            ...(isPage && isEditable ? { href: edit.href } : !isPage && { more: mediaType }),
          },
          { text: size < 1000 ? `${size} B` : `${(size / 1000).toFixed(1)} kB` },
          timeCell(updatedAt),
        ],
        actions: isEditable ? [...(isPage ? [edit] : []), to('Delete', '/remove', path, { isDanger: true })] : [],
      };
    }),
    empty: 'No pages yet. Begin with index.md.',
    actions: isEditable ? [link('New page', '/edit'), link('Upload a file', '/upload')] : [],
    next: nextOf(body),
  };
}

function connectionSection(
  connection: ConnectionRecord | null,
  {
    isPublisher,
    isAdmin,
    link,
  }: { isPublisher: boolean; isAdmin: boolean; link: (text: string, to: string, more?: Partial<Action>) => Action },
): Section {
  const title = 'Repository';
  if (connection === null) {
    return {
      title,
      lead: 'Not connected: pages are written here or uploaded.',
      actions: isAdmin ? [link('Connect a folder', '/connection')] : [],
    };
  }
  const { repository, branch, folder, settings, state, detail, commit, since } = connection;
  const isNamed = settings === 'stele.yaml';
  return {
    title,
    ...(isNamed && { lead: 'The stele.yaml of the repository names this site. Change its settings there.' }),
    facts: facts([
      ['Repository', repository ?? null],
      ['Branch', branch ?? "the repository's default branch"],
      ['Folder', folder ? { text: folder, isCode: true } : 'the whole repository'],
      ['State', stateCell(state ?? '', detail)],
      ['Since', since ? timeCell(since) : null],
      ['Commit', commit ? { text: commit.slice(0, 12), isCode: true } : null],
    ]),
    actions: [
      ...(isPublisher ? [link('Sync now', '/sync', { post: true })] : []),
      ...(isAdmin && !isNamed
        ? [link('Change', '/connection'), link('Disconnect', '/disconnect', { isDanger: true })]
        : []),
    ],
  };
}

async function deploymentsSection(request: ConsoleRequest, isPublisher: boolean): Promise<Section> {
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
      actions:
        current || !isPublisher
          ? []
          : [
              {
                text: 'Publish again',
                href: here(request, '/sites/:site/deployments/:deployment/publish', { deployment: id }),
              },
            ],
    })),
    empty: 'Not published yet.',
  };
}

/** Pages about documentation sites. */
export const sitePages: readonly Page[] = [sites, site];
