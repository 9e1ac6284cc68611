import { parseCoordinate } from '../model/address.ts';
import type { DocumentState, Repository } from '../model/connection.ts';
import { policyOf } from '../registry/gate/policy.ts';
import type { Registry } from '../registry/registry.ts';
import { findResource } from '../registry/lives.ts';
import { hasReferenceMoved } from './inputs.ts';
import { gateText, rulesetDigest } from './gate-now.ts';

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
    if (isSame && (state.outcome !== 'rejected' || state.compiler === compiler)) continue;
    yield [path, { ...state, inputs: null, rulesetName: name, ruleset, compiler, ...(gate !== undefined && { gate }) }];
  }
}
