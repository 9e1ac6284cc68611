import { expect, test } from 'vitest';
import { parseCoordinate } from '../../src/model/address.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { collectGarbage } from '../../src/registry/maintenance/gc.ts';
import { createTestRegistry, publishVersion } from '../server/registry.ts';

const author = { actor: 'operator:test', origin: null };
const { coordinate } = parseCoordinate('@acme/apis/one')!;
const labels = ['1.0.0', '1.1.0', '1.2.0'];

/** Each choice of some of the versions. */
const choices = Array.from({ length: 2 ** labels.length }, (_, bits) =>
  labels.filter((_label, at) => bits & (1 << at)),
);

test.each(choices)('a store is sound after a withdrawal of %s %s %s', async (...withdrawn) => {
  const registry = createTestRegistry();
  for (const label of labels) await publishVersion(registry, '@acme/apis/one', label);
  for (const label of withdrawn) {
    await changeStatus(registry, coordinate, label, { state: 'withdrawn', reason: 'leak' }, author);
    expect((await fsck(registry)).damages).toEqual([]);
  }
  // What gc takes for garbage, nothing may need.
  for (let run = 0; run < 2; run++) await collectGarbage(registry, { grace: 0, quarantine: 0 });
  expect((await fsck(registry)).damages).toEqual([]);
});
