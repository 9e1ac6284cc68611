import { Option, type Argument, type Command } from 'commander';

/**
 * By command: a line that works in the world of `bad-values-world.ts`. `KEY`, `WEBHOOK`, `RIGHT` and `HELD` are ids there, and
 * `REGISTRY` is the URL of one that runs.
 */
const lines: Readonly<Record<string, string>> = {
  init: './apis.git --org acme',
  doctor: '',
  serve: './apis.git --org acme --port 0',
  'operator link': '--registry REGISTRY',
  publish: 'api.json @acme/apis/new',
  lint: 'api.json',
  check: 'api.json --as @acme/apis/fresh --registry REGISTRY',
  diff: 'api.json api.json',
  replay: 'style.yaml @acme/rulesets/style',
  discover: './apis.git --org acme',
  add: '@acme/apis/pay --as new.json --registry REGISTRY',
  install: '',
  update: '',
  outdated: '',
  list: '',
  remove: 'pay.json',
  sync: '@acme/apis/pay',
  repositories: '--org acme',
  import: '@acme/apis/pay --each-change',
  'sites publish': '@acme/sites/guide pages --title Book',
  'sites preview': '@acme/sites/guide pages',
  'sites list': '--org acme',
  'sites rollback': '@acme/sites/guide 1',
  visibility: '@acme/apis/pay public',
  deprecate: '@acme/apis/pay@1.0.0 --reason old',
  yank: '@acme/apis/pay@1.0.0 --reason old',
  reactivate: '@acme/apis/pay@1.0.0',
  'keys list': '--org acme',
  'keys create': '--org acme --name more --scope read',
  'keys revoke': 'KEY --org acme --last',
  'webhooks list': '--org acme',
  'webhooks create': 'https://ci.test/hook --org acme',
  'webhooks delete': 'WEBHOOK --org acme',
  'webhooks enable': 'WEBHOOK --org acme',
  'webhooks rotate': 'WEBHOOK --org acme',
  'webhooks test': 'WEBHOOK --org acme',
  'approvals list': '--org acme',
  'approvals show': 'HELD --org acme',
  'approvals approve': 'HELD --org acme --reason fine',
  'approvals reject': 'HELD --org acme --reason fine',
  'organizations list': '',
  'organizations create': 'globex',
  'organizations rights': '--org acme',
  'organizations give': '--org acme --group more --scope read',
  'organizations take': 'RIGHT --org acme',
  login: '--registry REGISTRY',
  logout: '--registry REGISTRY',
  open: '@acme/apis/pay --registry REGISTRY',
  mcp: '--registry REGISTRY',
  completion: 'bash',
  log: '@acme/apis/pay',
  verify: '@acme/apis/pay',
  fsck: '',
  backup: 'copy2',
  restore: 'copy --data fresh',
  migrate: 'moved',
  gc: '',
  build: '--out site',
};

/** The commands that can be run, by their names. */
export function commandsOf(program: Command): [name: string, command: Command][] {
  const below = (command: Command, path: readonly string[]): [string, Command][] => {
    const commands = command.commands.filter((each) => each.name() !== 'help');
    if (commands.length === 0) return [[path.join(' '), command]];
    return commands.flatMap((each) => below(each, [...path, each.name()]));
  };
  return below(program, []);
}

/** A part of a command's line that takes a value. */
export type Input = Argument | Option;

export function inputsOf(command: Command): Input[] {
  return [...command.registeredArguments, ...command.options.filter((option) => option.required || option.optional)];
}

/** What a part of the line is called: `<file>`, `--data`. */
export function nameOf(input: Input): string {
  return input instanceof Option ? input.long! : `<${input.name()}>`;
}

/** The words of the line of a command, with this value in this part of it. `known`: what stands for words in capitals. */
export function commandLine(
  name: string,
  command: Command,
  input: Input | null,
  value: string,
  known: Readonly<Record<string, string>> = {},
): string[] {
  const line = lines[name];
  if (line === undefined) throw new Error(`${name} has no line in test/cli/command-lines.ts.`);
  const words = line.split(' ').flatMap((word) => (word === '' ? [] : (known[word] ?? word)));
  const places: string[] = [];
  const options = new Map<string, string | null>();
  for (let at = 0; at < words.length; at++) {
    const option = command.options.find(({ long }) => long === words[at]);
    if (option === undefined) places.push(words[at]!);
    else options.set(option.long!, option.required ? words[++at]! : null);
  }
  if (input instanceof Option) options.set(input.long!, value);
  else if (input !== null) {
    const at = command.registeredArguments.indexOf(input);
    while (places.length < at) places.push('x');
    places[at] = value;
  }
  const given = [...options].map(([long, text]) => (text === null ? long : `${long}=${text}`));
  return [...name.split(' '), ...given, '--', ...places];
}
