import { isImpossible, coversTypes } from './schema-parts.ts';
import { typesIn, typesInCommon, viewOf, type SchemaView } from './read-schema.ts';
import { isRestriction } from './keywords.ts';

const maxDepth = 3;

/** Whether no value besides null is valid for both of two schemas, as far as that can be proved. */
export function areDisjoint(a: SchemaView, b: SchemaView, depth = maxDepth): boolean {
  if (a.isNever || b.isNever) return true;
  if (a.values !== null && b.values !== null && a.values.value.isDisjointFrom(b.values.value)) return true;
  const types = typesInCommon(a, b);
  if (types !== null) {
    if ([...types].every((type) => isImpossible(a, type, b) || isImpossible(b, type, a))) return true;
    if (types.isSubsetOf(new Set(['object'])) && (haveOtherTags(a, b, depth) || areExclusive(a, b))) return true;
  }
  if (depth === 0) return false;
  const isApart = ({ side, unions }: SchemaView, from: SchemaView) =>
    unions.some(({ branches }) => branches.every((branch) => areDisjoint(viewOf(side, [branch]), from, depth - 1)));
  return isApart(a, b) || isApart(b, a);
}

/** Whether both have a property that no object can have in both ways, such as a constant `kind`. */
function haveOtherTags(a: SchemaView, b: SchemaView, depth: number): boolean {
  if (depth === 0) return false;
  return [...a.required.keys()].some((name) => {
    const [one, other] = [a.properties.get(name), b.properties.get(name)];
    if (!b.required.has(name) || one === undefined || other === undefined) return false;
    const [old, current] = [viewOf(a.side, one), viewOf(b.side, other)];
    const mayBeNull = old.allowsNull !== false && current.allowsNull !== false;
    return !mayBeNull && areDisjoint(old, current, depth - 1);
  });
}

/** Whether one requires a property that the other one refuses. */
function areExclusive(a: SchemaView, b: SchemaView): boolean {
  const refuses = ({ additional, properties, keywords }: SchemaView, name: string) =>
    additional.isClosed && !properties.has(name) && !keywords.has('patternProperties');
  return (
    [...a.required.keys()].some((name) => refuses(b, name)) || [...b.required.keys()].some((name) => refuses(a, name))
  );
}

/** Whether a schema allows no more than others together besides null, because these say no more than types. */
export function isWithin(narrow: SchemaView, wide: readonly SchemaView[]): boolean {
  const types = typesIn(narrow);
  const plain = wide.filter(isPlain);
  if (plain.some((view) => typesIn(view) === null)) return true;
  const all = new Set(plain.flatMap((view) => [...typesIn(view)!]));
  return types !== null && coversTypes(all, types);
}

/** Whether a schema says no more than types. */
function isPlain({ side, keywords, unions, flat, isNever }: SchemaView): boolean {
  if (isNever || flat.onlyNull !== null || flat.unresolved.length > 0) return false;
  if ([...keywords].some((keyword) => keyword !== 'type' && isRestriction(keyword))) return false;
  if (unions.length === 0) return true;
  const [union] = unions;
  if (unions.length > 1 || union!.kind === 'oneOf' || keywords.has('type')) return false;
  const branches = union!.branches.map((branch) => viewOf(side, [branch]));
  return branches.every((view) => view.unions.length === 0 && view.types !== null && isPlain(view));
}
