import type { CheckState } from '../model/check.ts';
import { createAsk } from './ask.ts';
import { azureNameOn } from './azure-name.ts';
import { inTime } from './host-fetch.ts';
import { branchOf, readAzureHint, refOf } from './azure-hint.ts';
import type { Delivery, FoundRepository, Host, HostRepository } from './host.ts';
import { createInOrder } from '../scheduling/in-order.ts';
import { asFound, askForOne, asRepository, itemsIn, listOwned, repositoriesIn } from './owner-pages.ts';
import { listPages } from './pull-pages.ts';
import { asPull, textAt, valueAt } from './payload.ts';
import { basic, ownGitCredential, type ApiCredential, type HostSettings } from './host-settings.ts';
import { isOneOf } from './signature.ts';
import { linkOf, shorten, shortName } from './statuses.ts';

/**
 * https://learn.microsoft.com/rest/api/azure/devops/git/statuses/create: there is no `neutral` or
 * `cancelled`.
 */
const states: Record<CheckState, string> = {
  running: 'pending',
  success: 'succeeded',
  neutral: 'succeeded',
  failure: 'failed',
  cancelled: 'error',
};

const version = 'api-version=7.0';
const pageLength = 100;

/** Azure DevOps Services (dev.azure.com) and Azure DevOps Server: service hooks and statuses. */
export function createAzure(settings: HostSettings): Host {
  const { url, second } = settings;
  const ask = createAsk('Azure DevOps', settings, authorize);
  const inOrder = createInOrder();

  async function listActive(
    repository: HostRepository,
    page: number,
    signal: AbortSignal,
  ): Promise<readonly unknown[]> {
    const query = `searchCriteria.status=active&$top=${pageLength}&$skip=${(page - 1) * pageLength}&${version}`;
    const { json } = await ask(
      repository,
      { method: 'GET', path: `${pathOf(repository)}/pullrequests?${query}` },
      signal,
    );
    return itemsIn(valueAt(json, 'value'));
  }

  return {
    kind: 'azure',
    name: settings.name,
    isGenuine: async (delivery, secrets) => isGenuine(delivery, secrets),
    readHint: (delivery) => readAzureHint(delivery, url),
    nameOf: (repositoryUrl) => azureNameOn(url, repositoryUrl),
    listPulls: (repository) =>
      inTime('Azure DevOps', second, (signal) =>
        listPages(async (page) => {
          const values = await listActive(repository, page, signal);
          const items = values.map((item) =>
            asPull(valueAt(item, 'pullRequestId'), branchOf(valueAt(item, 'targetRefName')), () => refOf(item)),
          );
          return { items, isLast: values.length < pageLength };
        }),
      ),
    listRepositories: (owner) =>
      inTime('Azure DevOps', second, (signal) =>
        listOwned(async () => {
          const [organization] = owner.path.split('/');
          const path = `/${owner.path.split('/').map(encodeURIComponent).join('/')}/_apis/git/repositories?${version}`;
          const { json } = await ask(asRepository(owner), { method: 'GET', path }, signal);
          const items = repositoriesIn('Azure DevOps', valueAt(json, 'value')).map((item) =>
            foundIn(url, organization!, item),
          );
          return { items, isLast: true };
        }),
      ),
    findRepository: (repository, id) =>
      inTime('Azure DevOps', second, (signal) => {
        const [organization] = repository.name.split('/');
        const path =
          id === null ? pathOf(repository) : `/${organization}/_apis/git/repositories/${encodeURIComponent(id)}`;
        const read = (item: unknown) => foundIn(url, organization!, item);
        return askForOne(ask, repository, `${path}?${version}`, read, signal);
      }),
    async reportCheck(repository, check) {
      if (settings.credential(repository.credential) === null) return;
      const body = {
        state: states[check.state],
        description: shorten(check.title, 250),
        context: { genre: 'stele', name: shortName(check.name, 128) },
        ...linkOf(check, 'targetUrl'),
      };
      await inOrder(`${repository.name} ${check.commit} ${check.name}`, () =>
        inTime('Azure DevOps', second, async (signal) => {
          const post = (about: string) =>
            ask(
              repository,
              { method: 'POST', path: `${pathOf(repository)}/${about}/statuses?${version}`, body },
              signal,
            );
          await post(`commits/${check.commit}`);
          // Branch policies look only at the statuses of the pull request.
          for (const pull of await listActive(repository, 1, signal)) {
            const id = valueAt(pull, 'pullRequestId');
            const head = textAt(pull, 'lastMergeSourceCommit', 'commitId');
            if (head === check.commit && Number.isSafeInteger(id)) await post(`pullRequests/${String(id)}`);
          }
        }),
      );
    },
    gitCredential: ({ credential }) => ownGitCredential(settings, credential),
  };
}

/** A personal access token is a password without a user. */
function authorize({ token }: ApiCredential & { kind: 'token' }): string {
  return basic('', token);
}

function pathOf({ name }: HostRepository): string {
  const [organization, project, repository] = name.split('/');
  return `/${organization}/${project}/_apis/git/repositories/${repository}`;
}

/** A repository that is disabled cannot be read, as if it were archived. */
function foundIn(base: string, organization: string, item: unknown): FoundRepository | null {
  const parts = [organization, textAt(item, 'project', 'name') ?? '', '_git', textAt(item, 'name') ?? ''];
  if (!parts.every((part) => part.isWellFormed())) return null;
  const url = `${base}/${parts.map(encodeURIComponent).join('/')}`;
  const about = { id: valueAt(item, 'id'), isArchived: valueAt(item, 'isDisabled'), isFork: valueAt(item, 'isFork') };
  return asFound(url, azureNameOn(base, url), about);
}

/**
 * A service hook signs nothing. It sends the secret as the password of Basic authentication, or in
 * a header of its own.
 */
function isGenuine({ headers }: Delivery, secrets: readonly string[]): boolean {
  const given = passwordIn(headers['authorization']) ?? headers['x-stele-secret'];
  return given !== undefined && isOneOf(given, secrets);
}

function passwordIn(authorization: string | undefined): string | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization ?? '')?.[1] ?? '';
  const pair = Buffer.from(encoded, 'base64');
  const colon = pair.indexOf(':');
  return colon < 0 || pair.toString('base64') !== encoded ? undefined : pair.subarray(colon + 1).toString();
}
