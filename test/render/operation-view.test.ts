import { expect, test } from 'vitest';
import { renderDocument } from '../../src/render/render.ts';
import { published } from './published.ts';
import { operationsOf } from '../../src/render/openapi/list-operations.ts';
import { viewOperation } from '../../src/render/openapi/operation-view.ts';

test('an operation is read as the comparison of versions reads it', () => {
  const parameters = [{ in: 'header', name: 'X-Trace', description: 'Of the path.' }];
  const own = [
    { in: 'header', name: 'x-trace', description: 'Its own.' },
    { in: 'path', name: 'id', schema: { type: 'string' } },
  ];
  const document = {
    openapi: '3.1.0',
    paths: { '/pets/{id}': { parameters, get: { parameters: own } }, 'x-notes': { get: {} } },
    webhooks: { 'x-order': { post: {} } },
  };
  const { operations } = operationsOf(document);
  expect(operations.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /pets/{id}', 'POST x-order']);
  expect(viewOperation(document, operations[0]!).parameters).toMatchObject([
    { name: 'x-trace', description: 'Its own.', isRequired: false },
    { name: 'id', isRequired: true },
  ]);
});

test('Markdown says where an operation is, if not at the servers of the document', () => {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Files', version: '1.0.0' },
    servers: [{ url: 'https://api.test' }],
    paths: { '/files': { servers: [{ url: 'https://files.test' }], get: {} } },
  };
  const { markdown } = renderDocument(published(document))!;
  expect(markdown).toContain('At `https://files.test`.');
});

test('what is compared is shown: the schemes of one operation of 2.0', () => {
  const paths = { '/a': { get: { schemes: ['wss'] } } };
  const old = { swagger: '2.0', info: { title: 'Shop', version: '1' }, host: 'a.test', basePath: '/v1', paths };
  expect(renderDocument(published(old))!.markdown).toContain('At `wss://a.test/v1`.');
});
