import type { Turn } from '../../../compile/compile.ts';
import { formatPrincipal, type Principal } from '../../../model/access.ts';
import { formatCoordinate, parseCoordinate, type Coordinate } from '../../../model/address.ts';
import type { OnConflict } from '../../../model/connection.ts';
import { RegistryError } from '../../../model/errors.ts';
import type { GateSettings } from '../../../model/gate.ts';
import { outcomeIn, type Exemption, type Validation } from '../../../model/problem.ts';
import { impactText, type ImpactOnUser } from '../../../model/dependency.ts';
import type { Resource } from '../../../model/resource.ts';
import type { View } from '../../../model/artifact.ts';
import { showReport } from '../../../registry/gate/show-report.ts';
import { impactOf } from '../../../registry/graph/impact.ts';
import { nextVersionOf, publish } from '../../../registry/publish.ts';
import { findReadable, mayRead, mayReadOrganization } from '../../../registry/readable.ts';
import type { Registry } from '../../../registry/registry.ts';
import type { Body } from '../../body/read-body.ts';
import { nothingHere } from '../../nothing-here.ts';
import type { Answer } from '../call.ts';
import { uploadIn } from './uploaded-document.ts';

/** A document to check. Members that are not described here are those of a `PublishRequest`. */
interface DocumentToCheck {
  coordinate: string;
  version?: string;
  stated?: string | null;
  onConflict: OnConflict;
  exemptions?: Exemption[];
  /** What a new resource is made with. */
  settings?: GateSettings & { ruleset?: string | null; validation?: Validation | null };
  view?: View;
  /** Whether to say whom it breaks. */
  impact?: boolean;
}

/** Says what publishing a document would say, to whoever may read its resource. Nothing is stored. */
export async function checkDocument(
  registry: Registry,
  principal: Principal,
  body: Body,
  signal: AbortSignal,
): Promise<Answer> {
  const {
    coordinate: name,
    settings = {},
    exemptions,
    version = null,
    stated,
    onConflict,
    view,
    impact = false,
  } = body.value as DocumentToCheck;
  const coordinate = coordinateIn(name);
  if (impact && principal.kind === 'anonymous')
    throw new RegistryError('unauthenticated', 'To learn whom a version breaks, send a key with the scope read.');
  const existing = await findForCheck(registry, principal, coordinate);
  await assertRulesetReadable(registry, principal, existing === null ? settings.ruleset : null);
  const isExempt = exemptions !== undefined && (existing === null || existing.connection !== null);
  const reading = forReader(registry, principal);
  const checkWith = (accepted: Pick<DocumentToCheck, 'exemptions'>) =>
    publish(reading, {
      coordinate,
      ...uploadIn({ registry, body, principal }),
      version,
      ...(view && { view }),
      ...(stated !== undefined && { stated }),
      onConflict,
      ...accepted,
      latest: true,
      dryRun: true,
      create: existing === null ? settings : null,
      author: { actor: formatPrincipal(principal), origin: null },
      isAwaited: true,
      signal,
    });
  const result = await checkWith(isExempt ? { exemptions } : {});
  const { outcome, report } = result;
  const needsSync =
    existing === null &&
    outcome === 'published' &&
    report.exempted !== undefined &&
    (await checkWith({})).outcome === 'rejected';
  const label = outcome === 'published' || outcome === 'unchanged' ? result.version.label : null;
  const checked = {
    outcome: outcome === 'rejected' ? outcomeIn(report) : outcome,
    version: label === null ? null : formatCoordinate(coordinate, { kind: 'version', version: label }),
    isNew: existing === null,
    detail: outcome === 'conflict' ? result.detail : needsSync ? onlyBySync : null,
    report: await showReport(registry, principal, report),
  };
  const next = impact ? nextVersionOf(result) : null;
  if (next === null) return { status: 200, body: checked };
  const { users, ...rest } = await impactOf(reading, principal, next, {
    org: principal.kind === 'key' ? principal.org : coordinate.org,
    isAwaited: true,
    signal,
  });
  return { status: 200, body: { ...checked, impact: { users: users.map(userRecord), ...rest } } };
}

const onlyBySync =
  'Exemptions count where the registry follows the repository. "stele publish" would be rejected: it has none.';

/** A user as described in the API. */
function userRecord(user: ImpactOnUser): object {
  const { coordinate, version, uses, gets, verdict } = user;
  return { coordinate, version, uses, gets, verdict, detail: impactText(user) };
}

function coordinateIn(name: string): Coordinate {
  const parsed = parseCoordinate(name);
  if (parsed?.selector.kind === 'latest') return parsed.coordinate;
  throw new RegistryError(
    'malformed',
    `${JSON.stringify(name)} is not the coordinate of a resource. Use one such as "@acme/apis/pay".`,
  );
}

/**
 * The resource, or null if it would be new. A stranger learns only of public ones. A ruleset may extend
 * private ones, so whoever checks it must be able to read the whole organization.
 */
async function findForCheck(
  registry: Registry,
  principal: Principal,
  coordinate: Coordinate,
): Promise<Resource | null> {
  const resource = await findReadable(registry, principal, coordinate);
  const isMember = mayRead(principal, { ...coordinate, visibility: 'private' });
  const mayCheck =
    coordinate.type === 'rulesets' ? mayReadOrganization(principal, coordinate.org) : isMember || resource !== null;
  if (mayCheck) return resource?.value ?? null;
  if (principal.kind !== 'anonymous') throw new RegistryError('not_found', nothingHere);
  const message = `Without a key, only public APIs and schemas can be checked. To check ${formatCoordinate(coordinate)}, send a key with the scope read.`;
  throw new RegistryError('unauthenticated', message);
}

/** Throws as for a ruleset that does not exist if the asker may not read it. */
async function assertRulesetReadable(registry: Registry, principal: Principal, name: string | null | undefined) {
  const parsed = name ? parseCoordinate(name) : null;
  if (!name || (parsed && (await findReadable(registry, principal, parsed.coordinate)))) return;
  throw new RegistryError('refused', `The ruleset ${name} does not exist. Publish it, or attach another one.`);
}

/** The registry with a compiler whose work is that of readers: what strangers ask for takes no turn of an organization. */
function forReader(registry: Registry, principal: Principal): Registry {
  const { compiler } = registry;
  const turnOf = ({ org, ...turn }: Turn = {}): Turn => ({
    ...turn,
    lane: 'read',
    ...(principal.kind !== 'anonymous' && org !== undefined && { org }),
  });
  return {
    ...registry,
    compiler: {
      ...compiler,
      compile: (input, load, turn) => compiler.compile(input, load, turnOf(turn)),
      compare: (old, next, limits, rules, turn) => compiler.compare(old, next, limits, rules, turnOf(turn)),
    },
  };
}
