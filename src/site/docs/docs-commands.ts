import { table } from './docs-table.ts';

/** A command with its help (`stele <command> --help`). */
export interface CommandText {
  /** The full name, with its parent: `stele keys create`. */
  name: string;
  summary: string;
  /** `stele keys create [options]` */
  usage: string;
  arguments: { name: string; description: string }[];
  options: { flags: string; description: string }[];
}

/** A section per command with its arguments and options. Common options are listed once. */
export function describeCommands(commands: readonly CommandText[]): string {
  const common = commonOptions(commands);
  const isCommon = (flags: string) => common.some((option) => option.flags === flags);
  const sections = commands.map(({ name, summary, usage, arguments: taken, options }) => {
    const rows = [
      ...taken.map((argument) => [code(argument.name), argument.description]),
      ...options.filter(({ flags }) => !isCommon(flags)).map((option) => [code(option.flags), option.description]),
    ];
    const listed = rows.length === 0 ? [] : [table(['argument, option', 'what'], rows)];
    return [`### ${name}`, summary, `\`\`\`text\n${usage}\n\`\`\``, ...listed].join('\n\n');
  });
  const shared = table(
    ['option', 'what'],
    common.map(({ flags, description }) => [code(flags), description]),
  );
  return ['### Options of every command', shared, ...sections].join('\n\n');
}

function commonOptions(commands: readonly CommandText[]): CommandText['options'] {
  const [first, ...others] = commands;
  return (first?.options ?? []).filter(({ flags }) =>
    others.every(({ options }) => options.some((option) => option.flags === flags)),
  );
}

function code(text: string): string {
  return `\`${text}\``;
}
