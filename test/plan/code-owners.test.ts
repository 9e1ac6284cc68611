import { expect, test } from 'vitest';
import { codeOwnersOf } from '../../src/plan/discover.ts';
import type { Repository } from '../../src/model/connection.ts';
import { createUpload } from '../../src/source/upload.ts';
import { createWorld } from '../registry/world.ts';

const ownersIn = async (text: string, paths: string[], place = '.github/CODEOWNERS') => {
  const { registry } = createWorld();
  const snapshot = createUpload(place, Buffer.from(text));
  return Object.fromEntries(
    await codeOwnersOf({ registry, repository: { org: 'acme' } as Repository, snapshot }, paths),
  );
};

test('the last line that matches names the owner, also below a folder that an earlier one matches', async () => {
  const text =
    '# All\n* @acme/platform\n/apis/ ada@acme.test @acme/apis # ours\n/apis/pay.yaml @acme/pay @bob\n/apis/free/\n*.json @acme/json\n[Section]\n';
  expect(
    await ownersIn(text, ['apis/pay.yaml', 'apis/other.yaml', 'apis/free/a.yaml', 'apis/a.json', 'root.yaml']),
  ).toEqual({
    'apis/pay.yaml': '@acme/pay',
    'apis/other.yaml': '@acme/apis',
    'apis/a.json': '@acme/json',
    'root.yaml': '@acme/platform',
  });
});

test('addresses are not published, and a file elsewhere names nobody', async () => {
  expect(await ownersIn('* ada@acme.test', ['a.yaml'])).toEqual({});
  expect(await ownersIn('* @acme/pay', ['a.yaml'], 'other/CODEOWNERS')).toEqual({});
});
