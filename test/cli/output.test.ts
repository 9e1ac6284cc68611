import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { complain, formatJson, print, withProgress } from '../../src/cli/output.ts';

// Loaded in advance, so that showing progress does not wait for it.
beforeAll(async () => void (await import('ora')));
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A terminal that says this width, and what was written to it. */
function terminal(columns: number | undefined): { stream: NodeJS.WriteStream; written: () => string } {
  let written = '';
  const stream = {
    isTTY: true,
    columns,
    rows: 24,
    write: (text: string) => (written += text) !== '',
    clearLine: () => true,
    cursorTo: () => true,
    moveCursor: () => true,
    on: () => stream,
    once: () => stream,
    off: () => stream,
    removeListener: () => stream,
  } as unknown as NodeJS.WriteStream;
  return { stream, written: () => written };
}

test.each([0, undefined])('work of a minute writes one line to a terminal whose width is %s', async (columns) => {
  const { stream, written } = terminal(columns);
  await withProgress(
    'Checking',
    async (tell) => {
      for (let n = 0; n < 60; n++) {
        await vi.advanceTimersByTimeAsync(1000);
        tell(`Checking: ${n} objects`);
      }
    },
    stream,
  );
  expect(written()).toMatch(/^- Checking[^\n]*\n$/);
});

test.each([0, 80])('what progress names can do nothing to a terminal whose width is %s', async (columns) => {
  const { stream, written } = terminal(columns);
  await withProgress(
    'Reading \u001b]0;title\u0007',
    async (tell) => {
      await vi.advanceTimersByTimeAsync(1500);
      tell('Reading \u001b]0;other\u0007');
      await vi.advanceTimersByTimeAsync(1500);
    },
    stream,
  );
  expect(written()).toContain('Reading \\u{1b}]0;');
  expect(written()).not.toContain('\u001b]0;');
});

test('work that is done at once writes nothing', async () => {
  const { stream, written } = terminal(0);
  expect(await withProgress('Checking', () => Promise.resolve(7), stream)).toBe(7);
  expect(written()).toBe('');
});

test('JSON can do nothing to a terminal, and stays JSON', () => {
  const value = { title: 'a\u202eb\u009bc\u2028\u001b' };
  expect(formatJson(value)).toMatch(/^[\x20-\x7e]*$/);
  expect(JSON.parse(formatJson(value))).toEqual(value);
});

test('a file gets a line of progress every five seconds', async () => {
  let written = '';
  const stream = { isTTY: false, write: (text: string) => (written += text) !== '' } as unknown as NodeJS.WriteStream;
  await withProgress(
    'Importing',
    async (tell) => {
      for (let n = 1; n <= 12; n++) {
        await vi.advanceTimersByTimeAsync(1000);
        tell(`Importing: ${n} of 12`);
      }
    },
    stream,
  );
  expect(written).toBe('Importing: 5 of 12\nImporting: 10 of 12\n');
});

test('no line of what others wrote is a command to a CI, and our own findings are', () => {
  const written: string[] = [];
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => written.push(String(text)) > 0),
  );
  try {
    const text = 'Refused.\n::add-path::/evil\n  ::set-env name=A::b\r\n##[group]a ##vso[task.setvariable]b\n::warning file=a::b';
    complain(text);
    print(text);
    print('a::b ## c');
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  expect(written).toEqual([
    'Refused.\n\\u{3a}:add-path::/evil\n  \\u{3a}:set-env name=A::b\\u{d}\n#\\u{23}[group]a #\\u{23}vso[task.setvariable]b\n\\u{3a}:warning file=a::b\n',
    'Refused.\n\\u{3a}:add-path::/evil\n  \\u{3a}:set-env name=A::b\\u{d}\n#\\u{23}[group]a #\\u{23}vso[task.setvariable]b\n::warning file=a::b\n',
    'a::b ## c\n',
  ]);
}); // prettier-ignore
