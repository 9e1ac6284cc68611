import type { JsonObject } from '../../model/json.ts';
import { eachNode, joinPointer, pointerOf } from '../../model/pointer.ts';
import { listOf, objectOf, textOf } from '../../render/json-value.ts';
import { createTell, membersAt, reportPart, reportTexts } from './report-part.ts';
import { pairOperations } from './pair-operations.ts';
import { compareComponents } from './compare-components.ts';
import { compareOperation } from './compare-operations.ts';
import { placeAt, rootOf, type Side } from '../side.ts';
import { quote } from '../report.ts';
import { textOfValue } from '../schema/read-schema.ts';
import { createUnit, factsBelow, type Unit, type Walk } from '../walk.ts';

/** What changed in an API: what belongs to none of its operations, and each of them. */
export interface ComparedApis {
  walk: Walk;
  root: Unit;
  operations: { name: string; unit: Unit }[];
}

/** Compares two OpenAPI documents of any versions. */
export function compareApis(walk: Walk): ComparedApis {
  const root = createUnit();
  compareHeads(walk, root);
  const operations = pairOperations(walk).map((pair) => {
    const unit = createUnit();
    walk.spend(20);
    compareOperation(walk, unit, pair);
    return { name: (pair.after ?? pair.before)!.name, unit };
  });
  const factsOfUnused = compareComponents(walk, root);
  walk.finish();
  root.facts.push(...factsOfUnused());
  if ([root, ...operations.map(({ unit }) => unit)].every((unit) => factsBelow(walk, unit).length === 0))
    compareExtensions(walk, root);
  return { walk, root, operations };
}

/** Where nothing else changed: tells of extensions, which may stand in any object. */
function compareExtensions(walk: Walk, root: Unit): void {
  const [old, current] = [extensionsOf(walk.before), extensionsOf(walk.after)];
  const gone = [...old.values()].find(({ text }) => !current.has(text)) ?? null;
  const come = [...current.values()].find(({ text }) => !old.has(text)) ?? null;
  if (gone === null && come === null) return;
  const { name } = (come ?? gone)!;
  const at = { before: gone && gone.pointer, after: come && come.pointer };
  reportPart(root, 'docs', 'extension-changed', `The document says something else by ${name}.`, { at });
}

function extensionsOf({ document }: Side): Map<string, { name: string; text: string; pointer: string }> {
  const found = new Map<string, { name: string; text: string; pointer: string }>();
  eachNode(document, (node, way) => {
    // What is within one is in its text; in each of theirs, too, it would be as much as the depth times the size.
    if (way?.key.startsWith('x-')) return 'pass';
    for (const [name, value] of Object.entries(node)) {
      const text = `${name} ${textOfValue(value)}`;
      if (name.startsWith('x-') && name !== 'x-nullable')
        found.set(text, { name, text, pointer: joinPointer(pointerOf(way), name) });
    }
    return;
  });
  return found;
}

function compareHeads(walk: Walk, root: Unit): void {
  const { before, after } = walk;
  const [old, current] = [before, after].map(
    ({ document }) => textOf(document['swagger']) || textOf(document['openapi']),
  );
  if (old !== current) {
    const keyIn = ({ dialect }: Side) => (dialect.name === '2.0' ? '/swagger' : '/openapi');
    const details = { before: old!, after: current!, at: { before: keyIn(before), after: keyIn(after) } };
    const message = `The document is written in OpenAPI ${current} instead of ${old}.`;
    reportPart(root, 'docs', 'specification-changed', message, details);
  }
  const infos = {
    before: placeAt(before, ['info']) ?? rootOf(before),
    after: placeAt(after, ['info']) ?? rootOf(after),
  };
  const members = [infos.before, infos.after].flatMap(({ value }) => Object.keys(objectOf(value)));
  // `version` differs in nearly every version, and its label says so.
  const keys = members.filter((key) => key !== 'version' && !key.startsWith('x-'));
  reportTexts(walk, root, infos, { subject: 'The API', role: 'info', keys });
  const roots = { before: rootOf(before), after: rootOf(after) };
  reportTexts(walk, root, roots, { subject: 'The document', role: 'document', keys: ['externalDocs'] });
  compareReading(walk, root);
  compareTags(walk, root);
}

/** Compares by which name other documents refer to this one, and by which rules its schemas are read. */
function compareReading(walk: Walk, root: Unit): void {
  const roots = { before: rootOf(walk.before), after: rootOf(walk.after) };
  const self = membersAt(walk, roots, '$self');
  if (self.before !== self.after) {
    const message = `The document's own address ($self) is ${self.after ?? 'absent'} instead of ${self.before ?? 'absent'}.`;
    reportPart(root, 'risky', 'document-self-changed', message, self);
  }
  const dialect = membersAt(walk, roots, 'jsonSchemaDialect');
  const [from, to] = [dialect.before, dialect.after].map((uri) =>
    uri === null || usualDialect.test(uri) ? null : uri,
  );
  if (from === to) return;
  const says = `The dialect of schemas (jsonSchemaDialect) is ${dialect.after ?? 'the usual one'} instead of ${dialect.before ?? 'the usual one'}`;
  reportPart(root, 'unknown', 'document-dialect-changed', `${says}; what that means cannot be judged.`, dialect);
}

/** OpenAPI's own dialects, and the JSON Schema that they extend. */
const usualDialect =
  /^"https:\/\/(?:spec\.openapis\.org\/oas\/3\.\d\/dialect\/(?:base|\d{4}-\d\d-\d\d)|json-schema\.org\/draft\/2020-12\/schema)#?"$/;

function compareTags(walk: Walk, root: Unit): void {
  const read = (document: JsonObject) =>
    new Map(listOf(document['tags']).map((tag) => [textOf(objectOf(tag)['name']), textOfValue(tag)]));
  const [old, current] = [read(walk.before.document), read(walk.after.document)];
  const at = { before: old.size > 0 ? '/tags' : null, after: current.size > 0 ? '/tags' : null };
  for (const name of new Set([...old.keys(), ...current.keys()])) {
    const tell = createTell(root, { code: 'tag', subject: `The tag ${quote(JSON.stringify(name))}`, at });
    if (!current.has(name)) tell('docs', 'removed', 'was removed');
    else if (!old.has(name)) tell('docs', 'added', 'was added');
    else if (current.get(name) !== old.get(name)) tell('docs', 'changed', 'is described in another way');
  }
}
