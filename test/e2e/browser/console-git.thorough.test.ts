import { expect, test } from 'vitest';
import { executablePath, whySkipped } from './chromium.ts';
import { expectSound, openConsoleWorld, press, signIn, tabTo } from './console-world.ts';

const api = (version: string) => `openapi: 3.1.0\ninfo:\n  title: Ledger\n  version: ${version}\n`;

test.skipIf(executablePath === undefined)(
  `somebody signs in, follows a repository by keyboard, and a push becomes a version; others see none of it${whySkipped}`,
  async () => {
    await using world = await openConsoleWorld({ 'ledger.yaml': api('1.0.0') });
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
