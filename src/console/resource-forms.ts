import { types } from '../model/kinds.ts';
import type { Field } from './fields.ts';
import type { Form } from './forms.ts';
import { credentialField } from './repository-forms.ts';
import { ask, subjectOf, type Visit } from './visit.ts';

const path = '/:type/:slug';
const inherited = { value: '', text: "the organization's default" };

/** Forms about one resource. */
export const resourceForms: readonly Form[] = [
  {
    path: `${path}/details`,
    operation: 'update{one}',
    current: 'get{one}',
    title: 'Name and description',
    lead: [],
    submit: 'Save',
    fields: [
      { name: '/name', label: 'Name', kind: 'line', isRequired: true, maxLength: 200 },
      { name: '/description', label: 'Description', kind: 'text', maxLength: 10_000 },
    ],
    after: path,
    done: 'Name and description are saved.',
  },
  {
    path: `${path}/visibility`,
    operation: 'update{one}',
    scope: 'admin',
    current: 'get{one}',
    title: (visit) => `Who can read ${subjectOf(visit)}`,
    lead: [
      'Public: everybody, without an account. It is in lists, in search, in feeds, and caches may keep it.',
      'Private: only members of the organization. A cache may still have what was public until its time is over.',
    ],
    submit: 'Change the visibility',
    fields: [
      {
        name: '/visibility',
        label: 'Visibility',
        kind: 'select',
        options: [
          { value: 'private', text: 'private' },
          { value: 'public', text: 'public' },
        ],
      },
    ],
    after: path,
    done: 'The visibility is changed.',
  },
  {
    path: `${path}/checks`,
    operation: 'update{one}',
    scope: 'admin',
    current: 'get{one}',
    title: 'What new versions must pass',
    lead: ['This applies to what is published from now on. Published versions stay.'],
    submit: 'Save',
    fields: checkFields,
    after: path,
    done: 'The checks are saved.',
  },
  {
    path: `${path}/latest`,
    operation: 'update{one}',
    current: 'get{one}',
    title: 'The latest version',
    lead: [
      'Readers who name no version get this one. The rules choose the highest release that is not yanked or withdrawn.',
    ],
    submit: 'Save',
    fields: latestFields,
    after: path,
    done: 'The latest version is set.',
  },
  {
    path: `${path}/connection`,
    operation: 'connect{one}',
    current: 'get{one}Connection',
    isNew: true,
    title: (visit) => `Connect ${subjectOf(visit)} to a file`,
    lead: ['Each push that changes the file becomes a version.'],
    submit: 'Connect',
    fields: connectionFields,
    after: path,
    done: 'Connected. Sync now to read the file.',
  },
  {
    path: `${path}/disconnect`,
    operation: 'disconnect{one}',
    title: (visit) => `Disconnect ${subjectOf(visit)}`,
    lead: ['Pushes no longer become versions. Published versions stay, and you can connect it again.'],
    submit: 'Disconnect',
    isDanger: true,
    after: path,
    done: 'Disconnected.',
  },
  {
    path: `${path}/sync`,
    operation: 'sync{one}',
    title: (visit) => `Sync ${subjectOf(visit)} now`,
    lead: ['Reads the repository and publishes what changed.'],
    submit: 'Sync now',
    after: ({ body }) => `${path}/runs/${String(body['id'])}`,
    cancel: path,
    done: '',
  },
  {
    path: `${path}/delete`,
    operation: 'delete{one}',
    title: (visit) => `Delete ${subjectOf(visit)}`,
    lead: (visit) => [
      `All versions of ${subjectOf(visit)} stop answering, for everybody who uses them. Its connection ends.`,
      'You can bring it back for 30 days. After that, its name stays taken for ever.',
    ],
    submit: 'Delete it',
    isDanger: true,
    fields: deleteFields,
    after: '/deleted',
    done: 'Deleted. You can bring it back here for 30 days.',
    cancel: path,
  },
  {
    path: `${path}/undelete`,
    operation: 'undelete{one}',
    title: (visit) => `Bring back ${subjectOf(visit)}`,
    lead: ['All its versions are served again. Its connection to a repository does not come back.'],
    submit: 'Bring it back',
    after: path,
    cancel: '/deleted',
    done: 'It is back.',
  },
];

async function checkFields(visit: Visit): Promise<Field[]> {
  const { items } = (
    await ask<{ items: { coordinate: string }[] }>({ ...visit, type: 'rulesets' }, 'list{many}', {
      query: { limit: '100' },
    })
  ).body;
  const own = items.map(({ coordinate }) => ({ value: coordinate, text: coordinate }));
  const select = (name: string, label: string, options: { value: string; text: string }[], hint = ''): Field => ({
    name,
    label,
    kind: 'select',
    isNullable: true,
    options: [inherited, ...options],
    ...(hint !== '' && { hint }),
  });
  const plain = (...values: string[]) => values.map((value) => ({ value, text: value }));
  return [
    {
      name: '/ruleset',
      label: 'Ruleset',
      kind: 'line',
      isNullable: true,
      options: own,
      placeholder: "the organization's default",
      hint: 'A coordinate, such as @acme/rulesets/style@^1.',
    },
    select('/blockOn', 'Findings that reject a document', plain('error', 'warn', 'none')),
    {
      ...select('/ratchet', 'Old findings', [
        { value: 'yes', text: 'only new findings reject' },
        { value: 'no', text: 'all findings reject' },
      ]),
      values: { yes: true, no: false },
    },
    select('/compatibility', 'Breaking changes', [
      { value: 'none', text: 'are allowed' },
      { value: 'semver', text: 'need a higher major version' },
      { value: 'strict', text: 'need an exemption' },
    ]),
    select('/validation', 'Violations of the specification', [
      { value: 'strict', text: 'reject' },
      { value: 'lenient', text: 'warn' },
    ]),
  ];
}

async function latestFields(visit: Visit): Promise<Field[]> {
  const { body } = await ask<{ items: { version: string; status: { state: string } }[] }>(visit, 'list{one}Versions', {
    query: { limit: '100' },
  });
  const { latestPinned } = (await ask<{ latestPinned: boolean }>(visit, 'get{one}')).body;
  const offered = body.items.filter(({ status }) => ['active', 'deprecated'].includes(status.state));
  const options = [
    { value: '', text: 'chosen by the rules' },
    ...offered.map(({ version }) => ({ value: version, text: version })),
  ];
  // What the rules chose is not what somebody chose: to save the form as it is pins nothing.
  const write = (latest: unknown) => (latestPinned ? String(latest) : '');
  return [{ name: '/latest', label: 'Latest', kind: 'select', options, isNullable: true, write }];
}

async function connectionFields({ type, context }: Visit): Promise<Field[]> {
  return [
    {
      name: '/repository',
      label: 'Repository',
      kind: 'line',
      isRequired: true,
      placeholder: 'https://github.com/acme/contracts',
    },
    {
      name: '/path',
      label: 'File',
      kind: 'line',
      isRequired: true,
      hint: `The path of ${types[type!].noun} in the repository.`,
      placeholder: 'openapi.yaml',
    },
    {
      name: '/branch',
      label: 'Branch',
      kind: 'line',
      isNullable: true,
      placeholder: "the repository's default branch",
    },
    {
      name: '/tags',
      label: 'Tags',
      kind: 'line',
      isNullable: true,
      hint: 'A pattern such as v*: publish these tags in place of the branch.',
    },
    ...credentialField(Object.keys(context.registry.config.credentials)),
  ];
}

async function deleteFields(visit: Visit): Promise<Field[]> {
  if (visit.type !== 'rulesets') return [];
  return [{ name: '?force', label: 'Delete it even if it is attached to resources', kind: 'check' }];
}
