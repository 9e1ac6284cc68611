import { expect, test, vi } from 'vitest';
import { createLog, formatEvent } from '../src/log.ts';

const document = { run: '0abc', path: 'payments.yaml', resource: '@acme/apis/payments', label: null, detail: null };
const sync = { run: '0abc', org: 'acme', repository: '/srv/apis', state: 'succeeded', detail: null };

test('a published document is its version and its file', () => {
  const fields = { ...document, outcome: 'published', label: '1.0.0', milliseconds: 3 };
  expect(formatEvent('info', 'document', fields)).toBe('published @acme/apis/payments@1.0.0 payments.yaml');
});

test('a published site is its folder and its deployment', () => {
  const site = { path: 'docs', resource: null, label: null, detail: '@acme/sites/handbook: deployment 1.' };
  expect(formatEvent('info', 'document', { ...site, outcome: 'published' })).toBe(
    'published docs: @acme/sites/handbook: deployment 1.',
  );
});

test('a rejected document shows the place and the reason', () => {
  const detail = 'payments.yaml:2:1 The field `version` must be present on this level.';
  const told = 'rejected payments.yaml:2:1 The field `version` must be present on this level.';
  expect(formatEvent('warn', 'document', { ...document, outcome: 'rejected', detail })).toBe(told);
  const taken = { ...document, outcome: 'conflict', detail: '1.0.0 is published with other content.' };
  expect(formatEvent('warn', 'document', taken)).toBe('rejected payments.yaml: 1.0.0 is published with other content.');
});

test('a sync is a summary; without documents it says so', () => {
  const counts = { published: 2, documentsRefused: 1, to: '0123456789abcdef' };
  const summary = '/srv/apis at 0123456789ab: 2 published, 1 rejected, 3 followed';
  expect(formatEvent('info', 'sync', { ...sync, ...counts, documents: 3 })).toBe(summary);
  const nothing = '/srv/apis at 0123456789ab: no OpenAPI document, JSON Schema or ruleset found';
  expect(formatEvent('info', 'sync', { ...sync, ...counts, documents: 0 })).toBe(nothing);
  const failed = { ...sync, state: 'failed', detail: 'Nothing answers at https://git.example.com.' };
  expect(formatEvent('warn', 'sync', failed)).toBe(
    'not synced: /srv/apis: Nothing answers at https://git.example.com.',
  );
});

test('any other event is its name and its fields; users’ text cannot act on the terminal', () => {
  expect(formatEvent('warn', 'reconciliation', { error: 'no\nsuch', run: null })).toBe(
    'warn: reconciliation error=no\\u{a}such',
  );
  expect(formatEvent('warn', 'document', { ...document, outcome: 'rejected', detail: '\u001b[2J' })).toBe(
    'rejected payments.yaml: \\u{1b}[2J',
  );
  expect(formatEvent('error', 'request failed', { error: 'Error: x\n    at y' })).toBe(
    'error: request failed error=Error: x\n    at y',
  );
});

test('warnings are yellow and errors red where the terminal has colour', () => {
  const written: string[] = [];
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((line) => written.push(String(line)) > 0);
  const log = createLog({ level: 'info', format: 'lines' });
  vi.stubEnv('NO_COLOR', undefined);
  vi.stubEnv('FORCE_COLOR', '1');
  for (const level of ['info', 'warn', 'error'] as const) log(level, 'request failed');
  vi.stubEnv('FORCE_COLOR', undefined);
  vi.stubEnv('NO_COLOR', '1');
  log('error', 'request failed');
  vi.unstubAllEnvs();
  spy.mockRestore();
  expect(written).toEqual([
    'request failed\n',
    '\u{1b}[33mwarn: request failed\u{1b}[39m\n',
    '\u{1b}[31merror: request failed\u{1b}[39m\n',
    'error: request failed\n',
  ]);
});

test('a log without a terminal has lines for people where the configuration says so', () => {
  const written: string[] = [];
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((line) => written.push(String(line)) > 0);
  createLog({ level: 'info', format: 'lines' })('warn', 'sandbox', { kind: 'node', reason: 'bwrap is not installed.' });
  spy.mockRestore();
  expect(written).toEqual([
    "Warning: documents are parsed only under Node's permission model. bwrap is not installed.\n",
  ]);
});
