/**
 * Bundles the build, so that a command line and a sandbox start at once: each would otherwise look up,
 * read and compile hundreds of modules. What only some commands need is in chunks of its own. Run by
 * `npm run build`, after tsc.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown, type Plugin } from 'rolldown';

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
  // Less to read at each start. Names stay, so that a stack trace can be read.
  const minify = { mangle: false, compress: false, codegen: { removeWhitespace: true } };
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
await writeFile(`${dist}cli.js`, "#!/usr/bin/env node\nimport './bundle/cli.js';\n");
// In its own place: sandboxes are started by its path. The validator reads its schemas from its own
// folder, and shares ajv with us.
const outside = /^(?:node:|ajv|@seriousme\/)/;
await bundle('compile/sandbox/worker.js', 'compile/sandbox/', (id) => !outside.test(id));
