import { isObject, type JsonObject } from '../../model/json.ts';
import { entriesOf, listOf, objectOf } from '../../render/json-value.ts';
import { methods } from '../../model/openapi-shape.ts';
import { maxFindings, repeated } from '../kind.ts';
import { followPointer, joinPointer, pointerIn } from '../../model/pointer.ts';
import { adviseSchemas, type Advice, type Note, adviseSchemaObjects, type OpenapiVersion } from './openapi-schemas.ts';

/**
 * Finds what the specification forbids in words, its JSON Schema cannot express, and other tools
 * refuse: placeholders without a parameter, operation ids used twice, arrays without items. It costs
 * one walk through the bundle. `isWhole`: not only types that do not exist.
 */
export function adviseOpenapi(bundle: unknown, version: OpenapiVersion, isWhole: boolean): Advice[] {
  const findings: Advice[] = [];
  let [errors, others] = [0, 0];
  const note: Note = (rule, pointer, message, on = 'value') => {
    if (rule === 'schema' ? errors++ < maxFindings : isWhole && others++ < maxFindings)
      findings.push({ rule, pointer, message, on });
  };
  if (!isObject(bundle)) return findings;
  adviseSchemaObjects(bundle, version, note);
  if (!isWhole) return findings;
  const { components, securityDefinitions } = bundle;
  const schemes = version === '2.0' ? securityDefinitions : objectOf(components)['securitySchemes'];
  const document: Document = {
    root: bundle,
    version,
    note,
    ids: new Map(),
    schemes: new Set(Object.keys(objectOf(schemes))),
    listed: new Map(),
    looks: 0,
  };
  adviseSecurity(document, bundle, '');
  advisePaths(document);
  adviseNames(document);
  adviseSchemas(bundle, version, note);
  return findings;
}

interface Document {
  root: JsonObject;
  version: OpenapiVersion;
  note: Note;
  /** Operation ids, with the pointer of the operation that has it first. */
  ids: Map<string, string>;
  schemes: ReadonlySet<string>;
  /** The parameters of path items and operations, which several paths may refer to. */
  listed: Map<object, Parameter[]>;
  /** How many operations were looked at, and parameters compared with a path. */
  looks: number;
}

/** Limit of visits, many times what real documents need: thousands of paths may share one path item. */
const maxVisits = 1_000_000;

interface Parameter {
  name: string;
  in: string;
  type: unknown;
  /** Where it stands: in a list of parameters. */
  pointer: string;
}

function advisePaths(document: Document): void {
  const { root, version, note } = document;
  const shapes = new Map<string, string>();
  for (const group of version === '2.0' ? ['paths'] : ['paths', 'webhooks']) {
    for (const [path, item] of entriesOf(root[group])) {
      const pointer = joinPointer('', group, path);
      const target = resolve(root, item, pointer);
      if (!isObject(item) || !isObject(target?.value)) continue;
      // What stands beside a reference belongs to the path, too.
      const items = [{ value: item, pointer }];
      if (target.value !== item) items.push({ value: target.value, pointer: target.pointer });
      if (group === 'paths') {
        const shape = path.replace(/\{[^{}]*\}/g, '{}');
        const twin = shapes.getOrInsert(shape, path);
        if (twin !== path && shape.includes('{}'))
          note('paths-identical', pointer, `The paths "${twin}" and "${path}" match the same URLs.`, 'key');
      }
      const shared = items.flatMap((one) => parametersOf(document, one.value, one.pointer));
      for (const [at, operation] of items.flatMap((one) => [...operationsIn(one.value, one.pointer)])) {
        if (!isObject(operation)) continue;
        adviseOperation(document, operation, at, shared, group === 'paths' ? path : null);
        if (document.looks++ > maxVisits) return;
      }
    }
  }
}

function* operationsIn(item: JsonObject, pointer: string): Generator<[pointer: string, operation: unknown]> {
  for (const method of methods) yield [joinPointer(pointer, method), item[method]];
  for (const [method, one] of entriesOf(item['additionalOperations']))
    yield [joinPointer(pointer, 'additionalOperations', method), one];
}

function adviseOperation(
  document: Document,
  operation: JsonObject,
  pointer: string,
  shared: readonly Parameter[],
  path: string | null,
): void {
  const { note, ids, root, version } = document;
  const id = operation['operationId'];
  if (typeof id === 'string' && ids.getOrInsert(id, pointer) !== pointer)
    note('operation-id-twice', joinPointer(pointer, 'operationId'), `Another operation has the operationId "${id}".`);
  adviseSecurity(document, operation, pointer);
  const declared = parametersOf(document, operation, pointer);
  document.looks += shared.length + declared.length;
  const replaced = new Set(declared.map(keyOf));
  const all = [...shared.filter((one) => !replaced.has(keyOf(one))), ...declared];
  if (path !== null) {
    const names = new Set([...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name!));
    const given = new Set(all.filter((one) => one.in === 'path').map(({ name }) => name));
    for (const name of names.difference(given)) {
      const message = `The path has {${name}}, but no parameter in "path" has this name.`;
      note('path-parameter-missing', pointer, message, 'key');
    }
    for (const one of all)
      if (one.in === 'path' && !names.has(one.name))
        note('path-parameter-unused', one.pointer, `The path "${path}" has no {${one.name}}.`);
  }
  if (version !== '2.0') return;
  const bodies = all.filter((one) => one.in === 'body');
  const forms = all.filter((one) => one.in === 'formData');
  if (bodies.length > 1)
    note('body-twice', bodies[1]!.pointer, 'An operation has one body. Remove all but one parameter in "body".');
  if (bodies.length > 0 && forms.length > 0)
    note('body-and-form', forms[0]!.pointer, 'A form is a body. Use parameters in "body" or in "formData", not both.');
  const consumes = operation['consumes'] ?? root['consumes'];
  const file = forms.find(({ type }) => type === 'file');
  const isForm = (type: unknown) => type === 'multipart/form-data' || type === 'application/x-www-form-urlencoded';
  if (file !== undefined && !(Array.isArray(consumes) && consumes.some(isForm))) {
    const types = '"multipart/form-data" or "application/x-www-form-urlencoded"';
    note('file-consumes', file.pointer, `An operation that takes a file must consume ${types}.`);
  }
}

/** The parameters of a path item or an operation, with those that they refer to. Notes twins the first time. */
function parametersOf(document: Document, holder: JsonObject, pointer: string): Parameter[] {
  const { root, listed, note } = document;
  return listed.getOrInsertComputed(holder, () => {
    const parameters = listOf(holder['parameters']).flatMap((item, index) => {
      const at = joinPointer(pointer, 'parameters', index);
      const value = resolve(root, item, at)?.value;
      if (!isObject(value) || typeof value['name'] !== 'string' || typeof value['in'] !== 'string') return [];
      return [{ name: value['name'], in: value['in'], type: value['type'], pointer: at }];
    });
    for (const { name, in: place, pointer: at } of repeated(parameters, keyOf))
      note('parameter-twice', at, `Another parameter in "${place}" has the name "${name}".`);
    return parameters;
  });
}

function keyOf({ name, in: place }: Parameter): string {
  return `${place} ${name}`;
}

function adviseSecurity({ note, schemes }: Document, holder: JsonObject, pointer: string): void {
  for (const [index, requirement] of listOf(holder['security']).entries()) {
    for (const [name] of entriesOf(requirement)) {
      // OpenAPI 3.2 allows a URI.
      if (schemes.has(name) || name.includes('/')) continue;
      const at = joinPointer(pointer, 'security', index, name);
      note('security-undefined', at, `No security scheme has the name "${name}".`, 'key');
    }
  }
}

/** OpenAPI 3.0 limits the names of components in words only; later schemas check them. */
function adviseNames({ root, version, note }: Document): void {
  if (version !== '3.0') return;
  for (const [group, components] of entriesOf(root['components'])) {
    if (group.startsWith('x-')) continue;
    for (const [name] of entriesOf(components))
      if (!/^[a-zA-Z0-9._-]+$/.test(name)) {
        const message = `The name "${name}" has characters that OpenAPI does not allow. Use A-Z a-z 0-9 . _ -.`;
        note('component-name', joinPointer('', 'components', group, name), message, 'key');
      }
  }
}

/** The value, or what it refers to within the document. Null if that leads nowhere. */
function resolve(root: unknown, value: unknown, pointer: string): { value: unknown; pointer: string } | null {
  let at = { value, pointer };
  for (let step = 0; step < 100; step++) {
    const reference = isObject(at.value) ? at.value['$ref'] : undefined;
    if (typeof reference !== 'string') return at;
    if (!reference.startsWith('#/')) return null;
    const target = pointerIn(reference);
    at = { value: followPointer(root, target), pointer: target };
    if (at.value === undefined) return null;
  }
  return null;
}
