import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { writeOperations } from '../../../scripts/resource-operations.ts';
import kinds from '../../../content/problems.json' with { type: 'json' };
import { problemTypes, type ProblemCode } from '../../../src/server/error-answers.ts';
import { routes } from '../../../src/server/v1/routes.ts';
import { openApi } from './api.ts';
import { description } from './described.ts';

test('every operation that needs a key has a handler, and every handler an operation', () => {
  const described = description.operations.filter(({ scope }) => scope !== null).map(({ id }) => id);
  expect([...routes.keys()].sort()).toEqual(described.sort());
});

test('the operations of APIs, schemas and rulesets are what scripts/resource-operations.ts writes', () => {
  const text = readFileSync(new URL('../../../content/apis/management.yaml', import.meta.url), 'utf8');
  expect(writeOperations(text)).toBe(text);
});

test('redocly lint has nothing to say about it', async () => {
  const lint = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
  const file = fileURLToPath(new URL('../../../content/apis/management.yaml', import.meta.url));
  const env = { PATH: process.env['PATH'], REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { stdout } = await promisify(execFile)(process.execPath, [lint, 'lint', '--format=json', file], { env });
  const { totals, problems } = JSON.parse(stdout) as { totals: object; problems: unknown[] };
  expect({ totals, problems }).toEqual({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] });
});

test('what needs no key is the description, a check, what gives a key, and hooks', () => {
  const open = description.operations.filter(({ scope }) => scope === null).map(({ id }) => id);
  const all = ['askForKey', 'checkDocument', 'exchangeToken', 'getDescription', 'receiveHook', 'takeKey'];
  expect(open.sort()).toEqual(all);
});

test('every operation is described with its id, summary, scope and refusals', () => {
  const ids = description.operations.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, method } of description.operations) {
    const { paths } = description.document as { paths: Record<string, Record<string, Record<string, object>>> };
    const { summary, tags, responses } = paths[path]![method]!;
    expect({ path, method, summary, tags }).toEqual({
      path,
      method,
      summary: expect.any(String),
      tags: [expect.any(String)],
    });
    expect(Object.keys(responses!), `${method} ${path}`).toEqual(expect.arrayContaining(['429', '500']));
  }
});

test('every code of an error is a type of problem, and no other is', () => {
  // The compiler checks the names, in both directions.
  const typed: Readonly<Record<ProblemCode, (typeof kinds)[keyof typeof kinds]>> = kinds;
  const codes: readonly ProblemCode[] = Object.keys(kinds) as (keyof typeof kinds)[];
  for (const code of codes) {
    const { status, title, meaning } = typed[code];
    expect(status, code).toBeGreaterThanOrEqual(400);
    expect([title, meaning], code).toEqual([expect.stringMatching(/^[A-Z]/), expect.stringMatching(/\.$/)]);
  }
});

test('every type of problem that /v1 answers with is named in the description', () => {
  const elsewhere = ['not_acceptable', 'range_not_satisfiable', 'gone', 'unreachable'];
  const text = JSON.stringify(description.document);
  const missing = Object.keys(problemTypes).filter(
    (code) => !elsewhere.includes(code) && !text.includes(`\`${code}\``),
  );
  expect(missing).toEqual([]);
});

test('/v1/openapi.json is the description', async () => {
  await using api = await openApi();
  const { status, json, headers } = await api.call('GET', '/v1/openapi.json', { key: null });
  expect(status).toBe(200);
  expect(json).toEqual(description.document);
  const again = await api.call('GET', '/v1/openapi.json', {
    key: null,
    headers: { 'if-none-match': headers.get('etag')! },
  });
  expect(again.status).toBe(304);
});
