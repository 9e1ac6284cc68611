import { sampleOf } from '../sample.ts';
import { expect, test } from 'vitest';
import { open, seven, url, waitFor } from './pulls-scene.ts';
import { formatCoordinate } from '../../src/model/address.ts';
import { listReadable } from '../../src/registry/readable.ts';
import { readConnection } from '../../src/sync/connect.ts';
import { connectionState } from '../../src/model/connection.ts';

const doc = (title: string, version: string, ...paths: string[]) =>
  `openapi: 3.1.0\ninfo: { title: ${title}, version: ${version} }\npaths:\n${paths
    .map(
      (path) =>
        `  /${path}: { get: { summary: "Reads ${path} of it, which is long.", responses: { '200': { description: OK. } } } }\n`,
    )
    .join('')}`;
const o = (version: string, ...paths: string[]) => doc('Orders', version, ...paths);
const b = (version: string, ...paths: string[]) => doc('Bills', version, ...paths);
const names = (...each: string[]) =>
  `resources:\n${each.map((one) => `  - { path: ${one.split('=')[0]}, slug: ${one.split('=')[1]} }\n`).join('')}`;
type Files = Record<string, string>;
const base: Files = { 'orders.yaml': o('1.0.0', 'a', 'b', 'c'), 'bills.yaml': b('1.0.0', 'x', 'y', 'z') };
const orders = base['orders.yaml']!;
const bills = base['bills.yaml']!;
const listed = { ...base, 'stele.yaml': names('orders.yaml=orders', 'bills.yaml=bills') };
const cases: [string, Files, ...Files[]][] = [
  ['move', base, { 'x/o.yaml': orders, 'bills.yaml': bills }, base],
  ['move and add', base, { 'x/o.yaml': o('1.1.0', 'a', 'b', 'c', 'd'), 'bills.yaml': bills }, base],
  [
    'move and break',
    base,
    { 'x/o.yaml': o('2.0.0', 'a'), 'bills.yaml': bills },
    base,
    { 'y/z.yaml': o('2.0.0', 'b'), 'bills.yaml': bills },
  ],
  ['move with a new title', base, { 'x/o.yaml': doc('Other', '1.1.0', 'a', 'b', 'c', 'd'), 'bills.yaml': bills }],
  ['move with a new title and break', base, { 'x/o.yaml': doc('Other', '2.0.0', 'a', 'b'), 'bills.yaml': bills }],
  ['swap', base, { 'orders.yaml': bills, 'bills.yaml': orders }, base],
  ['swap and break', base, { 'orders.yaml': b('2.0.0', 'x'), 'bills.yaml': o('2.0.0', 'a') }, base],
  ['change case', base, { 'Orders.yaml': orders, 'bills.yaml': bills }, base],
  ['change case and break', base, { 'Orders.yaml': o('2.0.0', 'a'), 'bills.yaml': bills }],
  ['change the slug', listed, { ...base, 'stele.yaml': names('orders.yaml=neworders', 'bills.yaml=bills') }, listed],
  [
    'change the slug and break',
    listed,
    { ...base, 'orders.yaml': o('2.0.0', 'a'), 'stele.yaml': names('orders.yaml=neworders', 'bills.yaml=bills') },
    listed,
  ],
  ['swap slugs', listed, { ...base, 'stele.yaml': names('orders.yaml=bills', 'bills.yaml=orders') }, listed],
  [
    'move with their slug',
    listed,
    {
      'x/q.yaml': o('1.1.0', 'a', 'b', 'c', 'd'),
      'bills.yaml': bills,
      'stele.yaml': names('x/q.yaml=orders', 'bills.yaml=bills'),
    },
    listed,
  ],
  [
    'move with their slug and break',
    listed,
    { 'x/q.yaml': o('2.0.0', 'a'), 'bills.yaml': bills, 'stele.yaml': names('x/q.yaml=orders', 'bills.yaml=bills') },
    listed,
  ],
  [
    'go, and one new has a slug',
    listed,
    { 'x/q.yaml': doc('Q', '2.0.0', 'a', 'q'), 'stele.yaml': names('x/q.yaml=orders') },
    listed,
  ],
  ['become one', base, { 'orders.yaml': doc('Orders', '1.1.0', 'a', 'b', 'c', 'x', 'y', 'z') }, base],
  [
    'are copied, then go',
    base,
    { ...base, 'x/copy.yaml': o('2.0.0', 'a', 'k') },
    { 'x/copy.yaml': o('2.0.0', 'a', 'k'), 'bills.yaml': bills },
  ],
  ['follow each other', base, { 'bills.yaml': orders, 'x/b.yaml': bills }, base],
  ['go and come back with a break', base, { 'bills.yaml': bills }, { ...base, 'orders.yaml': o('2.0.0', 'a') }],
  [
    'go and come back elsewhere',
    base,
    { 'bills.yaml': bills },
    { 'bills.yaml': bills, 'x/o.yaml': o('2.0.0', 'a') },
    base,
  ],
  ['lose their stele.yaml', listed, base, { 'bills.yaml': bills, 'o.yaml': o('2.0.0', 'a') }],
];

/** The states of a check and of a connection after each outcome of a sync. */
const agreeing = {
  published: ['success', 'synced'],
  unchanged: ['success', 'synced'],
  waiting: ['waiting', 'waiting'],
  rejected: ['failure', 'failed'],
  conflict: ['failure', 'failed'],
  detached: ['neutral', 'detached'],
} as const;

for (const approval of ['none', 'required'] as const)
  test.each(sampleOf(cases, approval === 'none' ? 4 : 1))(
    `files that %s, approval ${approval}: check, sync, connection and latest agree`,
    async (_, ...states) => {
      const user = { organizations: { acme: { defaults: { approval } } } };
      const { source, sync, hook, checked, host, registry } = await open({}, user);
      const standing = async () => {
        const all = await listReadable(registry, { kind: 'operator', id: 'x' }, { org: 'acme' });
        const each = all.map(async (resource) => {
          const { repository, document } = await readConnection(registry, {
            ...resource,
            connection: resource.connection!,
          });
          const { state } = connectionState(repository!.value, document);
          return [formatCoordinate(resource), { state, latest: resource.latest }] as const;
        });
        return new Map(await Promise.all(each));
      };
      source.push(url, states[0]!);
      await sync();
      for (const files of states.slice(1)) {
        const before = await standing();
        const head = source.push(url, files, { branch: 'refs/pull/7/head' });
        await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true });
        await checked(head);
        const told = () => host.told.filter(({ commit, state }) => commit === head && state !== 'running');
        await waitFor(() => expect(told().map(({ name }) => name)).toContain('stele'));
        source.push(url, files);
        const { documents } = await sync();
        const after = await standing();
        const said = new Map(documents.map((each) => [each.resource, agreeing[each.outcome]]));
        const checks = told().filter(({ name }) => name !== 'stele');
        const expected = [...said].map(([name, [state]]) => [`stele ${name}`, state]);
        expect(checks.map(({ name, state }) => [name, state]).sort()).toEqual(expected.sort());
        for (const [name, { state, latest }] of after) {
          const was = before.get(name);
          expect([name, state]).toEqual([name, said.get(name)?.[1] ?? was?.state]);
          const mayMove = said.get(name)?.[1] === 'synced';
          if (was !== undefined && !mayMove) expect([name, latest]).toEqual([name, was.latest]);
          // Whatever moved where: what breaks waits for somebody.
          const check = checks.find((each) => each.name === `stele ${name}`);
          if (approval === 'required' && was !== undefined && mayMove) expect(check?.title).not.toContain('breaking');
        }
      }
    },
    60_000,
  );
