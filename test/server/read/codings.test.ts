import { expect, test } from 'vitest';
import type { Sandboxes } from '../../../src/compile/sandboxes.ts';
import { ask } from '../http.ts';
import { publishVersion } from '../registry.ts';
import { openServed } from '../served.ts';

test('a document of which a coding was not stored is sent as it is', async () => {
  await using served = await openServed();
  const { compiler } = served.registry;
  const compile: Sandboxes['compile'] = async (...given) => {
    const { artifact, ...made } = await compiler.compile(...given);
    const representations = artifact!.representations.filter(({ coding }) => coding !== 'br');
    return { ...made, artifact: { ...artifact!, representations } };
  };
  const registry = { ...served.registry, compiler: { ...compiler, compile } };
  const { text } = await publishVersion(registry, '@acme/apis/uncoded', '1.0.0');
  const target = '/@acme/apis/uncoded@1.0.0';
  const { status, headers, body } = await ask(served.port, { target, headers: [['Accept-Encoding', 'br']] });
  const said = ['content-encoding', 'accept-ranges', 'content-length'].map((name) => headers.get(name));
  expect([status, ...said]).toEqual([200, undefined, 'bytes', String(body.byteLength)]);
  expect(JSON.parse(body.toString())).toEqual(JSON.parse(text));
});
