import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { publish } from '../../../src/registry/publish.ts';
import { snapshotOf } from '../../registry/world.ts';
import { chromiumArgs, executablePath, whySkipped } from '../../e2e/browser/chromium.ts';
import { openIdentityProvider, type IdentityProvider } from '../../servers/oidc.ts';
import { openLoginServer, relyingParty } from './harness.ts';

interface OpenBrowser extends AsyncDisposable {
  context: BrowserContext;
  page: Page;
}

/** A real browser with a profile of its own that nobody used before. */
async function openChromium(path: string): Promise<OpenBrowser> {
  const folder = await mkdtemp(join(tmpdir(), 'stele-browser-'));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: path,
    headless: true,
    // It is closed below; handlers of signals would stay in the worker.
    handleSIGHUP: false,
    handleSIGINT: false,
    handleSIGTERM: false,
    args: chromiumArgs,
  });
  return {
    context,
    page: context.pages()[0] ?? (await context.newPage()),
    async [Symbol.asyncDispose]() {
      await context.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

test.skipIf(executablePath === undefined)(`a person signs in and out in a real browser${whySkipped}`, async () => {
  await using stack = new AsyncDisposableStack();
  let identities!: IdentityProvider;
  await using server = await openLoginServer({
    async issuer(url) {
      identities = stack.use(await openIdentityProvider({ clients: [relyingParty(url)], groups: { ann: ['staff'] } }));
      return identities.issuer;
    },
  });
  await publish(server.world.registry, {
    coordinate: { org: 'acme', type: 'apis', slug: 'pay' },
    snapshot: snapshotOf(null, null, { 'api.yaml': 'openapi: 3.1.0\ninfo: {title: Pay, version: "1.0.0"}' }),
    entry: 'api.yaml',
    version: null,
    onConflict: 'revise',
    latest: true,
    dryRun: false,
    create: { visibility: 'private' },
    author: { actor: 'operator:test', origin: null },
  });
  const document = `${server.url}/@acme/apis/pay.json`;
  await using browser = await openChromium(executablePath!);
  const { context, page } = browser;

  expect((await page.goto(document))?.status()).toBe(404);

  // The provider is another site to the browser: 127.0.0.1 is not localhost.
  await page.goto(`${server.url}/login?returnTo=${encodeURIComponent('/@acme/apis/pay.json')}`);
  expect(new URL(page.url()).origin).toBe(identities.issuer);
  await page.getByLabel('Name').fill('ann');
  const [response] = await Promise.all([
    page.waitForResponse(document),
    page.getByRole('button', { name: 'Sign in' }).click(),
  ]);
  expect(response.status()).toBe(200);
  expect(await response.json()).toMatchObject({ info: { title: 'Pay' } });
  await page.waitForURL(document);

  const cookie = (await context.cookies(server.url)).find(({ name }) => name === '__Host-stele-session');
  expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Lax', path: '/' });
  // A button to sign out, on a page of another site and on one of ours that is as strict as ours are.
  const form = `<!doctype html><form method="post" action="${server.url}/logout"><button>Leave</button></form>`;
  await page.route(`${identities.issuer}/evil`, (route) => route.fulfill({ contentType: 'text/html', body: form }));
  await page.route(`${server.url}/page`, (route) => {
    const headers = { 'Content-Security-Policy': "default-src 'none'; form-action 'self'" };
    return route.fulfill({ contentType: 'text/html', body: form, headers });
  });

  await page.goto(`${identities.issuer}/evil`);
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.waitForURL(`${server.url}/`); // SameSite=Lax: it came without the session
  expect((await page.goto(document))?.status()).toBe(200);

  await page.goto(`${server.url}/page`);
  expect(await page.evaluate('document.cookie')).not.toContain('stele');
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.waitForURL(`${identities.issuer}/session/end**`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${server.url}/`);
  expect((await page.goto(document))?.status()).toBe(404);
  expect((await context.cookies(server.url)).filter(({ name }) => name.startsWith('__Host-'))).toEqual([]);

  // The provider has forgotten them too: it asks again.
  await page.goto(`${server.url}/login`);
  expect(await page.getByLabel('Name').isVisible()).toBe(true);
});
