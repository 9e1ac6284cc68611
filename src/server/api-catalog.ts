import { Router } from 'express';
import { coordinateOf, type Resource } from '../model/resource.ts';
import { listPublicApis } from '../registry/catalog.ts';
import type { ServerContext } from './context.ts';
import { createLinks } from '../site/links.ts';
import { onlyGet } from './methods.ts';

const path = '/.well-known/api-catalog';
const mediaType = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/** Milliseconds for which one walk over the registry answers everybody. With the age of a ref it keeps within a second. */
const sharedFor = 400;

/** The catalog of public APIs (RFC 9727): for each, where it is and what describes it. */
export function createApiCatalog(context: Pick<ServerContext, 'registry' | 'url' | 'v1'>): Router {
  const { registry, url } = context;
  const { latest } = registry.config.cache;
  let walk: { startedAt: number; answer: Promise<object> } | null = null;

  async function build(): Promise<object> {
    const entries = (await listPublicApis(registry)).map((api) => describe(url, api));
    if (context.v1) entries.unshift(describeOwn(url));
    const item = entries.map(({ anchor }) => ({ href: anchor }));
    return { linkset: [{ anchor: `${url}${path}`, item }, ...entries] };
  }

  const router = Router({ caseSensitive: true, strict: true });
  router.get(path, async (_request, response) => {
    const time = registry.now().getTime();
    if (walk === null || time - walk.startedAt >= sharedFor) walk = { startedAt: time, answer: build() };
    const catalog = await walk.answer;
    response.set({
      'Cache-Control': `public, max-age=${latest}, must-revalidate`,
      'Access-Control-Allow-Origin': '*',
      'Content-Type': mediaType,
      Link: `<${path}>; rel="api-catalog"`,
    });
    response.send(Buffer.from(JSON.stringify(catalog)));
  });
  router.all(path, onlyGet);
  return router;
}

interface Entry {
  anchor: string;
  [relation: string]: unknown;
}

function describe(url: string, api: Resource): Entry {
  const links = createLinks(url);
  const to = (options?: Parameters<typeof links.to>[1]) => links.whole(links.to(coordinateOf(api), options));
  const documents = [
    { href: to({ format: 'json' }), type: 'application/openapi+json' },
    { href: to({ format: 'yaml' }), type: 'application/openapi+yaml' },
  ];
  const history = [{ href: to({ view: 'versions' }), type: 'application/json' }];
  return { anchor: to(), 'service-desc': documents, 'version-history': history };
}

function describeOwn(url: string): Entry {
  return {
    anchor: `${url}/v1`,
    'service-desc': [{ href: `${url}/v1/openapi.json`, type: 'application/openapi+json' }],
  };
}
