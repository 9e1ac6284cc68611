import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { startChild } from '../../../src/compile/sandbox/child.ts';
import { forkSandbox } from '../../../src/compile/sandbox/fork-sandbox.ts';
import { findIsolation } from '../../../src/compile/sandbox/isolation.ts';
import { settingsFrom } from '../../../src/compile/repository-settings.ts';
import { readChildMessage } from '../../../src/compile/sandbox/sandbox-messages.ts';
import { openCompiler } from '../../../src/compile/sandbox/sandbox.ts';
import { isSandboxLost } from '../../../src/compile/compile.ts';
import { isRegistryError } from '../../../src/model/errors.ts';
import { createReport, formatProblem, problemAtFile } from '../../../src/model/problem.ts';
import { limits } from '../limits.ts';
import { inputOf, memoryLoad } from './memory-load.ts';
import { openCompilerHere, slow, valid } from './sandbox-world.ts';

const compiler = openCompilerHere();

async function rulesOf(entry: string, content: string, changes: Partial<typeof limits> = {}) {
  const { artifact, report } = await compiler.compile(
    inputOf(entry, { limits: { ...limits, ...changes } }),
    memoryLoad({ [entry]: content }),
  );
  return { artifact, lines: report.problems.map(formatProblem) };
}

describe('the sandbox', () => {
  it('gives the same bytes for the same input', async () => {
    const [first, second] = await Promise.all([rulesOf('a.yaml', valid), rulesOf('a.yaml', valid)]);
    expect(first.artifact).not.toBeNull();
    expect(second).toEqual(first);
  });

  it('that takes too long is stopped, which is no verdict: only this document is to be tried again', async () => {
    // Ten times as many seconds without work would be a process that hangs.
    const [stopped, beside] = await Promise.allSettled([
      rulesOf('slow.json', slow, { seconds: 0.9 }),
      rulesOf('a.yaml', valid),
    ]);
    expect(stopped).toMatchObject({
      reason: {
        code: 'unavailable',
        message:
          'The document could not be checked. Its process was stopped after 0.9 seconds of CPU time. Nothing was changed. Try again later.',
        retryAfter: 300,
      },
    });
    expect(isSandboxLost((stopped as PromiseRejectedResult).reason)).toBe(true);
    expect(beside).toMatchObject({ value: { lines: [] } });
    expect((await rulesOf('a.yaml', valid)).lines).toEqual([]);
  });

  it('stops when the caller does, with the caller’s reason', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const files = memoryLoad({ 'a.yaml': valid });
    const load = (paths: readonly string[]) => {
      stop.abort(reason);
      return files(paths);
    };
    await expect(compiler.compile(inputOf('a.yaml'), load, { signal: stop.signal })).rejects.toBe(reason);
    expect((await rulesOf('a.yaml', valid)).lines).toEqual([]);
  });

  it('that starts slowly is waited for, however busy the machine is', async () => {
    const isolation = await findIsolation('auto');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
    try {
      const child = startChild(256, isolation);
      vi.advanceTimersByTime(300_000);
      vi.useRealTimers();
      const job = { type: 'compile', input: inputOf('a.yaml') } as const;
      const outcome = await child.run(job, { seconds: 60, load: memoryLoad({ 'a.yaml': valid }), signal: undefined });
      child.kill();
      expect(outcome).toMatchObject({ answer: { report: { problems: [] } } });
    } finally {
      vi.useRealTimers();
    }
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
});

it('a sandbox ends with the registry, whatever it is doing', async () => {
  const busy = new URL('../../fixtures/compile/busy.ts', import.meta.url).pathname;
  const child = forkSandbox(busy, { kind: 'node', reason: '' }, 256);
  const ended = once(child, 'exit');
  await once(child, 'message');
  // As the system does when this process is killed.
  child.stdin!.destroy();
  expect(await ended).toEqual([null, 'SIGKILL']);
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

  const written = { json: '{}', places: { '/defaults': { line: 1, column: 1 } } };

  it('is of stele.yaml its text, with the places of its entries', () => {
    const places = { ...written.places, '/resources/0': { line: 2, column: 3, more: 1 } };
    const message = { type: 'settings', written: { ...written, places, settings: {} }, report, rss: 1 };
    expect(readChildMessage(message)).toEqual({
      type: 'settings',
      written: { ...written, places: { ...places, '/resources/0': { line: 2, column: 3 } } },
      report,
      rss: 1,
    });
  });

  it.each([
    ['no JSON', '{'],
    ['nothing', 'null'],
    ['a member that the schema does not have', '{"resources":[{"path":"a.yaml","extra":1}]}'],
    ['a version that the schema does not have', '{"defaults":{"version":"exec"}}'],
    ['a link that is no URL for people', '{"defaults":{"links":[{"title":"a","url":"javascript:a"}]}}'],
    ['a slug of a site that is none', '{"sites":[{"path":"docs","slug":"constructor","title":"a"}]}'],
    ['an entry without its place', '{"resources":[{"path":"a.yaml"}]}'],
  ])('is asked of the schema of stele.yaml once more: %s', (_, json) => {
    expect(() => settingsFrom('stele.yaml', { ...written, json })).toThrow('The sandbox read no settings.');
    expect(settingsFrom('stele.yaml', written)).toMatchObject({ resources: [], discover: true });
  });

  it('is taken in the agreed shape, without anything else that it holds', () => {
    const message = { type: 'compile', artifact: { ...artifact, extra: 1 }, report, rss: 1, extra: 1 };
    expect(readChildMessage(message)).toEqual({ type: 'compile', artifact, report, rss: 1 });
  });

  it.each([
    ['nothing', null],
    ['another type', { type: 'exec' }],
    ['paths that are no texts', { type: 'load', paths: ['a', 1] }],
    [
      'an artifact that the report forbids',
      { type: 'compile', artifact, report: { ...report, counts: { error: 1, warning: 0, info: 0 } }, rss: 1 },
    ],
    ['a refusal without an error', { type: 'compile', artifact: null, report, rss: 1 }],
    [
      'a representation too few',
      { type: 'compile', artifact: { ...artifact, representations: representations.slice(1) }, report, rss: 1 },
    ],
    [
      'one twice',
      {
        type: 'compile',
        artifact: { ...artifact, representations: [...representations.slice(1), representations[1]] },
        report,
        rss: 1,
      },
    ],
    [
      'bytes that are none',
      {
        type: 'compile',
        artifact: { ...artifact, representations: representations.map((one) => ({ ...one, bytes: [1] })) },
        report,
        rss: 1,
      },
    ],
    ['an unknown kind', { type: 'compile', artifact: { ...artifact, kind: 'shell' }, report, rss: 1 }],
    [
      'an unknown severity',
      { type: 'compile', artifact: null, report: { ...report, problems: [{ severity: 'fatal' }] }, rss: 1 },
    ],
    [
      'an artifact beside a report that blocks',
      { type: 'compile', artifact, report: createReport([problemAtFile('rule', 'a.yaml', 'No.')]), rss: 1 },
    ],
    ['settings that are not text', { type: 'settings', written: { ...written, json: {} }, report, rss: 1 }],
    ['no settings without an error', { type: 'settings', written: null, report, rss: 1 }],
    ['a place that is none', { type: 'settings', written: { ...written, places: { a: 1 } }, report, rss: 1 }],
    ['a version that is none', { type: 'version', version: 1, rss: 1 }],
    [
      'a detection without a path',
      { type: 'detect', detected: [{ type: 'apis', kind: 'openapi', title: null }], rss: 1 },
    ],
  ])('is nonsense when it holds %s', (_, message) => {
    expect(readChildMessage(message)).toBeNull();
  });
});
