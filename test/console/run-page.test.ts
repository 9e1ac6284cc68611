import { expect, test } from 'vitest';
import { repositoryPages } from '../../src/console/repository-views.ts';
import type { ConsoleRequest } from '../../src/console/console-request.ts';

test.each([
  ['queued', 1],
  ['running', 1],
  ['succeeded', undefined],
  ['failed', undefined],
])('the page of a run that is %s looks again after %s s', async (state, seconds) => {
  const run = { state, trigger: 'manual', repository: 'https://example.com/a', documents: [], progress: null };
  const operations = {
    find: () => ({ id: 'getRepositorySync', parameters: [] }),
    perform: async () => ({ status: 200, body: { ...run, startedAt: '2026-05-01T00:00:00Z', finishedAt: null } }),
  };
  const request = {
    operations,
    site: { links: { path: (path: string) => path } },
    session: { principal: { kind: 'key', id: 'k', org: 'acme', scopes: ['read'], resources: null } },
    org: 'acme',
    type: null,
    params: { repository: 'r', run: 'x' },
    query: new URLSearchParams(),
    http: { ip: null },
  } as unknown as ConsoleRequest;
  const page = repositoryPages.find(({ path }) => path.endsWith('/runs/:run'))!;
  expect((await page.show(request)).reload).toBe(seconds);
});
