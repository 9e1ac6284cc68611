import { visibilities } from './fields.ts';
import type { Form } from './forms.ts';

/** Forms about followed repositories. */
export const repositoryForms: readonly Form[] = [
  {
    path: '/repositories/new',
    operation: 'followRepository',
    title: 'Follow a repository',
    lead: [
      'Every OpenAPI document, JSON Schema and ruleset in it is published, now and after each push. They are found by their content.',
    ],
    submit: 'Follow it',
    fields: async ({ context }) => [
      {
        name: '/repository',
        label: 'Repository',
        kind: 'line',
        isRequired: true,
        hint: `An https or ssh URL, on one of ${context.registry.config.sync.hosts.join(', ')}.`,
        placeholder: 'https://github.com/acme/contracts',
        maxLength: 2048,
      },
      {
        name: '/branch',
        label: 'Branch',
        kind: 'line',
        isNullable: true,
        placeholder: "the repository's default branch",
      },
      { name: '/path', label: 'Folder', kind: 'line', isNullable: true, placeholder: 'the whole repository' },
      {
        name: '/visibility',
        label: 'Who can read what it publishes',
        kind: 'select',
        options: visibilities,
      },
      ...credentialField(Object.keys(context.registry.config.credentials)),
    ],
    after: ({ body }) => `/repositories/${String(body['id'])}`,
    cancel: '/repositories',
    done: 'Followed. To read it now, sync it.',
  },
  {
    path: '/repositories/:repository/sync',
    operation: 'syncRepository',
    title: 'Sync the repository now',
    lead: ['Reads the repository and publishes what changed.'],
    submit: 'Sync now',
    after: ({ body }) => `/repositories/:repository/runs/${String(body['id'])}`,
    cancel: '/repositories/:repository',
    done: '',
  },
  {
    path: '/repositories/:repository/unfollow',
    operation: 'unfollowRepository',
    title: 'Stop following the repository',
    lead: [
      'Pushes will no longer publish versions. Published versions stay. The resources are disconnected from the repository.',
      'You can follow it again, and it goes on where it was.',
    ],
    submit: 'Stop following it',
    isDanger: true,
    after: '/repositories',
    cancel: '/repositories/:repository',
    done: 'The repository is no longer followed.',
  },
];

/** A choice of credentials, where the configuration has some. */
export function credentialField(names: readonly string[]) {
  if (names.length === 0) return [];
  const options = [{ value: '', text: 'none' }, ...names.map((value) => ({ value, text: value }))];
  return [{ name: '/credential', label: 'Credential', kind: 'select' as const, options, isNullable: true }];
}
