/**
 * Bundles the build, so that a command line and a sandbox start at once: each would otherwise look up,
 * read and compile hundreds of modules. What only some commands need is in chunks of its own. Run by
 * `npm run build`, after tsc.
 */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown, type Plugin } from 'rolldown';
import { parse } from 'yaml';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));

/** Lets modules find their files by `import.meta.url`, as if they were still where tsc put them. `to`: the bundle's folder. */
function keepUrls(to: string): Plugin {
  return {
    name: 'keep-urls',
    async load(id) {
      if (!id.startsWith(dist) || !id.endsWith('.js')) return null;
      const text = await readFile(id, 'utf8');
      if (!text.includes('import.meta.url')) return null;
      const own = JSON.stringify(relative(to, id));
      return text.replaceAll('import.meta.url', `new URL(${own}, import.meta.url).href`);
    },
  };
}

/** Redocly loads plugins with `node:module`. A sandbox has no plugins, and a snapshot cannot hold that module. */
const withoutModules: Plugin = {
  name: 'without-modules',
  resolveId: (id, importer) => (id === 'node:module' && importer?.includes('@redocly') ? '\0no-modules' : null),
  load: (id) => (id === '\0no-modules' ? 'export default {};' : null),
};

/**
 * Assigns the fields of markdown-it's tokens and states. The package defines each with a helper, which takes a third of
 * the time in which Markdown is read.
 */
const assignedFields: Plugin = {
  name: 'assigned-fields',
  transform: (code, id) =>
    id.endsWith('/markdown-it.mjs')
      ? code.replaceAll(/_defineProperty\(\s*this,\s*(?:\/\*[^]*?\*\/\s*)?"(\w+)",\s*([^;]*?)\s*\);/g, 'this.$1 = $2;')
      : null,
};

// Less to read at each start. Names stay, so that a stack trace can be read.
const minify = { mangle: false, compress: false, codegen: { removeWhitespace: true } };

/** Bundles an entry into a folder of `dist`. `isInside`: whether a package is copied into the bundle. */
async function bundle(entry: string, to: string, isInside: (name: string) => boolean): Promise<void> {
  const folder = `${dist}${to}`;
  const made = await rolldown({
    input: `${dist}${entry}`,
    platform: 'node',
    external: (id) => !id.startsWith('.') && !id.startsWith('/') && !isInside(id),
    plugins: [keepUrls(folder)],
    logLevel: 'warn',
  });
  await made.write({
    dir: folder,
    format: 'esm',
    minify,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await made.close();
}

// Packages that every command needs.
await bundle('cli.js', 'bundle/', (id) => id === 'commander' || id === 'lru-cache');
// Nothing but this and the check is read by a Node that is too old.
await writeFile(`${dist}cli.js`, "#!/usr/bin/env node\nimport './cli/require-node.js';\nimport('./bundle/cli.js');\n");

/**
 * While a snapshot is built, V8 has no methods of maps that it adds when a process starts from it. They go before the
 * snapshot is written.
 */
const buildsWithUpsert = `const { startupSnapshot: snapshotNow } = require('node:v8');
if (snapshotNow.isBuildingSnapshot()) {
  const methods = {
    getOrInsertComputed(key, make) { return this.has(key) ? this.get(key) : (this.set(key, make(key)), this.get(key)); },
    getOrInsert(key, value) { return this.getOrInsertComputed(key, () => value); },
  };
  const prototypes = [Map.prototype, WeakMap.prototype];
  for (const prototype of prototypes) Object.assign(prototype, methods);
  snapshotNow.addSerializeCallback(() => {
    for (const prototype of prototypes) for (const name of Object.keys(methods)) delete prototype[name];
  });
}
`;

/**
 * Bundles a program of sandboxes into one CommonJS file, which is what a startup snapshot is made of
 * (`make-snapshot.ts`). In its own place: sandboxes are started by its path.
 */
async function bundleWorker(name: string): Promise<void> {
  const folder = `${dist}compile/sandbox/`;
  const made = await rolldown({
    input: `${folder}${name}.js`,
    platform: 'node',
    plugins: [keepUrls(folder), withoutModules, assignedFields],
    // Asked once, since a closed sandbox cannot ask (`close-process.ts`).
    transform: { define: { 'import.meta.url': 'bundleUrl' } },
    logLevel: 'warn',
  });
  const banner = `${buildsWithUpsert}const bundleUrl = require('node:url').pathToFileURL(__filename).href;
globalThis.closeRequire = () => {
  delete globalThis.closeRequire;
  require = (name) => {
    throw new Error('The sandbox loads nothing more: ' + JSON.stringify(name) + '.');
  };
};`;
  await made.write({ file: `${folder}${name}.cjs`, format: 'cjs', codeSplitting: false, banner, minify });
  await made.close();
}

await bundleWorker('worker');
await bundleWorker('code-worker');
// The validator reads its schemas from the folder that it is in.
const validator = fileURLToPath(import.meta.resolve('@seriousme/openapi-schema-validator'));
await cp(join(dirname(validator), 'schemas'), `${dist}compile/sandbox/schemas`, { recursive: true });

const management = await readFile(fileURLToPath(new URL('../content/apis/management.yaml', import.meta.url)), 'utf8');
await writeFile(`${dist}server/v1/management.json`, JSON.stringify(parse(management)));
