import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openSource } from '../../../src/source/mirror.ts';
import { createWorld } from '../../registry/world.ts';
import { openConsole } from '../../server/console/harness.ts';
import { loginConfig, relyingParty } from '../../server/login/harness.ts';
import { unlimited } from '../../server/v1/api.ts';
import { createFixtureRepository } from '../../servers/fixture-repository.ts';
import { openGitServer } from '../../servers/git-http.ts';
import { openIdentityProvider } from '../../servers/oidc.ts';
import { freePort } from '../../servers/ports.ts';
import { isThorough, unlessThorough } from '../../thorough.ts';
import { executablePath, openChromium, seriousFindings, whySkipped } from './chromium.ts';

const api = (version: string) => `openapi: 3.1.0\ninfo:\n  title: Ledger\n  version: ${version}\n`;

/** A registry with a real identity provider and a real git server. */
async function open() {
  const stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'stele-console-'));
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const repository = createFixtureRepository(join(folder, 'root', 'contracts.git'));
  repository.commit({ files: { 'ledger.yaml': api('1.0.0') } });
  const git = stack.use(await openGitServer({ root: join(folder, 'root') }));
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const provider = stack.use(
    await openIdentityProvider({ clients: [relyingParty(url)], groups: { ann: ['admins'], eve: ['strangers'] } }),
  );
  const hosts = [`http://${git.host}`];
  const { registry } = createWorld({
    ...unlimited,
    url,
    sync: { interval: 0, hosts },
    login: {
      ...loginConfig(port, provider.issuer),
      organizations: {
        admins: [{ organization: 'acme', scopes: ['admin'] }],
        strangers: [{ organization: 'globex', scopes: ['admin'] }],
      },
    },
  });
  const limits = { fileBytes: 1e6, entries: 1000 };
  const mirrors = { folder: join(folder, 'mirrors'), allowLocalRepositories: false, knownHosts: null };
  const source = openSource({ ...mirrors, hosts, timeLimit: 120, sizeLimit: 1e8, limits });
  stack.use(await openConsole({ ...registry, source }, { port }));
  const browser = stack.use(await openChromium(url, [provider.issuer]));
  return {
    url,
    browser,
    repository,
    remote: `${git.url}/contracts.git`,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Goes on with Tab, as somebody without a mouse does, until what has this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
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

async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

async function expectSound(page: Page): Promise<void> {
  expect(await seriousFindings(page), page.url()).toEqual([]);
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  expect(await page.evaluate(overflow), page.url()).toBe(0);
}

async function signIn(page: Page, url: string, name: string): Promise<void> {
  await page.goto(`${url}/console`);
  await page.getByLabel('Name').fill(name);
  await page.keyboard.press('Enter');
}

test.skipIf(executablePath === undefined || !isThorough)(
  `somebody signs in, follows a repository by keyboard, and a push becomes a version; others see none of it${whySkipped || unlessThorough}`,
  async () => {
    await using world = await open();
    const { url, browser, repository, remote } = world;
    await using watched = await browser.open({ viewport: { width: 380, height: 800 } });
    const { page } = watched;

    await signIn(page, url, 'ann');
    await page.waitForURL(`${url}/console/acme`);
    // The provider's page has no icon.
    watched.wrong.length = 0;
    await expectSound(page);
    await press(page, 'Repositories');
    await page.waitForURL('**/repositories');
    await press(page, 'Follow a repository');
    await page.waitForURL('**/repositories/new');
    await tabTo(page, 'Repository');
    await page.keyboard.insertText(remote);
    await expectSound(page);
    await page.keyboard.press('Enter');
    await page.getByText('Followed. Sync it to read it now.').waitFor();
    await press(page, 'Sync now');
    await page.getByRole('heading', { name: 'Sync succeeded' }).waitFor();
    await expectSound(page);
    await press(page, 'ledger.yaml');
    await page.getByRole('link', { name: '1.0.0' }).waitFor();

    repository.commit({ files: { 'ledger.yaml': api('1.1.0') } });
    await press(page, 'Sync now');
    await page.getByRole('heading', { name: 'Sync succeeded' }).waitFor();
    await press(page, 'Back');
    await page.getByRole('link', { name: '1.1.0' }).waitFor();
    await expectSound(page);
    expect(watched.wrong).toEqual([]);

    // Without a script, too.
    repository.commit({ files: { 'ledger.yaml': api('1.2.0') } });
    await using plain = await browser.open({
      javaScriptEnabled: false,
      storageState: await watched.context.storageState(),
    });
    await plain.page.goto(page.url());
    await plain.page.getByRole('button', { name: 'Sync now' }).click();
    await plain.page.getByRole('heading', { name: 'Sync succeeded' }).waitFor();
    await plain.page.getByRole('link', { name: 'Back' }).click();
    await plain.page.getByRole('link', { name: '1.2.0' }).waitFor();

    await using other = await browser.open();
    await signIn(other.page, url, 'eve');
    await other.page.waitForURL(`${url}/console/globex`);
    expect(await other.page.content()).not.toMatch(/ledger|acme/i);
    const own = new URL(page.url()).pathname;
    for (const path of ['/console/acme', own, '/@acme', '/@acme/apis/ledger', '/search?q=ledger']) {
      const answer = await other.page.request.get(url + path);
      expect(path.startsWith('/search') || answer.status() === 404, path).toBe(true);
      expect(await answer.text(), path).not.toContain('1.2.0');
    }
  },
);
