import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payloads } from '../../render/payloads.ts';
import { executablePath, openChromium, whySkipped, type OpenChromium } from './chromium.ts';
import { openSite, type OpenSite } from './site.ts';

// Every payload in every text of a document and around it: names, labels' originals, file names, descriptions, reasons.

const canRun = executablePath !== undefined;

/** An API in which this text stands wherever text can stand. Keys that must be distinct get a number. */
function hostileApi(texts: readonly string[]): object {
  const all = texts.join('\n\n');
  const each = <T>(make: (text: string, index: number) => T): T[] => texts.map(make);
  const properties = Object.fromEntries(
    each((text, index) => [`${text} ${index}`, { title: text, description: text, default: text, examples: [text] }]),
  );
  const operation = (text: string, index: number) => ({
    operationId: `${text} ${index}`,
    summary: text,
    description: text,
    tags: [text],
    externalDocs: { url: text, description: text },
    parameters: [
      {
        name: `${text} p`,
        in: 'query',
        description: text,
        schema: { type: 'string', enum: [text], pattern: text },
        example: text,
      },
    ],
    requestBody: {
      description: text,
      content: {
        [text]: { schema: { type: 'object', properties: { [text]: { const: text } } }, example: { [text]: text } },
      },
    },
    responses: {
      200: {
        description: text,
        headers: { [`X-${index}`]: { description: text, schema: { type: 'string', default: text } } },
      },
    },
  });
  return {
    openapi: '3.1.0',
    info: {
      title: texts[0]!,
      version: `1.0.0 ${texts[0]!}`,
      description: all,
      contact: { name: texts[0]!, url: texts[1] ?? texts[0]! },
      license: { name: texts[0]!, identifier: texts[0]! },
    },
    externalDocs: { url: texts[0]!, description: texts[0]! },
    servers: each((text) => ({ url: text, description: text })),
    tags: each((text, index) => ({ name: `${text} ${index}`, description: text })),
    paths: Object.fromEntries(each((text, index) => [`/${index}/${text}`, { post: operation(text, index) }])),
    components: { schemas: { Hostile: { type: 'object', title: texts[0]!, description: all, properties } } },
  };
}

let site: OpenSite;
let browser: OpenChromium;

beforeAll(async () => {
  if (!canRun) return;
  site = await openSite({ organizations: { acme: { name: '<img src=x onerror=alert(1)>' } } });
  browser = await openChromium(site.url);
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
});

describe.skipIf(!canRun)(`documents that want to be programs${whySkipped}`, () => {
  const wellFormed = payloads.map((text) => text.toWellFormed()); // half a character is no document
  const size = Math.ceil(payloads.length / 4);
  const parts = Array.from({ length: Math.ceil(wellFormed.length / size) }, (_, part) =>
    wellFormed.slice(part * size, (part + 1) * size),
  );

  test.for(parts.map((part, index) => ({ part, index })))(
    'payloads of part $index do nothing',
    async ({ part: texts, index }) => {
      const slug = `hostile-${index}`;
      const label = await site.publish(
        `@acme/apis/${slug}`,
        `${texts[0]!.replace(/[^\w<>"'= ]/g, '')}.json`,
        JSON.stringify(hostileApi(texts)),
      );
      await using watched = await browser.open({ viewport: { width: 1440, height: 900 } });
      const { page, wrong } = watched;
      // Lists have the documents of all parts.
      const lists = index === parts.length - 1 ? ['/@acme', '/'] : [];
      const reference = `/@acme/apis/${slug}`;
      for (const path of [reference, `${reference}@${encodeURIComponent(label)}/try`, ...lists]) {
        const response = await page.goto(`${site.url}${path}`);
        expect(response!.status()).toBe(200);
        // The form is made when the script has read the document.
        if (path.endsWith('/try')) {
          await page.locator('.index a').first().click();
          await page.waitForSelector('#try form', { state: 'attached' });
        }
        // What is hidden until it is asked for is shown, and whatever can be chosen is pointed at.
        await page.evaluate(`for (const details of document.querySelectorAll('details')) details.open = true;
        for (const element of document.querySelectorAll('a, input, button, summary')) {
          for (const type of ['mouseover', 'mouseenter', 'focus', 'pointerover']) element.dispatchEvent(new Event(type, { bubbles: true }));
        }`);
        expect(
          await page.evaluate(
            // Facts for search engines are data: one JSON text each.
            `[...document.scripts].every(({ src, type, text }) => type === 'application/ld+json' && src === '' ? JSON.parse(text) : src.startsWith(location.origin + '/assets/')) `,
          ),
        ).toBe(true);
        expect(
          await page.evaluate(
            `[...document.querySelectorAll('*')].flatMap((element) => [element.localName === 'base' ? 'base' : '', ...element.getAttributeNames()]).filter((name) => name === 'base' || name.startsWith('on'))`,
          ),
        ).toEqual([]);
        expect(
          await page.evaluate(
            `[...document.querySelectorAll('#content a[href]')].filter(({ protocol }) => !/^(https?|mailto):$/.test(protocol)).map(({ href }) => href)`,
          ),
        ).toEqual([]);
      }
      expect(wrong.filter((line) => /^(?:dialog|request|script)|policy|Content Security Policy/.test(line))).toEqual(
        [],
      );
    },
  );

  test(`the texts of a resource and of its versions are text`, async () => {
    const name = '@acme/schemas/texts';
    await site.publish(
      name,
      'a".json',
      JSON.stringify({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title: '"><svg onload=alert(1)>',
        version: '1.0.0"><script>alert(1)</script>',
      }),
    );
    await using watched = await browser.open();
    const { page, wrong } = watched;
    await page.goto(`${site.url}/${name}`);
    expect(await page.locator('h1').textContent()).toContain('"><svg onload=alert(1)>');
    expect(await page.title()).toContain('"><svg onload=alert(1)>');
    expect(wrong).toEqual([]);
  });
});
