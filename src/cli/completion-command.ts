import { Help, Command, Argument } from 'commander';
import { programOf } from './help.ts';
import type { CommonOptions } from './command-context.ts';
import { printJson } from './output.ts';

/** A word that may come next, and what it does. */
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

/** Returns a script that completes commands, options and their values, for a shell to load. */
export function completionFor(shell: (typeof shells)[number], program: Command): string {
  return { bash, zsh, fish }[shell](placesOf(program));
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

/** The first sentence, without what a shell would read. */
function plain(text: string): string {
  return text.replace(/[.:;] .*|\.$/s, '').replace(/["'`$\\[\]:]/g, '');
}

/** The branches of a `case` on the command, and on the option before. Those of subcommands come first. */
function branches(places: readonly Place[], write: (words: readonly Word[]) => string): string {
  return places
    .toReversed()
    .flatMap((place) => branchesOf(place, write))
    .join('\n');
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

/** The lines that find which command was typed, into `at`. */
function finder(places: readonly Place[]): string {
  const names = places.filter(({ at }) => at !== '').map(({ at }) => `"${at}"`);
  return `case "\${at:+$at }$word" in ${names.join('|')}) at="\${at:+$at }$word" ;; esac`;
}

function bash(places: readonly Place[]): string {
  const write = (words: readonly Word[]) => `all="${words.map(({ word }) => word).join(' ')}"`;
  return `# Completion of stele for bash. Load it with: source <(stele completion bash)
_stele() {
  local at= all= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    ${finder(places)}
  done
  case "$at \${COMP_WORDS[COMP_CWORD-1]}" in
${branches(places, write)}
  esac
  COMPREPLY=($(compgen -W "$all" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _stele stele
`;
}

function zsh(places: readonly Place[]): string {
  const write = (words: readonly Word[]) =>
    `all=(${words.map(({ word, help }) => `'${word}${help === '' ? '' : `:${help}`}'`).join(' ')})`;
  return `#compdef stele
# Completion of stele for zsh. Save it as _stele in a folder of fpath.
_stele() {
  local at= word
  local -a all
  for word in "\${(@)words[2,CURRENT-1]}"; do
    ${finder(places)}
  done
  case "$at \${words[CURRENT-1]}" in
${branches(places, write)}
  esac
  _describe -o stele all || _files
}
compdef _stele stele
`;
}

function fish(places: readonly Place[]): string {
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
  const names = places.filter(({ at }) => at !== '').map(({ at }) => `'${at}'`);
  return `# Completion of stele for fish. Save it as ~/.config/fish/completions/stele.fish
function __stele_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$at $word")
        contains -- $next ${names.join(' ')}; and set at $next
    end
    echo "$at"
end
${lines.join('\n')}
`;
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
