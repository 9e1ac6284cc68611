import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOf, hexOf } from '../model/digest.ts';

/** A file that pages need: a stylesheet, a script, an image. */
export interface Asset {
  bytes: Uint8Array;
  mediaType: string;
}

/** The files that pages need, each under a path that names its content, so that a browser may keep it for ever. */
export interface Assets {
  /** Every name: `style.css`, …; of a script that imports others, `json-schema/index.js`. */
  names(): string[];
  /** Path under the base: `/assets/style.0123abcd.css`, `/assets/json-schema.0123abcd/index.js`. Throws for a name that there is not. */
  path(name: string): string;
  /** What a path names. Not current: the content is another one than the path says, as on a page that was made before an update. */
  find(path: string): { name: string; asset: Asset; isCurrent: boolean } | null;
}

const ours = fileURLToPath(new URL('../../templates/assets/', import.meta.url));

/** Files of packages, served as they are. */
const packaged: Readonly<Record<string, () => string>> = {
  'swagger-ui-bundle.js': () => beside(import.meta.resolve('swagger-ui-dist'), 'swagger-ui-bundle.js'),
  'swagger-ui.css': () => beside(import.meta.resolve('swagger-ui-dist'), 'swagger-ui.css'),
  'minisearch.js': () => fileURLToPath(import.meta.resolve('minisearch')),
};

/** Modules of packages that import each other by relative names: a folder each, named by the content of all of it. */
const packagedFolders: Readonly<Record<string, () => string>> = {
  'json-schema': () => dirname(fileURLToPath(import.meta.resolve('@cfworker/json-schema'))),
};

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

function beside(url: string, name: string): string {
  return join(dirname(fileURLToPath(url)), name);
}

/** The assets of `templates/assets/` and of packages; a file of the same name in the operator's `assets/` takes the place of ours. Files are read when they are first asked for, once. */
export function createAssets(folder: string | null): Assets {
  const own = folder === null ? null : join(folder, 'assets');
  const read = new Map<string, { asset: Asset; path: string }>();

  function fileOf(name: string): string | null {
    if (own !== null && existsSync(join(own, name))) return join(own, name);
    if (Object.hasOwn(packaged, name)) return packaged[name]!();
    const [first, second] = name.split('/');
    if (second !== undefined && Object.hasOwn(packagedFolders, first!)) return join(packagedFolders[first!]!(), second);
    return existsSync(join(ours, name)) ? join(ours, name) : null;
  }

  function names(): string[] {
    const found = [...filesIn(ours), ...(own === null ? [] : filesIn(own)), ...Object.keys(packaged)];
    for (const [name, where] of Object.entries(packagedFolders)) {
      found.push(...filesIn(where()).map((file) => `${name}/${file}`));
    }
    return [...new Set(found)].sort();
  }

  function load(name: string): { asset: Asset; path: string } | null {
    const known = read.get(name);
    if (known) return known;
    const mediaType = mediaTypes[extname(name)];
    // A name is one of a list of files: nothing else is looked for on the disk.
    if (mediaType === undefined || !names().includes(name)) return null;
    const bytes = readFileSync(fileOf(name)!);
    const loaded = { asset: { bytes, mediaType }, path: pathOf(name, bytes) };
    read.set(name, loaded);
    return loaded;
  }

  function pathOf(name: string, bytes: Uint8Array): string {
    const [first, second] = name.split('/');
    if (second === undefined) {
      const extension = extname(name);
      return `/assets/${name.slice(0, -extension.length)}.${hashOf(bytes)}${extension}`;
    }
    const where = packagedFolders[first!]!();
    const all = filesIn(where).map((file) => `${file} ${hashOf(readFileSync(join(where, file)))}`);
    return `/assets/${first}.${hashOf(Buffer.from(all.join('\n')))}/${second}`;
  }

  return {
    names,
    path(name) {
      const loaded = load(name);
      if (loaded === null) throw new TypeError(`There is no asset ${name}.`);
      return loaded.path;
    },
    find(path) {
      const parts = /^\/assets\/([a-z0-9-]+)\.[0-9a-f]{8}(\/[A-Za-z0-9-]+)?(\.[a-z]+)$/.exec(path);
      if (!parts) return null;
      const name = `${parts[1]}${parts[2] ?? ''}${parts[3]}`;
      const loaded = load(name);
      return loaded && { name, asset: loaded.asset, isCurrent: loaded.path === path };
    },
  };
}

/** The files of a folder that can be served: neither types nor maps. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^[A-Za-z0-9-]+\.(?:css|js|svg)$/.test(name))
    .sort();
}

function hashOf(bytes: Uint8Array): string {
  return hexOf(digestOf(bytes)).slice(0, 8);
}
