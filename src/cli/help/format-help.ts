import { Help, type Command } from 'commander';
import { examples } from './examples.ts';

/** The commands by what they are for, as `stele --help` lists them. */
const groups: Readonly<Record<string, readonly string[]>> = {
  start: ['init', 'doctor', 'serve', 'operator', 'login', 'logout', 'completion'],
  check: ['lint', 'check', 'diff', 'replay', 'discover'],
  publish: ['publish', 'sync', 'import', 'deprecate', 'yank', 'reactivate', 'visibility'],
  use: ['add', 'install', 'update', 'outdated', 'list', 'remove', 'open', 'mcp'],
  manage: ['repositories', 'sites', 'keys', 'webhooks', 'organizations', 'log', 'verify'],
  operate: ['fsck', 'backup', 'restore', 'migrate', 'gc', 'build'],
};

/** The help of a command: examples first. That of the program fits a screen of 24 lines. */
export function formatHelp(command: Command, help: Help): string {
  const name = help.commandUsage(command).replace(/ [[<].*/, '');
  const lines = examples[name] ?? [];
  const width = Math.max(...lines.map(([line]) => line.length));
  const isBeside = lines.every(([, purpose]) => width + purpose.length < 74);
  const shown = lines.map(([line, purpose]) =>
    isBeside ? `  ${line.padEnd(width)}  # ${purpose}` : `  # ${purpose}\n  ${line}`,
  );
  const start = shown.length === 0 ? '' : `${shown.join('\n')}\n\n`;
  if (command.parent !== null) return start + Help.prototype.formatHelp.call(help, command, help);
  const listed = Object.entries(groups).map(([group, names]) => `  ${group.padEnd(9)}${names.join(', ')}`);
  return `${command.description()}

${start}${listed.join('\n')}

Run stele <command> --help for what a command takes. Version ${command.version()}.
`;
}
