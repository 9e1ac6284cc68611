import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { streamRun, type RunRecord } from '../../src/console/run-view.ts';
import type { ConsoleRequest } from '../../src/console/console-request.ts';

test.each(['session', 'server'])('a stream ends with its %s', async (which) => {
  const left = { session: which === 'session' ? 2 : 99, server: which === 'server' ? 2 : 99 };
  const sent: string[] = [];
  let reads = 0;
  const response = Object.assign(new EventEmitter(), {
    set: () => undefined,
    flushHeaders: () => undefined,
    write: (text: string) => sent.push(text),
    end: () => sent.push('closed'),
  });
  const login = { readSession: async () => (left.session-- > 0 ? {} : null) };
  const context = { registry: { monotonic: () => 0 }, isReady: () => left.server-- > 0, login };
  const session = { principal: { id: 'k1' } };
  const request = { http: {}, response, context, session } as unknown as ConsoleRequest;
  const read = async () => {
    if (++reads > 5) throw new Error('The stream goes on.');
    return { state: 'running', progress: reads, documents: [] } as unknown as RunRecord;
  };
  await streamRun(request, read);
  expect(reads).toBe(3);
  expect(sent.at(-1)).toBe('closed');
  expect(sent.join('')).not.toContain('event: end');
});

test('a stream of a run that waits says something, so that proxies keep it', async () => {
  const sent: string[] = [];
  let passed = 0;
  const response = Object.assign(new EventEmitter(), {
    set: () => undefined,
    flushHeaders: () => undefined,
    write: (text: string) => sent.push(text),
    end: () => undefined,
  });
  const context = {
    registry: { monotonic: () => (passed += 25_000) },
    isReady: () => sent.length < 3,
    login: { readSession: async () => ({}) },
  };
  const request = { http: {}, response, context, session: { principal: { id: 'k2' } } } as unknown as ConsoleRequest;
  await streamRun(request, async () => ({ state: 'queued', progress: null, documents: [] }) as unknown as RunRecord);
  expect(sent).toEqual(['event: change\ndata: ["queued",null,0]\n\n', ':\n\n', ':\n\n']);
});
