import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown, type Plugin } from 'rolldown';
import { parse } from 'yaml';

/** Modules find their files where they are in the sources. */
const keepUrls: Plugin = {
  name: 'keep-urls',
  async load(id) {
    if (!/\.[mc]?[jt]s$/.test(id)) return null;
    const text = await readFile(id, 'utf8');
    if (!text.includes('import.meta.url')) return null;
    return withUrls(text, id);
  },
};

function withUrls(text: string, id: string): string {
  return text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
}

/** The API's description as JSON: reading it as YAML takes a third of the start. */
const readyDescription: Plugin = {
  name: 'ready-description',
  async load(id) {
    if (!id.endsWith('/server/v1/api-description.ts')) return null;
    const code = await readFile(id, 'utf8');
    const yaml = await readFile(new URL('../../content/apis/management.yaml', import.meta.url), 'utf8');
    const literal = JSON.stringify(JSON.stringify(parse(yaml)));
    return withUrls(code, id).replace(
      "parse(read('../../../content/apis/management.yaml'))",
      () => `JSON.parse(${literal})`,
    );
  },
};

/** Bundles the victim into a folder: its start takes longer than its life. Returns its path. */
export async function bundleVictim(folder: string): Promise<string> {
  const made = await rolldown({
    input: fileURLToPath(new URL('victim.ts', import.meta.url)),
    platform: 'node',
    external: /^@aws-sdk\//,
    plugins: [readyDescription, keepUrls],
    logLevel: 'warn',
  });
  await made.write({ dir: folder, format: 'esm', entryFileNames: 'victim.js' });
  await made.close();
  return join(folder, 'victim.js');
}
