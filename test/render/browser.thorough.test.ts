import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { renderDocument } from '../../src/render/render.ts';
import {
  executablePath,
  openChromium,
  seriousFindings,
  whySkipped,
  type OpenChromium,
} from '../e2e/browser/chromium.ts';
import { fullDocuments } from './full-documents.ts';
import { payloads } from './payloads.ts';
import { published } from './published.ts';
import { sampleOf } from '../sample.ts';
import { checkHtml } from './strict-html.ts';

describe.skipIf(executablePath === undefined)(`in a browser${whySkipped}`, () => {
  let browser: OpenChromium;
  beforeAll(async () => {
    browser = await openChromium('about:blank');
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  it('the tree that it builds is the one that the strict reader reads, and nothing runs', async () => {
    await using watched = await browser.open();
    const names = Object.keys(fullDocuments(''));
    for (const [index, name] of names.entries()) {
      // Many payloads to a page: what one leaves open would take in the next. Everything is every payload in every document; CI
      // takes every payload in one of the documents.
      const pages = sampleOf(payloads, names.length, index).map(
        (payload) => renderDocument(published(fullDocuments(payload)[name]))!.html,
      );
      for (let at = 0; at < pages.length; at += 40) {
        const html = pages.slice(at, at + 40).join('\n');
        await watched.page.setContent(`<!doctype html><title>x</title><main>${html}</main>`);
        const counted = await watched.page.evaluate(() => {
          type Tree = { querySelectorAll(selector: string): Iterable<{ localName: string; namespaceURI: string }> };
          const { document } = globalThis as unknown as { document: Tree };
          const counts: Record<string, number> = {};
          for (const { localName, namespaceURI } of document.querySelectorAll('main *')) {
            const key = namespaceURI.endsWith('xhtml') ? localName : `${namespaceURI} ${localName}`;
            counts[key] = (counts[key] ?? 0) + 1;
          }
          return counts;
        });
        expect(counted).toEqual(checkHtml(html).elements);
      }
    }
    expect(watched.wrong).toEqual([]);
  });

  it.each(['3.1', '3.0', 'schema', '3.2', 'redocly', '2.0', 'spectral'])(
    'axe-core finds nothing serious in %s',
    async (name) => {
      const text = readFileSync(new URL(`../fixtures/render/${name}.yaml`, import.meta.url), 'utf8');
      const { html, navigation } = renderDocument(published(parse(text)))!;
      await using watched = await browser.open();
      await watched.page.setContent(
        `<!doctype html><html lang="en"><title>x</title><nav>${navigation}</nav><main><h1>x</h1>${html}</main></html>`,
      );
      expect(await seriousFindings(watched.page)).toEqual([]);
    },
  );
});
