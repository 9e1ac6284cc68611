import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import PQueue from 'p-queue';
import { createAsk, type Ask, type HostSettings } from './ask.ts';
import type { HostRepository } from './host.ts';
import { textAt, valueAt } from './payload.ts';

/** A token of an app's installation, and when it ends, in milliseconds since 1970. */
interface Token {
  token: string;
  expiresAt: number;
}

/** Milliseconds that a token must remain valid for a request. */
const requestSpare = 60_000;

/** Whether GitHub denies access: rights are missing, or there is no such thing for this credential. */
export function isRefusal(status: number): boolean {
  return status === 401 || status === 403 || status === 404;
}

/**
 * Asks one GitHub server with a repository's credential: a token, or an app, which has a token for each of its
 * installations; for `acme/*`, that of the owner. Forgets an installation to which access is refused.
 */
export function createGitHubAsk(settings: HostSettings) {
  const installations = new Map<string, number>();
  const tokens = new Map<number, Promise<Token>>();
  const writes = new Map<string | null, PQueue>();
  const keyOf = ({ name, credential }: HostRepository) => `${credential} ${name}`;

  const askAsApp = createAsk('GitHub', settings, (secret) => {
    const { appId, privateKey } = secret as { appId: string; privateKey: string };
    // Within what GitHub takes, also where its clock is behind.
    const now = Math.floor(Date.now() / 1000) - 30;
    const jwt = new SignJWT({}).setProtectedHeader({ alg: 'RS256' }).setIssuer(appId);
    const signed = jwt
      .setIssuedAt(now)
      .setExpirationTime(now + 600)
      .sign(createPrivateKey(privateKey));
    return signed.then((text) => `Bearer ${text}`);
  });

  async function findInstallation(repository: HostRepository, signal: AbortSignal): Promise<number> {
    const known = installations.get(keyOf(repository));
    if (known !== undefined) return known;
    const [owner, repo] = repository.name.split('/');
    // A path may name a user instead of an organization.
    const places = repo === '*' ? [`/orgs/${owner}`, `/users/${owner}`] : [`/repos/${repository.name}`];
    const isDone = (status: number) => places.length > 1 && isRefusal(status);
    let path = `${places[0]}/installation`;
    let answer = await askAsApp(repository, { method: 'GET', path, isDone }, signal);
    path = `${places[1]}/installation`;
    if (answer.status >= 400) answer = await askAsApp(repository, { method: 'GET', path }, signal);
    const id = Number(valueAt(answer.json, 'id'));
    installations.set(keyOf(repository), id);
    return id;
  }

  async function makeToken(repository: HostRepository, id: number, signal: AbortSignal): Promise<Token> {
    const path = `/app/installations/${id}/access_tokens`;
    const { json } = await askAsApp(repository, { method: 'POST', path }, signal);
    return { token: textAt(json, 'token')!, expiresAt: Date.parse(textAt(json, 'expires_at')!) };
  }

  /** A token of the app's installation that remains valid for so many milliseconds. */
  async function tokenOf(repository: HostRepository, signal: AbortSignal, spare = requestSpare): Promise<string> {
    const id = await findInstallation(repository, signal);
    const isFresh = ({ expiresAt }: Token) => expiresAt - Date.now() > spare;
    const known = await tokens.getOrInsertComputed(id, () => makeToken(repository, id, signal)).catch(() => null);
    if (known && isFresh(known)) return known.token;
    const made = makeToken(repository, id, signal);
    tokens.set(id, made);
    return (await made).token;
  }

  const askWith = createAsk('GitHub', settings, async (secret, repository, path, signal) => {
    if (secret.kind === 'token') return `token ${secret.token}`;
    return `token ${await tokenOf(installedFor(repository, path), signal)}`;
  });

  /** The installation of an app is looked for by the owner's name: that of the repository may be a former one. */
  function installedFor(repository: HostRepository, path: string): HostRepository {
    const isSearch = /^\/(?:repos\/[^/]+|repositories)\/[^/]+$/.test(path);
    return isSearch ? { ...repository, name: `${repository.name.split('/')[0]}/*` } : repository;
  }

  const ask: Ask = (repository, request, signal) => {
    const isDone = (status: number, text: string): boolean => {
      const isExpected = request.isDone?.(status, text) ?? false;
      const key = keyOf(installedFor(repository, request.path));
      if (!isExpected && isRefusal(status)) {
        tokens.delete(installations.get(key) ?? 0);
        installations.delete(key);
      }
      return isExpected;
    };
    const send = () => askWith(repository, { ...request, isDone }, signal);
    if (request.method === 'GET') return send();
    // GitHub asks for a second between two writes.
    const paced = () => new PQueue({ concurrency: 1, interval: settings.second, intervalCap: 1 });
    return writes.getOrInsertComputed(repository.credential, paced).add(send);
  };

  return { ask, tokenOf };
}
