import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveStele, type Serving } from '../e2e/stele.ts';
import { runHere } from './in-process.ts';
import { listen, openConsumer, serveFiles } from './lock-world.ts';

/** A registry at one address, whose data folder is rewritten behind it: same key, same names, another 1.0.0. */
let folder: string;
let honest: Serving;
let forged: Serving;
let front: Awaited<ReturnType<typeof listen>>;
/** What the address shows now. */
let shown: Serving;
/** Changes an answer on its way. */
let change: ((path: string, body: Buffer) => Buffer) | null = null;
/** Changes what is asked for. */
let route = (path: string): string => path;

const schema = (version: string, type: string) =>
  JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Money', version, type });

async function makeData(name: string, documents: Record<string, string>): Promise<string[]> {
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

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-log-'));
  const config = { url: 'https://contracts.test', organizations: { acme: { defaults: { visibility: 'public' } } } };
  await writeFile(join(folder, 'registry.config.json'), JSON.stringify(config));
  const rate = schema('1.0.0', 'number');
  const good = await makeData('honest', {
    '@acme/schemas/money': schema('1.0.0', 'string'),
    '@acme/schemas/rate': rate,
  });
  const bad = await makeData('forged', {
    '@acme/schemas/money': schema('1.0.0', 'object'),
    '@acme/schemas/rate': rate,
  });
  [honest, forged] = await Promise.all([serveStele(good), serveStele(bad)]);
  shown = honest;
  front = await listen((request, response) => {
    void fetch(`${shown.url}${route(request.url!)}`, { headers: { accept: request.headers.accept ?? '*/*' } }).then(
      async (answer) => {
        const body = Buffer.from(await answer.arrayBuffer());
        response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
        response.end(change === null ? body : change(request.url!, body));
      },
    );
  });
});

afterAll(async () => {
  await Promise.all([honest.stop('SIGKILL'), forged.stop('SIGKILL')]);
  await front[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function consumer() {
  [shown, change, route] = [honest, null, (path) => path];
  const one = await openConsumer(folder);
  const add = (name: string) => one.run(`add @acme/schemas/${name} --as ${name}.json --registry ${front.url}`);
  return { ...one, add };
}

test(`a static build has all that a consumer needs`, async () => {
  const one = await consumer();
  const common = ['--config', join(folder, 'registry.config.json'), '--data', join(folder, 'honest')];
  const built = await runHere(['build', '--precompressed', 'none', '--out', join(folder, 'site'), ...common]);
  expect(built).toMatchObject({ code: 0 });
  await using host = await serveFiles(join(folder, 'site'));
  const added = await one.run(`add @acme/schemas/money --as money.json --registry ${host.url}`);
  expect(added).toMatchObject({ code: 0, stderr: '' });
  expect(await one.run(`verify --log ${host.url}`)).toMatchObject({ code: 0, stderr: expect.stringContaining('2 versions as the log says') }); // prettier-ignore
  await rm(join(folder, 'site/@acme/schemas/rate@1.0.0/manifest.json'));
  const refused = await one.run(`add @acme/schemas/rate --as rate.json --registry ${host.url}`);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('sent no manifest of @acme/schemas/rate@1.0.0') }); // prettier-ignore
});
