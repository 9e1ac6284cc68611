import type { Command, Option } from 'commander';
import type { CommonOptions } from '../command-context.ts';
import { printJson } from '../output.ts';
import { withClient, type Client } from './with-client.ts';

export interface VerbOptions extends CommonOptions {
  org?: string;
}

/** A subcommand: what it takes, and what it asks for. `id` is the first argument. Returns what `--json` prints. */
export interface Verb<Options extends VerbOptions> {
  name: string;
  description: string;
  argument?: [name: string, description: string];
  options?: Option[];
  /** Whether it is about no organization, and has no `--org`. */
  isForAll?: true;
  /** Whether it may be the first thing that is done with a data folder, which is made then. */
  makesStore?: true;
  run(client: Client, id: string, options: Options): Promise<object>;
  say(answer: Record<string, unknown>, id: string, options: Options): void;
}

/** Adds the subcommands, each of which asks the management API. `org`: what `--org` means. */
export function withVerbs<Options extends VerbOptions>(
  parent: Command,
  verbs: readonly Verb<Options>[],
  org: string,
): Command {
  for (const { name, description, argument, options = [], isForAll = false, makesStore = false, run, say } of verbs) {
    const command = parent.command(name).description(description);
    if (argument !== undefined) command.argument(...argument);
    if (!isForAll) command.option('--org <name>', org);
    command.option('--registry <url>', 'URL of a running registry; uses the key in STELE_KEY and its organization');
    for (const option of options) command.addOption(option);
    command.action(async (...given: unknown[]) => {
      const self = given.at(-1) as Command;
      const [id = ''] = self.args;
      const asked = self.optsWithGlobals<Options & { registry?: string }>();
      // The operator of a data folder acts in all organizations.
      const named = isForAll ? (asked.registry === undefined ? '-' : null) : (asked.org ?? null);
      const answer = await withClient(self, named, (client) => run(client, id, asked), { makesStore });
      if ('delivered' in answer && answer.delivered !== true) process.exitCode = 1;
      if (asked.json) printJson(answer);
      else say(answer as Record<string, unknown>, id, asked);
    });
  }
  return parent;
}
