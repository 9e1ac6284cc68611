import { fileExtensions } from '../../sites/model/page-path.ts';
import type { FileKind } from './build-items.ts';
import { readFileSync } from 'node:fs';
import { types } from '../../model/kinds.ts';
import type { RulesTable, VersionRules } from './rules-table.ts';

/** Files of documentation sites, as web servers tell them apart by their paths. The first that matches counts. */
export interface SitePlace {
  kind: FileKind;
  /** Matches the path from the registry's base, as an expression without its ends. */
  path: string;
  /** What the name of the file has besides the path. */
  ending: '' | '.html' | 'index.html';
  /** Null: that of the kind, as the registry sends it. */
  mediaType: string | null;
}

const site = '/sites/[^/ ]+/[^/ ]+/';
const below = `${site}[^ ]*`;

const lists = [
  ['llms\\.txt', 'text/plain; charset=utf-8'],
  ['robots\\.txt', 'text/plain; charset=utf-8'],
  ['sitemap\\.xml', 'application/xml; charset=utf-8'],
  ['feed\\.atom', 'application/atom+xml; charset=utf-8'],
  ['search\\.json', 'application/json'],
  ['theme\\.css', 'text/css; charset=utf-8'],
] as const;

export const sitePlaces: readonly SitePlace[] = [
  ...lists.map(([name, mediaType]): SitePlace => ({ kind: 'site-list', path: site + name, ending: '', mediaType })),
  { kind: 'site-markdown', path: `${below}\\.md`, ending: '', mediaType: null },
  ...fileExtensions.map(([extension, mediaType]): SitePlace => ({
    kind: extension === 'svg' ? 'site-drawing' : 'site-file',
    path: `${below}\\.(?i:${extension})`,
    ending: '',
    mediaType,
  })),
  { kind: 'site-page', path: `${site}(?:[^ ]*/)?`, ending: 'index.html', mediaType: null },
  { kind: 'site-page', path: `${below}[^/ ]`, ending: '.html', mediaType: null },
];

/** The hosts that an edge function answers for. */
export const edgeHosts = ['cloudflare', 'netlify'] as const;
export type EdgeHost = (typeof edgeHosts)[number];

const source = new URL('../../../content/edge/answer.js', import.meta.url);

/** How each host runs the function: the file, and what it adds to the source. */
const hosts: Readonly<Record<EdgeHost, (code: string) => Record<string, string>>> = {
  cloudflare: (code) => ({
    '_worker.js': `${code}
export default {
  fetch: (request, { ASSETS }) =>
    answer(request, table, async (path) => {
      const found = await ASSETS.fetch(new URL(\`\${table.base}\${path}\`, request.url));
      return found.status === 200 ? found : null;
    }),
};
`,
    // Readers do not get the function as a file, nor its configuration.
    '.assetsignore': '_worker.js\nwrangler.jsonc\n.stele-build.json\n',
    'wrangler.jsonc': `${JSON.stringify(
      {
        name: 'stele',
        main: '_worker.js',
        compatibility_date: '2026-01-01',
        assets: { directory: '.', binding: 'ASSETS', html_handling: 'none', run_worker_first: true },
      },
      null,
      2,
    )}\n`,
  }),
  netlify: (code) => ({
    'netlify/edge-functions/stele.js': `${code}
// Files are asked for by their own paths, which this function passes on.
const own = 'x-stele-file';

export default async (request, context) => {
  if (request.headers.get(own) !== null) return context.next();
  return answer(request, table, async (path) => {
    const found = await fetch(new URL(\`\${table.base}\${path}\`, request.url), { headers: { [own]: '1' } });
    return found.status === 200 ? found : null;
  });
};

export const config = { path: '/*' };
`,
    'netlify.toml':
      '# Written by `stele build`.\n[build]\n  publish = "."\n  edge_functions = "netlify/edge-functions"\n',
  }),
};

const mediaTypes = Object.fromEntries(Object.entries(types).map(([type, about]) => [type, about.mediaTypes]));

/** The files of an edge function that answers as the registry does, and what it knows of each resource. */
export function edgeRules(table: RulesTable, host: EdgeHost): Record<string, string> {
  const { base, url, headers } = table;
  const problems = Object.fromEntries(
    table.problems.map(({ code, status, title, meaning }) => [
      code,
      { type: `${url}/problems/${code}`, title, status, detail: meaning },
    ]),
  );
  const shared = `const table = ${JSON.stringify({ base, headers, problems, types: mediaTypes, sites: sitePlaces, moved: Object.fromEntries(table.moved) })};\n`;
  const code = readFileSync(source, 'utf8').replace('export async function answer', 'async function answer');
  const resources = [...table.resources].map(([name, rules]) => [
    `rules/edge${name}.json`,
    JSON.stringify({
      ...rules,
      versions: Object.fromEntries([...rules.versions].map(([label, version]) => [label, ofVersion(version)])),
      digests: Object.fromEntries(rules.digests),
      ranges: Object.fromEntries(rules.ranges),
    }),
  ]);
  return { ...hosts[host](`// Written by \`stele build\`.\n${shared}${code}`), ...Object.fromEntries(resources) };
}

/** What the function knows of a version: of digests, those of the plain documents. */
function ofVersion({ headers, policy, pagePolicy, digests }: VersionRules): object {
  const plain = digests.filter(([ending]) => /^\.(?:json|yaml)$/.test(ending));
  const hex = plain.map(([ending, digest]) => [ending.slice(1), digest.slice('sha256:'.length)]);
  return { headers, policy, pagePolicy, digests: Object.fromEntries(hex) as object };
}

/**
 * How a host without rules differs from the registry, a sentence each.
 * `content/docs/static-build.md` lists the same.
 */
export const plainHostLimits: readonly string[] = [
  'It ignores `Accept`: a URL without an ending is the page, and documents are at `.json` and `.yaml`.',
  "The data of `report`, `provenance`, `manifest`, `attestation`, `diff`, `versions`, `dependants` and of an organization's lists is at `….json`.",
  '`@latest`, digests and ranges such as `@^1` return 404.',
  'Withdrawn versions and deleted resources return 404 instead of 410.',
  'It does not use the compressed files.',
  'It does not send `Repr-Digest`, `Content-Location`, `Link`, `Deprecation`, `Sunset`, CORS, caching and security headers, and it guesses media types.',
];
