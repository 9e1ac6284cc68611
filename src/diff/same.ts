import type { JsonObject } from '../model/json.ts';
import { objectOf, textOf } from '../render/json-value.ts';
import { childrenOf, referenceOf, targetOf, type Side } from './side.ts';

/** Whether two values are equal, with everything that they refer to. */
export type Same = (before: unknown, after: unknown) => boolean;

/**
 * Finds what need not be compared: most of two versions is the same. The targets of references are
 * looked at once. Documents of different dialects are never the same.
 */
export function createSame(before: Side, after: Side, spend: (steps: number) => void): Same {
  /** By reference: whether its targets, and all that they refer to, are equal. */
  const settled = new Map<string, boolean>();

  function settle(reference: string): void {
    const users = new Map<string, string[]>();
    const differing: string[] = [];
    const references = [reference];
    const seen = new Set(references);
    for (let name = references.pop(); name !== undefined; name = references.pop()) {
      const [old, current] = [targetOf(before, name, ''), targetOf(after, name, '')];
      // Nobody can follow a reference that leads to nothing in both.
      const within = old === current ? new Set<string>() : old && current && equal(old.value, current.value, spend);
      if (!within) differing.push(name);
      // A discriminator reaches the schemas that are made of this one.
      const made = [...childrenOf(before, old), ...childrenOf(after, current)].map(({ pointer }) => `#${pointer}`);
      for (const used of within ? [...within, ...made] : []) {
        if (settled.get(used) === false) differing.push(name);
        else if (!settled.has(used)) addTo(users, used, name);
        if (seen.has(used) || settled.has(used)) continue;
        seen.add(used);
        references.push(used);
      }
    }
    for (const name of seen) settled.set(name, true);
    for (let name = differing.pop(); name !== undefined; name = differing.pop()) {
      if (settled.get(name) === false) continue;
      settled.set(name, false);
      differing.push(...(users.get(name) ?? []));
    }
  }

  return (one, other) => {
    if (before.dialect.name !== after.dialect.name) return false;
    const references = equal(one, other, spend);
    if (references === null) return false;
    for (const reference of references) {
      if (!settled.has(reference)) settle(reference);
      if (settled.get(reference) !== true) return false;
    }
    return true;
  };
}

function addTo(users: Map<string, string[]>, used: string, name: string): void {
  const list = users.get(used);
  if (list) list.push(name);
  else users.set(used, [name]);
}

/** The references in two equal values. Null if they differ. No document is nested too deep for it. */
function equal(before: unknown, after: unknown, spend: (steps: number) => void): Set<string> | null {
  const references = new Set<string>();
  let steps = 1;
  const isEqual = areEqual(before, after);
  spend(steps / 4);
  return isEqual ? references : null;

  function areEqual(one: unknown, other: unknown): boolean {
    steps++;
    if (one === other) return true;
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
    if (Array.isArray(one) || Array.isArray(other)) {
      if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
      return one.every((item, at) => areEqual(item, other[at]));
    }
    return areObjectsEqual(one as JsonObject, other as JsonObject);
  }

  function areObjectsEqual(one: JsonObject, other: JsonObject): boolean {
    let left = 0;
    for (const key in other) if (Object.hasOwn(other, key)) left++;
    for (const key in one) {
      if (!Object.hasOwn(one, key)) continue;
      if (!Object.hasOwn(other, key) || !areEqual(one[key], other[key])) return false;
      left--;
      if ((key.startsWith('$') && typeof one[key] === 'string') || key === 'discriminator') noteReference(one, key);
    }
    return left === 0;
  }

  function noteReference(value: JsonObject, key: string): void {
    if (key === 'discriminator') return noteMapping(value[key]);
    if (key === '$ref' || key === '$dynamicRef' || key === '$recursiveRef') references.add(referenceOf(value));
  }

  function noteMapping(discriminator: unknown): void {
    const { mapping, defaultMapping } = objectOf(discriminator);
    for (const target of [...Object.values(objectOf(mapping)), defaultMapping].map(textOf))
      if (target !== '') references.add(/^[\w.-]+$/.test(target) ? `#/components/schemas/${target}` : target);
  }
}
