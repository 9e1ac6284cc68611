import { basic, createAsk, type HostSettings } from './ask.ts';
import type { Delivery, FoundRepository, Host, HostRepository, Hint, Pull } from './host.ts';
import { asFound, createApiHost } from './api-host.ts';
import {
  asPull,
  branchOf,
  itemsIn,
  textAt,
  valueAt,
  idMember,
  isBranch,
  malformedPayload,
  pullIn,
  readPayload,
  isOneOf,
  pathOn,
} from './payload.ts';
import { linkOf, statesOf, shortName } from './comments.ts';
import { decodePercent, cut } from '../model/escape.ts';

/** https://learn.microsoft.com/rest/api/azure/devops/git/statuses/create */
const states = statesOf({ running: 'pending', success: 'succeeded', failure: 'failed', cancelled: 'error' });

const version = 'api-version=7.0';
const pageLength = 100;

/** Azure DevOps Services (dev.azure.com) and Azure DevOps Server: service hooks and statuses. */
export function createAzure(settings: HostSettings): Host {
  const { url } = settings;
  const pullsAt = (repository: HostRepository, at: number) =>
    `${pathOf(repository)}/pullrequests?searchCriteria.status=active&$top=${pageLength}&$skip=${at}&${version}`;

  return createApiHost(settings, {
    kind: 'azure',
    product: 'Azure DevOps',
    // A personal access token is a password without a user.
    ask: createAsk('Azure DevOps', settings, ({ token }) => basic('', token)),
    isGenuine: async (delivery, secrets) => isGenuine(delivery, secrets),
    readHint: (delivery) => readAzureHint(delivery, url),
    nameOf: (repositoryUrl) => azureNameOn(url, repositoryUrl),
    first: 0,
    pageIn({ json }, at) {
      const list = valueAt(json, 'value');
      return { list, next: itemsIn(list).length < pageLength ? null : at + pageLength };
    },
    pullsAt,
    readPull,
    // All are on one page.
    ownedAt: ({ path }, at) =>
      at > 0 ? [] : [`/${path.split('/').map(encodeURIComponent).join('/')}/_apis/git/repositories?${version}`],
    pathOf(repository, id) {
      const [organization] = repository.name.split('/');
      const path =
        id === null ? pathOf(repository) : `/${organization}/_apis/git/repositories/${encodeURIComponent(id)}`;
      return `${path}?${version}`;
    },
    readRepository: (item, { name }) => foundIn(url, name, item),
    async report(send, repository, check) {
      const body = {
        state: states[check.state],
        description: cut(check.title, 250),
        context: { genre: 'stele', name: shortName(check.name, 128) },
        ...linkOf(check, 'targetUrl'),
      };
      const post = (about: string) => {
        const path = `${pathOf(repository)}/${about}/statuses?${version}`;
        return send({ method: 'POST', path, body });
      };
      await post(`commits/${check.commit}`);
      // Branch policies look only at the statuses of the pull request.
      const { json } = await send({ method: 'GET', path: pullsAt(repository, 0) });
      for (const pull of itemsIn(valueAt(json, 'value'))) {
        const id = valueAt(pull, 'pullRequestId');
        const head = textAt(pull, 'lastMergeSourceCommit', 'commitId');
        if (head === check.commit && Number.isSafeInteger(id)) await post(`pullRequests/${String(id)}`);
      }
    },
  });
}

function pathOf({ name }: HostRepository): string {
  const [organization, project, repository] = name.split('/');
  return `/${organization}/${project}/_apis/git/repositories/${repository}`;
}

/** A repository that is disabled cannot be read, as if it were archived. */
function foundIn(base: string, path: string, item: unknown): FoundRepository | null {
  const [organization = ''] = path.split('/');
  const parts = [organization, textAt(item, 'project', 'name') ?? '', '_git', textAt(item, 'name') ?? ''];
  if (!parts.every((part) => part.isWellFormed())) return null;
  const url = `${base}/${parts.map(encodeURIComponent).join('/')}`;
  const visibility = textAt(item, 'project', 'visibility');
  const isPrivate = visibility === null ? undefined : visibility !== 'public';
  const about = {
    id: valueAt(item, 'id'),
    isArchived: valueAt(item, 'isDisabled'),
    isFork: valueAt(item, 'isFork'),
    isPrivate,
  };
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

/**
 * Parses a delivery of Azure DevOps
 * (https://learn.microsoft.com/azure/devops/service-hooks/events#code).
 */
function readAzureHint(delivery: Delivery, base: string): Hint {
  const payload = readPayload(delivery.body);
  const event = textAt(payload, 'eventType')?.slice(0, 100) ?? null;
  if (event === null) throw malformedPayload('it has no eventType');
  const isPull = /^git\.pullrequest\.(?:created|updated|merged)$/.test(event);
  const isRepository = /^git\.repo\.(?:created|renamed|deleted|statuschanged)$/.test(event);
  if (!isPull && !isRepository && event !== 'git.push') return { kind: 'nothing', event };
  const about = valueAt(payload, 'resource');
  const repository = repositoryAt(about, base);
  const id = idMember(valueAt(about, 'repository', 'id'));
  if (!isPull) return { kind: isRepository ? 'repository' : 'push', repository, ...id };
  const isOpen = valueAt(about, 'status') === 'active';
  return { kind: 'pull', repository, ...id, pull: pullIn(readPull(about)), isOpen };
}

function repositoryAt(resource: unknown, base: string): string {
  const remote = textAt(resource, 'repository', 'remoteUrl');
  const name = remote === null ? null : azureNameOn(base, remote);
  if (name !== null) return name;
  throw malformedPayload(
    remote === null
      ? 'it does not name a repository; set "Resource details to send" of the service hook to All'
      : `its repository is not at ${base}`,
  );
}

function readPull(pull: unknown): Pull | null {
  const target = branchOf(valueAt(pull, 'targetRefName'));
  return asPull(valueAt(pull, 'pullRequestId'), target, () => refOf(pull));
}

/** The branch that a pull request comes from. Azure DevOps has no ref in the target for a fork's. */
function refOf(pull: unknown): string | null {
  const branch = branchOf(valueAt(pull, 'sourceRefName'));
  const isFork = (valueAt(pull, 'forkSource') ?? null) !== null;
  return !isFork && isBranch(branch) ? `refs/heads/${branch}` : null;
}

/** The hosts of the same organizations besides dev.azure.com: by name, and for ssh. */
const oldWebHost = /^([a-z0-9-]+)\.visualstudio\.com$/i;
const oldSshHost = 'vs-ssh.visualstudio.com';

/**
 * The name of a repository in its URL (https, ssh) on Azure DevOps at `base`:
 * `organization/project/repository`, on a server `collection/project/repository`. Each part is
 * lower case and percent-encoded, because projects may have spaces in their names. Null for a URL
 * of another host.
 */
function azureNameOn(base: string, url: string): string | null {
  const path = pathOn(base, url);
  if (path !== null) return nameIn(path.path);
  const isPublic = new URL(base).hostname === 'dev.azure.com';
  const parsed = isPublic ? URL.parse(url) : null;
  const organization = parsed?.protocol === 'https:' ? oldWebHost.exec(parsed.hostname)?.[1] : undefined;
  if (organization !== undefined) return nameIn(`${organization}${parsed!.pathname}`);
  const ssh = isPublic ? pathOn(`https://${oldSshHost}`, url) : null;
  return ssh === null || ssh.isWeb ? null : nameIn(ssh.path);
}

function nameIn(path: string): string | null {
  const parts = path
    .replace(/\/$/, '')
    .split('/')
    // The collection of old URLs, which every organization has.
    .filter((part, index) => index === 0 || !/^defaultcollection$/i.test(part));
  const isShort = parts.length === 3 && parts[1] === '_git';
  if (isShort) return join([parts[0]!, parts[2]!, parts[2]!]);
  if (parts.length === 4 && parts[2] === '_git') return join([parts[0]!, parts[1]!, parts[3]!]);
  if (parts.length === 4 && /^v3$/i.test(parts[0]!)) return join(parts.slice(1));
  return null;
}

function join(parts: readonly string[]): string | null {
  const names = parts.map(asPart);
  return names.every((part) => part !== null) ? names.join('/') : null;
}

/** A part of a name from a URL, in its one form; null if it is invalid. */
function asPart(text: string): string | null {
  const plain = decodePercent(text)?.normalize('NFC').toLowerCase();
  if (plain === undefined || plain.length === 0 || plain.length > 100 || !plain.isWellFormed()) return null;
  if (/[\p{Cc}/\\]/u.test(plain) || /^\.{1,2}$/.test(plain)) return null;
  return encodeURIComponent(plain).toLowerCase();
}
