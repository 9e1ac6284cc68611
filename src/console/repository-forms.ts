import { perform } from './console-request.ts';
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
    submit: 'Follow and read it',
    fields: ['/repository', '/branch', '/path', '/visibility', '/credential'],
    after: async ({ body }, request) => {
      const repository = String(body['id']);
      const run = await perform({ ...request, params: { repository } }, 'syncRepository');
      return `/repositories/${repository}/runs/${String(run.body['id'])}`;
    },
    cancel: '/repositories',
    done: 'Followed. This is the first look at it.',
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
