import { sampleOf } from '../../sample.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { docPath, readDocs } from '../../../src/site/docs/docs.ts';
import { executablePath, openChromium, seriousFindings, whySkipped, type OpenChromium } from './chromium.ts';
import { openSite, type OpenSite } from './site.ts';

/** Pages of every kind: axe-core takes its time. */
const examined = ['index', 'urls', 'configuration', 'commands', 'operating'];

const canRun = executablePath !== undefined;
let site: OpenSite;
let browser: OpenChromium;

beforeAll(async () => {
  if (!canRun) return;
  site = await openSite();
  browser = await openChromium(site.url, []);
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
});

describe.skipIf(!canRun)(`the documentation${whySkipped}`, () => {
  // Each page in one look, the next in the other.
  const looks = [
    { width: 1440, colorScheme: 'light', from: 0 },
    { width: 380, colorScheme: 'dark', from: 1 },
  ] as const;
  test.for(looks)('$width px, $colorScheme: every page is sound', async (look) => {
    await using watched = await browser.open({
      viewport: { width: look.width, height: 900 },
      colorScheme: look.colorScheme,
    });
    const { page, wrong } = watched;
    for (const { name, title } of sampleOf(readDocs(), 2, look.from)) {
      await page.goto(site.url + docPath(name));
      expect(await page.locator('h1').textContent()).toBe(title);
      if (examined.includes(name)) expect(await seriousFindings(page), name).toEqual([]);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(overflow, name).toBe(0);
    }
    expect(wrong).toEqual([]);
  });

  test(`by keyboard: a section of another page is found and gone to`, async () => {
    await using watched = await browser.open({ viewport: { width: 1440, height: 900 } });
    const { page, wrong } = watched;
    await page.goto(`${site.url}/docs/`);
    await page.keyboard.press('/');
    await page.keyboard.type('trusted publishing');
    // At once: what was typed last counts, too.
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/operating#trusted-publishing$/);
    expect(await page.locator(':target').textContent()).toBe('Trusted publishing');
    expect(wrong).toEqual([]);
  });

  test(`on a narrow screen the list of pages opens`, async () => {
    await using watched = await browser.open({ viewport: { width: 380, height: 800 }, javaScriptEnabled: false });
    const { page } = watched;
    await page.goto(`${site.url}/docs/urls`);
    const link = page.locator('.side').getByRole('link', { name: 'Commands' });
    expect(await link.isVisible()).toBe(false);
    await page.locator('.menu > summary').click();
    await link.click();
    await page.waitForURL(/\/docs\/commands$/);
  });
});
