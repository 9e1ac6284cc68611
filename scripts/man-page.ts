/** Prints the manual page, from the commands' own help. `npm run build` makes `dist/stele.1` of it. */
import { readFileSync } from 'node:fs';
import { examples, type CommandExample } from '../src/cli/help.ts';
import { exitMeanings } from '../src/cli/process-end.ts';
import { createProgram } from '../src/cli/program.ts';
import { describeCommands } from './reference.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
process.stdout.write(await manPage(version));

async function manPage(release: string): Promise<string> {
  const commands = describeCommands(await createProgram());
  const [first, ...others] = commands.map(({ options }) => options);
  const common = first!.filter(({ flags }) => others.every((options) => options.some((each) => each.flags === flags)));
  const isCommon = (flags: string) => common.some((each) => each.flags === flags);
  return [
    `.TH STELE 1 "" "Stele ${release}" "User Commands"`,
    '.SH NAME\nstele \\- a git-native registry for API contracts',
    '.SH SYNOPSIS\n.B stele\n.I command\n[options]',
    `.SH EXAMPLES\n${shown(examples['stele']!)}`,
    '.SH COMMANDS',
    ...commands.map(({ name, summary, usage, arguments: taken, options }) =>
      [
        `.SS ${text(name)}`,
        text(summary),
        '.PP',
        text(usage),
        ...taken.map(({ name: argument, description }) => entry(argument, description)),
        ...options.filter(({ flags }) => !isCommon(flags)).map(({ flags, description }) => entry(flags, description)),
        ...(examples[name] === undefined ? [] : ['.PP', shown(examples[name])]),
      ].join('\n'),
    ),
    `.SH OPTIONS OF EVERY COMMAND\n${common.map(({ flags, description }) => entry(flags, description)).join('\n')}`,
    `.SH EXIT STATUS\n${Object.entries(exitMeanings)
      .map(([code, meaning]) => entry(code, meaning))
      .join('\n')}`,
    `.SH ENVIRONMENT\n${[
      entry('STELE_REGISTRY', 'the registry where --registry is not given'),
      entry('STELE_ORG', 'the organization where --org is not given'),
      entry('STELE_KEY', 'the key that is sent to that registry'),
      entry('STELE_DATA', 'the data folder where --data is not given'),
    ].join('\n')}`,
    `.SH FILES\n${entry('~/.stelerc', 'registry: and org:, each on a line, where neither option nor variable is set')}`,
    '',
  ].join('\n');
}

function shown(lines: readonly CommandExample[]): string {
  return lines.map(([line, purpose]) => entry(line, purpose)).join('\n');
}

function entry(term: string, meaning: string): string {
  return `.TP\n.B ${text(term)}\n${text(meaning)}`;
}

/** A line of text that troff prints as it is. */
function text(given: string): string {
  const escaped = given
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('~', '\\(ti')
    .replaceAll('"', '\\(dq');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
