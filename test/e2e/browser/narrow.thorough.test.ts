import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deploy, writeSite } from '../../sites/server/site-world.ts';
import { executablePath, openChromium, seriousFindings, whySkipped, type OpenChromium } from './chromium.ts';
import { openSite, type OpenSite } from './site.ts';

// Every text of the documents is a word longer than the screen is wide.
const word = 'Supercalifragilisticexpialidocious'.repeat(4);
const path = `/${'a-segment-without-an-end'.repeat(5)}/{${word}}/${word}`;
const prose = `${word} **${word}** \`${word}\`\n\n| ${word} | b |\n|--|--|\n| ${word} | ${word} |\n\n\`\`\`\n${word}\n\`\`\`\n\n# ${word}\n\n<https://example.com/${word}>\n\n![${word}](/wide.svg)`;
const field = { type: 'string', description: word, enum: [word], default: word, examples: [word], pattern: word };
const schema = { title: word, description: prose, type: 'object', required: [word], properties: { [word]: field } };
const body = { schema: { $ref: `#/components/schemas/${word}` }, examples: { [word]: { summary: word, value: word } } };
const operation = {
  tags: [word],
  operationId: word,
  deprecated: true,
  summary: word,
  description: prose,
  parameters: [{ name: word, in: 'path', required: true, schema: field }],
  requestBody: { content: { [`application/vnd.${word}+json`]: body } },
  responses: {
    200: { description: word, headers: { [word]: { schema: field } }, content: { 'application/json': body } },
    default: { description: word },
  },
};
const flows = { implicit: { authorizationUrl: `https://example.com/${word}`, scopes: { [word]: word } } };

function api(version: string, operations: number): string {
  const many = Array.from({ length: operations - 1 }, (_, at) => [
    `${path}/${at}`,
    { get: { tags: [`${at % 2}`], description: `${word} `.repeat(80), operationId: `${word}${at}`, responses: {} } },
  ]);
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: `${word} API`, version, description: prose, contact: { name: word, email: `${word}@example.com` } },
    servers: [{ url: `https://example.com/${word}`, description: word }],
    tags: [{ name: word, description: word }],
    security: [{ [word]: [word] }],
    paths: { [path]: { post: operation }, ...Object.fromEntries(many) },
    webhooks: { [word]: { post: { summary: word, responses: {} } } },
    components: {
      securitySchemes: { [word]: { type: 'oauth2', description: word, flows } },
      schemas: { [word]: schema },
    },
  });
}

const pay = `/@acme/apis/${'a-long-slug'.repeat(5)}`;
const kinds = [
  '/',
  '/@acme',
  '/@acme/apis',
  pay,
  `${pay}@1.0.0`,
  `${pay}/versions`,
  `${pay}@1.1.0/report`,
  `${pay}@1.1.0/provenance`,
  `${pay}@1.1.0/diff`,
  `${pay}@1.1.0/try`,
  `${pay}@1.1.0/embed`,
  '/@acme/apis/big',
  '/@acme/schemas/order',
  '/@acme/rulesets/style',
  '/@acme/rulesets/style/report',
  `/search?q=${word}`,
  '/problems',
  '/problems/not_found',
  `/nowhere/${word}`,
  `/@acme/apis/${'x'.repeat(60)}`,
  '/docs/',
  '/docs/commands',
  '/docs/management-api',
  '/sites/acme/handbook/',
  '/sites/acme/handbook/guide',
  '/account',
];

let site: OpenSite;
let browser: OpenChromium;

describe.skipIf(executablePath === undefined)(`on a screen of 360 pixels, words without an end${whySkipped}`, () => {
  beforeAll(async () => {
    site = await openSite({
      organizations: { acme: { name: word.slice(0, 100), defaults: { ruleset: '@acme/rulesets/style' } } },
    });
    browser = await openChromium(site.url);
    const note = { author: word, subject: word, authoredAt: '2026-03-01T12:00:00.000Z' } as never;
    const files = { 'wide.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="2400" height="300"></svg>' };
    const commit = { repository: `https://github.com/acme/${word}.git`, commit: '01234567'.repeat(5), note, files };
    await site.publish('@acme/rulesets/style', `${word}.yaml`, 'rules:\n  operation-operationId-url-safe: warn\n');
    await site.publish(pay.slice(1), `${word}/${word}.json`, api('1.0.0', 1), commit);
    await site.publish(pay.slice(1), `${word}/${word}.json`, api('1.1.0', 2), commit);
    await site.publish('@acme/apis/big', 'big.json', api('1.0.0', 260), commit);
    await site.publish('@acme/schemas/order', 'order.json', JSON.stringify({ ...schema, $defs: { [word]: schema } }));
    await writeSite(site.registry, {
      'index.md': `---\ntitle: ${word}\n---\n${prose}\n`,
      'guide.md': `# ${word}\n\n${prose}\n\n::reference ${pay.slice(1)}@1.0.0\n`,
    });
    await deploy(site.registry);
  });

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
  });

  test.for(kinds.map((kind, at) => [kind, (['light', 'dark'] as const)[at % 2]!] as const))(
    '%s',
    async ([kind, colorScheme]) => {
      await using watched = await browser.open({ viewport: { width: 360, height: 800 }, colorScheme });
      const { page } = watched;
      await expect
        .poll(async () => (await page.goto(`${site.url}${kind}`)) !== null && (await page.content()))
        .not.toContain('data-reload');
      // Nothing that is folded is wider, either.
      await page.evaluate(`for (const each of document.querySelectorAll('details')) each.open = true`);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      // Whatever else is shown, axe-core sees in `pages.test.ts` and beside it.
      if (kind === pay) expect(await seriousFindings(page)).toEqual([]);
    },
  );
});
