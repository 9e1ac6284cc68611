import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { runHere } from './in-process.ts';
import { listen } from './lock-world.ts';

const run = {
  id: '0mwsz390vshu4743g33k',
  state: 'succeeded',
  repository: 'https://git.test/acme/apis',
  branch: 'main',
  from: null,
  to: 'c45d3e37c1d607c40c584db0fb538446418c47fe',
  finishedAt: '2026-11-23T07:57:16.064Z',
  detail: null,
  documents: [{ path: 'pay.yaml', outcome: 'rejected', version: null, detail: 'pay.yaml:2:1 No title.', report: null }],
};

interface Asked {
  what: string;
  body: string;
}

/** A registry that answers what it is told to, in order. Every key is one of acme. */
async function openStub(answers: readonly [status: number, body: object][]) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.url === '/v1/me') {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"organization":"acme"}');
        return;
      }
      const [status, answer] = answers[asked.push({ what: `${request.method} ${request.url}`, body }) - 1]!;
      const wait = status === 429 && { 'retry-after': `${(answer as { wait?: string }).wait ?? 1}` };
      response.writeHead(status, { 'content-type': 'application/json', ...wait }).end(JSON.stringify(answer));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, [Symbol.asyncDispose]: async () => void server.close() };
}

test('sync over HTTP waits for the run, and prints its documents and its repository', async () => {
  await using stub = await openStub([
    [202, { ...run, state: 'running', to: null, finishedAt: null, documents: [] }],
    [200, run],
  ]);
  const ended = await runHere(['sync', '@acme/apis/pay', '--registry', stub.url], { env: { STELE_KEY: 'k' } });
  expect(ended.stdout).toBe('rejected @acme/apis/pay: pay.yaml:2:1 No title.\n');
  expect(ended.stderr).toContain('https://git.test/acme/apis main is synced at c45d3e37c1d6');
  expect(ended.code).toBe(1);
  expect(stub.asked.map(({ what }) => what)).toEqual([
    'POST /v1/apis/pay/sync?wait=30',
    `GET /v1/apis/pay/syncs/${run.id}`,
  ]);
});

test('sync says in its exit code whether the repository was not reached, or a document could not be checked', async () => {
  const failed = { ...run, state: 'failed', documents: [], detail: 'pay.yaml: The document could not be checked.' };
  await using stub = await openStub([
    [202, { ...failed, sandbox: 'lost' }],
    [202, failed],
  ]);
  const sync = () => runHere(['sync', '@acme/apis/pay', '--registry', stub.url], { env: { STELE_KEY: 'k' } });
  expect((await sync()).code).toBe(75);
  expect((await sync()).code).toBe(3);
});

test('a registry that has had enough requests is asked once more, when it says', async () => {
  const full = { detail: 'Too many requests: wait 1 s.' };
  await using stub = await openStub([
    [429, full],
    [200, run],
    [429, full],
    [429, full],
    [429, { ...full, wait: '86400' }],
    [429, { ...full, wait: '1e300' }],
  ]);
  const sync = () => runHere(['sync', '@acme/apis/pay', '--registry', stub.url], { env: { STELE_KEY: 'k' } });
  const started = performance.now();
  expect((await sync()).stderr).toContain('is synced at');
  expect(performance.now() - started).toBeGreaterThan(990);
  expect((await sync()).stderr).toContain('Too many requests: wait 1 s.');
  expect(stub.asked).toHaveLength(4);
  // A registry may say anything.
  for (const asked of [5, 6]) {
    expect((await sync()).stderr).toContain('Too many requests');
    expect(stub.asked).toHaveLength(asked);
  }
});

test('replay over HTTP sends a ruleset with the files that it extends', async () => {
  const totals = { checked: 0, newlyBlocked: 0, unblocked: 0, others: 0 };
  await using stub = await openStub([[200, { items: [], totals, next: null }]]);
  const folder = await mkdtemp(join(tmpdir(), 'stele-remotely-'));
  try {
    await writeFile(join(folder, 'base.yaml'), 'rules: {a: {given: $.info, then: {function: truthy}}}\n');
    await writeFile(join(folder, 'style.yaml'), 'extends: [./base.yaml]\nrules: {a: error}\n');
    const replay = (file: string) =>
      runHere(['replay', file, '@acme/rulesets/style', '--registry', stub.url], {
        cwd: folder,
        env: { STELE_KEY: 'k' },
      });
    expect(await replay('style.yaml')).toMatchObject({ code: 0 });
    expect(stub.asked).toMatchObject([{ body: expect.stringContaining('$.info') as string }]);
    await writeFile(join(folder, 'style.yaml'), 'rules: {none: error}\n');
    expect((await replay('style.yaml')).stderr).toContain('style.yaml:1:9 error ruleset-rule');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('check over HTTP sends each view of a file, with its overlays', async () => {
  const checked = { outcome: 'published', version: '@acme/apis/x@1.0.0', isNew: true, detail: null };
  const report = { problems: [], counts: { error: 0, warning: 0, info: 0 }, truncated: false };
  const answer: [number, object] = [200, { ...checked, report }];
  await using stub = await openStub([answer, answer, answer]);
  const folder = await mkdtemp(join(tmpdir(), 'stele-remotely-'));
  try {
    const settings =
      'resources:\n  - { path: pay.yaml, slug: pay }\n  - { path: pay.yaml, slug: pay-public, audience: public, overlays: [look.yaml] }\n';
    await writeFile(join(folder, 'stele.yaml'), settings);
    await writeFile(join(folder, 'pay.yaml'), 'openapi: 3.1.0\ninfo: { title: Pay, version: 1.0.0 }\npaths: {}\n');
    await writeFile(
      join(folder, 'look.yaml'),
      'overlay: 1.0.0\ninfo: { title: Look, version: 1.0.0 }\nactions: [{ target: $.info, update: { title: P } }]\n',
    );
    const check = (...files: string[]) =>
      runHere(['check', ...files, '--registry', stub.url], { cwd: folder, env: { STELE_KEY: 'k' } });
    const { stderr } = await check();
    expect(stderr).toContain('pay.yaml#pay-public would be published');
    const sent = stub.asked.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    expect(sent).toMatchObject([
      { coordinate: '@acme/apis/pay', path: 'pay.yaml' },
      {
        coordinate: '@acme/apis/pay-public',
        path: 'pay.yaml',
        view: { overlays: ['look.yaml'], audience: 'public' },
        files: { 'look.yaml': expect.stringContaining('title: P') as string },
      },
    ]);
    expect(sent[0]).not.toHaveProperty('view');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('check judges every file that is named, and names those that are not there or would not be published', async () => {
  const checked = { outcome: 'published', version: '@acme/apis/good@1.0.0', isNew: true, detail: null };
  const report = { problems: [], counts: { error: 0, warning: 0, info: 0 }, truncated: false };
  await using stub = await openStub(Array.from({ length: 3 }, () => [200, { ...checked, report }]));
  const folder = await mkdtemp(join(tmpdir(), 'stele-remotely-'));
  try {
    await writeFile(join(folder, 'good.yaml'), 'openapi: 3.1.0\ninfo: { title: Pay, version: 1.0.0 }\npaths: {}\n');
    await writeFile(join(folder, 'no.txt'), 'Nothing.\n');
    const check = (...args: string[]) =>
      runHere(['check', ...args, '--registry', stub.url], { cwd: folder, env: { STELE_KEY: 'k' } });
    const good = 'good.yaml would be published as @acme/apis/good@1.0.0, a new resource.\n';
    const told = { code: 2, stdout: '', stderr: `${good}There is no file nosuch.yaml.\n` };
    expect(await check('good.yaml', 'nosuch.yaml')).toEqual(told);
    expect(await check('nosuch.yaml', 'good.yaml')).toEqual(told);
    const others = await check('nosuch.yaml', 'no.txt', 'good.yaml', '--json');
    expect(JSON.parse(others.stdout)).toMatchObject({ documents: [{ path: 'good.yaml' }] });
    expect((JSON.parse(others.stderr) as { detail: string }).detail).toBe(
      'There is no file nosuch.yaml.\nno.txt would not be published. "stele discover ." says why; --as checks it as a resource.',
    );
    expect(await check('nosuch.yaml')).toEqual({ code: 2, stdout: '', stderr: 'There is no file nosuch.yaml.\n' });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('check goes on after a document that is refused, and says why of that one', async () => {
  const report = { problems: [], counts: { error: 0, warning: 0, info: 0 }, truncated: false };
  const answerFor = (slug: string): [number, object] => [
    200,
    { outcome: 'published', version: `@acme/apis/${slug}@1.0.0`, isNew: false, detail: null, report },
  ];
  const deleted = '@acme/apis/b was deleted; its name is never used again.';
  await using stub = await openStub([answerFor('a'), [409, { detail: deleted }], answerFor('d')]);
  const folder = await mkdtemp(join(tmpdir(), 'stele-remotely-'));
  try {
    for (const slug of ['a', 'b', 'c', 'd'])
      await writeFile(join(folder, `${slug}.yaml`), `openapi: 3.1.0\ninfo: {title: ${slug}, version: 1.0.0}\npaths: {}\n`); // prettier-ignore
    const entry = (slug: string) => `  - {path: ${slug}.yaml, slug: ${slug}${slug === 'c' ? ', version: {file: none.json, pointer: /version}' : ''}}\n`; // prettier-ignore
    await writeFile(join(folder, 'stele.yaml'), `resources:\n${['a', 'b', 'c', 'd'].map(entry).join('')}`);
    const ended = await runHere(['check', '--registry', stub.url, '--report', 'junit=all.xml'], {
      cwd: folder,
      env: { STELE_KEY: 'k' },
    });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr.trim().split('\n')).toEqual([
      'a.yaml would be published as @acme/apis/a@1.0.0.',
      `b.yaml would not be published: ${deleted}`,
      expect.stringContaining('c.yaml would not be published: Cannot read the version from none.json.'),
      'd.yaml would be published as @acme/apis/d@1.0.0.',
    ]);
    expect(await readFile(join(folder, 'all.xml'), 'utf8')).toContain(deleted);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('without a key, check goes on after what only a key may ask for', async () => {
  const report = { problems: [], counts: { error: 0, warning: 0, info: 0 }, truncated: false };
  const published = { outcome: 'published', version: '@acme/apis/b@1.0.0', isNew: false, detail: null, report };
  const folder = await mkdtemp(join(tmpdir(), 'stele-remotely-'));
  try {
    for (const slug of ['a', 'b'])
      await writeFile(join(folder, `${slug}.yaml`), `openapi: 3.1.0\ninfo: {title: ${slug}, version: 1.0.0}\npaths: {}\n`); // prettier-ignore
    await using stub = await openStub([
      [401, { detail: 'Send a key.' }],
      [200, published],
    ]);
    const check = (env: Record<string, string>) =>
      runHere(['check', '--registry', stub.url, '--org', 'acme'], { cwd: folder, env });
    const stderr = 'a.yaml would not be published: Send a key.\nb.yaml would be published as @acme/apis/b@1.0.0.\n';
    expect(await check({})).toEqual({ code: 3, stdout: '', stderr });
    // A key that is not taken is not sent again and again.
    await using other = await openStub([[401, { detail: 'No.' }]]);
    const refused = await runHere(['check', '--registry', other.url, '--org', 'acme'], { cwd: folder, env: { STELE_KEY: 'k' } }); // prettier-ignore
    expect(refused.code).toBe(3);
    expect(other.asked).toHaveLength(1);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('check says what is wrong in stele.yaml, also where documents are well', async () => {
  const report = { problems: [], counts: { error: 0, warning: 0, info: 0 }, truncated: false };
  const answer = { outcome: 'published', version: '@acme/apis/a@1.0.0', isNew: true, detail: null, report };
  await using stub = await openStub([[200, answer], [200, answer]]); // prettier-ignore
  const folder = await mkdtemp(join(tmpdir(), 'stele-remotely-'));
  try {
    await writeFile(join(folder, 'a.yaml'), 'openapi: 3.1.0\ninfo: {title: a, version: 1.0.0}\npaths: {}\n');
    await writeFile(
      join(folder, 'stele.yaml'),
      'resources:\n  - {path: a.yaml, slug: a}\n  - {path: gone.yaml, slug: b}\n',
    );
    const check = (...more: string[]) => runHere(['check', '--registry', stub.url, ...more], { cwd: folder, env: { STELE_KEY: 'k' } }); // prettier-ignore
    expect(await check()).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/stele\.yaml:3:5 .*gone\.yaml/s) as string,
    });
    const { stdout } = await check('--json');
    expect(JSON.parse(stdout)).toMatchObject({
      documents: [{ outcome: 'published' }],
      settings: { counts: { error: 1 } },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('check does not judge what tags publish by the version in the document', async () => {
  const report = { problems: [], counts: { error: 0, warning: 0, info: 0 }, truncated: false };
  const detail = 'Safe changes compared with 1.0.0: 1 safe.';
  await using stub = await openStub([[200, { outcome: 'published', version: null, isNew: false, detail, report }]]);
  const folder = await mkdtemp(join(tmpdir(), 'stele-remotely-'));
  try {
    await writeFile(join(folder, 'a.yaml'), 'openapi: 3.1.0\ninfo: {title: a, version: 1.0.0}\npaths: {}\n');
    await writeFile(join(folder, 'stele.yaml'), "resources:\n  - {path: a.yaml, slug: a, tags: 'v*'}\n");
    const ended = await runHere(['check', '--registry', stub.url], { cwd: folder, env: { STELE_KEY: 'k' } });
    expect(ended).toEqual({
      code: 0,
      stdout: '',
      stderr: `a.yaml is valid; it is published when a tag v* is pushed. ${detail}\n`,
    });
    expect(stub.asked.map(({ body }) => JSON.parse(body) as object)).toMatchObject([{ tagged: true }]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a registry that redirects is named with where it leads, which gets no key', async () => {
  const keys: string[] = [];
  await using elsewhere = await listen((request, response) => {
    keys.push(request.headers.authorization ?? 'none');
    response.end('{}');
  });
  await using moved = await listen((request, response) =>
    response.writeHead(308, { location: `${elsewhere.url}${request.url}` }).end(),
  );
  const env = { STELE_KEY: 'stele_key', STELE_REGISTRY: moved.url };
  expect(await runHere(['sync', '@acme/apis/pay', '--registry', moved.url], { env })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`${moved.url} redirects to ${elsewhere.url}. The key goes to no other address`),
  });
  expect(keys).toEqual([]);
});
