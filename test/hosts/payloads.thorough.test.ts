import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { hostKinds, type Hint, type HostKind } from '../../src/hosts/host.ts';
import { isRegistryError } from '../../src/model/errors.ts';
import { hostAt } from './world.ts';

/** The real payloads of the corpus: what each hints at. File names say the event. */
const folder = new URL('../../../shared/corpus/webhooks/', import.meta.url).pathname;
const isHere = existsSync(folder);
const where = isHere ? '' : ' (skipped: no ../shared/corpus)';

const fields: Record<HostKind, string> = {
  github: 'x-github-event',
  gitlab: 'x-gitlab-event',
  gitea: 'x-gitea-event',
  bitbucket: 'x-event-key',
  'bitbucket-server': 'x-event-key',
  // Only the payload names the event.
  azure: 'user-agent',
};

function payloadsIn(path: string): { file: string; body: Buffer }[] {
  if (!isHere) return [];
  return readdirSync(join(folder, path))
    .sort()
    .map((file) => ({ file, body: readFileSync(join(folder, path, file)) }));
}

/** A hint in a word or two. */
function inShort(hint: Hint): string {
  if (hint.kind === 'nothing') return 'nothing';
  if (hint.kind === 'again') return `again ${hint.repository} ${hint.commit}`;
  if (hint.kind !== 'pull') return `${hint.kind} ${hint.repository}`;
  const { number, base, ref } = hint.pull;
  return `${hint.isOpen ? 'open' : 'closed'} ${hint.repository} ${number} ${base} ${ref}`;
}

const hosts = new Map(
  hostKinds.map((kind) => [
    kind,
    // What Azure DevOps sends names its host.
    hostAt(kind, 'https://git.example.test/api', 1000, kind === 'azure' ? { hosts: {} } : {}),
  ]),
);

function read(kind: HostKind, event: string, body: Uint8Array): string {
  const host = hosts.get(kind)!;
  try {
    return inShort(host.readHint({ headers: { [fields[kind]]: event }, body }));
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    return error.code;
  }
}

/** By file, what is not `nothing`. */
function hintsOf(kind: HostKind, path: string, eventOf: (name: string) => string, least = 15): Record<string, string> {
  const entries = payloadsIn(path).map(({ file, body }) => {
    const name = basename(file, '.json');
    return [name, read(kind, eventOf(name), body)] as const;
  });
  expect(entries.length).toBeGreaterThan(least);
  return Object.fromEntries(entries.filter(([, hint]) => hint !== 'nothing'));
}

test.skipIf(!isHere)(`GitHub's 179 examples${where}`, () => {
  const hints = hintsOf('github', 'github', (name) => name.replace(/\.\d+$/, ''));
  const pull = (state: string) => `${state} codertocat/hello-world 2 master refs/pull/2/head`;
  expect(hints).toEqual({
    'create.0': 'push codertocat/hello-world',
    'create.2': 'push codertocat/hello-world',
    'create.4': 'push codertocat/hello-world',
    'delete.0': 'push codertocat/hello-world',
    'delete.2': 'push codertocat/hello-world',
    // An app was given repositories: the first stands for its owner's others.
    'installation_repositories.0': 'repository codertocat/space',
    'installation_repositories.2': 'repository octocat/hello-world',
    'push.0': 'push codertocat/hello-world',
    'push.2': 'push codertocat/hello-world',
    'push.4': 'push codertocat/hello-world',
    'push.6': 'push codertocat/hello-world',
    'repository.0': 'repository codertocat/hello-world',
    // Transferred: by the name that it had.
    'repository.10': 'repository octocat/hello-world',
    'repository.12': 'repository octocat/hello-world',
    'repository.2': 'repository octocoders/hello-world',
    'repository.4': 'repository octocoders/hello-world',
    'repository.6': 'repository codertocat/hello-world',
    'repository.8': 'repository codertocat/hello-world',
    'pull_request.0': pull('open'),
    'pull_request.12': pull('open'),
    'pull_request.14': pull('open'),
    'pull_request.16': pull('open'),
    'pull_request.18': pull('open'),
    'pull_request.22': pull('open'),
    'pull_request.4': pull('closed'),
    'merge_group.0':
      'open octo-org/octo-repo null main refs/heads/gh-readonly-queue/main/pr-104-929f8209d40f77f4abc622a499c93a83babdbe64',
    'check_run.8': 'again github/hello-world d6fde92930d4715a2b49857d24b940956b26d2d3',
    'check_suite.8': 'again codertocat/hello-world ec26c3e57ca3a959ca5aad62de7213c562f8c821',
  });
});

test.skipIf(!isHere)(`GitHub's payloads as others met them${where}`, () => {
  const hints = hintsOf('github', 'go-playground/github', (name) => name.replaceAll('-', '_'));
  expect(hints).toEqual({
    create: 'push baxterthehacker/public-repo',
    delete: 'push baxterthehacker/public-repo',
    push: 'push binkkatal/sample_app',
    repository: 'repository baxterandthehackers/new-repository',
    'installation-repositories': 'repository octocat/hello-world',
    'pull-request': 'open baxterthehacker/public-repo 1 master refs/pull/1/head',
    'check-run': 'again github/hello-world d6fde92930d4715a2b49857d24b940956b26d2d3',
  });
});

test.skipIf(!isHere)(`GitLab's hooks of projects and of the system${where}`, () => {
  const hooks: Record<string, string> = {
    'push-event': 'Push Hook',
    'tag-event': 'Tag Push Hook',
    'merge-request-event': 'Merge Request Hook',
    'issue-event': 'Issue Hook',
    'pipeline-event': 'Pipeline Hook',
  };
  const hints = hintsOf('gitlab', 'go-playground/gitlab', (name) =>
    name.startsWith('system-') ? 'System Hook' : (hooks[name] ?? 'Note Hook'),
  );
  expect(hints).toEqual({
    'push-event': 'push mike/diaspora',
    'tag-event': 'push jsmith/example',
    'merge-request-event': 'open gitlabhq/gitlab-test 1 master refs/merge-requests/1/head',
    'system-push-event': 'push mike/diaspora',
    'system-tag-event': 'push jsmith/example',
    'system-merge-request-event': 'open jsmith/example 1 master refs/merge-requests/1/head',
    'system-project-created': 'repository jsmith/storecloud',
    'system-project-updated': 'repository jsmith/storecloud',
    'system-project-destroyed': 'repository jsmith/underscore',
    // By the name that it had.
    'system-project-renamed': 'repository jsmith/overscore',
    'system-project-transferred': 'repository jsmith/overscore',
  });
});

test.skipIf(!isHere)(`Gitea's hooks${where}`, () => {
  const hints = hintsOf('gitea', 'go-playground/gitea', (name) => name.replace(/-event$/, '').replaceAll('-', '_'));
  expect(hints).toEqual({
    'create-event': 'push example/example',
    'delete-event': 'push example/example',
    'push-event': 'push example/example',
    'repository-event': 'repository example3/example5',
    'pull-request-event': 'open example/example 2 master refs/pull/2/head',
  });
});

test.skipIf(!isHere)(`Bitbucket's hooks${where}`, () => {
  const events: Record<string, string> = {
    'pull-request-merged': 'pullrequest:fulfilled',
    'pull-request-declined': 'pullrequest:rejected',
  };
  const hints = hintsOf('bitbucket', 'go-playground/bitbucket', (name) => {
    const [, about, action] = /^(repo|pull-request|issue|commit)-(.*)$/.exec(name)!;
    return events[name] ?? `${about!.replace('-', '')}:${action!.replaceAll('-', '_')}`;
  });
  const pull = (state: string) => `${state} team_name/repo_name 1 master refs/heads/branch2`;
  expect(hints).toEqual({
    'repo-push': 'push team_name/repo_name',
    // By the name that it had.
    'repo-updated': 'repository teamawesome/repository_name',
    'pull-request-created': pull('open'),
    'pull-request-updated': pull('open'),
    'pull-request-merged': pull('closed'),
    'pull-request-declined': pull('closed'),
  });
});

test.skipIf(!isHere)(`Bitbucket Data Center's hooks${where}`, () => {
  const hints = hintsOf('bitbucket-server', 'go-playground/bitbucket-server', (name) => {
    const events: Record<string, string> = { 'repo-refs-changed': 'repo:refs_changed' };
    return events[name] ?? name.replace('-', ':').replace('-', '_');
  });
  const pull = (state: string, number: number) =>
    `${state} ~gopher/webhook-test ${number} master refs/pull-requests/${number}/from`;
  expect(hints).toEqual({
    'repo-refs-changed': 'push ~gopher/webhook-test',
    // By the name that it had.
    'repo-modified': 'repository gopher/webhook-test-2',
    'pr-opened': pull('open', 5),
    'pr-modified': pull('open', 3),
    'pr-merged': pull('closed', 5),
    'pr-declined': pull('closed', 2),
    'pr-deleted': pull('closed', 2),
  });
});

test.skipIf(!isHere)(`Azure DevOps' service hooks${where}`, () => {
  const hints = hintsOf('azure', 'go-playground/azuredevops', () => 'VSServices', 3);
  const pull = (state: string) => `${state} fabrikam/fabrikam/fabrikam 1 master refs/heads/mytopic`;
  expect(hints).toEqual({
    'git.push': 'push fabrikam-fiber-inc/fabrikam-fiber-git/fabrikam-fiber-git',
    'git.pullrequest.created': pull('open'),
    'git.pullrequest.updated': pull('closed'),
    'git.pullrequest.merged': pull('closed'),
  });
});

test.skipIf(!isHere)(
  `every payload of every system, read as every event of every host: a hint or a refusal${where}`,
  () => {
    const events: [HostKind, string[]][] = [
      ['github', ['push', 'create', 'delete', 'repository', 'pull_request', 'ping', 'merge_group', 'check_run']],
      ['gitlab', ['Push Hook', 'Tag Push Hook', 'Merge Request Hook', 'System Hook']],
      ['gitea', ['push', 'create', 'delete', 'repository', 'pull_request']],
      ['bitbucket', ['repo:push', 'repo:updated', 'pullrequest:created', 'pullrequest:fulfilled']],
      ['bitbucket-server', ['repo:refs_changed', 'repo:modified', 'pr:opened', 'pr:merged']],
      ['azure', ['']],
    ];
    const systems = ['github', ...readdirSync(join(folder, 'go-playground')).map((name) => `go-playground/${name}`)];
    const bodies = systems.flatMap((system) => payloadsIn(system).map(({ body }) => body));
    expect(bodies.length).toBeGreaterThan(320);
    const seen = new Map<string, number>();
    for (const body of bodies) {
      for (const [kind, names] of events) {
        for (const event of names) {
          const [word = ''] = read(kind, event, body).split(' ');
          seen.set(word, (seen.get(word) ?? 0) + 1);
        }
      }
    }
    expect([...seen.keys()].sort()).toEqual(['again', 'closed', 'malformed', 'nothing', 'open', 'push', 'repository']);
  },
);

test('a renamed repository is looked for by the name that it had', () => {
  const github = {
    action: 'renamed',
    changes: { repository: { name: { from: 'old' } } },
    repository: { full_name: 'acme/new' },
  };
  expect(read('github', 'repository', Buffer.from(JSON.stringify(github)))).toBe('repository acme/old');
  const bitbucket = {
    changes: { full_name: { old: 'acme/old', new: 'acme/new' } },
    repository: { full_name: 'acme/new' },
  };
  expect(read('bitbucket', 'repo:updated', Buffer.from(JSON.stringify(bitbucket)))).toBe('repository acme/old');
});
