import { expect, test } from 'vitest';
import { createSeal, createSessions } from '../../../src/server/login/session.ts';
import { workKey } from '../../../src/store/work.ts';
import { createTestRegistry } from '../registry.ts';

test('a session whose record is damaged counts as ended, and no other one does', async () => {
  const registry = createTestRegistry();
  const seal = createSeal(registry, 'session');
  const sessions = createSessions(registry, seal, 3600);
  const begin = async (subject: string) => {
    let sent = '';
    const response = { cookie: (name: string, value: string) => void (sent = `${name}=${value}`) };
    const user = { issuer: 'https://issuer.test', subject, groups: [], idToken: null };
    await sessions.begin(response as never, user);
    return { headers: { cookie: sent } };
  };
  const [ada, bob] = [await begin('ada'), await begin('bob')];
  const session = await sessions.read(ada);
  expect(session).toMatchObject({ subject: 'ada' });
  await registry.bucket.putIfAbsent(workKey(`sessions/${session!.id}`, 1), Buffer.from('{"generation":'));
  expect(await sessions.read(ada)).toBeNull();
  expect(await sessions.read(bob)).toMatchObject({ subject: 'bob' });
});
