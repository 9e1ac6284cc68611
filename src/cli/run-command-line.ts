import { CommanderError } from 'commander';
import { forceColor, useProxies } from '../config/environment.ts';
import { exitCodeOf } from './process-end.ts';
import { complainError, complainJson } from './output.ts';
import { createProgram } from './program.ts';
import { codeOf, isRegistryError, type ErrorCode, type RegistryError } from '../model/errors.ts';

/** Runs a command line (without the program's name) and prints errors. Returns the exit code. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  // Read before the arguments are parsed, so that a usage error is JSON too.
  const json = args.includes('--json');
  try {
    useProxies();
    if (args.includes('--color')) forceColor();
    const program = await createProgram({ json, called: args[0] ?? '' });
    await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // commander throws for --help and --version too.
    return error instanceof CommanderError && error.exitCode === 0 ? 0 : refuse(error, json);
  }
}

function refuse(error: unknown, json: boolean): number {
  const { code, detail, problems, extra } = describe(error);
  if (json) complainJson({ type: `/problems/${code}`, detail, ...(problems.length > 0 && { problems }), ...extra });
  // commander has printed usage errors itself.
  else if (!(error instanceof CommanderError)) complainError(detail);
  return exitCodeOf(code, extra);
}

function describe(
  error: unknown,
): Pick<RegistryError, 'problems' | 'extra'> & { code: ErrorCode | 'internal'; detail: string } {
  const none = { problems: [], extra: {} };
  if (isRegistryError(error))
    return { code: error.code, detail: error.message, problems: error.problems, extra: error.extra };
  if (error instanceof CommanderError) return { code: 'malformed', detail: usageFault(error), ...none };
  if (diskFault.test(codeOf(error)))
    return { code: 'malformed', detail: `A file cannot be read or written: ${(error as Error).message}.`, ...none };
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: 'internal', detail, ...none };
}

/** What the disk or its rights are to blame for, and not the program. */
const diskFault = /^E(?:NOSPC|DQUOT|ROFS|ACCES|PERM|NOTDIR|ISDIR|NAMETOOLONG|LOOP|FBIG|IO)$/;

function usageFault({ code, message }: CommanderError): string {
  return code === 'commander.help'
    ? 'A command is missing. Run stele --help for the list.'
    : message.replace(/^error: /, '');
}
