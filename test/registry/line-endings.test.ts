import { expect, test } from 'vitest';
import { shareCompiler } from '../compile/shared-compiler.ts';
import type { PublishRequest } from '../../src/registry/append-version.ts';
import { publish } from '../../src/registry/publish.ts';
import { createWorld, snapshotOf } from './world.ts';

/** Publishes a document as this file into a registry of its own, one text after the other. */
function createSend(file: string, type: 'apis' | 'schemas' = 'apis') {
  const registry = { ...createWorld().registry, compiler: shareCompiler() };
  return async (text: string, given: Partial<PublishRequest> = {}): Promise<string> => {
    const result = await publish(registry, {
      coordinate: { org: 'acme', type, slug: 'pay' },
      snapshot: snapshotOf(null, null, { [file]: text }),
      entry: file,
      version: null,
      onConflict: 'revise',
      latest: true,
      dryRun: false,
      create: {},
      author: { actor: 'operator:test', origin: null },
      ...given,
    });
    return 'version' in result ? `${result.outcome} ${result.version.label}` : result.outcome;
  };
}

const yaml = ['openapi: 3.1.0', 'info: {title: Pay, version: "1.0.0"}', 'x: |', '  ü', '  b', 'paths: {}', ''];
const json = ['{"openapi": "3.1.0",', '"info": {"title": "Pay", "version": "1.0.0"},', '"paths": {}}', ''];
const schema = ['$schema: https://json-schema.org/draft/2020-12/schema', 'type: object', ''];

test.each<[what: string, file: string, type: 'apis' | 'schemas', lines: string[]]>([
  ['YAML', 'api.yaml', 'apis', yaml.with(2, 'x-note: |')],
  ['JSON', 'api.json', 'apis', json],
  ['a document without a version', 'pay.yaml', 'schemas', schema],
])('line endings alone are no new version: %s', async (_, file, type, lines) => {
  for (const [first, second] of [
    ['\n', '\r\n'],
    ['\r\n', '\n'],
  ] as const) {
    const send = createSend(file, type);
    expect(await send(lines.join(first))).toBe('published 1.0.0');
    expect(await send(lines.join(second))).toBe('unchanged 1.0.0');
    expect(await send(lines.join(second), { onConflict: 'reject' })).toBe('unchanged 1.0.0');
    expect(await send(lines.join(second), { version: '1.0.0' })).toBe('unchanged 1.0.0');
    expect(await send(lines.join(` ${second}`))).toMatch(/^published/);
  }
});

test('also where the text with the same version was revised before', async () => {
  const send = createSend('api.json');
  const changed = json.with(2, '"paths": {"/a": {}}}');
  expect(await send(json.join('\n'))).toBe('published 1.0.0');
  expect(await send(changed.join('\n'))).toBe('published 1.0.0+2');
  expect(await send(changed.join('\r\n'))).toBe('unchanged 1.0.0+2');
});

test('line breaks in a value are content', async () => {
  const send = createSend('api.json');
  const text = (end: string) =>
    JSON.stringify({ openapi: '3.1.0', info: { title: `a${end}b`, version: '1' }, paths: {} });
  expect(await send(text('\n'))).toBe('published 1');
  expect(await send(text('\r\n'))).toBe('published 1+2');
});
