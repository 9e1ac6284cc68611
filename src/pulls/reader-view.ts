import { anonymous } from '../model/access.ts';
import { parseCoordinate } from '../model/address.ts';
import type { Repository } from '../model/connection.ts';
import { resourceRef, selectVersion, type Resource } from '../model/resource.ts';
import { defaultRuleset } from '../registry/gate/organization-defaults.ts';
import { rulesetName } from '../registry/gate/ruleset-gate.ts';
import { connectedResources } from '../plan/plan.ts';
import { mayRead } from '../registry/readable.ts';
import type { Registry } from '../registry/registry.ts';
import type { Generation } from '../store/generations.ts';
import { createOverlay } from './overlay.ts';

/**
 * A view of the registry for checks of pull requests, which anyone who can read the repository may
 * see. It contains public resources, resources that are connected to the repository, the
 * rulesets that check its documents, and what their latest versions refer to. Everything else is missing. What is written through it stays
 * in its memory: the registry never changes.
 */
export async function viewAsReader(registry: Registry, repository: Repository): Promise<Registry> {
  const { refs } = registry;
  const gates = new Set<string>();
  const connected = await connectedResources(registry, repository);
  const names = [
    defaultRuleset(registry, repository.org),
    ...connected.map((resource) => rulesetName(registry, resource)),
  ];
  for (const name of await Promise.all(names)) {
    const parsed = name === null ? null : parseCoordinate(name);
    if (parsed !== null) gates.add(resourceRef(parsed.coordinate));
  }
  for (const resource of connected)
    for (const { coordinate } of selectVersion(resource, { kind: 'latest' })?.version.dependencies ?? [])
      gates.add(resourceRef(parseCoordinate(coordinate)!.coordinate));
  const isThere = (name: string, resource: Resource) =>
    gates.has(name) ||
    (resource.org === repository.org && resource.connection?.repository === repository.url) ||
    mayRead(anonymous, resource);
  function seen<T>(name: string, found: Generation<T> | null): Generation<T> | null {
    if (found === null || !name.startsWith('resources/')) return found;
    return isThere(name, found.value as Resource) ? found : null;
  }
  return createOverlay({
    ...registry,
    answers: registry.answers.contentsOnly(),
    refs: {
      ...refs,
      read: async <T>(name: string) => seen(name, await refs.read<T>(name)),
      readFresh: async <T>(name: string) => seen(name, await refs.readFresh<T>(name)),
    },
  });
}
