import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { badValues } from '../bad-values.ts';
import { openBadValuesWorld } from './bad-values-world.ts';
import { commandLine, commandsOf, inputsOf, nameOf } from './command-lines.ts';

/**
 * Every option and argument of every command with every bad value, the rest of the line being right: a sentence and an exit code that
 * the documentation has, nothing changed, or a row here that says why the value is taken.
 */

const slugs = ['exponent', 'a number past all', 'a day that is none', 'a folder'];
const all = Object.keys(badValues);
const labels = [...slugs, 'no number', 'a host without a scheme'];

/** What is taken, by inputs: a command and one of its parts, with `*` for any. */
const taken: readonly [inputs: RegExp, values: readonly string[], reason: string][] = [
  [/ --(?:title|reason|name|owner|description|group|person)$/, all, 'a text for people, or a name that others give'],
  [/^(?:init|discover) --org$/, slugs, 'a name that an organization may have'],
  [/^organizations create <organization>$/, slugs, 'a name that an organization may have'],
  [/^(?:organizations give|keys create|webhooks create) --resource$/, all, 'a pattern, of what need not be there'],
  [/^publish --version$/, labels, 'a label that a version may have'],
  [/^(?:lint|diff|publish|check) <(?:files?|before|after)>$/, ['a file'], 'a document'],
  [/^(?:repositories|sites list) --org$/, slugs, 'nothing is listed of an organization that is not there'],
  [/^check --org$/, slugs, 'the coordinate of --as names one'],
  [/^install --report$/, [...labels, 'of JavaScript', 'a file'], 'a name that a consumer may have'],
  [/^import --tags$/, all, 'a pattern that no tag may match'],
  [/^import <repository>$/, all, 'the folder to make'],
  [/^sites (?:publish|preview) <folder>$/, ['the folder above'], 'a folder with a page somewhere below'],
  [/^(?:backup|migrate) <folder>$|^build --out$/, all, 'the folder to make'],
  [/^add --lock$/, all, 'the folder of contracts.lock'],
  [/^(?:add|remove|update|outdated|list|install|check|lint|diff|discover|completion|mcp|init) --data$/, all, 'it opens no store'],
  [/^(?:repositories|sites list) --data$/, all, 'what is not there has nothing'],
  [/^(?:publish|sites publish|keys create|sync|restore) --data$/, all, 'the folder to make'],
  [/ --cache$/, all, 'the folder to make, or not used'],
  [/^doctor /, all, 'it tells what is wrong'],
]; // prettier-ignore

/** What is refused and leaves something behind, and why. */
const left: readonly [inputs: RegExp, values: readonly string[], reason: string][] = [
  [/^sites (?:publish|preview) <folder>$/, ['a folder'], 'the files of the folder are sent before they are judged'],
  [/^publish <file>$/, ['standard input', 'what holds nothing'], 'the report of a rejected document is an object'],
];

const covers = (rows: typeof taken, input: string, value: string) =>
  rows.some(([inputs, values]) => inputs.test(input) && values.includes(value));

let world: Awaited<ReturnType<typeof openBadValuesWorld>>;
beforeAll(async () => {
  world = await openBadValuesWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

// They go on until somebody ends them: their options are tried with nothing in them.
const commands = commandsOf(await createProgram()).filter(([name]) => !['serve', 'login'].includes(name));

describe.each(['a data folder', 'a registry that runs'])('on %s', (where) => {
  const isRemote = where !== 'a data folder';
  const reached = commands.filter(
    ([, command]) => !isRemote || command.options.some(({ long }) => long === '--registry'),
  );
  test.each(reached)('%s', async (name, command) => {
    const wrong: string[] = [];
    const common = ['--config', '--data', '--cache', ...(isRemote ? ['--registry'] : [])];
    // What all commands share is tried with a few.
    const isShared = !isRemote && ['keys create', 'keys list', 'lint', 'sync', 'repositories', 'fsck'].includes(name);
    for (const input of inputsOf(command)) {
      // A build takes ten seconds, and writes wherever it is told to.
      if (!isShared && (common.includes(nameOf(input)) || name === 'build')) continue;
      for (const [what, value] of Object.entries(badValues)) {
        // Root may write there, and a site may be all files of the machine.
        if (what === 'the root') continue;
        const line = commandLine(name, command, input, value, world.known);
        const at = line.indexOf('--');
        if (isRemote) line.splice(at, 0, `--registry=${world.known['REGISTRY']}`);
        else if (!line.some((word) => word.startsWith('--data'))) line.splice(at, 0, '--data=data');
        const { code, stdout, stderr } = await world.run(
          line,
          isRemote || /^(?:add|check|install|update|outdated|mcp)$/.test(name) ? world.asUser : {},
        );
        const changes = await world.changes();
        const label = `${name} ${nameOf(input)}`;
        const told = `${label}, ${what}: ${code} ${changes.join(' ').slice(0, 200)} ${(stderr || stdout).slice(0, 200)}`;
        const isClean =
          [0, 1, 2, 3, 75].includes(code!) &&
          !/^ {4}at /m.test(stdout + stderr) &&
          (code === 0 || stdout + stderr !== '');
        const isFine = code === 0 ? covers(taken, label, what) : changes.length === 0 || covers(left, label, what);
        if (!isClean || !isFine) wrong.push(told);
      }
    }
    expect(wrong).toEqual([]);
  });
});
