import { Argument, Command } from 'commander';
import { programOf } from '../describe-commands.ts';
import type { CommonOptions } from '../command-context.ts';
import { printJson } from '../output.ts';
import { completionFor, shells } from './completion.ts';

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
