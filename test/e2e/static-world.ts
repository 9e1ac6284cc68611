import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { parseCheckpoint } from '../../src/model/transparency/checkpoint.ts';
import { tilePath, tilesOf } from '../../src/model/transparency/tree.ts';
import { changeResource, setStatus } from '../server/registry.ts';
import { ask } from '../server/http.ts';
import { deploy, png, writeSite } from '../sites/server/site-world.ts';
import type { OpenSite } from './browser/site.ts';

const when = '2026-03-01T12:00:00.000Z';

/** What no file of a build may say: in every text that a private resource, and what was said of it, can have. */
export const canary = 'zqcanary';

/** Header fields that every form of a build gives as the server does. */
export const comparedFields = [
  'access-control-allow-origin',
  'access-control-expose-headers',
  'cache-control',
  'content-location',
  'content-security-policy',
  'content-type',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'deprecation',
  'link',
  'location',
  'referrer-policy',
  'repr-digest',
  'sunset',
  'vary',
  'x-content-type-options',
];

/** Several organizations, versions in every state, something of every type, a large document, and private things everywhere. */
export async function publishEverything({ registry, publish }: OpenSite): Promise<void> {
  const pay = '@acme/apis/pay';
  for (const version of ['1.0.0', '1.0.1', '1.1.0', '1.1.1', '1.2.0', '2.0.0-beta.1', 'edge+7f3a'])
    await publish(pay, 'pay.yaml', apiText('Pay & "Refund" $uri', version), { version, files: images });
  await setStatus(registry, pay, '1.0.0', {
    state: 'deprecated',
    reason: 'It is <old>.',
    replacement: 'https://example.test/?a=$uri&b={c};"d"',
    sunset: '2027-01-01T00:00:00.000Z',
    since: when,
  });
  await setStatus(registry, pay, '1.1.0', { state: 'yanked', reason: 'broken', since: when });
  await setStatus(registry, pay, '1.1.1', { state: 'withdrawn', reason: 'it named a person', since: when });
  await publish('@acme/apis/huge', 'huge.json', largeText(1500), { version: '1.0.0' });
  await publish('@acme/apis/old', 'old.yaml', apiText('Old', '1.0.0'), { version: '1.0.0' });
  await changeResource(registry, '@acme/apis/old', (resource) => ({ ...resource, deletedAt: when }));
  const description = '![A drawing](https://cdn.shop.test/order.png)';
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Order',
    type: 'object',
    description,
  };
  await publish('@shop/schemas/order', 'order.json', JSON.stringify(schema), { version: '1' });
  await publish('@shop/rulesets/style', 'style.yaml', 'rules:\n  operation-summary: error\n', { version: '1.0.0' });
  await publish('@acme/rulesets/own', 'own.yaml', 'extends: "@shop/rulesets/style@^1"\n', { version: '1.0.0' });
  await changeResource(registry, '@acme/apis/pay', (resource) => ({ ...resource, ruleset: '@shop/rulesets/style' }));
  await publishPrivate(registry, publish);
  await publishSites(registry);
}

/** A public site that embeds a public and a private API and names a private site, and that private site. */
async function publishSites(registry: OpenSite['registry']): Promise<void> {
  const hidden = { org: 'acme', slug: `${canary}-site` };
  const secret = `@acme/apis/${canary}-api`;
  await writeSite(
    registry,
    {
      'index.md':
        '---\ntitle: Home\ndescription: "Payments & <more>."\n---\nSee [the guide](guide/start.md).\n\n![Logo](logo.png)',
      'guide/index.md': '# Guide\n\n```js\nconst a = 1;\n```\n',
      'guide/start.md': '# Start\n\n## Charge\n\nSend money.\n\n::operation @acme/apis/pay@1.0.1 listPayments\n',
      'reference.md': '---\ntitle: Reference\napi: "@acme/apis/pay"\n---\n',
      'v1.2/notes.md': `# Notes 1.2\n\nBefore.\n\n::reference ${secret}\n\n::operation ${secret} listPayments\n\nAfter.\n`,
      'logo.png': png,
      'guide/drawing.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
      'data/list.CSV': 'a,b\n',
      'data/list.json': '[]',
    },
    {
      theme: { accent: '#0a7d55', logo: 'logo.png' },
      redirects: { old: 'guide/start#charge', 'older/': 'old' },
      versions: [
        { title: '1.2', folder: 'v1.2/' },
        { title: `${canary} version`, site: hidden.slug },
      ],
    },
  );
  await deploy(registry);
  const words = { 'index.md': `# ${canary} page\n`, [`${canary}.png`]: png };
  await writeSite(registry, words, { visibility: 'private', title: `${canary} title` }, hidden);
  await deploy(registry, hidden);
}

/** Files that a document shows. */
const images = {
  'img/flow.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><script>alert(1)</script></svg>',
  'img/dot.gif': 'GIF89a\x01\0\x02\0',
};

/** The configuration for the images of another host. */
export const imageHosts = { organizations: { shop: { images: ['cdn.shop.test'] } } };

async function publishPrivate(registry: OpenSite['registry'], publish: OpenSite['publish']): Promise<void> {
  const text = apiText(`${canary} title`, `9.9.9-${canary}`).replace('get:', `x-${canary}: 1\n    get:`);
  const isPrivate = { version: `9.9.9-${canary}`, visibility: 'private' as const };
  await publish(`@acme/apis/${canary}-api`, `${canary}.yaml`, text, isPrivate);
  await publish(`@${canary}-org/apis/plan`, `${canary}.yaml`, text, isPrivate);
  await publish(
    `@acme/schemas/${canary}-schema`,
    's.json',
    JSON.stringify({ title: canary, type: 'object' }),
    isPrivate,
  );
  await publish(`@shop/rulesets/${canary}-rules`, 'r.yaml', 'rules:\n  operation-summary: error\n', isPrivate);
  for (const name of [`@acme/apis/${canary}-api`, `@${canary}-org/apis/plan`]) {
    await changeResource(registry, name, (resource) => ({
      ...resource,
      name: `${canary} name`,
      description: `${canary} description`,
      ruleset: '@shop/rulesets/style',
    }));
  }
  await setStatus(registry, `@${canary}-org/apis/plan`, `9.9.9-${canary}`, {
    state: 'withdrawn',
    reason: `${canary} reason`,
    since: when,
  });
}

function apiText(title: string, version: string): string {
  return [
    'openapi: 3.1.0',
    'info:',
    `  title: ${JSON.stringify(title)}`,
    `  version: ${JSON.stringify(version)}`,
    '  description: "Payments <b>and</b> refunds. ![Flow](img/flow.svg) ![Dot](img/dot.gif)"',
    'servers: [{ url: "https://api.example.test/v1" }]',
    'paths:',
    '  /payments:',
    '    get:',
    `      operationId: listPayments`,
    '      responses:',
    '        "200": { description: All of them. }',
    '',
  ].join('\n');
}

/** An OpenAPI document of so many operations. */
function largeText(operations: number): string {
  const paths = Array.from({ length: operations }, (_, n) => [
    `/things/${n}`,
    {
      get: {
        operationId: `getThing${n}`,
        summary: `Reads thing ${n}`,
        responses: { 200: { description: `The thing that has the number ${n}.` } },
      },
    },
  ]);
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Huge', version: '1.0.0' },
    paths: Object.fromEntries(paths),
  });
}

/** What a server links to beside the files of a build: the proof of a version changes with each checkpoint. */
export function withoutProof(link: string | undefined): string | undefined {
  return link?.replace(/, <[^>]*\?proof>; rel="[^"]*"/, '');
}

const decoders: Readonly<Record<string, (bytes: Uint8Array) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
};

/** Whether a page offers to compare versions on a server, which files cannot. */
export const offersToCompare = (path: string): boolean => /\/(?:versions|diff)(?:$|[/? ])/.test(path);

/** A page without that offer, whatever its coding. */
export function withoutOffer(body: Buffer, coding: string | undefined): string {
  return String(decoders[coding ?? '']?.(body) ?? body).replace(/<form class="compare"[^]*?<\/form>\s*/, '');
}

/** Every path under the base that leads on from the first page: links of pages, lists, feeds, sitemap, `Link` fields. Without queries. */
export async function crawl(port: number, base: string): Promise<Set<string>> {
  const found = new Set([
    '/',
    '/sites/acme/handbook/',
    '/llms.txt',
    '/robots.txt',
    '/sitemap.xml',
    '/feed.json',
    '/.well-known/api-catalog',
    '/apis.json',
    '/@acme/catalog.json',
    '/@acme/catalog-info.yaml',
    '/@none/catalog.json',
    ...['checkpoint', 'key', 'key.pem', 'key.proof'].map((name) => `/log/${name}`),
  ]);
  const { body: checkpoint } = await ask(port, { target: `${base}/log/checkpoint`, headers: [] });
  const { size } = parseCheckpoint(checkpoint.toString()) ?? { size: 0 };
  for (const tile of tilesOf(size)) found.add(`/log/${tilePath(tile)}`);
  for (const path of found) {
    for (const accept of ['text/html', 'application/json']) {
      const { status, headers, body } = await ask(port, { target: `${base}${path}`, headers: [['Accept', accept]] });
      if (status !== 200) continue;
      for (const link of linksIn(`${headers.get('link') ?? ''}\n${body.toString()}`, base)) found.add(link);
    }
  }
  return found;
}

function linksIn(text: string, base: string): string[] {
  const whole = text.matchAll(/http:\/\/registry\.test([^\s"'<>#?)\\]*)/g);
  const local = text.matchAll(/(?:(?:href|src|action|data-[a-z]+)="|<)(\/[^\s"'<>#?)\\]*)/g);
  return [...whole, ...local].flatMap(([, path]) => {
    if (path === undefined || !path.startsWith(`${base}/`)) return [];
    const target = path.slice(base.length).replaceAll('&#43;', '+').replaceAll('&amp;', '&');
    return /^\/(?:v1|login|account)/.test(target) || target.includes('{') ? [] : [target];
  });
}
