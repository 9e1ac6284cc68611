import { expect, test } from 'vitest';
import { createWorld } from '../../registry/world.ts';
import { openConsole } from '../../console/harness.ts';
import { unlimited } from '../../server/v1/api.ts';
import { executablePath, openChromium, seriousFindings, whySkipped } from './chromium.ts';

const api = (title: string, version: string) => `openapi: 3.1.0\ninfo:\n  title: ${title}\n  version: ${version}\n`;

test.skipIf(executablePath === undefined)(
  `from an empty store to a published API, by keyboard${whySkipped}`,
  async () => {
    const { registry } = createWorld(unlimited);
    await using server = await openConsole(registry);
    const { url } = server;
    await using browser = await openChromium(url);
    await using watched = await browser.open({ viewport: { width: 380, height: 800 }, colorScheme: 'dark' });
    const { page, wrong } = watched;
    const isSound = async () => {
      expect(await seriousFindings(page), page.url()).toEqual([]);
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate(overflow), page.url()).toBe(0);
      // A word of the head is on one line.
      expect((await page.locator('.account').boundingBox())!.height, page.url()).toBeLessThan(32);
    };

    await page.goto(server.server.signInUrl()!);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Organization').fill('acme');
    await page.getByLabel('Document', { exact: true }).focus();
    await page.keyboard.insertText(api('Payments', '1.0.0'));
    await page.getByText('This can be published, as version 1.0.0.').waitFor();
    await isSound();
    await page.getByRole('button', { name: 'Publish' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console/acme/apis/payments/published/1.0.0');
    await isSound();
    const published = await page.request.get(`${url}/@acme/apis/payments@1.0.0.json`);
    expect(published.status()).toBe(200);

    // The sections are wider than the screen: the one that is open is in sight.
    await page.goto(`${url}/console/acme/settings`);
    const open = await page.locator('.console-nav [aria-current]').boundingBox();
    expect(open!.x + open!.width).toBeLessThanOrEqual(380);
    // On a short page, too, the sections and who is signed in are two lines.
    await page.goto(`${url}/console/acme/deleted`);
    expect((await page.locator('.console-nav').boundingBox())!.height).toBeLessThan(110);

    // The page leads here for who may publish, and for nobody else.
    await page.goto(`${url}/@acme/apis/payments`);
    expect(await page.getByRole('link', { name: 'Manage' }).isVisible()).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);

    // A column is as wide as its words, and a row leads somewhere as a whole.
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${url}/console/acme`);
    const row = page.locator('.part tbody tr', { hasText: 'Payments' });
    expect((await row.locator('a').first().boundingBox())!.height).toBeLessThan(32);
    await row.click({ position: { x: 500, y: 15 } });
    await page.waitForURL('**/console/acme/apis/payments');

    await using other = await browser.open();
    await other.page.goto(url);
    expect(await other.page.evaluate('localStorage.length')).toBe(0);
    await other.page.goto(`${url}/console/acme/apis/payments`);
    expect(new URL(other.page.url()).pathname).toBe('/account');
    await isSoundFor(other.page);
    expect((await other.page.request.get(`${url}/@acme/apis/payments`)).status()).toBe(404);
    expect(wrong).toEqual([]);
  },
);

async function isSoundFor(page: Parameters<typeof seriousFindings>[0]): Promise<void> {
  expect(await seriousFindings(page)).toEqual([]);
}
