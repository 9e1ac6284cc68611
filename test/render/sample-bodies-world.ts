import { viewOperation } from '../../src/render/openapi/operation-view.ts';
import { bodyTypes, sampleBody } from '../../src/render/openapi/sample-body.ts';
import { createSchemas } from '../../src/render/schema/schemas.ts';

export type Code = (request: unknown) => string;

export const pet = {
  type: 'object',
  xml: { name: 'pet', namespace: 'https://pets.example', prefix: 'p' },
  properties: {
    id: { type: 'integer', example: 7, xml: { attribute: true } },
    name: { type: 'string', example: 'Rex & <co>' },
    tags: {
      type: 'array',
      xml: { name: 'tags', wrapped: true },
      items: { type: 'string', example: 'dog', xml: { name: 'tag' } },
    },
    photos: { type: 'array', items: { type: 'string', example: 'a.png' } },
  },
};

export const upload = {
  type: 'object',
  required: ['note', 'file'],
  properties: {
    note: { type: 'string', example: '@/etc/passwd' },
    file: { type: 'string', format: 'binary' },
    more: { type: 'string' },
  },
};

export function documentWith(content: object, answer: object = {}): Record<string, unknown> {
  const responses = { 200: { description: 'ok', content: answer } };
  const paths = { '/pets': { post: { requestBody: { content }, responses } } };
  return { openapi: '3.1.0', info: { title: 'x', version: '1' }, components: { schemas: { Pet: pet } }, paths };
}

export function bodyOf(content: object) {
  const document = documentWith(content);
  const value = (document['paths'] as { '/pets': { post: Record<string, unknown> } })['/pets'].post;
  const operation = { method: 'POST', path: '/pets', isWebhook: false, item: {}, value };
  return sampleBody(
    createSchemas(document, 'openapi', 0),
    bodyTypes(viewOperation(document, operation).body?.media)[0]!,
  );
}

export const xml = [
  '<?xml version="1.0" encoding="UTF-8"?>',
  '<p:pet xmlns:p="https://pets.example" id="7">',
  '  <name>Rex &amp; &lt;co&gt;</name>',
  '  <tags>',
  '    <tag>dog</tag>',
  '  </tags>',
  '  <photos>a.png</photos>',
  '</p:pet>',
].join('\n');

export const multipart = {
  kind: 'multipart' as const,
  fields: [
    { name: 'note', value: '@/etc/passwd', file: null, type: null },
    { name: 'file', value: '', file: 'upload.bin', type: 'application/octet-stream' },
    { name: 'more', value: 'string', file: null, type: null },
  ],
};
