import { isObject, type JsonObject } from '../../../model/json.ts';
import { entriesOf, listOf, objectOf } from '../../../render/json-value.ts';
import type { Context, CoreFunction, Failure, Check } from './core-function.ts';
import { validateOpenapi } from '../../openapi/openapi-schemas.ts';
import { parsePointer } from '../../../model/pointer.ts';
import { unreferenced } from './functions.ts';
import { repeated } from '../../kind.ts';
import { createExampleCheck } from './oas-examples.ts';

const allMethods = new Set(['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace']);

function ofObject(check: (value: JsonObject, context: Context) => Failure[]): Check {
  return (value, context) => (isObject(value) ? check(value, context) : []);
}

function* operationsIn(
  paths: unknown,
  { graph }: Pick<Context, 'graph'>,
): Generator<{ path: string; method: string; operation: JsonObject }> {
  for (const [path, written] of entriesOf(paths)) {
    const item = graph.follow(written);
    for (const [method, member] of entriesOf(item)) {
      const operation = allMethods.has(method) ? graph.follow(member) : null;
      if (isObject(operation)) yield { path, method, operation };
    }
  }
}

/** Operations with one of these methods that have no security requirement, neither of their own nor of the document. */
function checkSecured(methods: ReadonlySet<string>): Check {
  return ofObject((document, context) =>
    [...operationsIn(context.graph.follow(document['paths']), context)].flatMap(({ path, method, operation }) => {
      if (!methods.has(method)) return [];
      const security = operation['security'] === undefined ? document['security'] : operation['security'];
      const isOpen = !security || (Array.isArray(security) && security.length === 0);
      const message = `${method.toUpperCase()} ${path} has no security scheme.`;
      return isOpen ? [{ message, keys: ['paths', path, method, 'security', 'securitySchemes'] }] : [];
    }),
  );
}

function checkAdmin(adminUrl: string): Check {
  return ofObject((document, context) => {
    const operations = [...operationsIn(context.graph.follow(document['paths']), context)];
    const uses = operations.flatMap(({ path, method, operation }) =>
      [...listOf(operation['security']).entries()].flatMap(([at, entry]) =>
        typeof entry === 'object'
          ? [{ path, requirement: JSON.stringify(entry), keys: ['paths', path, method, 'security', at] }]
          : [],
      ),
    );
    const [ofAdmins, others] = [true, false].map((is) => uses.filter(({ path }) => path.includes(adminUrl) === is));
    const shared = new Set(others!.map(({ requirement }) => requirement));
    return ofAdmins!
      .filter(({ requirement }) => shared.has(requirement))
      .map(({ path, keys }) => ({
        message: `${path} has a security requirement that is not for administrators alone.`,
        keys,
      }));
  });
}

type Keys = readonly (string | number)[];

function checkPathParameters(value: JsonObject, context: Context): Failure[] {
  const failures: Failure[] = [];
  const shapes = new Map<string, string>();
  const fail = (message: string, keys: Keys) => failures.push({ message, keys });
  const operations = Map.groupBy(operationsIn(value, context), ({ path }) => path);
  for (const [path, written] of Object.entries(value)) {
    const item = context.graph.follow(written);
    if (!isObject(item)) continue;
    const shape = path.replace(placeholder, '%');
    const twin = shapes.getOrInsert(shape, path);
    if (twin !== path) fail(`Paths "${twin}" and "${path}" must not be equivalent.`, [path]);
    const expected = new Set<string>();
    for (const [whole] of path.matchAll(placeholder)) {
      const name = whole.replace(/[{}?*;]/g, '');
      if (expected.has(name)) fail(`Path "${path}" must not use parameter "{${name}}" multiple times.`, [path]);
      expected.add(name);
    }
    const shared = parametersOf(item['parameters'], [path, 'parameters'], context, fail);
    for (const { method, operation } of operations.get(path) ?? []) {
      const ofOperation = parametersOf(operation['parameters'], [path, method, 'parameters'], context, fail);
      const all = new Map([...shared, ...ofOperation]);
      for (const [name, keys] of all)
        if (!expected.has(name)) fail(`Parameter "${name}" must be used in path "${path}".`, keys);
      for (const name of expected)
        if (!all.has(name))
          fail(`Operation must define parameter "{${name}}" as expected by path "${path}".`, [path, method]);
    }
  }
  return failures;
}

const placeholder = /\{;?\??[a-zA-Z0-9_-]+\*?\}/g;

/** The path parameters of a list, each with its place. */
function parametersOf(
  parameters: unknown,
  base: Keys,
  { graph }: Context,
  fail: (message: string, keys: Keys) => void,
): Map<string, Keys> {
  const byPlace = new Map<string, Keys>();
  for (const [at, written] of listOf(parameters).entries()) {
    const parameter = graph.follow(written);
    if (!isObject(parameter) || parameter['in'] !== 'path' || parameter['name'] === undefined) continue;
    const name = String(parameter['name']);
    const keys = [...base, at];
    if (parameter['required'] !== true)
      fail(`Path parameter "${name}" must have "required" property that is set to "true".`, keys);
    if (byPlace.getOrInsert(name, keys) !== keys)
      fail(`Path parameter "${name}" must not be defined multiple times.`, keys);
  }
  return byPlace;
}

/** How many invalid URLs of one server are counted. */
const maxInvalid = 5;
/** The most URLs to try for one server: the values of its variables multiply. */
const maxUrls = 1000;

function checkServerVariables(value: unknown): Failure[] {
  if (!isObject(value) || typeof value['url'] !== 'string') return [{ message: 'Invalid Server Object' }];
  const { url } = value;
  const variables = objectOf(value['variables']);
  const used = new Set([...url.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name!));
  const failures: Failure[] = Object.keys(variables)
    .filter((name) => !used.has(name))
    .map((name) => ({
      message: `Server's "variables" object has unused defined "${name}" url variable.`,
      keys: ['variables', name],
    }));
  if (used.size === 0) return failures;
  const missing = [...used].filter((name) => !Object.hasOwn(variables, name));
  if (missing.length > 0)
    failures.push({
      message: `Not all server's variables are described with "variables" object. Missed: ${missing.join(', ')}.`,
      keys: ['variables'],
    });
  if (value['variables'] === undefined) return failures;
  const choices: [name: string, values: string[]][] = [];
  for (const [name, variable] of Object.entries(variables)) {
    if (!used.has(name) || !isObject(variable)) continue;
    const { enum: allowed, default: usual } = variable;
    const values = Array.isArray(allowed) ? allowed.map(String) : usual === undefined ? [] : [String(usual)];
    choices.push([name, values]);
    if (usual === undefined)
      failures.push({ message: `Server Variable "${name}" has a missing default.`, keys: ['variables', name] });
    else if (Array.isArray(allowed) && !allowed.includes(usual))
      failures.push({
        message: `Server Variable "${name}" has a default not listed in the enum.`,
        keys: ['variables', name, 'default'],
      });
  }
  return [...failures, ...invalidUrls(url, choices)];
}

function invalidUrls(url: string, choices: readonly [name: string, values: string[]][]): Failure[] {
  if (choices.length === 0) return [];
  let urls = [url];
  for (const [name, values] of choices)
    urls = urls
      .flatMap((one) => values.map((value) => one.replaceAll(`{${name}}`, () => encodeURI(value.toWellFormed()))))
      .slice(0, maxUrls);
  const invalid = urls.filter((one) => !URL.canParse(one)).slice(0, maxInvalid);
  if (invalid.length === 0) return [];
  const start = invalid.length === maxInvalid ? `At least ${maxInvalid}` : 'A few';
  const end = invalid.length === maxInvalid ? ' and more' : '';
  const message = `${start} substitutions of server variables resulted in invalid URLs: ${invalid.join(', ')}${end}`;
  return [{ message, keys: ['variables'] }];
}

/** The functions of built-in rulesets besides the core functions: those of `spectral:oas` under Spectral's names. */
export const builtInFunctions: ReadonlyMap<string, CoreFunction> = new Map<string, CoreFunction>([
  ['oasOpSuccessResponse', () => ofObject(checkSuccess)],
  ['oasOpFormDataConsumeCheck', () => checkConsumes],
  ['oasOpIdUnique', () => checkOperationIds],
  ['oasOpParams', () => checkParameters],
  ['oasTagDefined', () => ofObject(checkTags)],
  ['oasPathParam', () => ofObject(checkPathParameters)],
  ['uniqueItems', () => checkUnique],
  ['uniquenessTags', () => checkTagNames],
  ['refSiblings', () => ofObject(checkSiblings)],
  ['arrayItems', () => ofObject(checkItems)],
  ['oasDiscriminator', () => checkDiscriminator],
  ['oasSecurityDefined', ({ oasVersion }) => checkSecurity(oasVersion === 2)],
  ['oasDocumentSchema', () => checkDocument],
  ['oasUnusedComponent', () => ofObject(checkUnused)],
  ['serverVariables', () => checkServerVariables],
  ['oasExample', createExampleCheck],
  ['owaspIsSecured', ({ methods }) => checkSecured(new Set(methods as string[]))],
  ['owaspAdminIsApart', ({ adminUrl }) => checkAdmin(String(adminUrl))],
]);

function checkSuccess(value: JsonObject, { formats }: Context): Failure[] {
  const isSuccess = (code: string) =>
    (formats.has('oas3') && /^[23]XX$/.test(code)) || (Number(code) >= 200 && Number(code) < 400);
  if (Object.keys(value).some(isSuccess)) return [];
  return [{ message: 'Operation must define at least a single 2xx or 3xx response' }];
}

function checkConsumes(value: unknown, { graph }: Context): Failure[] {
  if (!isObject(value) || !Array.isArray(value['consumes']) || !Array.isArray(value['parameters'])) return [];
  const isForm = (parameter: unknown) => isObject(parameter) && parameter['in'] === 'formData';
  if (!value['parameters'].map(graph.follow).some(isForm)) return [];
  const types = value['consumes'].join(',');
  if (types.includes('application/x-www-form-urlencoded') || types.includes('multipart/form-data')) return [];
  const message = 'Consumes must include urlencoded, multipart, or form-data media type when using formData parameter.';
  return [{ message }];
}

function checkOperationIds(value: unknown, context: Context): Failure[] {
  const named = operationsIn(value, context).filter(({ operation }) => Object.hasOwn(operation, 'operationId'));
  return repeated(named, ({ operation }) => operation['operationId']).map(({ path, method }) => {
    return { message: 'operationId must be unique.', keys: [path, method, 'operationId'] };
  });
}

function checkParameters(value: unknown, { graph }: Context): Failure[] {
  if (!Array.isArray(value)) return [];
  const failures: Failure[] = [];
  const seen = new Set<string>();
  const bodies: number[] = [];
  let hasForm = false;
  for (const [at, written] of value.entries()) {
    const parameter = graph.follow(written);
    if (!isObject(parameter) || '$ref' in parameter) continue;
    const name = JSON.stringify([parameter['in'], parameter['name']]);
    const message = 'A parameter in this operation already exposes the same combination of "name" and "in" values.';
    if (seen.has(name)) failures.push({ message, keys: [at] });
    seen.add(name);
    if (parameter['in'] === 'body') bodies.push(at);
    if (parameter['in'] === 'formData') hasForm = true;
  }
  if (bodies.length > 0 && hasForm)
    failures.push({ message: 'Operation must not have both "in:body" and "in:formData" parameters.' });
  for (const at of bodies.slice(1))
    failures.push({
      message: 'Operation must not have more than a single instance of the "in:body" parameter.',
      keys: [at],
    });
  return failures;
}

function checkTags(value: JsonObject, context: Context): Failure[] {
  const defined = new Set(
    listOf(value['tags']).map((tag) => (isObject(tag) && typeof tag['name'] === 'string' ? tag['name'] : null)),
  );
  return [...operationsIn(value['paths'], context)].flatMap(({ path, method, operation }) =>
    listOf(operation['tags']).flatMap((tag, at) =>
      typeof tag === 'string' && defined.has(tag)
        ? []
        : [{ message: 'Operation tags must be defined in global tags.', keys: ['paths', path, method, 'tags', at] }],
    ),
  );
}

function checkUnique(value: unknown, { subject }: Context): Failure[] {
  const [twin] = repeated(listOf(value).entries(), ([, item]) => JSON.stringify(item));
  return twin ? [{ message: `${subject}must NOT have duplicate items (item ${twin[0]} is a duplicate)` }] : [];
}

function checkTagNames(value: unknown): Failure[] {
  const names = listOf(value).map((tag) => (isObject(tag) ? tag['name'] : null));
  if (!names.every((name) => typeof name === 'string')) return [];
  return repeated(names.entries(), ([, name]) => name).map(([at, name]) => {
    return { message: `"tags" object contains duplicate tag name "${name}".`, keys: [at, 'name'] };
  });
}

function checkSiblings(value: JsonObject): Failure[] {
  return Object.keys(value)
    .filter((key) => key !== '$ref')
    .map((key) => ({ message: '$ref must not be placed next to any other properties', keys: [key] }));
}

function checkItems(value: JsonObject, { formats }: Context): Failure[] {
  const { type, items } = value;
  const mayList = formats.has('oas3_1') || formats.has('oas3_2');
  const isArray = type === 'array' || (mayList && Array.isArray(type) && type.includes('array'));
  return isArray && !items ? [{ message: '"items" property must be truthy' }] : [];
}

function checkDiscriminator(value: unknown): Failure[] {
  if (!isObject(value) || typeof value['discriminator'] !== 'string') return [];
  const { discriminator: name, properties, required } = value;
  const failures: Failure[] = [];
  if (!isObject(properties) || !Object.hasOwn(properties, name))
    failures.push({ message: 'The discriminator property must be defined in this schema.', keys: ['properties'] });
  if (!listOf(required).includes(name))
    failures.push({ message: 'The discriminator property must be in the required property list.', keys: ['required'] });
  return failures;
}

function checkSecurity(isOld: boolean): Check {
  const location = isOld ? 'securityDefinitions' : 'components.securitySchemes';
  return (value, { graph, node }) => {
    const root = graph.root.value;
    if (!isObject(value) || !isObject(root)) return [];
    const schemes = isOld ? root['securityDefinitions'] : objectOf(root['components'])['securitySchemes'];
    const owner = node.place.parent?.parent?.parent === null ? 'API' : 'Operation';
    return Object.entries(value).flatMap(([name, scopes]) => {
      if (!isObject(schemes) || !Object.hasOwn(schemes, name)) {
        const message = `${owner} "security" values must match a scheme defined in the "${location}" object.`;
        return [{ message, keys: [name] }];
      }
      const defined = scopesOf(graph.follow(schemes[name]), isOld);
      return listOf(scopes).flatMap((scope, at) =>
        defined.has(String(scope))
          ? []
          : [{ message: `"${String(scope)}" must be listed among scopes.`, keys: [name, at] }],
      );
    });
  };
}

function scopesOf(scheme: unknown, isOld: boolean): Set<string> {
  const flows = isOld ? [scheme] : Object.values(objectOf(objectOf(scheme)['flows']));
  return new Set(flows.flatMap((flow) => Object.keys(objectOf(objectOf(flow)['scopes']))));
}

const versions = { oas2: '2.0', oas3_0: '3.0', oas3_1: '3.1', oas3_2: '3.2' } as const;

function checkDocument(value: unknown, { formats, node }: Context): Failure[] {
  const format = (['oas2', 'oas3_2', 'oas3_1', 'oas3_0'] as const).find((one) => formats.has(one));
  if (format === undefined) return [];
  return validateOpenapi(value, versions[format], node.place.file.text.length).map(({ pointer, message }) => ({
    message: message.replace(/\.$/, ''),
    keys: parsePointer(pointer),
  }));
}

const kinds = ['schemas', 'responses', 'parameters', 'examples', 'requestBodies', 'headers', 'links', 'callbacks'];

function checkUnused(value: JsonObject, { graph }: Context): Failure[] {
  return kinds.flatMap((kind) =>
    unreferenced(value[kind], `/components/${kind}`, graph).map(({ message, keys = [] }) => ({
      message,
      keys: [kind, ...keys],
    })),
  );
}
