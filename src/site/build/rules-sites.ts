import { fileExtensions } from '../../sites/model/page-path.ts';
import type { FileKind } from './build-items.ts';

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
