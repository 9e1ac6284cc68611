import { Help, type Command } from 'commander';
import type { CommandText } from '../site/docs/docs-commands.ts';

/** Returns the help of every command that can be run, for the documentation. */
export function describeCommands(program: Command): CommandText[] {
  const help = new Help();
  const describe = (command: Command): CommandText[] => {
    const below = help.visibleCommands(command).filter((each) => each.name() !== 'help');
    if (below.length > 0) return below.flatMap(describe);
    return [
      {
        name: pathOf(command),
        summary: help.commandDescription(command),
        usage: help.commandUsage(command),
        arguments: command.registeredArguments.map((argument) => ({
          name: help.argumentTerm(argument),
          description: help.argumentDescription(argument),
        })),
        options: help.visibleOptions(command).map((option) => ({
          flags: help.optionTerm(option),
          description: help.optionDescription(option),
        })),
      },
    ];
  };
  return describe(program);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Returns the root command. */
export function programOf(command: Command): Command {
  return command.parent === null ? command : programOf(command.parent);
}
