import { resourceTypes } from '../../model/address.ts';
import { addressOf } from '../../registry/keys/watches.ts';
import { here, perform, type ConsoleRequest } from '../console-request.ts';
import type { Form } from '../forms.ts';
import { nextOf, performList } from '../list-page.ts';
import { timeCell, type Page } from '../pages.ts';

interface WatchRecord {
  id: string;
  organization: string;
  resources: string[] | null;
  events: string[];
  rhythm: 'once' | 'daily' | 'weekly';
  createdAt: string;
}

const rhythms = { once: 'at once', daily: 'once a day', weekly: 'once a week' } as const;

/** What the person who is signed in gets mail about. */
export const watchesPage: Page = {
  path: '/watches',
  async show(request) {
    const { body } = await performList<WatchRecord>(request, 'listMyWatches');
    const to = await addressOf(
      request.context.registry,
      `user:${request.session.principal.kind === 'key' ? '' : request.session.principal.id}`,
    );
    return {
      title: 'Watching',
      lead:
        to === null
          ? 'Your identity provider has not said where to send mail.'
          : `Mail goes to ${to}, about what you may read when it is sent.`,
      actions: [{ text: 'Watch more', href: here(request, '/watches/new'), isMain: true }],
      sections: [
        {
          title: 'All watches',
          columns: ['Of', 'Events', 'Mail', 'Since'],
          rows: body.items.map(({ id, organization, resources, events, rhythm, createdAt }) => ({
            cells: [
              { text: `@${organization}`, more: resources?.join(', ') ?? 'everything' },
              { text: events.join(', ') },
              { text: rhythms[rhythm] },
              timeCell(createdAt),
            ],
            actions: [
              {
                text: 'End',
                href: here({ ...request, params: { watch: id } }, '/watches/:watch/delete'),
                isDanger: true,
              },
            ],
          })),
          empty: 'You watch nothing yet. Each contract has a link "Watch" on its page.',
          next: nextOf(body),
        },
      ],
    };
  },
};

/** Forms about watches. */
export const watchForms: readonly Form[] = [
  {
    path: '/watches/new',
    operation: 'createMyWatch',
    title: 'Watch',
    lead: ['You get a mail when something happens to what you may read. Each mail has a link that ends it.'],
    submit: 'Watch',
    fields: ['/organization', '/resources', '/events', '/rhythm'],
    complete: async ({ query }: ConsoleRequest) => {
      const [, org, type, slug] = /^@([^/]+)\/([^/]+)\/([^/@]+)$/.exec(query.get('contract') ?? '') ?? [];
      if (org === undefined) return {};
      const isKnown = resourceTypes.some((each) => each === type) || type === 'sites';
      return { '/organization': { initial: org }, ...(isKnown && { '/resources': { initial: `${type}/${slug}` } }) };
    },
    after: '/watches',
    done: 'You watch it. Mail comes when something happens.',
  },
  {
    path: '/watches/:watch/delete',
    operation: 'deleteMyWatch',
    title: 'End the watch',
    about: async (request) => {
      const { body } = await perform<{ items: WatchRecord[] }>(request, 'listMyWatches', { query: { limit: '100' } });
      const watch = body.items.find(({ id }) => id === request.params['watch']);
      return watch ? `@${watch.organization} ${watch.resources?.join(', ') ?? ''}` : '';
    },
    lead: ['No mail is sent for it any more.'],
    submit: 'End it',
    isDanger: true,
    after: '/watches',
    done: 'The watch has ended.',
  },
];
