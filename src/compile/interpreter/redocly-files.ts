import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parse } from 'es-module-lexer/minimal/js';

const inside = 'stele:redocly/';

/** What stands for the package `@redocly/openapi-core`, inside. */
export const corePath = `${inside}core.js`;
/** What runs plugins, inside. */
export const pluginsPath = `${inside}plugins.js`;

const outside = `${inside}outside.js`;

/** The imports of Redocly's files that lead out of what is needed: `outside.js` stands for them. */
const others: ReadonlySet<string> = new Set(
  ['resolve.js', 'logger.js', 'rules/ajv.js'].map((path) => `${inside}lib/${path}`),
);

/** What an import in one of Redocly's files leads to. */
export function redoclyPath(base: string, name: string): string {
  if (!name.startsWith('.')) return outside;
  const path = posix.join(posix.dirname(base), name);
  return others.has(path) ? outside : path;
}

/**
 * The files that plugins of Redocly run in, by their paths inside: those of Stele, and of the package
 * those that they import, so that its walk, its node types and its assertions are its own.
 */
export function readRedocly(own: string, lib: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const read = (path: string): void => {
    if (files.has(path)) return;
    const name = path.slice(inside.length);
    const text = readFileSync(name.startsWith('lib/') ? join(lib, name.slice(4)) : join(own, name), 'utf8');
    files.set(path, text);
    for (const { n } of parse(text)[0]) if (n !== undefined) read(redoclyPath(path, n));
  };
  read(corePath);
  read(pluginsPath);
  return files;
}
