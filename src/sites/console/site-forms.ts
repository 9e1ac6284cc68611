import { visibilities, type Field } from '../../console/fields.ts';
import type { Form } from '../../console/forms.ts';
import { credentialField } from '../../console/repository-forms.ts';
import { facts } from '../../console/pages.ts';

const title: Field = { name: '/title', label: 'Title', kind: 'line', isRequired: true, maxLength: 200 };
const visibility: Field = {
  name: '/visibility',
  label: 'Who can read it',
  kind: 'select',
  options: visibilities,
};

/** Forms about documentation sites. */
export const siteForms: readonly Form[] = [
  {
    // Not below /sites/, where a site can have any name.
    path: '/new-site',
    operation: 'createSite',
    title: 'New site',
    lead: ['A documentation site of pages in Markdown. Nothing is published yet.'],
    submit: 'Create it',
    fields: [
      title,
      { name: '/slug', label: 'Name in the URL', kind: 'line', isRequired: true, maxLength: 63, placeholder: 'guide' },
      visibility,
    ],
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
    fields: [
      title,
      { name: '/description', label: 'Description', kind: 'text', maxLength: 1000 },
      {
        name: '/blockOn',
        label: 'What keeps it from being published',
        kind: 'select',
        options: [
          { value: 'error', text: 'errors' },
          { value: 'warn', text: 'errors and warnings, such as broken links' },
          { value: 'none', text: 'nothing' },
        ],
      },
    ],
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
    fields: [visibility],
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
    fields: async ({ context }) => [
      {
        name: '/repository',
        label: 'Repository',
        kind: 'line',
        isRequired: true,
        placeholder: 'https://github.com/acme/contracts',
        maxLength: 2048,
      },
      { name: '/folder', label: 'Folder', kind: 'line', placeholder: 'the whole repository', maxLength: 4096 },
      {
        name: '/branch',
        label: 'Branch',
        kind: 'line',
        isNullable: true,
        placeholder: "the repository's default branch",
      },
      ...credentialField(Object.keys(context.registry.config.credentials)),
    ],
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
