/**
 * Flame graphs of what a publish of 5 KB takes, as `docs/bench/flame-server.svg` and `flame-sandbox.svg`: of the server's main thread while 16 clients
 * publish, and of the work of a sandbox, done in this process, where a profiler can look. Samples while it waits are left out.
 *
 *   node scripts/bench/flame.ts [--publishes 2000]
 */
import { Session } from 'node:inspector/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv } from 'zx';
import type { Artifact, CompileInput, Published } from '../../src/compile/compile.ts';
import { placeChanges } from '../../src/compile/place-changes.ts';
import { runCompile } from '../../src/compile/run.ts';
import { checkConfig } from '../../src/config/load-config.ts';
import { compareDocuments } from '../../src/diff/compare-documents.ts';
import { openRegistry } from '../../src/open.ts';
import { drawFlames, type Frame, type Profile } from './flames.ts';
import { publishSmall, smallText } from './small-document.ts';
import { root } from './wire.ts';

const publishes = Number(argv['publishes'] ?? 2000);
const clients = 16;
const folder = await mkdtemp(join(tmpdir(), 'stele-flame-'));
const config = checkConfig({ log: { level: 'silent' } }, { base: folder, data: join(folder, 'data') });
let number = 0;
const nextVersion = () => `1.${number++}.0`;

const registry = await openRegistry(config, undefined, { hasSpare: true });
await publishAll(publishes / 4);
await draw('server', 'The server’s main thread while 16 clients publish 5 KB', () => publishAll(publishes));
await registry.close();
let before: Published | null = null;
await compileAll(publishes / 4);
await draw('sandbox', 'The sandbox’s work: compile and compare 5 KB', () => compileAll(publishes));
await rm(folder, { recursive: true, force: true });

async function publishAll(count: number): Promise<void> {
  const all = Array.from({ length: clients }, async (_, client) => {
    for (let index = client; index < count; index += clients)
      await publishSmall(registry, `client-${client}`, nextVersion());
  });
  await Promise.all(all);
}

async function compileAll(count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const bytes = Buffer.from(smallText(nextVersion()));
    const { limits } = config;
    const input: CompileInput = { type: 'apis', entry: 'a.json', validation: 'strict', ruleset: null, limits };
    const { artifact } = await runCompile(input, async ([path]) => [{ path: path!, bytes }]);
    const after = publishedAs(artifact!, bytes);
    if (before !== null) placeChanges(compareDocuments(before, after), after, limits);
    before = after;
  }
}

function publishedAs({ kind, representations }: Artifact, bytes: Uint8Array): Published {
  const json = representations.find((each) => each.format === 'json' && each.coding === 'identity')!.bytes;
  return { kind, json, source: { path: 'a.json', bytes } };
}

async function draw(name: string, title: string, work: () => Promise<void>): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 200 });
  await session.post('Profiler.start');
  await work();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  const file = join(root, 'docs/bench', `flame-${name}.svg`);
  await writeFile(file, drawFlames(title, profile as Profile, nameOf));
  console.log(file);
}

/** The name of a frame, with its file where it is ours. */
function nameOf({ functionName, url }: Frame): string {
  const file = /\/src\/(.*)$/.exec(url)?.[1] ?? /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  return `${functionName || 'anonymous'}${file === undefined ? '' : ` ${file}`}`;
}
