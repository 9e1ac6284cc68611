import { Command, Option } from 'commander';
import { existsSync } from 'node:fs';
import { formatCoordinate, parseCoordinate, type Coordinate } from '../../model/address.ts';
import { isRegistryError, malformed, refused } from '../../model/errors.ts';
import { describeBlocking, formatProblem, isBlocking } from '../../model/problem.ts';
import { csvText } from '../../model/escape.ts';
import type { Replayed, ReplayPage } from '../../registry/gate/replay.ts';
import { requireCoordinate, withCompiler, type CommonOptions } from '../command-context.ts';
import { complain, print, printJson, withProgress } from '../output.ts';
import { withClient } from '../manage/with-client.ts';
import type { Client } from '../registry-client.ts';
import { readDocument } from '../remote-registry.ts';

type Result = Pick<ReplayPage, 'items' | 'totals'>;

/** `stele replay CANDIDATE RULESET`: what a new version of a ruleset would reject. Writes nothing. */
export function replayCommand(): Command {
  return new Command('replay')
    .description('Check what a new version of a ruleset would reject, before it is published.')
    .argument('<candidate>', 'the file of the ruleset, or the coordinate of a published version')
    .argument('<ruleset>', '@org/rulesets/slug')
    .option('--registry <url>', 'ask the running registry at this URL, with the key in STELE_KEY')
    .addOption(new Option('--format <format>', 'output format').choices(['text', 'csv']).default('text'))
    .action(async (candidate: string, name: string, _options: unknown, command: Command) => {
      const { json, format } = command.optsWithGlobals<CommonOptions & { registry?: string; format: 'text' | 'csv' }>();
      const { coordinate, selector } = requireCoordinate(name);
      if (coordinate.type !== 'rulesets' || selector.kind !== 'latest')
        throw malformed(`${name} is not a ruleset. Use a coordinate such as @acme/rulesets/style.`);
      const version = existsSync(candidate) ? null : labelIn(candidate, coordinate);
      const result = await withProgress('Replaying', (say) =>
        withClient(command, coordinate.org, async (client) =>
          replay(client, await bodyOf(command, candidate, coordinate, version), coordinate, say),
        ),
      ).catch((error: unknown) => {
        if (isRegistryError(error) && json !== true)
          for (const problem of error.problems) complain(formatProblem(problem));
        throw error;
      });
      if (result.totals.newlyBlocked > 0) process.exitCode = 1;
      if (json === true) printJson(result);
      else if (format === 'csv') {
        const { replayRows } = await import('../../registry/gate/replay.ts');
        print(csvText(replayRows(result.items)).trimEnd());
      } else printReplay(result);
    });
}

function labelIn(candidate: string, ruleset: Coordinate): string {
  const parsed = parseCoordinate(candidate);
  if (parsed?.selector.kind === 'version' && formatCoordinate(parsed.coordinate) === formatCoordinate(ruleset))
    return parsed.selector.version;
  const example = formatCoordinate(ruleset, { kind: 'version', version: '1.0.0' });
  throw malformed(`There is no file ${candidate}. Give a file, or a version such as ${example}.`);
}

async function bodyOf(
  command: Command,
  candidate: string,
  coordinate: Coordinate,
  version: string | null,
): Promise<{ version: string } | { document: string }> {
  if (version !== null) return { version };
  const { body, report } = await withCompiler(command, (compiler, config) =>
    readDocument(compiler, config, candidate, coordinate),
  );
  if (body !== null && !isBlocking(report)) return body;
  throw refused(describeBlocking(report), { problems: report.problems });
}

async function replay(
  { demand }: Client,
  body: object,
  { slug }: Coordinate,
  say: (text: string) => void,
): Promise<Result> {
  const items: Replayed[] = [];
  for (let cursor = ''; ;) {
    const path = `/v1/rulesets/${slug}/replay?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const page = (await demand('POST', path, body)) as unknown as Result & { next: string | null };
    items.push(...page.items);
    if (page.next === null) return { items, totals: page.totals };
    say(`Replaying: ${items.length} done`);
    cursor = page.next;
  }
}

function printReplay({ items, totals }: Result): void {
  for (const item of items) {
    const verdict = item.newlyBlocked ? 'blocked' : item.proposed.blocking > 0 ? 'still blocked' : 'passes';
    print([verdict, item.version, `+${item.added}`, `-${item.removed}`].join('\t'));
    if (item.newlyBlocked) for (const problem of item.problems) print(`  ${formatProblem(problem)}`);
  }
  const { checked, newlyBlocked, unblocked, others } = totals;
  const rest = others === 0 ? '' : `; ${others} that you may not read were not checked`;
  complain(`${checked} checked, ${newlyBlocked} newly blocked, ${unblocked} no longer blocked${rest}`);
}
