import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOf, hexOf } from '../model/digest.ts';

/** A file that pages use: a stylesheet, script, image or font. */
export interface Asset {
  bytes: Uint8Array;
  mediaType: string;
}

/**
 * The files that pages use. Each path contains a digest of the content, so browsers can cache it
 * forever.
 */
export type Assets = ReturnType<typeof createAssets>;

const ours = fileURLToPath(new URL('../../templates/assets/', import.meta.url));

/**
 * Modules of packages, and of the search, that import each other by relative names. Each gets a
 * folder named by the digest of its content.
 */
const packagedFolders: Readonly<Record<string, () => string>> = {
  'json-schema': () => dirname(fileURLToPath(import.meta.resolve('@cfworker/json-schema'))),
  ranking: () => fileURLToPath(new URL('../search/ranking', import.meta.url)),
};

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

/**
 * Opens the assets of `templates/assets/` and of packages. The operator's `assets/` overrides them
 * by name. `generated`: further assets, in memory. Each file is read once, on first use.
 */
export function createAssets(folder: string | null, generated: ReadonlyMap<string, Uint8Array> = new Map()) {
  const custom = folder === null ? null : join(folder, 'assets');
  const read = new Map<string, { asset: Asset; path: string }>();

  function fileOf(name: string): string | null {
    if (custom !== null && existsSync(join(custom, name))) return join(custom, name);
    const [first, second] = name.split('/');
    if (second !== undefined && Object.hasOwn(packagedFolders, first!)) return join(packagedFolders[first!]!(), second);
    return existsSync(join(ours, name)) ? join(ours, name) : null;
  }

  /** All names: `style.css`, …; for a script that imports others, `json-schema/index.js`. */
  function names(): string[] {
    const listed = [...filesIn(ours), ...(custom === null ? [] : filesIn(custom)), ...generated.keys()];
    for (const [name, where] of Object.entries(packagedFolders)) {
      listed.push(...filesIn(where()).map((file) => `${name}/${file}`));
    }
    return [...new Set(listed)].sort();
  }

  function load(name: string): { asset: Asset; path: string } | null {
    const asset = read.get(name);
    if (asset) return asset;
    const mediaType = mediaTypes[extname(name)];
    // Only listed names are read, so a request cannot choose a path.
    if (mediaType === undefined || !names().includes(name)) return null;
    const file = fileOf(name);
    const bytes = generated.get(name) ?? (file!.startsWith(ours) ? withFonts(brief(file!), name) : readFileSync(file!));
    const loaded = { asset: { bytes, mediaType }, path: pathOf(name, bytes) };
    read.set(name, loaded);
    return loaded;
  }

  function withFonts(bytes: Uint8Array, name: string): Uint8Array {
    if (!name.endsWith('.css')) return bytes;
    const text = Buffer.from(bytes).toString();
    return Buffer.from(text.replace(/url\('([a-z-]+\.woff2)'\)/g, (_, font) => `url('${basename(load(font)!.path)}')`));
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
    /**
     * Path under the base: `/assets/style.0123abcd.css`, `/assets/json-schema.0123abcd/index.js`.
     * Throws for an unknown name.
     */
    path(name: string): string {
      const loaded = load(name);
      if (loaded === null) throw new TypeError(`Unknown asset: ${name}.`);
      return loaded.path;
    },
    /**
     * Returns the asset at a path. Not current: the content differs from the digest in the path, as
     * on a page from before an update.
     */
    find(path: string): { name: string; asset: Asset; isCurrent: boolean } | null {
      const parts = /^\/assets\/([a-z0-9-]+)\.[0-9a-f]{8}(\/[A-Za-z0-9-]+)?(\.[a-z0-9]+)$/.exec(path);
      if (!parts) return null;
      const name = `${parts[1]}${parts[2] ?? ''}${parts[3]}`;
      const loaded = load(name);
      return loaded && { name, asset: loaded.asset, isCurrent: loaded.path === path };
    },
  };
}

/**
 * One of Stele's stylesheets or scripts as it is sent: without comment lines, and without the
 * indentation of stylesheets. Files of the operator and of packages are sent unchanged.
 */
function brief(file: string): Uint8Array {
  const extension = extname(file);
  if (extension !== '.css' && extension !== '.js') return readFileSync(file);
  const text = readFileSync(file, 'utf8').replace(/^[ \t]*(?:\/\/.*|\/\*[^]*?\*\/)[ \t]*\n\n?/gm, '');
  return Buffer.from(extension === '.css' ? text.replace(/^ +/gm, '') : text);
}

/** The files of a folder that are served: no types and no source maps. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^[A-Za-z0-9-]+\.(?:css|js|svg|png|txt|woff2)$/.test(name))
    .sort();
}

function hashOf(bytes: Uint8Array): string {
  return hexOf(digestOf(bytes)).slice(0, 8);
}
