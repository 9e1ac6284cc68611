import { isRefusal, createSpeakers, ownerOf } from './github-client.ts';
import { writeCheckRun, writeStatus } from './github-checks.ts';
import { commentOnPull } from './comments/github-comments.ts';
import { readGitHubHint } from './github-hint.ts';
import { findGitHubRepository, listGitHubRepositories } from './github-repositories.ts';
import { inTime } from './host-fetch.ts';
import type { Host } from './host.ts';
import { createInOrder } from '../scheduling/in-order.ts';
import { nameOn } from './name.ts';
import { listPages } from './read-pages.ts';
import { asPull } from './payload.ts';
import type { HostSettings } from './host-settings.ts';
import { behindSha256, isHmacOf } from './signature.ts';

/** Milliseconds that a token must remain valid when git gets it. */
const rest = 10 * 60_000;

/**
 * github.com or GitHub Enterprise: signed hooks, check runs by an app, statuses of commits by a
 * token.
 */
export function createGitHub(settings: HostSettings): Host {
  const { url, second } = settings;
  const speakers = createSpeakers(settings);
  const inOrder = createInOrder();
  return {
    kind: 'github',
    name: settings.name,
    isGenuine: ({ headers, body }, secrets) => isHmacOf(behindSha256(headers['x-hub-signature-256']), body, secrets),
    readHint: readGitHubHint,
    nameOf: (repositoryUrl) => nameOn(url, repositoryUrl, false),
    listPulls: (repository) =>
      inTime('GitHub', second, async (signal) => {
        const speaker = await speakers.find(repository, signal);
        const client = speaker?.client ?? (await speakers.nobody());
        const asked = { ...ownerOf(repository.name), state: 'open', sort: 'created', direction: 'desc' } as const;
        return listPages(async (page) => {
          const { data } = await speakers.ask(repository, () =>
            client.rest.pulls.list({ ...asked, per_page: 100, page, request: { signal } }),
          );
          const refOf = (number: number) => `refs/pull/${number}/head`;
          return { items: data.map(({ number, base }) => asPull(number, base.ref, refOf)), isLast: data.length < 100 };
        });
      }),
    listRepositories: (owner) =>
      inTime('GitHub', second, (signal) => listGitHubRepositories(speakers, url, owner, signal)),
    findRepository: (repository, id) =>
      inTime('GitHub', second, (signal) => findGitHubRepository(speakers, url, repository, id, signal)),
    reportCheck: (repository, check) =>
      inOrder(`${repository.name} ${check.commit} ${check.name}`, () =>
        inTime('GitHub', second, async (signal) => {
          const speaker = await speakers.find(repository, signal);
          if (speaker === null) return;
          const { client, appId } = speaker;
          await speakers.ask(repository, async () => {
            const isWritten =
              appId !== null &&
              (await writeCheckRun(client, appId, repository.name, check, signal).then(() => true, ifNotAllowed));
            if (!isWritten) await writeStatus(client, repository.name, check, signal);
          });
        }),
      ),
    comment: (repository, comment) =>
      inOrder(`${repository.name} #${comment.number}`, () =>
        inTime('GitHub', second, async (signal) => {
          const speaker = await speakers.find(repository, signal);
          if (speaker === null) return;
          await speakers.ask(repository, () => commentOnPull(speaker.client, repository.name, comment, signal));
        }),
      ),
    async gitCredential(repository) {
      if (settings.credential(repository.credential)?.kind !== 'app') return null;
      return inTime('GitHub', second, async (signal) => {
        const { client } = (await speakers.find(repository, signal))!;
        const token = await speakers.ask(repository, async () => {
          const auth = (await client.auth({ type: 'installation' })) as Token;
          if (Date.parse(auth.expiresAt) - Date.now() > rest) return auth.token;
          return ((await client.auth({ type: 'installation', refresh: true })) as Token).token;
        });
        return { kind: 'token', username: 'x-access-token', token };
      });
    },
  };
}

interface Token {
  token: string;
  expiresAt: string;
}

/** False when checks are not allowed, so that a status can be tried. Rethrows other errors. */
function ifNotAllowed(error: unknown): false {
  if (isRefusal(error)) return false;
  throw error;
}
