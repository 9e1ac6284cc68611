import { readFileSync } from 'node:fs';
import { Help, Command, Argument } from 'commander';
import { fillText } from '../model/escape.ts';
import { programOf } from './help.ts';
import type { CommonOptions } from './command-context.ts';
import { printJson } from './output.ts';

interface Word {
  word: string;
  help: string;
}

/** What may follow a command: `at` is its name without the program's, empty for the program. */
interface Place {
  at: string;
  /** Subcommands, and the values that its first argument may have. */
  words: Word[];
  options: (Word & { takesValue: boolean; choices: readonly string[] })[];
}

/** The shells that have completions. */
export const shells = ['bash', 'zsh', 'fish'] as const;

const scripts = new URL('../../content/completion/', import.meta.url);

/** Returns a script that completes commands, options and their values, for a shell to load. */
export function completionFor(shell: (typeof shells)[number], program: Command): string {
  const places = placesOf(program);
  const script = readFileSync(new URL(shell, scripts), 'utf8');
  const names = places.filter(({ at }) => at !== '').map(({ at }) => at);
  if (shell === 'fish')
    return fillText(script, { names: names.map((at) => `'${at}'`).join(' '), lines: fishLines(places) });
  const finder = `case "\${at:+$at }$word" in ${names.map((at) => `"${at}"`).join('|')}) at="\${at:+$at }$word" ;; esac`;
  return fillText(script, {
    finder,
    branches: places
      .toReversed()
      .flatMap((place) => branchesOf(place, writers[shell]))
      .join('\n'),
  });
}

function placesOf(command: Command, at = ''): Place[] {
  const help = new Help();
  const commands = help.visibleCommands(command).filter((each) => each.name() !== 'help');
  const values = command.registeredArguments[0]?.argChoices ?? [];
  const options = help
    .visibleOptions(command)
    .map((option) => ({
      word: option.long!,
      help: plain(option.description),
      takesValue: option.required || option.optional,
      choices: option.argChoices ?? [],
    }));
  const words = [
    ...commands.map((each) => ({ word: each.name(), help: plain(each.description()) })),
    ...values.map((word) => ({ word, help: '' })),
  ];
  const below = commands.flatMap((each) => placesOf(each, `${at} ${each.name()}`.trim()));
  return [{ at, words, options }, ...below];
}

function plain(text: string): string {
  return text.replace(/[.:;] .*|\.$/s, '').replace(/["'`$\\[\]:]/g, '');
}

function branchesOf({ at, words, options }: Place, write: (words: readonly Word[]) => string): string[] {
  const chosen = options.filter(({ choices }) => choices.length > 0);
  const before = chosen.map(
    ({ word, choices }) => `    "${at} ${word}") ${write(choices.map((each) => ({ word: each, help: '' })))} ;;`,
  );
  const files = options.filter(({ takesValue, choices }) => takesValue && choices.length === 0);
  const free = files.length === 0 ? [] : [`    ${files.map(({ word }) => `"${at} ${word}"`).join('|')}) ;;`];
  return [...before, ...free, `    "${at} "*) ${write([...words, ...options])} ;;`];
}

const writers: Readonly<Record<'bash' | 'zsh', (words: readonly Word[]) => string>> = {
  bash: (words) => `all="${words.map(({ word }) => word).join(' ')}"`,
  zsh: (words) => `all=(${words.map(({ word, help }) => `'${word}${help === '' ? '' : `:${help}`}'`).join(' ')})`,
};

function fishLines(places: readonly Place[]): string {
  const lines = places.flatMap(({ at, words, options }) => {
    const when = `complete -c stele -n "test (__stele_at) = '${at}'"`;
    return [
      ...words.map(({ word, help }) => `${when} -a '${word}' -d '${help}'`),
      ...options.map(({ word, help, takesValue, choices }) => {
        const value = choices.length > 0 ? ` -x -a '${choices.join(' ')}'` : takesValue ? ' -r' : '';
        return `${when} -l ${word.slice(2)}${value} -d '${help}'`;
      }),
    ];
  });
  return lines.join('\n');
}

/** `stele completion SHELL`: prints a script that completes commands and options. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('Print the completion of commands and options for a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: (typeof shells)[number], _options: unknown, command: Command) => {
      const script = completionFor(shell, programOf(command));
      if (command.optsWithGlobals<CommonOptions>().json) printJson({ shell, script });
      else process.stdout.write(script);
    });
}
