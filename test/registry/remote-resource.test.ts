import { expect, test } from 'vitest';
import { digestOf } from '../../src/model/digest.ts';
import type { Status } from '../../src/model/resource.ts';
import { explainRemote, type RemoteResource } from '../../src/registry/maintenance/remote-resource.ts';

const date = '2026-01-02T03:04:05.000Z';
const active: Status = { state: 'active' };
const ended: Status = { state: 'yanked', reason: 'Wrong.', since: date };
const first = { label: '1.0.0', manifest: digestOf('1'), publishedAt: date, createdAt: date, status: active };
const second = { ...first, label: '2.0.0-RC.1', manifest: digestOf('2'), original: 'v2', status: ended };
const right: RemoteResource = {
  name: 'Pay',
  description: '',
  visibility: 'public',
  latest: '1.0.0',
  createdAt: date,
  versions: [first, second],
};

const withVersion = (change: object) => ({ versions: [{ ...first, ...change }] });
const withStatus = (status: unknown) => withVersion({ status });

test.each<object>([
  {},
  { latest: null, versions: [] },
  { name: '😀'.repeat(200) },
  withStatus({ state: 'deprecated', reason: 'Old.', since: date, replacement: '2.0.0', sunset: date }),
  withStatus({ state: 'withdrawn', reason: 'Leak.', since: date }),
])('%j is right', (change) => {
  expect(explainRemote({ ...right, ...change })).toBeNull();
});

test.each<[string, object]>([
  ['name', { name: undefined }],
  ['name', { name: 'x'.repeat(201) }],
  ['description', { description: 5 }],
  ['visibility', { visibility: 'internal' }],
  ['visibility', { visibility: ['public'] }],
  ['createdAt', { createdAt: 'yesterday' }],
  ['latest', { latest: '3.0.0' }],
  ['latest', { latest: undefined }],
  ['versions', { versions: {} }],
  ['versions[0]', { versions: [null] }],
  ['versions[0].label', withVersion({ label: '../x' })],
  ['versions[0].label', withVersion({ label: ['1.0.0'] })],
  ['versions[1].label', { versions: [second, { ...first, label: '2.0.0-rc.1' }] }],
  ['versions[0].manifest', withVersion({ manifest: 'sha256:1' })],
  ['versions[0].publishedAt', withVersion({ publishedAt: 1 })],
  ['versions[0].createdAt', withVersion({ createdAt: '2026-13-99' })],
  ['versions[0].original', withVersion({ original: {} })],
  ['versions[0].status', withStatus(null)],
  ['versions[0].status.state', withStatus({ state: 'toString' })],
  ['versions[0].status.reason', withStatus({ ...ended, reason: 'x'.repeat(1001) })],
  ['versions[0].status.since', withStatus({ ...ended, since: undefined })],
  ['versions[0].status.sunset', withStatus({ ...ended, state: 'deprecated', sunset: {} })],
  ['versions[0].status.extra', withStatus({ ...active, extra: 1 })],
])('`%s` is named when it is wrong: %j', (place, change) => {
  expect(explainRemote({ ...right, ...change })).toMatch(`\`${place}\``);
});
