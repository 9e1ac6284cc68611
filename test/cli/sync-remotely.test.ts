import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { runHere } from './in-process.ts';

const run = {
  id: '0mwsz390vshu4743g33k',
  state: 'succeeded',
  repository: 'https://git.test/acme/apis',
  branch: 'main',
  from: null,
  to: 'c45d3e37c1d607c40c584db0fb538446418c47fe',
  finishedAt: '2026-11-23T07:57:16.064Z',
  detail: null,
  documents: [{ path: 'pay.yaml', outcome: 'rejected', version: null, detail: 'pay.yaml:2:1 No title.', report: null }],
};

test('sync over HTTP waits for the run, and prints its documents and its repository', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const isFirst = asked.length === 1;
    const body = isFirst ? { ...run, state: 'running', to: null, finishedAt: null, documents: [] } : run;
    response.writeHead(isFirst ? 202 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => void server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ended = await runHere(['sync', '@acme/apis/pay', '--registry', url], { env: { STELE_KEY: 'k' } });
    expect(ended.stdout).toBe('rejected @acme/apis/pay: pay.yaml:2:1 No title.\n');
    expect(ended.stderr).toContain('https://git.test/acme/apis main is synced at c45d3e37c1d6');
    expect(ended.code).toBe(1);
    expect(asked).toEqual(['POST /v1/apis/pay/sync?wait=30', `GET /v1/apis/pay/syncs/${run.id}`]);
  } finally {
    server.close();
  }
});
