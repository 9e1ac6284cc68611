import { isUrlPath, parseCoordinate, type Coordinate } from '../model/address.ts';
import { isUnpublished, type DocumentState, type Repository } from '../model/connection.ts';
import { type Digest, digestOf } from '../model/digest.ts';
import { decodeJson } from '../model/json.ts';
import type { Resource } from '../model/resource.ts';
import type { Planned } from '../plan/planned.ts';
import { meaningOf } from '../registry/graph/references.ts';
import type { Registry } from '../registry/registry.ts';
import { insteadOf } from '../model/errors.ts';
import { decisionsText } from '../registry/approval/hold.ts';
import { findResource } from '../registry/lives.ts';
import { rulesetState, resolveRuleset } from '../registry/gate/ruleset-gate.ts';
import { policyOf } from '../registry/gate/policy.ts';

/** The files that a document was made from, and what its URLs meant: blob ids and digests. Null: absent. */
export type Inputs = Record<string, string | null>;

/** Reads the inputs that a sync recorded. Null if they are gone. */
export async function readInputs(registry: Registry, digest: Digest): Promise<Inputs | null> {
  const bytes = await registry.objects.get(digest);
  return bytes && decodeJson<Inputs>(bytes);
}

/** What a document refers to by URL, among the files that it was made from. */
export function referencesOf({ visibility }: Planned, inputs: Inputs): Pick<DocumentState, 'references'> {
  const urls = Object.keys(inputs).filter(isUrlPath);
  return urls.length > 0 ? { references: { urls, visibility } } : {};
}

/** Whether a URL that a rejected document refers to means another version than when it was rejected. */
async function hasReferenceMoved(
  registry: Registry,
  { references, inputs: digest, resource: name }: DocumentState,
  resource: Resource | null,
): Promise<boolean> {
  if (references === undefined || digest === null) return false;
  const inputs = await readInputs(registry, digest);
  const referrer = resource ?? { ...parseCoordinate(name)!.coordinate, visibility: references.visibility };
  for (const url of references.urls) if ((await meaningOf(registry, referrer, url)) !== inputs?.[url]) return true;
  return false;
}

/** The current gate of a document: its resource's settings and its exemptions. */
export async function gateNow(
  registry: Registry,
  document: Planned,
): Promise<Required<Pick<DocumentState, 'gate' | 'exemptions'>>> {
  const resource = await findResource(registry, document.coordinate);
  const settings = resource ?? { ...document, ...document.coordinate };
  const written = (document.exemptions ?? []).map((one) => ({ ...one, at: null }));
  return {
    gate: await gateText(registry, settings, document.coordinate),
    exemptions: digestOf(JSON.stringify(written)),
  };
}

/** The settings of a gate as text, with what was decided about the resource's changes. */
async function gateText(
  registry: Registry,
  settings: Parameters<typeof policyOf>[1],
  coordinate: Coordinate,
): Promise<string> {
  const { validation: _, ruleset: __, ...gate } = await policyOf(registry, settings);
  const decisions = gate.approval === 'required' ? await decisionsText(registry, coordinate) : '';
  return `${JSON.stringify(gate)}${decisions}`;
}

/** The ruleset that checks a document now: its resource's, or that of the resource to be created. */
export async function rulesetNameFor(registry: Registry, document: Planned): Promise<string | null> {
  const resource = await findResource(registry, document.coordinate);
  return (await policyOf(registry, resource ?? { ...document.coordinate, ruleset: document.ruleset })).ruleset;
}

/** The digest of the ruleset that checks a document now, or null for none. */
export async function rulesetNow(registry: Registry, document: Planned): Promise<Digest | null> {
  return rulesetDigest(registry, document.coordinate.org, await rulesetNameFor(registry, document));
}

/** The digest of a ruleset now. Null for no ruleset and for one that does not exist. */
export async function rulesetDigest(registry: Registry, org: string, name: string | null): Promise<Digest | null> {
  const ruleset = await resolveRuleset(registry, org, name).catch(insteadOf('refused', null));
  return ruleset && rulesetState(ruleset);
}

/**
 * The documents whose result may change although their files have not: their ruleset changed, or they
 * were rejected by another compiler, by a gate with other settings, or when a reference meant another
 * version. Each comes with a state that makes the next sync read it again.
 */
export async function* outdatedDocuments(
  registry: Registry,
  repository: Repository,
): AsyncGenerator<[path: string, state: DocumentState]> {
  const compiler = registry.compiler.id;
  for (const [path, state] of Object.entries(repository.documents)) {
    if (state.outcome === 'detached') continue;
    const resource = await findResource(registry, parseCoordinate(state.resource)!.coordinate);
    const name = resource === null ? state.rulesetName : (await policyOf(registry, resource)).ruleset;
    const ruleset = await rulesetDigest(registry, repository.org, name);
    const gate = resource && state.gate !== undefined ? await gateText(registry, resource, resource) : state.gate;
    const isSameGate = name === state.rulesetName && ruleset === state.ruleset && gate === state.gate;
    const isSame = isSameGate && !(await hasReferenceMoved(registry, state, resource));
    if (isSame && (!isUnpublished(state) || state.compiler === compiler)) continue;
    yield [path, { ...state, inputs: null, rulesetName: name, ruleset, compiler, ...(gate !== undefined && { gate }) }];
  }
}
