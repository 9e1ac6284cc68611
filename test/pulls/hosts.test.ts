import { describe, expect, test } from 'vitest';
import type { HostKind, Pull } from '../../src/hosts/host.ts';
import { pullRef, type PullCheck } from '../../src/model/check.ts';
import { repositoryId } from '../../src/model/connection.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { changeResource } from '../../src/registry/change-resource.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { follow } from '../../src/sync/follow.ts';
import { tokenText } from '../contract/host.ts';
import { hostAt } from '../hosts/world.ts';
import { createWorld } from '../registry/world.ts';
import { openAzureApi } from '../servers/azure-api.ts';
import { openBitbucketApi } from '../servers/bitbucket-api.ts';
import { openBitbucketServerApi } from '../servers/bitbucket-server-api.ts';
import { openGiteaApi } from '../servers/gitea-api.ts';
import { openGitHubApi } from '../servers/github-api.ts';
import { openGitLabApi } from '../servers/gitlab-api.ts';
import type { StandIn } from '../servers/stand-in.ts';
import { api, waitFor } from './pulls-scene.ts';

type Stands = [name: string, state: string];
type State = 'success' | 'failure' | 'neutral';

interface Kind {
  kind: HostKind;
  /** Of the repository. Default: `defaultUrl`. */
  url?: string;
  ref: string;
  /** Opens its API: what the statuses of a commit say. */
  open(): Promise<{ standIn: StandIn; apiUrl: string; stands(commit: string): Stands[] }>;
  states: Record<State, string>;
}

const kinds: Kind[] = [
  {
    kind: 'github',
    ref: 'refs/pull/7/head',
    async open() {
      const standIn = await openGitHubApi();
      const stands = (commit: string) =>
        standIn.statuses.flatMap(({ sha, context, state }): Stands[] => (sha === commit ? [[context, state]] : []));
      return { standIn, apiUrl: standIn.apiUrl, stands };
    },
    states: { success: 'success', failure: 'failure', neutral: 'success' },
  },
  {
    kind: 'gitlab',
    ref: 'refs/merge-requests/7/head',
    async open() {
      const standIn = await openGitLabApi();
      const stands = (commit: string) =>
        standIn.statuses.flatMap(({ sha, name, status }): Stands[] => (sha === commit ? [[name, status]] : []));
      return { standIn, apiUrl: `${standIn.url}/api/v4`, stands };
    },
    states: { success: 'success', failure: 'failed', neutral: 'success' },
  },
  {
    kind: 'gitea',
    ref: 'refs/pull/7/head',
    async open() {
      const standIn = await openGiteaApi();
      const stands = (commit: string) =>
        standIn.statuses.flatMap(({ sha, context, state }): Stands[] => (sha === commit ? [[context, state]] : []));
      return { standIn, apiUrl: `${standIn.url}/api/v1`, stands };
    },
    states: { success: 'success', failure: 'failure', neutral: 'success' },
  },
  {
    kind: 'bitbucket',
    ref: 'refs/heads/change',
    async open() {
      const standIn = await openBitbucketApi();
      const stands = (commit: string) =>
        standIn.statuses.flatMap(({ sha, name, state }): Stands[] => (sha === commit ? [[name, state]] : []));
      return { standIn, apiUrl: `${standIn.url}/2.0`, stands };
    },
    states: { success: 'SUCCESSFUL', failure: 'FAILED', neutral: 'SUCCESSFUL' },
  },
  {
    kind: 'bitbucket-server',
    url: 'https://git.example.test/scm/acme/contracts.git',
    ref: 'refs/heads/change',
    async open() {
      const standIn = await openBitbucketServerApi();
      const stands = (commit: string) =>
        standIn.statuses.flatMap(({ sha, name, state }): Stands[] => (sha === commit ? [[name, state]] : []));
      return { standIn, apiUrl: `${standIn.url}/rest/api/1.0`, stands };
    },
    states: { success: 'SUCCESSFUL', failure: 'FAILED', neutral: 'SUCCESSFUL' },
  },
  {
    kind: 'azure',
    url: 'https://git.example.test/acme/apis/_git/contracts',
    ref: 'refs/heads/change',
    async open() {
      const standIn = await openAzureApi();
      const stands = (commit: string) =>
        standIn.statuses.flatMap(({ about, name, state }): Stands[] =>
          about === `commits/${commit}` ? [[name, state]] : [],
        );
      return { standIn, apiUrl: standIn.url, stands };
    },
    states: { success: 'succeeded', failure: 'failed', neutral: 'succeeded' },
  },
];

type Files = Record<string, string>;

interface Case {
  name: string;
  /** The target branch when the request branched off. */
  main: Files;
  /** The head: changes of `main`. Null removes. */
  head: Record<string, string | null>;
  /** The target branch at the check. Default: as it was. */
  since?: Files;
  /** Whether no sync has read what the target branch has at the check. */
  isUnsynced?: true;
  /** The ruleset of `@acme/apis/pay`. */
  ruleset?: string;
  /** The target branch after the check, which is then made again. */
  after?: Files;
  told: Record<string, State>;
}

const [pay, other] = [api('1.0.0'), api('1.0.0').replace('Pay', 'Other')];
const broken = `${pay}broken: true\n`;
const settings = (slug: string) => `discover: true\nresources:\n  - {path: pay.yaml, slug: ${slug}}\n`;

const cases: Case[] = [
  { name: 'a new version', main: { 'pay.yaml': pay }, head: { 'pay.yaml': api('1.1.0') }, told: { pay: 'success' } },
  {
    name: 'a document that is refused',
    main: { 'pay.yaml': pay },
    head: { 'pay.yaml': broken },
    told: { pay: 'failure' },
  },
  { name: 'a new document', main: { 'pay.yaml': pay }, head: { 'other.yaml': other }, told: { other: 'success' } },
  { name: 'no document', main: { 'pay.yaml': pay }, head: { 'README.md': 'r' }, told: {} },
  {
    name: 'a file that main had broken and has mended since',
    main: { 'pay.yaml': broken },
    head: { 'README.md': 'r' },
    since: { 'pay.yaml': pay },
    told: {},
  },
  {
    name: 'a file that main has broken and no sync has read',
    main: { 'pay.yaml': pay },
    head: { 'README.md': 'r' },
    since: { 'pay.yaml': pay, 'other.yaml': `${other}broken: true\n` },
    isUnsynced: true,
    told: {},
  },
  {
    name: 'a title that main has taken since',
    main: { 'README.md': 'r' },
    head: { 'a.yaml': pay },
    since: { 'README.md': 'r', 'z.yaml': api('2.0.0') },
    isUnsynced: true,
    told: { 'pay-a': 'success' },
  },
  {
    name: 'a file that a document refers to',
    main: { 'pay.yaml': api('1.0.0', 'include: [shared.txt]'), 'shared.txt': 'a', 'other.yaml': other },
    head: { 'shared.txt': 'b' },
    told: { pay: 'success' },
  },
  {
    name: 'settings in stele.yaml',
    main: { 'pay.yaml': pay, 'other.yaml': other, 'stele.yaml': settings('pay') },
    head: { 'stele.yaml': settings('payments') },
    told: { pay: 'neutral', payments: 'success' },
  },
  {
    name: 'the ruleset of a document',
    main: { 'pay.yaml': pay, 'style.yaml': 'info: {title: Style}\nrules: {a: error}\n', 'other.yaml': other },
    ruleset: '@acme/rulesets/style',
    head: { 'style.yaml': 'info: {title: Style}\nrules: {b: error}\n' },
    told: { 'rulesets/style': 'success', pay: 'success' },
  },
  {
    name: 'a conflict',
    main: { 'pay.yaml': pay },
    head: { 'pay.yaml': api('1.1.0') },
    since: { 'pay.yaml': api('1.2.0') },
    told: { '': 'neutral' },
  },
  {
    name: 'a document that is removed',
    main: { 'pay.yaml': pay },
    head: { 'pay.yaml': null },
    told: { pay: 'neutral' },
  },
  {
    name: 'a document that main has got meanwhile',
    main: { 'pay.yaml': pay },
    head: { 'other.yaml': other },
    after: { 'pay.yaml': pay, 'other.yaml': other },
    told: { other: 'neutral' },
  },
];

process.env['STELE_TEST_HOST_TOKEN'] = tokenText;
const defaultUrl = 'https://git.example.test/acme/contracts.git';

describe.each(kinds)('a pull request on $kind with', ({ kind, url = defaultUrl, ref, open, states }) => {
  const id = repositoryId(url, null);
  test.each(cases)('$name', async ({ main, head, since, isUnsynced, ruleset, after, told }) => {
    const { standIn, apiUrl, stands } = await open();
    await using _ = standIn;
    const git = { env: 'STELE_TEST_HOST_TOKEN', organizations: ['acme'] };
    const user = { organizations: { acme: {} }, credentials: { git } };
    const { registry, source } = createWorld(user, null, [
      hostAt(kind, apiUrl, 200, { credentials: { git: { ...git, host: 'git.example.test' } } }),
    ]);
    const given = { url, branch: null, credential: 'git', visibility: 'public', validation: 'lenient' } as const;
    await follow(registry, 'acme', { ...given, discover: '' });
    const queue = createSyncQueue(registry, createPulls);
    const sync = async () => (await queue.request('acme', id, 'manual')).done;
    const pull = { number: 7, base: 'main', ref } satisfies Pull;
    const checked = (base: string) =>
      waitFor(async () => {
        const found = await registry.refs.read<PullCheck>(pullRef('acme', id, pull));
        expect(found?.value).toMatchObject({ state: 'checked', base });
      });

    let base = source.push(url, main);
    await sync();
    const author = { actor: 'operator:test', origin: null };
    if (ruleset !== undefined)
      await changeResource(registry, { org: 'acme', type: 'apis', slug: 'pay' }, { ruleset }, author);
    const files = Object.entries({ ...main, ...head }).filter(([, text]) => text !== null);
    const commit = source.push(url, Object.fromEntries(files) as Files, { branch: ref });
    if (since !== undefined) base = source.push(url, since);
    if (since !== undefined && isUnsynced === undefined) await sync();
    await queue.check('acme', id, pull, true);
    await checked(base);
    if (after !== undefined) {
      base = source.push(url, after);
      await sync();
      await checked(base);
    }
    const nameOf = (slug: string) => [
      'stele',
      ...(slug === '' ? [] : [`@acme/${slug.includes('/') ? '' : 'apis/'}${slug}`]),
    ];
    const own = Object.entries(told).map(([slug, state]) => [nameOf(slug).join(' '), states[state]]);
    const failed = Object.values(told).includes('failure');
    const expected = { stele: states[failed ? 'failure' : 'success'], ...Object.fromEntries(own) };
    await waitFor(() => expect(Object.fromEntries(stands(commit))).toEqual(expected));
    await queue.close();
  });
});
