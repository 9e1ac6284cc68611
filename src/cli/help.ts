import { Help, type Command } from 'commander';

/** The commands by what they are for, as `stele --help` lists them. Those of the description say it themselves. */
const groups: Readonly<Record<string, readonly string[]>> = {
  start: ['init', 'doctor', 'serve', 'operator', 'login', 'logout', 'completion'],
  check: ['lint', 'check', 'diff', 'replay', 'discover'],
  publish: ['publish', 'sync', 'import'],
  use: ['add', 'install', 'update', 'outdated', 'list', 'remove', 'mcp'],
  manage: ['repositories', 'sites', 'keys', 'webhooks', 'approvals', 'organizations', 'log'],
  operate: ['verify', 'fsck', 'backup', 'restore', 'migrate', 'gc', 'build'],
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
  const listed = Object.entries(groups).map(([group, names]) => {
    const described = command.commands.filter((each) => each.helpGroup() === group).map((each) => each.name());
    return `  ${group.padEnd(9)}${[...names, ...described].join(', ')}`;
  });
  return `${command.description()}

${start}${listed.join('\n')}

Run stele <command> --help for what a command takes. Version ${command.version()}.
`;
}

/** A command line that works as it stands, and what it is for. */
export type CommandExample = readonly [line: string, purpose: string];

/** The first thing that each command's help shows, by the command's name. */
export const examples: Readonly<Record<string, readonly CommandExample[]>> = {
  stele: [
    ['stele init --org acme https://github.com/acme/apis', 'write a configuration'],
    ['stele serve', 'run the registry'],
    ['stele publish openapi.yaml @acme/apis/pay', 'publish a file'],
    ['stele add @acme/apis/pay', 'use a contract'],
  ],
  'stele init': [['stele init --org acme https://github.com/acme/apis.git', 'follow one repository']],
  'stele doctor': [['stele doctor --json', 'for monitoring: exit code 1 means a problem']],
  'stele serve': [['stele serve https://github.com/acme/apis.git --org acme', 'without a configuration']],
  'stele publish': [
    ['stele publish openapi.yaml @acme/apis/pay --dry-run', 'say what would happen'],
    ['stele publish openapi.yaml @acme/apis/pay --version 1.4.0', 'name the version'],
  ],
  'stele lint': [['stele lint openapi.yaml --ruleset style.yaml', 'with rules of your own']],
  'stele check': [['stele check --registry https://contracts.example.com', 'all documents of this repository']],
  'stele diff': [
    ['stele diff @acme/apis/pay openapi.yaml', 'a file against what is published'],
    ['stele diff origin/main:openapi.yaml openapi.yaml', 'against a branch'],
  ],
  'stele replay': [['stele replay style.yaml @acme/rulesets/style', 'whom the new rules would stop']],
  'stele discover': [['stele discover https://github.com/acme/apis.git --org acme', 'before you follow it']],
  'stele add': [['stele add @acme/apis/pay@^1.4 --as api/pay.yaml', 'a range, as YAML']],
  'stele install': [['stele install --frozen', 'in CI: fail if a file differs']],
  'stele update': [['stele update @acme/apis/pay', 'one contract']],
  'stele outdated': [['stele outdated --json', 'for a bot']],
  'stele remove': [['stele remove @acme/apis/pay', 'and delete its file']],
  'stele sync': [['stele sync @acme/apis/pay', 'only the repository of this one']],
  'stele import': [
    ['stele import @acme/apis/pay --tags "v*"', 'publish the tags as versions'],
    ['stele import --from apicurio export contracts', 'make a repository of an export'],
  ],
  'stele sites publish': [['stele sites publish @acme/sites/guide docs --check', 'only the report']],
  'stele deprecate': [
    ['stele deprecate @acme/apis/pay@1.0.0 --reason "Use v2" --replacement 2.0.0', 'and say what to use'],
  ],
  'stele yank': [['stele yank @acme/apis/pay@1.1.0 --reason "Wrong amounts" --dry-run', 'say who uses it']],
  'stele visibility': [['stele visibility @acme/apis/pay public', 'for readers without a key']],
  'stele login': [['stele login --registry https://contracts.example.com --scope publish', 'in a browser, once']],
  'stele keys create': [['stele keys create --org acme --name ci --scope publish --expires 90d', 'for a pipeline']],
  'stele webhooks create': [
    ['stele webhooks create https://ci.example.com/hook --org acme --event version.published', 'only new versions'],
  ],
  'stele organizations give': [
    ['stele organizations give --org acme --group payments --scope publish --resource "apis/pay-*"', 'to a team'],
  ],
  'stele mcp': [['stele mcp --registry https://contracts.example.com', 'in the configuration of an assistant']],
  'stele completion': [
    ['stele completion bash > ~/.local/share/bash-completion/completions/stele', 'for each new bash'],
    ['stele completion zsh > ~/.zfunc/_stele', 'with ~/.zfunc in fpath'],
    ['stele completion fish > ~/.config/fish/completions/stele.fish', 'for each new fish'],
  ],
  'stele log': [['stele log @acme/apis/pay', 'who changed what']],
  'stele verify': [['stele verify @acme/apis/pay --all', 'every version']],
  'stele fsck': [['stele fsck --data /var/lib/stele', 'while the server runs']],
  'stele backup': [['stele backup /backup/stele', 'what is new since the last one']],
  'stele restore': [['stele restore /backup/stele --data /var/lib/stele', 'into an empty store']],
  'stele gc': [['stele gc --dry-run', 'say what would be deleted']],
  'stele build': [['stele build --out site', 'files for any web server']],
};

/** Returns the root command. */
export function programOf(command: Command): Command {
  return command.parent === null ? command : programOf(command.parent);
}
