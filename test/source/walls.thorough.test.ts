import { execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isRegistryError, type RegistryError } from '../../src/model/errors.ts';
import type { Credential } from '../../src/source/source.ts';
import { openGitServer } from '../servers/git-http.ts';
import { commandLines, eventually } from './processes.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const token = 'sesame-4711-open';
const encoded = Buffer.from(`robot:${token}`).toString('base64');
const credential: Credential = { kind: 'token', username: 'robot', token };

async function refusalOf(work: Promise<unknown>): Promise<RegistryError> {
  const error = await work.then(
    () => null,
    (caught: unknown) => caught,
  );
  if (!isRegistryError(error)) throw new Error(`Expected a refusal, got ${String(error)}`);
  return error;
}

describe('a credential', () => {
  beforeEach(() => {
    world.createRepository().commit({ files: { 'a.yaml': 'a: 1\n' } });
    world.server.behaviour.credentials = { username: 'robot', password: token };
  });

  test('lets in, and is nowhere but in the environment of git', async () => {
    world.server.behaviour.delay = 150;
    const source = world.openSource();
    const remote = { ...world.remote(), credential };
    const seen: string[] = [];
    const timer = setInterval(() => seen.push(...commandLines()), 20);
    const tip = await source.tip(remote);
    const snapshot = await source.snapshot(remote, tip.found ? tip.commit : '');
    const [file] = await snapshot.read(['a.yaml']);
    await source.ancestry(remote, tip.found ? tip.commit : '', 'a'.repeat(40));
    clearInterval(timer);
    expect(file?.found).toBe(true);
    expect(world.server.requests.every(({ headers }) => headers.authorization === `Basic ${encoded}`)).toBe(true);
    expect(seen.some((line) => line.includes('git-remote-http') && line.includes(world.server.host))).toBe(true);
    expect(seen.filter((line) => line.includes(token) || line.includes(encoded))).toEqual([]);
    expect(filesUnder(world.cache).filter((text) => text.includes(token) || text.includes(encoded))).toEqual([]);
  });

  test('that is wrong is distinguished from one that is missing, and neither is repeated', async () => {
    const wrong = { ...world.remote(), credential: { ...credential, token: 'wrong-4711' } };
    const refused = await refusalOf(world.openSource().tip(wrong));
    expect(refused).toMatchObject({ code: 'unreachable', message: expect.stringContaining('rejected the credential') });
    expect(refused.message).toContain(wrong.url);
    expect(refused.message).not.toMatch(/4711|sesame/);
    const missing = await refusalOf(world.openSource().tip(world.remote()));
    expect(missing).toMatchObject({ code: 'unreachable', message: expect.stringContaining('requires a credential') });
  });

  test('of another kind than the URL is refused', async () => {
    const ssh = { ...world.remote(), credential: { kind: 'ssh', keyFile: '/nonexistent' } as const };
    expect((await refusalOf(world.openSource().tip(ssh))).message).toContain('is an ssh key');
  });

  test('does not follow a redirect to another host', async () => {
    await using other = await openGitServer({ root: join(world.folder, 'root') });
    world.server.behaviour.redirect = (path) => `${other.url}${path}`;
    const refused = await refusalOf(world.openSource().tip({ ...world.remote(), credential }));
    expect(refused).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining(`redirects to ${other.url}/a.git`),
    });
    expect(other.requests).toEqual([]);
  });
});

describe('a redirect', () => {
  test('within the host is followed once, as hosts send for renamed repositories', async () => {
    const commit = world.createRepository('new.git').commit({ files: { 'a.yaml': 'a: 1\n' } });
    world.server.behaviour.redirect = (path) => (path.startsWith('/old') ? path.replace('/old', '/new.git') : null);
    const remote = { ...world.remote(), url: `${world.server.url}/old` };
    const source = world.openSource();
    expect(await source.tip(remote)).toEqual({ found: true, commit, branch: 'main' });
    const snapshot = await source.snapshot(remote, commit);
    expect((await snapshot.read(['a.yaml']))[0]?.found).toBe(true);
    expect(snapshot.origin.repository).toBe(remote.url);
  });

  test('is remembered, and forgotten when there is nothing any more where it led to', async () => {
    const repository = world.createRepository('new.git');
    const commit = repository.commit({ files: { 'a.yaml': 'a: 1\n' } });
    let name = 'new.git';
    world.server.behaviour.redirect = (path) => (path.startsWith('/old') ? path.replace('old', name) : null);
    const remote = { ...world.remote(), url: `${world.server.url}/old` };
    const source = world.openSource();
    const asked = async (): Promise<number> => {
      const { length } = world.server.requests;
      expect(await source.tip(remote)).toEqual({ found: true, commit, branch: 'main' });
      return world.server.requests.slice(length).filter(({ url }) => url.startsWith('/old')).length;
    };
    expect(await asked()).toBeGreaterThan(0);
    expect(await asked()).toBe(0);
    renameSync(repository.folder, join(world.folder, 'root', 'newer.git'));
    name = 'newer.git';
    expect(await asked()).toBeGreaterThan(0);
    expect(await asked()).toBe(0);
    rmSync(join(world.folder, 'root', 'newer.git'), { recursive: true });
    expect(await source.tip(remote)).toEqual({ found: false, detail: expect.stringContaining(remote.url) });
  });

  test('is not followed to another host or port, with no credential either', async () => {
    world.createRepository();
    await using other = await openGitServer({ root: join(world.folder, 'root') });
    world.server.behaviour.redirect = (path) => `${other.url}${path}`;
    expect((await refusalOf(world.openSource().tip(world.remote()))).message).toContain('redirects to');
    expect(other.requests).toEqual([]);
  });

  test('in a circle ends', async () => {
    world.server.behaviour.redirect = (path) => path;
    expect((await refusalOf(world.openSource().tip(world.remote()))).code).toBe('unreachable');
    expect(world.server.requests.length).toBeLessThan(6);
  });

  test.each([
    'ssh://elsewhere/a.git/info/refs',
    'file:///etc/info/refs',
    'http://u:p@HOST/a.git/info/refs',
    '/other',
    'ext::sh',
  ])('to %s is refused', async (to) => {
    world.server.behaviour.redirect = () => to.replace('HOST', world.server.host);
    const refused = await refusalOf(world.openSource().tip(world.remote()));
    expect(refused).toMatchObject({ code: 'unreachable', message: expect.stringContaining('redirects') });
    expect(refused.message).not.toContain('u:p');
  });
});

describe('a server', () => {
  test.each([
    [403, 'forbids reading'],
    [429, 'limits the rate of requests'],
    [500, 'server error'],
    [503, 'server error'],
    [418, 'could not be read'],
    [200, 'does not answer like a git repository'],
  ])('that answers %i is described as such', async (status, words) => {
    world.server.behaviour.status = status;
    const refused = await refusalOf(world.openSource().tip(world.remote()));
    expect(refused.code).toBe('unreachable');
    expect(refused.message).toContain(words);
    expect(refused.message).toContain(world.remote().url);
  });

  test.each([
    ['one line', '<!doctype html><title>Sign in</title>', ['GET']],
    ['lines', '<!doctype html>\n<title>Sign in</title>\n', ['GET']],
    ['lines like refs', `${'a'.repeat(40)}\trefs/heads/other\n`, ['GET']],
    ['nothing', '', ['GET']],
    ['one line, to every request', '<!doctype html><title>Sign in</title>', ['GET', 'POST']],
    ['one line, after git had answered', '<!doctype html><title>Maintenance</title>', ['POST']],
    ['nothing, after git had answered', '', ['POST']],
  ])('that answers with a page of %s does not answer, and has lost no branch', async (_, html, methods) => {
    const commit = world.createRepository().commit({ files: { 'a.yaml': 'a: 1\n' } });
    const source = world.openSource();
    world.server.behaviour.page = { html, methods };
    for (const branch of [null, 'main'])
      expect(await refusalOf(source.tip(world.remote('a.git', branch)))).toMatchObject({ code: 'unreachable' });
    world.server.behaviour.page = null;
    expect(await source.tip(world.remote())).toEqual({ found: true, commit, branch: 'main' });
  });

  test.each([null, 404, 410])(
    'that has no such repository (%s) has no tip, and does not hand out commits',
    async (status) => {
      world.server.behaviour.status = status;
      const remote = world.remote('none.git');
      const source = world.openSource();
      const open = `There is no repository at ${remote.url}, or it needs a credential.`;
      const closed = `There is no repository at ${remote.url}, or the credential may not see it.`;
      expect(await source.tip(remote)).toEqual({ found: false, detail: open });
      expect(await source.tip({ ...remote, credential })).toEqual({ found: false, detail: closed });
      const id = 'a'.repeat(40);
      const works = [() => source.tags(remote), () => source.snapshot(remote, id), () => source.history(remote, id, 9)];
      for (const work of works) expect(await refusalOf(work())).toMatchObject({ code: 'unreachable', message: open });
    },
  );

  test('that does not listen is described as such', async () => {
    const { host, url } = world.server;
    await world.server.close();
    const source = world.openSource({ hosts: [`http://${host}`] });
    const refused = await refusalOf(source.tip({ ...world.remote(), url: `${url}/a.git` }));
    expect(refused).toMatchObject({ code: 'unreachable', message: expect.stringContaining('Cannot connect to') });
  });

  test('of plain files is described as such', async () => {
    const repository = world.createRepository();
    const commit = repository.commit({ files: { 'a.yaml': 'a: 1\n' } });
    repository.git('update-server-info');
    const { server, host } = await serveFiles(join(world.folder, 'root'));
    const source = world.openSource({ hosts: [`http://${host}`] });
    const remote = { ...world.remote(), url: `http://${host}/a.git` };
    const refused = await refusalOf(source.snapshot(remote, commit));
    server.close();
    expect(refused).toMatchObject({ code: 'unreachable', message: expect.stringContaining('dumb http') });
  });

  test('that does not answer in time is given up, and nothing of git stays behind', async () => {
    const commit = world.createRepository().commit({ files: { 'a.yaml': 'a: 1\n' } });
    world.server.behaviour.delay = 60_000;
    const source = world.openSource({ timeLimit: 0.6 });
    const works = [() => source.tip(world.remote()), () => source.snapshot(world.remote(), commit)];
    for (const work of works) {
      const refused = await refusalOf(work());
      expect(refused).toMatchObject({ code: 'unreachable', message: expect.stringContaining('within 0.6 seconds') });
    }
    expect(await eventually(() => processesOf(world).length === 0)).toBe(true);
  });

  test('that sends too slowly is given up, and nothing of git stays behind', async () => {
    const commit = world.createRepository().commit({ files: { 'a.bin': randomBytes(50_000) } });
    const source = world.openSource();
    const snapshot = await source.snapshot(world.remote(), commit);
    world.server.behaviour.bytesPerSecond = 2000;
    const slow = await world.openSource({ timeLimit: 5 }).snapshot(world.remote(), commit);
    expect(await refusalOf(slow.read(['a.bin']))).toMatchObject({ code: 'unreachable' });
    expect(await eventually(() => processesOf(world).length === 0)).toBe(true);
    world.server.behaviour.bytesPerSecond = null;
    expect((await snapshot.read(['a.bin']))[0]?.found).toBe(true);
  });

  test('is left alone when the caller stops, and nothing of git stays behind', async () => {
    const commit = world.createRepository().commit({ files: { 'a.yaml': 'a: 1\n' } });
    world.server.behaviour.delay = 60_000;
    const controller = new AbortController();
    const work = world.openSource().snapshot(world.remote(), commit, controller.signal);
    expect(await eventually(() => processesOf(world).length > 0)).toBe(true);
    controller.abort(new Error('stop'));
    await expect(work).rejects.toThrow('stop');
    expect(await eventually(() => processesOf(world).length === 0)).toBe(true);
  });

  test('that sends too much is cut off, and its mirror deleted', async () => {
    const commit = world.createRepository().commit({ files: { 'a.bin': randomBytes(3_000_000), 'b.txt': 'b' } });
    const source = world.openSource({ sizeLimit: 1_000_000 });
    const snapshot = await source.snapshot(world.remote(), commit);
    expect(await refusalOf(snapshot.read(['a.bin']))).toMatchObject({
      code: 'too_large',
      message: expect.stringContaining(world.remote().url),
    });
    expect(readdirSync(join(world.cache, 'mirrors'))).toEqual([]);
    expect(readdirSync(join(world.cache, 'scratch'))).toEqual([]);
    expect((await snapshot.read(['b.txt']))[0]?.found).toBe(true);
  });
});

describe('a host', () => {
  test('is contacted at the address that was checked', async () => {
    const commit = world.createRepository().commit({ files: {} });
    const port = world.server.host.split(':')[1];
    const url = `http://git.test:${port}/a.git`;
    const source = world.openSource({ hosts: [`http://git.test:${port}`], lookup: async () => ['127.0.0.1'] });
    expect(await source.tip({ ...world.remote(), url })).toEqual({ found: true, commit, branch: 'main' });
    expect(world.server.requests[0]?.headers.host).toBe(`git.test:${port}`);
  });

  test('of a private network is refused unless the configuration names it', async () => {
    for (const address of ['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', 'fd00::1', '::ffff:10.0.0.1']) {
      const source = world.openSource({ hosts: null, lookup: async () => ['93.184.216.34', address] });
      const refused = await refusalOf(source.tip({ ...world.remote(), url: 'https://git.test/a.git' }));
      expect(refused).toMatchObject({ code: 'forbidden', message: expect.stringContaining('private network') });
    }
    const source = world.openSource({ hosts: null });
    const literal = source.tip({ ...world.remote(), url: 'https://2130706433/a.git' });
    expect(await refusalOf(literal)).toMatchObject({ code: 'forbidden' });
  });

  test('that does not exist is described as such', async () => {
    const lookup = async (): Promise<never> => {
      throw Object.assign(new Error('no'), { code: 'ENOTFOUND' });
    };
    const refused = await refusalOf(
      world.openSource({ hosts: null, lookup }).tip({ ...world.remote(), url: 'https://nowhere.test/a.git' }),
    );
    expect(refused).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('no host named nowhere.test'),
    });
  });

  test('whose name server does not answer is given up in time', async () => {
    const lookup = (): Promise<never> => new Promise(() => undefined);
    const source = world.openSource({ hosts: null, lookup, timeLimit: 0.3 });
    const refused = await refusalOf(source.tip({ ...world.remote(), url: 'https://slow.test/a.git' }));
    expect(refused).toMatchObject({ code: 'unreachable', message: expect.stringContaining('within 0.3 seconds') });
  });
});

describe('nothing of git around is believed', () => {
  test('a configuration around the cache folder', async () => {
    const commit = world.createRepository().commit({ files: { 'a.yaml': '' } });
    execFileSync('git', ['init', '--quiet', world.folder]);
    const settings = {
      'url.http://127.0.0.1:1/.insteadOf': `${world.server.url}/`,
      'http.proxy': 'http://127.0.0.1:1',
    };
    for (const [key, value] of Object.entries(settings))
      execFileSync('git', ['-C', world.folder, 'config', key, value]);
    const source = world.openSource();
    expect(await source.tip(world.remote())).toEqual({ found: true, commit, branch: 'main' });
    expect((await (await source.snapshot(world.remote(), commit)).read(['a.yaml']))[0]?.found).toBe(true);
  });

  test('a program that a local repository asks for', async () => {
    const repository = world.createRepository();
    const commit = repository.commit({ files: { 'a.yaml': '' } });
    const trap = join(world.folder, 'trapped');
    const script = join(world.folder, 'trap.sh');
    writeFileSync(script, `#!/bin/sh\ntouch ${trap}\nexec "$@"\n`, { mode: 0o755 });
    for (const key of [
      'uploadpack.packObjectsHook',
      'core.fsmonitor',
      'core.sshCommand',
      'core.alternateRefsCommand',
    ]) {
      repository.setConfig(key, script);
    }
    mkdirSync(join(repository.folder, 'hooks'));
    for (const hook of ['post-checkout', 'reference-transaction', 'pre-auto-gc']) {
      writeFileSync(join(repository.folder, 'hooks', hook), `#!/bin/sh\ntouch ${trap}\n`, { mode: 0o755 });
    }
    const remote = { url: repository.folder, ref: 'HEAD', credential: null };
    const source = world.openSource({ allowLocalRepositories: true });
    expect(await source.tip(remote)).toEqual({ found: true, commit, branch: 'main' });
    expect((await (await source.snapshot(remote, commit)).read(['a.yaml']))[0]?.found).toBe(true);
    expect(existsSync(trap)).toBe(false);
  });
});

function processesOf({ server }: World): string[] {
  return commandLines().filter((line) => line.includes(server.host) && /git|ssh/.test(line));
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [readFileSync(join(entry.parentPath, entry.name), 'latin1')] : [],
  );
}

async function serveFiles(root: string): Promise<{ server: Server; host: string }> {
  const server = createServer((request, response) => {
    const path = join(root, new URL(request.url ?? '/', 'http://localhost').pathname);
    if (existsSync(path)) response.end(readFileSync(path));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}
