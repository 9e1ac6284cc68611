import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockName } from '../../src/model/lock.ts';
import {
  formatNote,
  formatSignature,
  formatVerifierKey,
  signingKey,
  signText,
} from '../../src/model/transparency/note.ts';
import { checkpointText, formatProof, parseCheckpoint } from '../../src/model/transparency/checkpoint.ts';
import { decodeBundle, nodesIn, leafHash, proveInclusion, rootOf } from '../../src/model/transparency/tree.ts';
import { digestOf } from '../../src/model/digest.ts';
import { deriveKey } from '../../src/registry/seal.ts';
import { serveStele, type Serving } from '../e2e/stele.ts';
import { cosign, cosigningKey } from '../registry/transparency/cosign.ts';
import { runHere } from './in-process.ts';
import { listen, openConsumer } from './lock-world.ts';
import { makeData, schema } from './public-log-world.ts';

/** A registry at one address, whose data folder is rewritten behind it: same key, same names, another 1.0.0. */
let folder: string;
let honest: Serving;
let forged: Serving;
/** As the honest one was before its last contract. */
let young: Serving;
let front: Awaited<ReturnType<typeof listen>>;
/** What the address shows now. */
let shown: Serving;
/** Changes an answer on its way. */
let change: ((path: string, body: Buffer) => Buffer) | null = null;
/** Changes the status of an answer. */
let statusOf = (_path: string, honestly: number): number => honestly;
/** Changes what is asked for. */
let route = (path: string): string => path;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-log-'));
  const config = { url: 'https://contracts.test', organizations: { acme: { defaults: { visibility: 'public' } } } };
  await writeFile(join(folder, 'registry.config.json'), JSON.stringify(config));
  const rate = schema('1.0.0', 'number');
  const good = await makeData(folder, 'honest', {
    '@acme/schemas/money': schema('1.0.0', 'string'),
    '@acme/schemas/rate': rate,
  });
  const bad = await makeData(folder, 'forged', {
    '@acme/schemas/money': schema('1.0.0', 'object'),
    '@acme/schemas/rate': rate,
  });
  const early = await makeData(folder, 'young', { '@acme/schemas/money': schema('1.0.0', 'string') });
  [honest, forged, young] = await Promise.all([serveStele(good), serveStele(bad), serveStele(early)]);
  shown = honest;
  front = await listen((request, response) => {
    void fetch(`${shown.url}${route(request.url!)}`, { headers: { accept: request.headers.accept ?? '*/*' } }).then(
      async (answer) => {
        const body = Buffer.from(await answer.arrayBuffer());
        response.writeHead(statusOf(request.url!, answer.status), {
          'content-type': answer.headers.get('content-type') ?? 'text/plain',
        });
        response.end(change === null ? body : change(request.url!, body));
      },
    );
  });
});

afterAll(async () => {
  await Promise.all([honest, forged, young].map((each) => each.stop('SIGKILL')));
  await front[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function consumer() {
  [shown, change, route, statusOf] = [honest, null, (path) => path, (_path, honestly) => honestly];
  const one = await openConsumer(folder);
  const add = (name: string) => one.run(`add @acme/schemas/${name} --as ${name}.json --registry ${front.url}`);
  return { ...one, add };
}

test('what is added is checked by its proof, and again without a network', async () => {
  const one = await consumer();
  expect(await one.add('money')).toMatchObject({ code: 0, stderr: '' });
  const lock = await one.text(lockName);
  change = () => Buffer.from('nothing that anybody needs');
  expect(await one.run('install')).toMatchObject({ code: 0, stderr: '1 contract checked\n' });
  const other = lock.replace(/digest: sha256:.{64}/, `digest: sha256:${'0'.repeat(64)}`);
  await writeFile(one.file(lockName), other);
  const refused = await one.run('install');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(
    /^The public log of http\S+ says that @acme\/schemas\/money@1\.0\.0 is sha256:.{64}, and here it is sha256:0{64}\. Ask who runs the registry\.\n$/,
  );
});

test('a data folder that was rewritten consistently is caught by whoever has seen the log before', async () => {
  const one = await consumer();
  await one.add('rate');
  shown = forged;
  const caught = await one.add('money');
  expect(caught.code).toBe(1);
  const [sentence, ...heads] = caught.stderr.split('\n\ncontracts.test/log\n');
  expect(sentence).toBe(
    `${front.url} shows another history than before. Trust nothing from it, and keep both of these: together they prove it.`,
  );
  // Both heads are signed by the registry's own key.
  expect(heads.map((head) => parseCheckpoint(`contracts.test/log\n${head.trimEnd()}\n`)?.size)).toEqual([5, 5]);
  await expect(one.text('money.json')).rejects.toThrow('ENOENT');

  // A lock that a colleague made there is refused, too.
  const colleague = await openConsumer(folder);
  await colleague.run(`add @acme/schemas/money --as money.json --registry ${front.url}`);
  await writeFile(one.file(lockName), await colleague.text(lockName));
  const installed = await one.run('install');
  expect(installed.code).toBe(1);
  expect(installed.stderr).toContain('shows another history than before');
  await expect(one.text('money.json')).rejects.toThrow('ENOENT');
});

test('a log that was set back is told with both heads, whatever is missing of it', async () => {
  const one = await consumer();
  await one.add('rate');
  shown = young;
  const caught = await one.add('money');
  expect(caught.code).toBe(1);
  const [sentence, ...heads] = caught.stderr.split('\n\ncontracts.test/log\n');
  expect(sentence).toBe(
    `${front.url} shows a log of 3 leaves, had one of 5, and has lost what proves that they are one history. Ask who runs it, and keep both of these.`,
  );
  expect(heads.map((head) => parseCheckpoint(`contracts.test/log\n${head.trimEnd()}\n`)?.size)).toEqual([3, 5]);
});

test('update goes back from a version that was yanked where the public log says so, and not where only the registry does', async () => {
  const common = await makeData(folder, 'taken-back', { '@acme/schemas/tax': schema('1.0.0', 'number') });
  await makeData(folder, 'taken-back', { '@acme/schemas/tax': schema('1.1.0', 'string') });
  const one = await consumer();
  shown = await serveStele(common);
  await one.run(`add @acme/schemas/tax@^1 --as tax.json --registry ${front.url}`);
  expect(await one.text(lockName)).toContain('version: 1.1.0');
  route = (path) => path.replace(/@%5E1\/provenance$/, '@1.0.0/provenance');
  const yanked = (item: { version: string }) => (item.version === '1.1.0' ? { ...item, status: { state: 'yanked', reason: 'No.' } } : item); // prettier-ignore
  change = (path, body) => {
    if (!path.endsWith('/versions')) return body;
    const page = JSON.parse(String(body)) as { items: { version: string }[] };
    return Buffer.from(JSON.stringify({ ...page, items: page.items.map(yanked) }));
  };
  expect(await one.run('update')).toMatchObject({ code: 1, stderr: expect.stringContaining('older than 1.1.0') });

  [change, route] = [null, (path) => path];
  await shown.stop('SIGKILL');
  await runHere(['yank', '@acme/schemas/tax@1.1.0', '--reason', 'Wrong rate.', ...common]);
  // A start brings the log up to date.
  shown = await serveStele(common);
  const because = '@acme/schemas/tax 1.1.0 → 1.0.0 (^1), since 1.1.0 was yanked: Wrong rate.';
  await expect.poll(() => one.run('update')).toMatchObject({ code: 0, stdout: expect.stringContaining(because) });
  expect(await one.text(lockName)).toContain('version: 1.0.0');
  await shown.stop('SIGKILL');
});

test('verify --log walks the log, and catches the same', async () => {
  const one = await consumer();
  expect(await one.run(`verify --log ${front.url}`)).toEqual({
    code: 0,
    stdout: '',
    stderr: 'contracts.test/log: 5 leaves, 2 versions as the log says, 0 not served, 0 different\n',
  });
  shown = forged;
  const caught = await one.run(`verify --log ${front.url}`);
  expect(caught.code).toBe(1);
  expect(caught.stderr).toContain('shows another history than before');

  // Bytes that are not those of the log, under a log that is as it was.
  shown = honest;
  change = (path, body) => (path === '/@acme/schemas/money@1.0.0.json' ? Buffer.from('{}') : body);
  const different = await one.run(`verify --log ${front.url}`);
  expect(different.code).toBe(1);
  expect(different.stdout).toMatch(
    /^different @acme\/schemas\/money@1\.0\.0: its json is sha256:\w+, which its manifest does not name\n$/,
  );
});

test.for([
  ['latest is another', '', '{}', 1, 'different @acme/schemas/money: its latest json is sha256:'],
  [
    'latest is not served',
    '',
    404,
    1,
    'different @acme/schemas/money: its latest json is not served, and the log says 1.0.0',
  ],
  ['latest fails', '', 500, 3, '/@acme/schemas/money returned status 500'],
  ['no versions are listed', '/versions', 404, 1, 'different @acme/schemas/money@1.0.0: it is not listed'],
  ['the versions fail', '/versions', 500, 3, '/@acme/schemas/money/versions returned status 500'],
] as const)('verify --log asks for what readers get: %s', async ([, path, lie, code, says]) => {
  const one = await consumer();
  const isAsked = (asked: string) => asked === `/@acme/schemas/money${path}`;
  if (typeof lie === 'string') change = (asked, body) => (isAsked(asked) ? Buffer.from(lie) : body);
  else statusOf = (asked, honestly) => (isAsked(asked) ? lie : honestly);
  const ended = await one.run(`verify --log ${front.url}`);
  expect(ended.code).toBe(code);
  expect(ended.stdout + ended.stderr).toContain(says);
});

test('a head may say any size: what is not there is asked for once, and nothing behind it', async () => {
  const one = await consumer();
  const asked: string[] = [];
  await using liar = await listen((request, response) => {
    asked.push(request.url!);
    const origin = `${new URL(liar.url).host}/log`;
    const key = signingKey(origin, new Uint8Array(32));
    const text = checkpointText(origin, { size: 10 ** 12, root: Buffer.alloc(32) });
    if (request.url === '/log/key') return void response.end(formatVerifierKey(key));
    if (request.url === '/log/checkpoint')
      return void response.end(formatNote({ text, signatures: [signText(key, text)] }));
    response.writeHead(404).end();
  });
  const ended = await one.run(`verify --log ${liar.url}`);
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/entries\/\w+ is missing or damaged/) });
  expect(asked.length).toBeLessThan(25);
});

test('verify --log excuses no difference by a log that was read when it was shorter', async () => {
  const one = await consumer();
  // What the log was when it had three leaves.
  const key = signingKey('contracts.test/log', deriveKey('the key that whoever holds the disk has, too', '', 'stele public log')); // prettier-ignore
  const leaves = decodeBundle(
    Buffer.from(await (await fetch(`${honest.url}/log/tile/entries/000.p/5`)).arrayBuffer()),
  )!;
  const root = await rootOf(
    nodesIn(async () => Buffer.concat(leaves.slice(0, 3).map(leafHash)), 3),
    3,
  );
  const text = checkpointText(key.name, { size: 3, root });
  const old = Buffer.from(formatNote({ text, signatures: [signText(key, text)] }));
  let isFirst = true;
  change = (path, body) => {
    if (path === '/@acme/schemas/money') return Buffer.from('{}');
    if (path !== '/log/checkpoint' || !isFirst) return body;
    isFirst = false;
    return old;
  };
  const ended = await one.run(`verify --log ${front.url}`);
  expect(ended.stdout).toContain('different @acme/schemas/money: its latest json is sha256:');
  expect(ended.stderr).toContain('5 leaves, 2 versions');
  expect(ended.code).toBe(1);
});

test('a key of the log that is cut is no registry without a log', async () => {
  const one = await consumer();
  change = (path, body) => (path === '/log/key' ? body.subarray(0, 20) : body);
  const ended = await one.add('money');
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('/log/key is not the key of a public log') });
});

test('the bytes are those of the manifest that the log names, whatever else is said of them', async () => {
  const one = await consumer();
  const other = Buffer.from('{"title":"Money","type":"object"}');
  const sha256 = digestOf(other);
  const lie = (path: string, body: Buffer): Buffer => {
    if (path === '/@acme/schemas/money@1.0.0.json') return other;
    if (!/\/money(?:@[^/]+)?\/(?:provenance|manifest)/.test(path)) return body;
    const text = String(body);
    const { layers } = JSON.parse(text) as { layers?: { digest: string; annotations?: Record<string, string> }[] };
    if (layers === undefined) return body;
    const own = layers.find(({ annotations }) => JSON.stringify(annotations ?? {}).includes('identity') && JSON.stringify(annotations).includes('json'))!; // prettier-ignore
    return Buffer.from(text.replaceAll(own.digest, sha256));
  };
  change = lie;
  const added = await one.add('money');
  expect(added).toMatchObject({ code: 1, stderr: expect.stringMatching(/sent another manifest of @acme\/schemas\/money@1\.0\.0/) }); // prettier-ignore
  const verified = await one.run(`verify --log ${front.url}`);
  expect(verified).toMatchObject({ code: 1, stdout: expect.stringContaining('its manifest is not') });
  change = (path, body) => (/\/manifest/.test(path) ? Buffer.from('Not found') : lie(path, body));
  expect((await one.add('money')).code).toBe(1);
  expect((await one.run(`verify --log ${front.url}`)).code).toBe(1);
  await expect(one.text('money.json')).rejects.toThrow('ENOENT');
});

test('a public version that is not in the log is refused', async () => {
  const one = await consumer();
  change = (path, body) => (path.endsWith('?proof') ? Buffer.from('{"title":"Not found"}') : body);
  // The leaves say it, too.
  expect(await one.add('money')).toMatchObject({ code: 0 });
  // The same under another name, which is in no log.
  route = (path) => (path.includes('extra') && path.endsWith('?proof') ? '/none' : path.replace('/extra', '/rate'));
  change = (path, body) => {
    if (path.includes('/extra')) return Buffer.from(String(body).replaceAll('/rate', '/extra'));
    if (!/^\/@acme(?:\?|$)/.test(path)) return body;
    const { items, next } = JSON.parse(String(body)) as { items: object[]; next: string | null };
    const rate = items.find((item) => JSON.stringify(item).includes('/rate'));
    return Buffer.from(JSON.stringify({ items: [...items, JSON.parse(JSON.stringify(rate).replaceAll('rate', 'extra'))], next })); // prettier-ignore
  };
  const refused = await one.run(`add @acme/schemas/extra --as extra.json --registry ${front.url}`);
  expect(refused).toMatchObject({ code: 1, stderr: `@acme/schemas/extra@1.0.0 is public, and not in the public log of ${front.url}. Ask who runs the registry.\n` }); // prettier-ignore
  const verified = await one.run(`verify --log ${front.url}`);
  expect(verified).toMatchObject({
    code: 1,
    stdout: 'different @acme/schemas/extra@1.0.0: it is served, and not in the log\n',
  });
});

test('another key, a log that is gone and a head that nobody signed are refused', async () => {
  const one = await consumer();
  await one.add('rate');
  const key = formatVerifierKey(signingKey('contracts.test/log', Buffer.alloc(32, 1)));
  change = (path, body) => (path === '/log/key' ? Buffer.from(`${key}\n`) : body);
  expect((await one.add('money')).stderr).toContain('has another key');
  change = (path, body) => (path.endsWith('?proof') ? Buffer.from(String(body).replace(/\n5\n/, '\n6\n')) : body);
  expect((await one.add('money')).stderr).toMatch(/The proof .* does not hold|not to be trusted/);
  const other = (_: string, index: string, letter: string) => index + (letter === 'A' ? 'B' : 'A');
  change = (path, body) =>
    path.endsWith('?proof') ? Buffer.from(String(body).replace(/^(index \d+\n)(.)/m, other)) : body;
  expect((await one.add('money')).code).toBe(1);
});

test('what was seen of the log and cannot be kept or read is told, and nothing is written', async () => {
  const one = await consumer();
  await writeFile(one.file('taken'), '');
  const add = (env: Record<string, string>) =>
    one.run(`add @acme/schemas/money --as money.json --registry ${front.url}`, { env });
  expect(await add({ XDG_CACHE_HOME: one.file('taken') })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/taken\/stele\/logs\/\w+\.json cannot be written \(ENOTDIR\)/),
  });
  await one.add('rate');
  const [name] = await readdir(join(one.cache, 'stele/logs'));
  const memory = join(one.cache, 'stele/logs', name!);
  await rm(memory);
  await mkdir(memory);
  expect(await one.add('money')).toMatchObject({ code: 2, stderr: expect.stringContaining('EISDIR') });
  await expect(one.text('money.json')).rejects.toThrow('ENOENT');
});

test('a policy asks for witnesses', async () => {
  const one = await consumer();
  const witness = cosigningKey('witness.test/w', Buffer.alloc(32, 2));
  const log = (await (await fetch(`${honest.url}/log/key`)).text()).trim();
  await writeFile(one.file('contracts.policy'), `log ${log}\nwitness w ${formatVerifierKey(witness)}\nquorum w\n`);
  const refused = await one.add('money');
  expect(refused.stderr).toBe(
    `The checkpoint of the public log of ${front.url} is not to be trusted: of the witnesses of the policy, none has cosigned it (quorum w).\n`,
  );
  change = (path, body) => {
    const text = String(body);
    if (!path.endsWith('?proof')) return body;
    const checkpoint = text.slice(text.indexOf('\n\n') + 2);
    const signed = checkpoint.slice(0, checkpoint.indexOf('\n\n') + 1);
    return Buffer.from(text + formatSignature(cosign(witness, signed, 1_700_000_000)));
  };
  expect(await one.add('money')).toMatchObject({ code: 0 });
  await writeFile(one.file('contracts.policy'), `log ${log}\nwitness w nonsense\nquorum w\n`);
  expect((await one.run('install')).stderr).toBe('contracts.policy:2: nonsense is not the Ed25519 key of a witness.\n');
});

test('a key that the one before has announced takes its place, and none from before comes back', async () => {
  const one = await consumer();
  await one.add('money');
  const before = (await (await fetch(`${honest.url}/log/key`)).text()).trim();
  const data = join(folder, 'rotated');
  await cp(join(folder, 'honest'), data, { recursive: true });
  const keys = ['the key that is there since today, only here', await readFile(join(data, '.log-key'), 'utf8')];
  await writeFile(join(data, '.log-key'), `${keys.join('\n')}\n`, { mode: 0o600 });
  const rotated = await serveStele(['--config', join(folder, 'registry.config.json'), '--data', data]);
  try {
    shown = rotated;
    await expect.poll(() => fetch(`${rotated.url}/log/key.proof`).then(({ status }) => status)).toBe(200);
    expect(await one.add('rate')).toMatchObject({ code: 0, stderr: '' });
    // What was proved with the key from before needs no network.
    change = () => Buffer.from('nothing that anybody needs');
    expect(await one.run('install')).toMatchObject({ code: 0, stderr: '2 contracts checked\n' });

    // Whoever has the old key cannot make it the present one: the log announced it before the new one.
    const read = async (path: string) => Buffer.from(await (await fetch(rotated.url + path)).arrayBuffer());
    const checkpoint = parseCheckpoint(String(await read('/log/checkpoint')))!;
    const { size } = checkpoint;
    const leaves = decodeBundle(await read(`/log/tile/entries/000.p/${size}`))!;
    const hashes = await proveInclusion(
      nodesIn(async () => Buffer.concat(leaves.map(leafHash)), size),
      0,
      size,
    );
    const proof = formatProof({ index: 0, hashes, checkpoint, extra: leaves[0]! });
    change = (path, body) =>
      path === '/log/key' ? Buffer.from(`${before}\n`) : path === '/log/key.proof' ? Buffer.from(proof) : body;
    const back = await one.run(`verify --log ${front.url}`);
    expect(back.code).toBe(1);
    expect(back.stderr).toContain(`has another key: ${before}. It was `);
    expect(back.stderr).toContain('which has not announced it. Ask who runs the registry.');
  } finally {
    await rotated.stop('SIGKILL');
  }
});
