import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runHere } from './in-process.ts';

/** A JSON Schema of a title, which states its version. */
export const schema = (version: string, type: string) =>
  JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Money', version, type });

/** Publishes documents into a data folder with a known key of its log; returns the options that name it. */
export async function makeData(folder: string, name: string, documents: Record<string, string>): Promise<string[]> {
  const data = join(folder, name);
  await mkdir(data, { recursive: true });
  await writeFile(join(data, '.log-key'), 'the key that whoever holds the disk has, too', { mode: 0o600 });
  const common = ['--config', join(folder, 'registry.config.json'), '--data', data];
  for (const [coordinate, text] of Object.entries(documents)) {
    await writeFile(join(folder, 'document.json'), text);
    const { version } = JSON.parse(text) as { version: string };
    const ended = await runHere([
      'publish',
      join(folder, 'document.json'),
      coordinate,
      '--version',
      version,
      ...common,
    ]);
    if (ended.code !== 0) throw new Error(ended.stdout + ended.stderr);
  }
  return common;
}
