import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { assertApart } from '../../src/cli/backup-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'stele-apart-'));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, 'all/store'), { recursive: true });
symlinkSync('all/store', join(folder, 'link'));

const store = { kind: 'fs', path: join(folder, 'all/store') } as const;

test.each(['all/store', 'all/store/backup/new', 'all', '.', 'link', 'link/backup'])(
  'a copy is not written to the store, into it or around it: %s',
  (copy) => {
    expect(() => assertApart(store, join(folder, copy))).toThrow('one in the other');
  },
);

test.each(['all/backup', 'all/store-2', 'all/..store', 'new/backup'])('but beside it: %s', (copy) => {
  expect(() => assertApart(store, join(folder, copy))).not.toThrow();
});
