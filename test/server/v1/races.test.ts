import { expect, test } from 'vitest';
import { createTestRegistry } from '../registry.ts';
import { documentOf, openApi, unlimited } from './api.ts';

/** Two servers over one store, as two processes are. */
async function openTwo() {
  const registry = createTestRegistry(unlimited);
  const one = await openApi(registry);
  const two = await openApi(registry);
  return {
    one,
    two,
    [Symbol.asyncDispose]: async () => void (await Promise.all([one, two].map((each) => each[Symbol.asyncDispose]()))),
  };
}

const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort();

test('of two clients that create one slug, one does', async () => {
  await using both = await openTwo();
  for (let round = 0; round < 20; round++) {
    const answers = await Promise.all(
      [both.one, both.two].map((api, n) =>
        api.call('POST', '/v1/apis', { body: { name: `By ${n}`, slug: `pay-${round}` } }),
      ),
    );
    expect(statuses(answers)).toEqual([201, 409]);
    const winner = answers.find(({ status }) => status === 201)!;
    expect((await both.one.call('GET', `/v1/apis/pay-${round}`)).json['name']).toBe(winner.json['name']);
  }
});

test('of many clients that publish one label, one does, and latest is right', async () => {
  await using both = await openTwo();
  await both.one.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  for (let round = 0; round < 10; round++) {
    const label = `1.0.${round}`;
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        (n % 2 ? both.one : both.two).call('POST', '/v1/apis/pay/spec', {
          body: { document: documentOf(label, `By ${n}`), version: label },
        }),
      ),
    );
    expect(statuses(answers)).toEqual([201, 409, 409, 409, 409, 409]);
    expect((await both.two.call('GET', '/v1/apis/pay')).json['latest']).toBe(label);
  }
  expect((await both.one.call('GET', '/v1/apis/pay/versions')).json['items']).toHaveLength(10);
});

test('of many clients that publish without a label, each gets its own', async () => {
  await using both = await openTwo();
  await both.one.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      (n % 2 ? both.one : both.two).call('POST', '/v1/apis/pay/spec', {
        body: { document: documentOf(null, `By ${n}`) },
      }),
    ),
  );
  expect(new Set(answers.map(({ json }) => json['version'])).size).toBe(12);
  expect(answers.every(({ status }) => status === 201)).toBe(true);
});

test('of two clients that patch one resource as they both read it, one does', async () => {
  await using both = await openTwo();
  const made = await both.one.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  let etag = made.headers.get('etag')!;
  for (let round = 0; round < 20; round++) {
    const answers = await Promise.all(
      [both.one, both.two].map((api, n) =>
        api.call('PATCH', '/v1/apis/pay', { body: { name: `${round} by ${n}` }, headers: { 'if-match': etag } }),
      ),
    );
    expect(statuses(answers)).toEqual([200, 412]);
    const winner = answers.find(({ status }) => status === 200)!;
    const now = await both.one.call('GET', '/v1/apis/pay');
    expect(now.json).toEqual(winner.json);
    etag = now.headers.get('etag')!;
  }
});

test('a publish of the same bytes as a withdrawal loses none of them', async () => {
  await using both = await openTwo();
  for (const slug of ['one', 'two']) {
    await both.one.call('POST', '/v1/apis', { body: { name: slug, slug, visibility: 'public' } });
  }
  for (let round = 0; round < 20; round++) {
    const label = `1.0.${round}`;
    const body = { document: documentOf(label), version: label };
    await both.one.call('POST', '/v1/apis/one/spec', { body });
    const [withdrawn, published] = await Promise.all([
      both.one.call('PATCH', `/v1/apis/one/versions/${label}`, {
        body: { status: { state: 'withdrawn', reason: 'x' } },
      }),
      both.two.call('POST', '/v1/apis/two/spec', { body }),
    ]);
    expect([withdrawn.status, published.status]).toEqual([200, 201]);
    const read = await fetch(`${both.one.url}/@acme/apis/two@${label}.json`);
    expect([read.status, await read.text()]).toEqual([200, documentOf(label)]);
    expect((await fetch(`${both.two.url}/@acme/apis/one@${label}.json`)).status).toBe(410);
  }
});
