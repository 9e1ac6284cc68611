import { expect, test } from 'vitest';
import { api, get, openServeWorld, synced } from './serve-world.ts';

/** The front door: the real command, real git, a real socket. */

const world = openServeWorld();

test('a push to a local repository becomes a version; the one before keeps its bytes, also after a restart', async () => {
  const first = world.repository.commit({ files: { 'pay.yaml': api('Pay', '1.0.0'), 'notes.md': 'no document' } });
  let stele = await world.serve(world.repository.folder);
  await synced(stele, first);
  const before = await get(`${stele.url}/@local/apis/pay@1.0.0`, { accept: 'application/yaml' });
  expect(before).toMatchObject({ status: 200, text: api('Pay', '1.0.0'), type: 'application/yaml' });

  // No timer is near: the push itself is noticed.
  const second = world.repository.commit({ files: { 'pay.yaml': api('Pay', '1.1.0') } });
  await synced(stele, second);
  expect(JSON.parse((await get(`${stele.url}/@local/apis/pay`)).text)).toMatchObject({ info: { version: '1.1.0' } });
  expect(await stele.stop()).toBe(0);

  stele = await world.serve();
  expect(await get(`${stele.url}/@local/apis/pay@1.0.0`, { accept: 'application/yaml' })).toEqual(before);
  expect((await get(`${stele.url}/@local/apis/pay@^1.0`)).status).toBe(307);
});
