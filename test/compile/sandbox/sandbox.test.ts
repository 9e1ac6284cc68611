import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChild } from '../../../src/compile/sandbox/child.ts';
import type { Sandboxes } from '../../../src/compile/sandboxes.ts';
import { findIsolation } from '../../../src/compile/sandbox/isolation.ts';
import { readChildMessage } from '../../../src/compile/sandbox/sandbox-messages.ts';
import { openCompiler } from '../../../src/compile/sandbox/sandbox.ts';
import { isSandboxLost } from '../../../src/compile/sandbox-lost.ts';
import { digestOf } from '../../../src/model/digest.ts';
import { isRegistryError } from '../../../src/model/errors.ts';
import { createReport, formatProblem, problemAtFile } from '../../../src/model/problem.ts';
import { isThorough, sampleOf, unlessThorough } from '../../thorough.ts';
import { limits } from '../limits.ts';
import { inputOf, memoryLoad } from './memory-load.ts';

const valid = 'openapi: 3.1.0\ninfo: {title: Pets, version: "1"}\npaths: {}\n';
/** Takes a few seconds of CPU time, however fast the machine: very many references, as a large document may have. */
const slow = JSON.stringify({
  openapi: '3.0.0',
  info: { title: 'x', version: '1' },
  paths: {},
  components: {
    schemas: {
      a: {
        properties: Object.fromEntries(
          Array.from({ length: 150_000 }, (_, at) => [`p${at}`, { $ref: '#/components/schemas/b' }]),
        ),
      },
      b: { type: 'string' },
      // A reference through another one: so redocly visits all of them.
      c: { $ref: '#/components/schemas/b' },
      d: { $ref: '#/components/schemas/c' },
    },
  },
});
const large = JSON.stringify({
  openapi: '3.0.0',
  info: { title: 'x', version: '1' },
  paths: {},
  'x-large': Array.from({ length: 600_000 }, (_, at) => ({ at })),
});

let compiler: Sandboxes;
beforeAll(() => {
  compiler = openCompiler({ children: 2 });
});
afterAll(() => compiler.close());

async function rulesOf(entry: string, content: string, changes: Partial<typeof limits> = {}, signal?: AbortSignal) {
  const { artifact, report } = await compiler.compile(
    inputOf(entry, { limits: { ...limits, ...changes } }),
    memoryLoad({ [entry]: content }),
    { signal },
  );
  return { artifact, lines: report.problems.map(formatProblem) };
}

it.skipIf(!isThorough)(
  `is not kept busy by references that are found one by one, each in a round of its own${unlessThorough}`,
  async () => {
    const count = 6000;
    const next = (at: number) => ({ properties: { p: { $ref: `#/components/schemas/s${at + 1}` } } });
    const chain = Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, next(at)]));
    const document = {
      openapi: '3.1.0',
      info: { title: 'x', version: '1' },
      paths: {},
      'x-a': { b: { $ref: '#/components/schemas/s0' } },
      components: { schemas: { ...chain, [`s${count}`]: { type: 'string' } } },
    };
    const { artifact, lines } = await rulesOf('a.json', JSON.stringify(document), { seconds: 15 });
    expect(artifact).toBeNull();
    expect(lines).toEqual([expect.stringContaining('limit-references: References lead through too many others')]);
  },
);

describe('the sandbox', () => {
  it('gives the same bytes for the same input', async () => {
    const [first, second] = await Promise.all([rulesOf('a.yaml', valid), rulesOf('a.yaml', valid)]);
    expect(first.artifact).not.toBeNull();
    expect(second).toEqual(first);
  });

  it('is killed when it takes too long, and only that document fails', async () => {
    const [stopped, beside] = await Promise.all([rulesOf('slow.json', slow, { seconds: 1 }), rulesOf('a.yaml', valid)]);
    expect(stopped).toEqual({
      artifact: null,
      lines: [
        'slow.json:1:1 error sandbox-timeout: Compiling the document took more than 1 seconds of CPU time and was stopped.',
      ],
    });
    expect(beside.lines).toEqual([]);
    expect((await rulesOf('a.yaml', valid)).lines).toEqual([]);
  });

  it.each(
    sampleOf(
      [
        [
          'slow',
          '{"rules": {"rule/slow": {"subject": {"type": "Info", "property": "title"}, "assertions": {"pattern": "/^(?=(a+)+$)b/"}}}}',
        ],
        [
          'deep',
          '{"rules": {"deep": {"given": "$.x-a", "then": {"function": "schema", "functionOptions": {"schema": {"additionalProperties": {"$ref": "#"}}}}}}}',
        ],
      ],
      2,
    ),
  )('says which rule was at work when it took too long: %s', async (name, json) => {
    const shared = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [
        `s${at}`,
        { a: { $ref: `#/x-s/s${at + 1}` }, b: { $ref: `#/x-s/s${at + 1}` } },
      ]),
    );
    const document = {
      openapi: '3.1.0',
      info: { title: `${'a'.repeat(60)}!`, version: '1' },
      paths: {},
      'x-a': { $ref: '#/x-s/s0' },
      'x-s': { ...shared, s60: {} },
    };
    const { artifact, report } = await compiler.compile(
      inputOf('a.json', {
        limits: { ...limits, seconds: 1 },
        ruleset: { name: '@acme/rulesets/r@1', json, digest: digestOf(Buffer.from(json)) },
      }),
      memoryLoad({ 'a.json': JSON.stringify(document) }),
    );
    expect(artifact).toBeNull();
    expect(report.problems).toMatchObject([
      {
        rule: 'sandbox-timeout',
        message: expect.stringMatching(`The rule "(rule/)?${name}" of its ruleset`) as string,
      },
    ]);
  });

  it('is killed when it needs too much memory', async () => {
    const { artifact, lines } = await rulesOf('large.json', large, { memoryMegabytes: 160 });
    expect(artifact).toBeNull();
    expect(lines).toEqual([
      'large.json:1:1 error sandbox-memory: Compiling the document needed more than 160 MB of memory and was stopped.',
    ]);
  });

  it.skipIf(!isThorough)(
    `is done with when something else kills it, and that is no verdict${unlessThorough}`,
    async () => {
      const child = startChild(256, await findIsolation('auto'));
      const load = async () => {
        process.kill(child.pid!, 'SIGKILL');
        return [];
      };
      const outcome = await child.run(
        { type: 'compile', input: inputOf('a.yaml') },
        { seconds: 60, load, signal: undefined },
      );
      expect(outcome).toEqual({ lost: expect.stringContaining('It ended with') as string, isStalled: false });
      expect(child.isUsable()).toBe(false);
    },
  );

  it.skipIf(!isThorough)(`counts the time that it works, not the time that passes${unlessThorough}`, async () => {
    const child = startChild(256, await findIsolation('auto'));
    const files = memoryLoad({ 'a.yaml': valid });
    const compile = (load: typeof files | (() => ReturnType<typeof files>), seconds: number) =>
      child.run({ type: 'compile', input: inputOf('a.yaml') }, { seconds, load: load as never, signal: undefined });
    await compile(files, 60);
    const outcome = await compile(async () => {
      process.kill(child.pid!, 'SIGSTOP');
      setTimeout(() => process.kill(child.pid!, 'SIGCONT'), 1200);
      return files(['a.yaml']);
    }, 0.8);
    expect(outcome).toMatchObject({ answer: { report: { problems: [] } } });
    child.kill();
  });

  it.skipIf(!isThorough)(`stops when the caller does, with the caller’s reason${unlessThorough}`, async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const running = rulesOf('slow.json', slow, {}, stop.signal);
    setTimeout(() => stop.abort(reason), 100);
    await expect(running).rejects.toBe(reason);
    expect((await rulesOf('a.yaml', valid)).lines).toEqual([]);
  });

  it('rejects what runs and what waits when it is closed, and blames no document', async () => {
    const closing = openCompiler({ children: 1 });
    const loads = [slow, slow, valid].map((content) => memoryLoad({ 'a.yaml': content }));
    const runs = loads.map((load) => closing.compile(inputOf('a.yaml'), load));
    const ended = Promise.allSettled(runs);
    await expect.poll(() => loads.flatMap(({ asked }) => asked)).not.toEqual([]);
    await closing.close();
    for (const { reason } of (await ended) as PromiseRejectedResult[])
      expect(isRegistryError(reason, 'unavailable')).toBe(true);
  });

  it('passes on why files could not be loaded', async () => {
    const error = new Error('the repository is away');
    const load = () => Promise.reject(error);
    await expect(compiler.compile(inputOf('a.yaml'), load)).rejects.toBe(error);
  });

  it.skipIf(!isThorough)(`waits for files on the caller’s time, not on the document’s${unlessThorough}`, async () => {
    const load = memoryLoad({ 'a.yaml': valid });
    const late: typeof load = Object.assign(
      async (paths: readonly string[]) => {
        await new Promise((resolve) => setTimeout(resolve, 2500));
        return load(paths);
      },
      { asked: [] },
    );
    const { report } = await compiler.compile(inputOf('a.yaml', { limits: { ...limits, seconds: 2 } }), late);
    expect(report.problems).toEqual([]);
  });
});

describe('a sandbox that dies', () => {
  /** The processes that this one started, straight from the system. */
  function sandboxes(): number[] {
    return readdirSync(`/proc/${process.pid}/task`)
      .flatMap((thread) => readFileSync(`/proc/${process.pid}/task/${thread}/children`, 'utf8').split(' '))
      .filter((pid) => pid !== '')
      .map(Number);
  }

  /** A compiler, a load that kills its sandbox as many times, and how often that was asked. */
  function killedTimes(times: number) {
    const before = new Set(sandboxes());
    const load = memoryLoad({ 'a.yaml': valid });
    const killing = Object.assign(
      async (paths: readonly string[]) => {
        const files = await load(paths);
        if (load.asked.length <= times)
          for (const pid of sandboxes()) if (!before.has(pid)) process.kill(pid, 'SIGKILL');
        return files;
      },
      { asked: load.asked },
    );
    return { compiler: openCompiler({ children: 1 }), load: killing };
  }

  it('killed by something else is not the document’s fault: it is compiled in a fresh one', async () => {
    const { compiler: own, load } = killedTimes(1);
    const { artifact, report, files } = await own.compile(inputOf('a.yaml'), load);
    expect(report.problems).toEqual([]);
    expect(artifact).not.toBeNull();
    expect(files.map(({ path }) => path)).toEqual(['a.yaml']);
    expect(load.asked).toHaveLength(2);
    await own.close();
  });

  it('twice is unavailable, with a time to try again, and never a verdict', async () => {
    const { compiler: own, load } = killedTimes(2);
    const error: unknown = await own.compile(inputOf('a.yaml'), load).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'unavailable', retryAfter: 30 });
    expect(isSandboxLost(error)).toBe(true);
    expect(load.asked).toHaveLength(2);
    const { report } = await own.compile(inputOf('a.yaml'), load);
    expect(report.problems).toEqual([]);
    await own.close();
  });
});

describe('what a sandbox says', () => {
  const report = { problems: [], counts: { error: 0, warning: 0, info: 0 }, truncated: false };
  const representations = ['json', 'yaml'].flatMap((format) =>
    ['identity', 'gzip', 'br', 'zstd'].map((coding) => ({ format, coding, bytes: new Uint8Array([1]) })),
  );
  const artifact = {
    type: 'apis',
    kind: 'openapi',
    specification: '3.1.0',
    title: 'x',
    description: '',
    summary: '',
    version: null,
    representations,
  };

  const place = { pointer: '', line: 1, column: 1 };

  it('is of stele.yaml what was agreed on, and nothing else', () => {
    const settings = {
      resources: [{ path: 'a', at: { ...place, more: 1 }, version: { from: 'exec' }, tags: 1, extra: 1 }],
      defaults: { at: place, version: { from: 'file', path: 'V', pointer: null, extra: 1 }, visibility: 'all' },
      discover: true,
      ignore: [],
    };
    expect(readChildMessage({ type: 'settings', settings, report, rss: 1 })).toEqual({
      type: 'settings',
      settings: {
        resources: [{ path: 'a', at: place }],
        defaults: { at: place, version: { from: 'file', path: 'V', pointer: null } },
        discover: true,
        ignore: [],
      },
      report,
      rss: 1,
    });
  });

  it('is taken in the agreed shape, without anything else that it holds', () => {
    const message = { type: 'compiled', artifact: { ...artifact, extra: 1 }, report, rss: 1, extra: 1 };
    expect(readChildMessage(message)).toEqual({ type: 'compiled', artifact, report, rss: 1 });
  });

  it.each([
    ['nothing', null],
    ['another type', { type: 'exec' }],
    ['paths that are no texts', { type: 'load', paths: ['a', 1] }],
    [
      'an artifact that the report forbids',
      { type: 'compiled', artifact, report: { ...report, counts: { error: 1, warning: 0, info: 0 } }, rss: 1 },
    ],
    ['a refusal without an error', { type: 'compiled', artifact: null, report, rss: 1 }],
    [
      'a representation too few',
      { type: 'compiled', artifact: { ...artifact, representations: representations.slice(1) }, report, rss: 1 },
    ],
    [
      'one twice',
      {
        type: 'compiled',
        artifact: { ...artifact, representations: [...representations.slice(1), representations[1]] },
        report,
        rss: 1,
      },
    ],
    [
      'bytes that are none',
      {
        type: 'compiled',
        artifact: { ...artifact, representations: representations.map((one) => ({ ...one, bytes: [1] })) },
        report,
        rss: 1,
      },
    ],
    ['an unknown kind', { type: 'compiled', artifact: { ...artifact, kind: 'shell' }, report, rss: 1 }],
    [
      'an unknown severity',
      { type: 'compiled', artifact: null, report: { ...report, problems: [{ severity: 'fatal' }] }, rss: 1 },
    ],
    [
      'an artifact beside a report that blocks',
      { type: 'compiled', artifact, report: createReport([problemAtFile('rule', 'a.yaml', 'No.')]), rss: 1 },
    ],
    [
      'an entry of stele.yaml without its place',
      {
        type: 'settings',
        settings: { resources: [{ path: 'a' }], defaults: { at: place }, discover: true, ignore: [] },
        report,
        rss: 1,
      },
    ],
    [
      'defaults that are none',
      { type: 'settings', settings: { resources: [], discover: true, ignore: [] }, report, rss: 1 },
    ],
    ['a version that is none', { type: 'version', version: 1, rss: 1 }],
    [
      'a detection without a path',
      { type: 'detected', detected: [{ type: 'apis', kind: 'openapi', title: null }], rss: 1 },
    ],
  ])('is nonsense when it holds %s', (_, message) => {
    expect(readChildMessage(message)).toBeNull();
  });
});
