import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { openFollower } from '../../../src/sites/registry/publish-site.ts';
import { openSource } from '../../../src/source/mirror.ts';
import { shareCompiler } from '../../compile/shared-compiler.ts';
import { createWorld } from '../../registry/world.ts';
import { openConsole } from '../../console/harness.ts';
import { loginConfig, relyingParty } from '../../server/login/harness.ts';
import { unlimited } from '../../server/v1/api.ts';
import { createFixtureRepository } from '../../servers/fixture-repository.ts';
import { openGitServer } from '../../servers/git-http.ts';
import { openIdentityProvider } from '../../servers/oidc.ts';
import { freePort } from '../../servers/ports.ts';
import { openChromium, seriousFindings } from './chromium.ts';

/** Who writes what is committed here. */
export const by = 'bob <bob@example.com>';

/**
 * A registry with a real identity provider, git server and sandbox: ann and bob are administrators of acme and make organizations, eve
 * is one of globex. The files are committed by bob.
 */
export async function openConsoleWorld(files: Record<string, string>) {
  const stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'stele-console-'));
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const repository = createFixtureRepository(join(folder, 'root', 'contracts.git'));
  repository.commit({ files, by });
  const git = stack.use(await openGitServer({ root: join(folder, 'root') }));
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const provider = stack.use(
    await openIdentityProvider({
      clients: [relyingParty(url)],
      groups: { ann: ['admins'], bob: ['admins'], eve: ['strangers'] },
    }),
  );
  const hosts = [`http://${git.host}`];
  const { registry } = createWorld({
    ...unlimited,
    url,
    sync: { interval: 0, hosts },
    webhooks: { allowPrivateAddresses: true },
    login: {
      ...loginConfig(port, provider.issuer),
      scope: 'openid profile email groups',
      creators: ['admins'],
      organizations: {
        admins: [{ organization: 'acme', scopes: ['admin'] }],
        strangers: [{ organization: 'globex', scopes: ['admin'] }],
      },
    },
  });
  const limits = { fileBytes: 1e6, entries: 1000 };
  const mirrors = { folder: join(folder, 'mirrors'), allowLocalRepositories: false, knownHosts: null };
  const source = openSource({ ...mirrors, hosts, timeLimit: 120, sizeLimit: 1e8, limits });
  const served = { ...registry, source, compiler: shareCompiler() };
  stack.use(await openConsole(served, { port }));
  const follower = openFollower(served);
  stack.defer(() => follower.close());
  const browser = stack.use(await openChromium(url, [provider.issuer]));
  return {
    url,
    registry: served,
    issuer: provider.issuer,
    browser,
    repository,
    remote: `${git.url}/contracts.git`,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Goes on with Tab, as somebody without a mouse does, until what has this name has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const focused = `(() => {
    const at = document.activeElement;
    return (at.labels?.[0] ?? at).textContent.trim();
  })()`;
  for (let count = 0; count < 80; count++) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate(focused)) === name) return;
  }
  throw new Error(`Nothing that Tab leads to is called ${name} on ${page.url()}.`);
}

/** Follows the link, or presses the button, of this name. */
export async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

/** Presses it, and waits for the page with this heading. */
export async function follow(page: Page, name: string, heading: string): Promise<void> {
  await press(page, name);
  await page.getByRole('heading', { name: heading }).first().waitFor();
}

/** Nothing serious for axe-core, and nothing wider than the window. */
export async function expectSound(page: Page): Promise<void> {
  expect(await seriousFindings(page), page.url()).toEqual([]);
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  expect(await page.evaluate(overflow), page.url()).toBe(0);
}

export async function signIn(page: Page, url: string, name: string): Promise<void> {
  await page.goto(`${url}/console`);
  await page.getByLabel('Name').fill(name);
  await page.keyboard.press('Enter');
}
