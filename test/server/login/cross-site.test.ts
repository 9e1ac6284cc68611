import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isRegistryError } from '../../../src/model/errors.ts';
import { refuseCrossSite } from '../../../src/server/login/same-site.ts';

const server = createServer();
let url: string;

beforeAll(async () => {
  const app = express();
  app.use(refuseCrossSite('https://registry.test'));
  app.use((_request, response) => void response.end('done'));
  app.use((error: unknown, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
    response.status(isRegistryError(error, 'forbidden') ? 403 : 500).end();
  });
  server.on('request', app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => void server.close());

async function statusOf(method: string, headers: Record<string, string>): Promise<number> {
  return (await fetch(url, { method, headers: { ...headers } })).status;
}

const cookie = { Cookie: 'a=b' };

test.each<[string, Record<string, string>]>([
  ['POST', { ...cookie, 'X-Site': 'none' }],
  ['POST', { ...cookie, Origin: 'https://evil.test' }],
  ['POST', { ...cookie, Origin: 'https://registry.test.evil.test' }],
  ['POST', { ...cookie, Origin: 'http://registry.test' }],
  ['POST', { ...cookie, Origin: 'null' }],
  ['PUT', { ...cookie, 'Sec-Fetch-Site': 'cross-site' }],
  ['PATCH', { ...cookie, 'Sec-Fetch-Site': 'same-site' }],
  ['DELETE', { ...cookie, 'Sec-Fetch-Site': 'cross-site', Origin: 'https://registry.test' }],
  ['DELETE', { ...cookie, 'Sec-Fetch-Site': '' }],
])('%s with %j may come from another site', async (method, headers) => {
  expect(await statusOf(method, headers)).toBe(403);
});

test.each<[string, Record<string, string>]>([
  ['GET', { ...cookie, 'Sec-Fetch-Site': 'cross-site' }],
  ['HEAD', { ...cookie, Origin: 'https://evil.test' }],
  ['OPTIONS', { ...cookie, Origin: 'https://evil.test' }],
  ['POST', { ...cookie, 'Sec-Fetch-Site': 'same-origin' }],
  ['POST', { ...cookie, 'Sec-Fetch-Site': 'same-origin', Origin: 'null' }],
  ['DELETE', { ...cookie, 'Sec-Fetch-Site': 'none' }],
  ['PUT', { ...cookie, Origin: 'https://registry.test' }],
  ['POST', { Origin: 'https://evil.test' }],
  ['POST', { ...cookie, Origin: 'https://evil.test', Authorization: 'Bearer key' }],
])('%s with %j is nothing that another site could do', async (method, headers) => {
  expect(await statusOf(method, headers)).toBe(200);
});
