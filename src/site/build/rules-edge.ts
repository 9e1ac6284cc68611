import { fileExtensions } from '../../sites/model/page-path.ts';
import type { FileKind } from './build-items.ts';
import { readFileSync } from 'node:fs';
import { fillText } from '../../model/escape.ts';
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

const folder = new URL('../../../content/edge/', import.meta.url);

/** The files with which each host runs the function, and what they are made of. */
const hosts: Readonly<Record<EdgeHost, Readonly<Record<string, string>>>> = {
  cloudflare: {
    '_worker.js': 'cloudflare.txt',
    // Readers do not get the function as a file, nor its configuration.
    '.assetsignore': 'assetsignore',
    'wrangler.jsonc': 'wrangler.json',
  },
  netlify: { 'netlify/edge-functions/stele.js': 'netlify.txt', 'netlify.toml': 'netlify.toml' },
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
  const read = (file: string) => readFileSync(new URL(file, folder), 'utf8');
  const answer = read('answer.js').replace('export async function answer', 'async function answer');
  const code = `// Written by \`stele build\`.\n${shared}${answer}`;
  const files = Object.entries(hosts[host]).map(([path, file]) => [path, fillText(read(file), { code })]);
  const resources = [...table.resources].map(([name, rules]) => [
    `rules/edge${name}.json`,
    JSON.stringify({
      ...rules,
      versions: Object.fromEntries([...rules.versions].map(([label, version]) => [label, ofVersion(version)])),
      digests: Object.fromEntries(rules.digests),
      ranges: Object.fromEntries(rules.ranges),
    }),
  ]);
  return Object.fromEntries([...files, ...resources]) as Record<string, string>;
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
  "The JSON of `report`, `provenance`, `manifest`, `attestation`, `diff`, `versions`, `dependants` and of an organization's lists is at `….json`.",
  '`@latest`, digests and ranges such as `@^1` return 404.',
  'Withdrawn versions and deleted resources return 404 instead of 410.',
  'It does not use the compressed files.',
  'It does not send `Repr-Digest`, `Content-Location`, `Link`, `Deprecation`, `Sunset`, CORS, caching and security headers, and it guesses media types.',
];
