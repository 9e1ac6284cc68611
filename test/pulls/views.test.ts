import { expect, test } from 'vitest';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { open, seven, url, waitFor } from './pulls-scene.ts';

test('a break of a view is placed at its line in the file', async () => {
  const { source, sync, host, hook, checked } = await open({}, {}, shareCompiler());
  const api = (version: string, limit: string) =>
    `openapi: 3.1.0\ninfo: { title: Pay, version: ${version} }\npaths:\n  /pay:\n    get:\n      parameters:\n        - { name: limit, in: query, schema: { type: ${limit} } }\n      responses: { 200: { description: Done. } }\n`;
  const settings = 'resources: [{ path: pay.yaml, slug: pay-public, audience: public }]';
  source.push(url, { 'stele.yaml': settings, 'pay.yaml': api('1.0.0', 'integer') });
  await sync();
  const next = { 'stele.yaml': settings, 'pay.yaml': api('2.0.0', 'boolean') };
  const head = source.push(url, next, { branch: seven.ref });
  await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true });
  await checked(head);
  const name = 'stele @acme/apis/pay-public';
  const told = () => host.told.find((each) => each.commit === head && each.name === name && each.state !== 'running');
  await waitFor(() => expect(told()).toBeDefined());
  expect(told()!.annotations).toMatchObject([{ path: 'pay.yaml', line: 7, severity: 'warning' }]);
});
