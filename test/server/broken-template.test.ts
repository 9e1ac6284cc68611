import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/server/app.ts';
import { listen, type Listening } from '../../src/server/listen.ts';
import { ask } from './http.ts';
import { createTestQueue, createTestRegistry, type TestRegistry } from './registry.ts';

let folder: string;
let registry: TestRegistry;
let server: Listening;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-template-'));
  await writeFile(join(folder, 'layout.eta'), '<% if ( %>');
  registry = createTestRegistry({ templates: folder });
  const app = createApp({
    registry,
    queue: createTestQueue(registry),
    url: 'http://registry.test',
    isReady: () => true,
  });
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await server.close(0);
  await rm(folder, { recursive: true, force: true });
});

// The page of the refusal could not be rendered either, and what was thrown then ended the process.
test.each([
  ['/@acme/apis/pay', 404, 'not_found'],
  ['/nothing', 404, 'not_found'],
  ['/', 500, 'internal'],
])("an operator's broken template: %s is refused as JSON", async (target, status, code) => {
  const answer = await ask(server.port, { target, headers: [['Accept', 'text/html']] });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(JSON.parse(answer.body.toString())).toMatchObject({ type: `http://registry.test/problems/${code}` });
  expect(registry.logged.at(-1)).toMatchObject({ level: 'error', event: 'template failed' });
  expect((await ask(server.port, { target: '/healthz' })).status).toBe(200);
});
