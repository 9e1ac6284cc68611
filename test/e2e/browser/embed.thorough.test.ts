import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { openConsole } from '../../console/harness.ts';
import { createTestRegistry, publishVersion } from '../../server/registry.ts';
import { unlimited } from '../../server/v1/api.ts';
import { executablePath, openChromium, seriousFindings, whySkipped } from './chromium.ts';

test.skipIf(executablePath === undefined)(
  `a page of an allowed origin shows an embed as tall as it is, and a page of another origin shows none${whySkipped}`,
  async () => {
    let snippet = '';
    const pages = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end(`<!doctype html><html lang="en"><title>Docs</title><main><h1>Docs</h1>${snippet}</main></html>`);
    });
    await new Promise<void>((resolve) => pages.listen(0, resolve));
    await using _ = { [Symbol.asyncDispose]: async () => void pages.close().closeAllConnections() };
    const { port } = pages.address() as AddressInfo;
    const [allowed, other] = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
    const registry = createTestRegistry({ ...unlimited, embedOrigins: [allowed] });
    const lines = '<p>A line of the reference.</p>'.repeat(60);
    const html = `<div class="reference"><h2 id="pets">Pets</h2>${lines}</div>`;
    registry.compiler.render = async () => ({ html, navigation: '', markdown: '', truncated: false, pages: null });
    await publishVersion(registry, '@acme/apis/pay', '1.0.0');
    await using server = await openConsole(registry);
    await using browser = await openChromium(allowed, [server.url, other]);
    await using watched = await browser.open({ colorScheme: 'light' });
    const { page, wrong } = watched;

    await page.goto(`${server.url}/@acme/apis/pay`);
    await page.getByText('About this version').click();
    await page.getByText('Show this reference on your own pages').click();
    snippet = (await page.getByLabel('HTML for a page').inputValue()).replace('/embed"', '/embed?theme=dark"');

    await page.goto(allowed);
    const frame = page.frameLocator('#stele-pay');
    await frame.getByRole('heading', { name: 'Pets' }).waitFor();
    await page.waitForFunction('Number(document.querySelector("iframe").height) > 1500');
    const inner = 'document.documentElement.scrollHeight - document.documentElement.clientHeight';
    expect(await frame.locator('html').evaluate(inner)).toBe(0);
    const ground = 'getComputedStyle(document.documentElement).backgroundColor';
    expect(await frame.locator('html').evaluate(ground)).toBe('rgb(21, 22, 19)');
    expect(wrong).toEqual([]);

    await page.goto(other);
    await page.waitForFunction('document.querySelector("iframe").height === "600"');
    await expect.poll(() => wrong.join('\n')).toMatch(/frame-ancestors/);
    expect(await page.locator('iframe').getAttribute('height')).toBe('600');

    await page.goto(`${server.url}/@acme/apis/pay/embed`);
    expect(await seriousFindings(page)).toEqual([]);
  },
);
