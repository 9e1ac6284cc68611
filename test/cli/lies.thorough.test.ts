import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isObject, parseJson } from '../../src/model/json.ts';
import { serveStele, type Serving } from '../e2e/stele.ts';
import { sampleOf } from '../sample.ts';
import { runHere } from './in-process.ts';
import { listen } from './lock-world.ts';

// Lies of a registry: a proxy before an honest one changes one field, drops one answer, or replays an old one, for each
// request of each command of a consumer. A lie is accepted if the command succeeds, and writes something else than it
// would have (`verify --log`: says the same as if nothing were wrong). Accepted is a failure, unless it is listed here.

/** What no consumer can notice, or need not, with the reason. By command, address and what is changed there. */
const accepted: readonly [command: RegExp, what: RegExp, reason: string][] = [
  [/^(?:add|update)$/, /^\/@acme\/schemas\/money(?:@\^1\.0\.0)?\/provenance replayed$/, 'Which version is the newest is not proved: see the documentation.'], // prettier-ignore
  [/^add$/, /\/provenance of 1\.0\.0$/, 'The same.'],
  [/^verify$/, /\/versions \S*(?:publishedAt|createdAt|url|changes|commit|problems|original|next|reason|since)/, 'The log has no such facts.'], // prettier-ignore
  [/^verify$/, /^\/@acme (?!items\.\d+\.coordinate)/, 'The log has no such facts.'],
  [/^verify$/, /^\/@acme items\.\d+\.coordinate/, 'What is not listed is found only by its name in the log.'],
  [/^verify$/, /^\/@acme (?:dropped|replayed)$/, 'What is not shown cannot be compared.'],
];

let folder: string;
let honest: Serving;
let front: Awaited<ReturnType<typeof listen>>;
interface Answer {
  status: number;
  type: string;
  /** Where a redirect leads. */
  location: string | null;
  body: Buffer;
}
/** What was asked for, in order, and the answers. */
let asked = new Map<string, Answer>();
/** Changes an answer on its way; null: none. */
let lie: { path: string; answer: Answer } | null = null;
/** What is shown as the head of the log once; null: the head. */
let earlier: Answer | null = null;
/** The answers of before the newest version was there, and of when the first one was the newest. */
const old = new Map<string, Answer>();
const first = new Map<string, Answer>();
const newest = '1.2.0';

const schema = (version: string) =>
  JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Money', version, type: 'string' });

async function publish(coordinate: string, version: string): Promise<void> {
  await writeFile(join(folder, 'document.json'), schema(version));
  const common = ['--config', join(folder, 'registry.config.json'), '--data', join(folder, 'data')];
  const ended = await runHere(['publish', join(folder, 'document.json'), coordinate, '--version', version, ...common]);
  if (ended.code !== 0) throw new Error(ended.stderr);
}

let made = 0;
interface Consumer {
  path: string;
  run(args: string): ReturnType<typeof runHere>;
}

/** A consumer, with what another has and has seen. */
async function openConsumer(from: string | null): Promise<Consumer> {
  const path = join(folder, `consumer-${++made}`);
  if (from === null) await mkdir(join(path, 'repository/.git'), { recursive: true });
  else await cp(from, path, { recursive: true });
  const cwd = join(path, 'repository');
  return { path, run: (args) => runHere(args.split(' '), { cwd, env: { XDG_CACHE_HOME: join(path, 'cache') } }) };
}

const commands = {
  add: 'add @acme/schemas/money --as money.json',
  update: 'update',
  install: 'install',
  verify: 'verify --log',
} as const;
type Name = keyof typeof commands;
const argsOf = (name: Name): string =>
  name === 'add' ? `${commands.add} --registry ${front.url}` : name === 'verify' ? `${commands.verify} ${front.url}` : commands[name]; // prettier-ignore

/** What each command starts with. */
const starts = new Map<Name, string>();

/** What a command left and said. */
async function outcomeOf(name: Name, { path, run }: Consumer): Promise<{ code: number | null; left: string }> {
  const { code, stdout, stderr } = await run(argsOf(name));
  const read = (file: string) => readFile(join(path, 'repository', file), 'utf8').catch(() => '');
  const left = name === 'verify' ? stdout + stderr : (await read('contracts.lock')) + (await read('money.json'));
  return { code, left };
}

async function start(name: Name): Promise<Consumer> {
  return openConsumer(starts.get(name)!);
}

/** Runs a command without a lie. Returns what it asked for, and what it left. */
async function honestly(name: Name) {
  [lie, asked] = [null, new Map()];
  const consumer = await start(name);
  const outcome = await outcomeOf(name, consumer);
  await rm(consumer.path, { recursive: true });
  return { outcome, asked: new Map(asked) };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-lies-'));
  const limits = { key: 1e6, address: 1e6, failures: 1e6 };
  const config = { url: 'https://contracts.test', rateLimit: limits, organizations: { acme: { defaults: { visibility: 'public' } } } }; // prettier-ignore
  await writeFile(join(folder, 'registry.config.json'), JSON.stringify(config));
  for (const name of ['@acme/schemas/rate', '@acme/schemas/money']) await publish(name, '1.0.0');
  honest = await serveStele(['--config', join(folder, 'registry.config.json'), '--data', join(folder, 'data')]);
  front = await listen((request, response) => {
    const path = request.url!;
    void fetch(honest.url + path, { headers: { accept: request.headers.accept ?? '*/*' }, redirect: 'manual' }).then(
      async (answer) => {
        const told: Answer = {
          status: answer.status,
          type: answer.headers.get('content-type') ?? 'text/plain',
          location: answer.headers.get('location'),
          body: Buffer.from(await answer.arrayBuffer()),
        };
        asked.set(path, told);
        const isHead = path === '/log/checkpoint';
        const { status, type, location, body } = lie?.path === path ? lie.answer : (isHead && earlier) || told;
        if (isHead) earlier = null;
        response.writeHead(status, { 'content-type': type, ...(location !== null && { location }) });
        response.end(body);
      },
    );
  });
  // A consumer that has seen the log, and has nothing else.
  const seen = await openConsumer(null);
  await seen.run(`add @acme/schemas/rate --as rate.json --registry ${front.url}`);
  starts.set('add', seen.path);
  starts.set('verify', seen.path);
  const locked = await openConsumer(seen.path);
  await locked.run(argsOf('add'));
  starts.set('update', locked.path);
  const keepAnswers = async (kept: typeof old) => {
    for (const name of ['add', 'update', 'verify'] as const)
      for (const [path, answer] of (await honestly(name)).asked) kept.set(path, answer);
  };
  const release = async (version: string) => {
    await publish('@acme/schemas/money', version);
    await vi.waitUntil(async () => (await fetch(`${honest.url}/@acme/schemas/money@${version}?proof`)).status === 200);
  };
  await keepAnswers(first);
  await release('1.1.0');
  await locked.run('update');
  await keepAnswers(old);
  await release(newest);
  const missing = await openConsumer(locked.path);
  await missing.run('update');
  await rm(join(missing.path, 'repository/money.json'));
  await rm(join(missing.path, 'cache/stele/contracts'), { recursive: true });
  starts.set('install', missing.path);
});

afterAll(async () => {
  await honest.stop('SIGKILL');
  await front[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Another value of the same type. */
function other(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (typeof value !== 'string') return 'other';
  if (/^\d+\.\d+\.\d+$/.test(value)) return '1.0.9';
  return /[0-9a-f]$/.test(value) ? value.slice(0, -1) + (value.endsWith('0') ? '1' : '0') : `${value}x`;
}

/** Each field of a JSON value, and what the value is with another there. */
function* fieldsOf(value: unknown, at = ''): Generator<[field: string, changed: unknown]> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      for (const [field, changed] of fieldsOf(item, `${at}${index}.`)) yield [field, value.with(index, changed)];
    for (const index of value.keys()) yield [`${at}${index} removed`, value.toSpliced(index, 1)];
  } else if (isObject(value))
    for (const [name, item] of Object.entries(value))
      for (const [field, changed] of fieldsOf(item, `${at}${name}.`)) yield [field, { ...value, [name]: changed }];
  else yield [at.slice(0, -1), other(value)];
}

const problem = (status: number): Answer => ({ status, type: 'application/problem+json', location: null, body: Buffer.from(`{"status":${status}}`) }); // prettier-ignore

/** The lies about one answer. */
function* liesAbout(path: string, answer: Answer): Generator<[what: string, answer: Answer]> {
  const { status, type, location, body } = answer;
  yield ['failed', problem(503)];
  if (location !== null) yield ['of 1.0.0', { ...answer, location: location.replace(newest, '1.0.0') }];
  if (status !== 200) return;
  yield ['dropped', problem(404)];
  const older = path.includes(newest) ? first.get(path.replace(newest, '1.0.0')) : undefined;
  if (older && !older.body.equals(body)) yield ['of 1.0.0', older];
  const before = old.get(path);
  if (before && !before.body.equals(body)) yield ['replayed', before];
  const json = type.includes('json') ? parseJson(body) : undefined;
  if (isObject(json) && !path.endsWith('.json'))
    for (const [field, changed] of fieldsOf(json)) yield [field, { ...answer, body: Buffer.from(JSON.stringify(changed)) }]; // prettier-ignore
  else {
    const lines = body.toString('latin1').split('\n');
    for (const [number, line] of lines.entries()) {
      if (line === '') continue;
      const middle = line.length >> 1;
      const changed = `${line.slice(0, middle)}${line[middle] === 'A' ? 'B' : 'A'}${line.slice(middle + 1)}`;
      yield [`line ${number + 1}`, { ...answer, body: Buffer.from(lines.with(number, changed).join('\n'), 'latin1') }];
    }
  }
}

/** A JSON value with something of another type in each place in turn. */
function* othersIn(value: unknown, at = ''): Generator<[place: string, changed: unknown]> {
  for (const wrong of [null, 7, 'toString', {}, [null]]) yield [`${at}= ${JSON.stringify(wrong)}`, wrong];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      for (const [place, changed] of othersIn(item, `${at}${index}.`)) yield [place, value.with(index, changed)];
  } else if (isObject(value))
    for (const [name, item] of Object.entries(value))
      for (const [place, changed] of othersIn(item, `${at}${name}.`)) yield [place, { ...value, [name]: changed }];
}

test.each(['outdated', 'add', 'update', 'verify'] as const)(
  '%s takes an answer with other types for what it is, and no error is a bug of its own',
  async (name) => {
    const consumer = await start(name === 'outdated' ? 'update' : name);
    const run = () => consumer.run(name === 'outdated' ? name : argsOf(name));
    [lie, asked] = [null, new Map()];
    await run();
    const lies = [...asked].flatMap(([path, answer]) => {
      const json = answer.type.includes('json') && !path.endsWith('.json') ? parseJson(answer.body) : undefined;
      if (!isObject(json) && !Array.isArray(json)) return [];
      return [...othersIn(json)].map(([place, changed]) => ({ path, place, told: { ...answer, body: Buffer.from(JSON.stringify(changed)) } })); // prettier-ignore
    });
    const wrong: string[] = [];
    for (const { path, place, told } of sampleOf(lies, 7)) {
      lie = { path, answer: told };
      const { code, stdout, stderr } = await run();
      if (code === 70 || /undefined|\[object/.test(stdout + stderr)) wrong.push(`${path} ${place}: ${stdout}${stderr}`);
    }
    lie = null;
    await rm(consumer.path, { recursive: true });
    expect(wrong).toEqual([]);
  },
);

const used = new Set<number>();

describe.each(Object.keys(commands) as Name[])('%s', (name) => {
  test('accepts no lie that is not listed', async () => {
    const { outcome, asked: requests } = await honestly(name);
    expect(outcome.code).toBe(0);
    const all = [...requests].flatMap(([path, answer]) => [...liesAbout(path, answer)].map(([what, told]) => ({ path, what, told }))); // prettier-ignore
    const whole = all.filter(({ what }) => /^(?:dropped|failed|replayed|of .*)$/.test(what));
    const some = all.filter((each) => !whole.includes(each));
    const wrong: string[] = [];
    // A log that seems to go on meanwhile excuses nothing.
    for (const head of name === 'verify' ? [null, old.get('/log/checkpoint')!] : [null]) {
      earlier = head;
      const plain = await start(name);
      const fine = [outcome.left, (await outcomeOf(name, plain)).left];
      await rm(plain.path, { recursive: true });
      for (const { path, what, told } of [...whole, ...sampleOf(some, 3)]) {
        const consumer = await start(name);
        lie = { path, answer: told };
        earlier = head;
        const { code, left } = await outcomeOf(name, consumer);
        [lie, earlier] = [null, null];
        await rm(consumer.path, { recursive: true });
        const isAccepted = code === 0 && fine.includes(left) === (name === 'verify');
        const said = `${path} ${what}`;
        const listed = accepted.findIndex(([command, pattern]) => command.test(name) && pattern.test(said));
        if (isAccepted && listed >= 0) used.add(listed);
        if (isAccepted && listed < 0) wrong.push(`${said}${head === null ? '' : ', after an earlier head'}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
