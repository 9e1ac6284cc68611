import { Help, type Command } from 'commander';
import type { CommandText } from '../site/docs/docs-commands.ts';

/** Every command that does something, in the words of its own help. */
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

/** The program that a command belongs to. */
export function programOf(command: Command): Command {
  return command.parent === null ? command : programOf(command.parent);
}
