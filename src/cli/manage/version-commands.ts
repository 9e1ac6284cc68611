import { Argument, Option, type Command } from 'commander';
import type { Coordinate } from '../../model/address.ts';
import { countText } from '../../model/problem.ts';
import { RegistryError } from '../../model/errors.ts';
import { nameOf } from '../../model/resource.ts';
import { requireCoordinate } from '../command-context.ts';
import { complain, print } from '../output.ts';
import type { components } from '../../server/v1/management.d.ts';
import { verbCommand, type Verb, type VerbOptions } from './with-client.ts';

interface ChangeOptions extends VerbOptions {
  reason?: string;
  replacement?: string;
  sunset?: string;
  dryRun?: boolean;
}

type User = components['schemas']['DependantList']['items'][number];

const reason = new Option('--reason <text>', 'why; readers see it').makeOptionMandatory();
const statuses: readonly [name: string, state: string, description: string, options: readonly Option[]][] = [
  [
    'deprecate',
    'deprecated',
    'Tell the readers of a version that it should no longer be used.',
    [
      reason,
      new Option('--replacement <version>', 'what to use instead: a version of the same resource, or a coordinate'),
      new Option('--sunset <date>', 'when it stops working, such as 2027-06-30T00:00:00Z'),
    ],
  ],
  [
    'yank',
    'yanked',
    'Stop offering a version: latest and ranges skip it, and clients that pinned it still get it.',
    [reason],
  ],
  ['reactivate', 'active', 'Undo deprecate or yank.', []],
];

/** The resource of a coordinate, and its version; null: it names none. */
function namedIn(given: string): { coordinate: Coordinate; label: string | null; path: string } {
  const { coordinate, selector } = requireCoordinate(given);
  const label = selector.kind === 'version' ? selector.version : null;
  const resource = `/v1/${coordinate.type}/${coordinate.slug}`;
  const path = label === null ? resource : `${resource}/versions/${encodeURIComponent(label)}`;
  if (label !== null || selector.kind === 'latest') return { coordinate, label, path };
  throw new RegistryError('malformed', `Which version? Use ${nameOf(coordinate)}@1.2.0.`);
}

/** `stele deprecate|yank|reactivate COORDINATE@VERSION`, `stele visibility COORDINATE public|private`. */
export function versionCommands(): Command[] {
  const changes = statuses.map(([name, state, description, options]): Verb<ChangeOptions> => ({
    name,
    description,
    argument: new Argument('<version>', '@org/type/slug@version'),
    options: [...options, new Option('--dry-run', 'list its users, and change nothing')],
    orgIn(given) {
      const { coordinate, label } = namedIn(given);
      if (label === null) throw new RegistryError('malformed', `Which version? Use ${nameOf(coordinate)}@1.2.0.`);
      return coordinate.org;
    },
    run({ demand }, given, { reason: why, replacement, sunset, dryRun }) {
      const status = { state, ...(state !== 'active' && { reason: why, replacement, sunset }) };
      return demand('PATCH', `${namedIn(given).path}${dryRun ? '?dryRun=true' : ''}`, { status });
    },
    async say({ dependants = [] }, given, { dryRun }, { demand }) {
      const { coordinate, label } = namedIn(given);
      const users = dependants as User[];
      print(`${nameOf(coordinate)}@${label} ${dryRun ? `would be ${state}` : `is ${state}`}`);
      if (dryRun)
        complain(`${countText(users.length, 'user')} in this registry ${users.length === 1 ? 'uses' : 'use'} it.`);
      for (const each of users)
        print('consumer' in each ? `  ${each.consumer.name} (consumer)` : `  ${each.coordinate}@${each.version}`);
      if (!dryRun) sayLatest(await demand('GET', `/v1/${coordinate.type}/${coordinate.slug}`));
    },
  }));
  const visibility: Verb<VerbOptions> = {
    name: 'visibility',
    description: 'Make a resource public or private.',
    argument: [
      new Argument('<coordinate>', '@org/type/slug'),
      new Argument('<visibility>', 'who may read it').choices(['public', 'private']),
    ],
    orgIn(given) {
      const { coordinate, label } = namedIn(given);
      if (label === null) return coordinate.org;
      throw new RegistryError('malformed', 'The coordinate must not contain a version: all versions change together.');
    },
    run: ({ demand }, given, _options, wanted) => demand('PATCH', namedIn(given).path, { visibility: wanted }),
    say(changed, given) {
      print(`${nameOf(namedIn(given).coordinate)} is ${String(changed['visibility'])}`);
      sayLatest(changed);
    },
  };
  return [...changes, visibility].map((verb) => verbCommand(verb));
}

function sayLatest({ latest }: Record<string, unknown>): void {
  complain(typeof latest === 'string' ? `The latest version is ${latest}.` : 'There is no latest version.');
}
