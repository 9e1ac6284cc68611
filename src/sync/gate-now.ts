import type { Coordinate } from '../model/address.ts';
import type { DocumentState } from '../model/connection.ts';
import { digestOf, type Digest } from '../model/digest.ts';
import { isRegistryError } from '../model/errors.ts';
import type { Planned } from '../plan/planned.ts';
import { decisionsText } from '../registry/approval/hold.ts';
import { findResource } from '../registry/lives.ts';
import { rulesetState } from '../registry/gate/extended.ts';
import { policyOf } from '../registry/gate/policy.ts';
import { resolveRuleset } from '../registry/gate/ruleset-gate.ts';
import type { Registry } from '../registry/registry.ts';

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
export async function gateText(
  registry: Registry,
  settings: Parameters<typeof policyOf>[1],
  coordinate: Coordinate,
): Promise<string> {
  const { validation: _, ruleset: __, ...gate } = await policyOf(registry, settings);
  const decisions = gate.approval === 'required' ? await decisionsText(registry, coordinate) : '';
  return `${JSON.stringify(gate)}${decisions}`;
}

/**
 * The ruleset that checks a document now: its resource's, or that of the resource to be created.
 */
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
  return resolveRuleset(registry, org, name).then(
    (ruleset) => ruleset && rulesetState(ruleset),
    (error: unknown) => {
      if (isRegistryError(error, 'refused')) return null;
      throw error;
    },
  );
}
