import type { RequestListener } from 'node:http';
import type { UserConfig } from '../../../src/config.ts';
import { createPulls } from '../../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../../src/sync/queue.ts';
import { createApp } from '../../../src/server/app.ts';
import { listen } from '../../../src/server/listen.ts';
import { createLogin } from '../../../src/server/login/login.ts';
import { createWorld, type World } from '../../registry/world.ts';
import type { Browser } from './browser.ts';

/** A registry in memory that people can sign in to, on a port of its own. */
export interface LoginServer extends AsyncDisposable {
  /** `http://localhost:<port>`. */
  url: string;
  world: World;
}

export const clientId = 'stele';
const clientSecret = 'the secret of the client';
const sessionSecret = 'a secret of at least thirty-two characters';

export interface LoginServerOptions {
  /** The provider, once the registry's own URL is known. */
  issuer: string | ((url: string) => Promise<string>);
  login?: Partial<NonNullable<UserConfig['login']>>;
  sessionSecret?: string;
}

/** Group `staff` may publish for acme and read globex; `admins` may administer acme. */
export async function openLoginServer({ issuer, login = {}, ...secrets }: LoginServerOptions): Promise<LoginServer> {
  let app: RequestListener = (_request, response) => void response.writeHead(503).end();
  const listening = await listen((request, response) => app(request, response), { host: '127.0.0.1', port: 0 });
  const url = `http://localhost:${listening.port}`;
  const world = createWorld({
    organizations: { acme: {}, globex: {} },
    login: {
      ...loginConfig(listening.port, typeof issuer === 'string' ? issuer : await issuer(url), secrets.sessionSecret),
      organizations: {
        staff: [
          { organization: 'acme', scopes: ['publish'] },
          { organization: 'globex', scopes: ['read'] },
        ],
        admins: [{ organization: 'acme', scopes: ['admin'] }],
      },
      ...login,
    },
  });
  const { registry } = world;
  const signIn = createLogin({ ...registry, url })!;
  const context = { registry, queue: createSyncQueue(registry, createPulls), url, isReady: () => true, login: signIn };
  app = createApp(context);
  return {
    url,
    world,
    async [Symbol.asyncDispose]() {
      await listening.close(1000);
    },
  };
}

/** Sign-in for the server on that port. The configuration names variables; each server gets its own. */
export function loginConfig(port: number, issuer: string, secret = sessionSecret) {
  process.env[`CLIENT_SECRET_${port}`] = clientSecret;
  process.env[`SESSION_SECRET_${port}`] = secret;
  return {
    issuer,
    clientId,
    clientSecret: { env: `CLIENT_SECRET_${port}` },
    sessionSecret: { env: `SESSION_SECRET_${port}` },
    scope: 'openid profile groups',
  };
}

/** What the provider must know of the registry at that URL. */
export function relyingParty(url: string) {
  return { clientId, clientSecret, redirectUri: `${url}/login/callback`, postLogoutRedirectUri: `${url}/` };
}

/** Begins a sign-in, tells the provider who it is, and answers the URL that the provider sends the browser back to. */
export async function comeBack(browser: Browser, url: string, login: string, returnTo = '/'): Promise<string> {
  const page = await browser.open(`${url}/login?returnTo=${encodeURIComponent(returnTo)}`);
  return browser.until(page.url, `${url}/login/callback`, { method: 'POST', body: new URLSearchParams({ login }) });
}
