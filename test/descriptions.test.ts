import { expect, test } from 'vitest';
import { describeCommands, describeConfiguration } from '../scripts/reference.ts';
import { createProgram } from '../src/cli/program.ts';
import { readDescription } from '../src/server/v1/api-description.ts';

/** What a user reads of a key, an option or an operation is written where it is defined. */

const sentence = /^\S.{3,}\.(?:\s|$)/s;

test('each key of the configuration says what it is', () => {
  const rows = [...describeConfiguration().matchAll(/^\| `([^`]+)`[^|]*\|[^|]*\|[^|]*\| (.*?) *\|$/gm)];
  expect(rows.length).toBeGreaterThan(150);
  // The key above says it for items, for what has a name, and for quotas of one organization.
  const own = rows.filter(([, key]) => !/(?:\[\]|\.<name>)$|^organizations\.<name>\.quotas\./.test(key!));
  expect(own.filter(([, , what]) => !sentence.test(what!)).map(([, key]) => key)).toEqual([]);
});

test('each command, argument and option says what it is', async () => {
  const untold = describeCommands(await createProgram()).flatMap(({ name, summary, arguments: taken, options }) => [
    ...(sentence.test(`${summary}.`) ? [] : [name]),
    ...taken.filter((one) => one.description.length < 4).map((one) => `${name} ${one.name}`),
    ...options.filter((one) => one.description.length < 4).map((one) => `${name} ${one.flags}`),
  ]);
  expect(untold).toEqual([]);
});

test('each operation of /v1 says what it is', () => {
  const { paths } = readDescription().document as { paths: Record<string, Record<string, { summary?: string }>> };
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => /^(?:get|put|post|patch|delete)$/.test(method))
      .map(([method, { summary = '' }]) => ({ at: `${method} ${path}`, summary })),
  );
  expect(all.length).toBeGreaterThan(100);
  expect(all.filter(({ summary }) => summary.length < 4).map(({ at }) => at)).toEqual([]);
});
