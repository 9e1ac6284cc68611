/**
 * Writes the types of the management API, `src/server/v1/management.d.ts`, from its description: for clients in the form that
 * openapi-fetch takes, and what each operation answers with, by its id. `npm run types` and a build run it. The file is not
 * kept in git.
 */
import { writeFileSync } from 'node:fs';
import { readDescription, type DescribedSchema } from '../src/server/v1/api-description.ts';

const methods = ['get', 'put', 'post', 'delete', 'patch'];

/** A path item, an operation, a parameter, a request body or a response of the description. */
interface Part {
  $ref?: string;
  operationId?: string;
  name: string;
  in: string;
  required?: boolean;
  schema: DescribedSchema;
  content?: Record<string, { schema?: DescribedSchema }>;
  parameters?: Part[];
  requestBody?: Part;
  responses?: Record<string, Part>;
}

const { document } = readDescription();
const paths = Object.entries(document['paths'] as Record<string, Part & Record<string, Part>>);
const { schemas, parameters, responses } = document['components'] as {
  schemas: Record<string, DescribedSchema>;
  parameters: Record<string, Part>;
  responses: Record<string, Part>;
};
const components = {
  schemas: record(schemas, typeOf),
  parameters: record(parameters, ({ schema }) => typeOf(schema)),
  responses: record(responses, typeOfResponse),
};
/** What an operation answers with when it succeeds, as JSON. */
const answers = paths.flatMap(([, item]) =>
  methods.flatMap((method) => {
    const { operationId, responses: all = {} } = item[method] ?? {};
    const given = Object.entries(all).flatMap(([status, { content }]) => {
      const schema = status.startsWith('2') ? content?.['application/json']?.schema : undefined;
      return schema ? [typeOf(schema)] : [];
    });
    return operationId === undefined || given.length === 0
      ? []
      : [[operationId, [...new Set(given)].join(' | ')] as const];
  }),
);
const text = [
  '// Written by scripts/client-types.ts.',
  `export interface components ${record(components, (type) => type)}`,
  `export interface paths ${record(Object.fromEntries(paths), typeOfPath)}`,
  `export interface answers ${record(Object.fromEntries(answers), (type) => type)}`,
].join('\n');
writeFileSync(new URL('../src/server/v1/management.d.ts', import.meta.url), text);

function typeOfPath(item: Part & Record<string, Part>): string {
  const members = methods.map((method) => {
    const operation = item[method];
    return operation ? `${method}: ${typeOfOperation(operation, item.parameters)};` : `${method}?: never;`;
  });
  return `{ ${members.join(' ')} }`;
}

function typeOfOperation(operation: Part, shared: Part[] = []): string {
  const all = [...shared, ...(operation.parameters ?? [])].map((part) => [part, resolve(part)] as const);
  const places = ['query', 'header', 'path', 'cookie'].map((place) => {
    const some = all.filter(([, parameter]) => parameter.in === place);
    if (some.length === 0) return `${place}?: never;`;
    const isRequired = some.some(([, { required }]) => required);
    const members = some.map(([{ $ref }, { name, required, schema }]) =>
      member(name, required, $ref === undefined ? typeOf(schema) : nameOf($ref)),
    );
    return member(place, isRequired, `{ ${members.join(' ')} }`);
  });
  const body = operation.requestBody;
  const request = body
    ? member('requestBody', body.required, `{ content: ${typeOfContent(body)} }`)
    : 'requestBody?: never;';
  return `{ parameters: { ${places.join(' ')} }; ${request} responses: ${record(operation.responses!, typeOfResponse)} }`;
}

function resolve(part: Part): Part {
  return part.$ref === undefined ? part : parameters[part.$ref.split('/')[3]!]!;
}

function typeOfResponse(response: Part): string {
  if (response.$ref !== undefined) return nameOf(response.$ref);
  return `{ headers: { [name: string]: unknown }; content${response.content ? '' : '?'}: ${typeOfContent(response)} }`;
}

function typeOfContent({ content }: Part): string {
  return content ? record(content, ({ schema }) => (schema ? typeOf(schema) : 'unknown')) : 'never';
}

function typeOf(schema: DescribedSchema): string {
  const { $ref, type, enum: values, properties, additionalProperties: more, items } = schema;
  const all = (['allOf', 'anyOf', 'oneOf'] as const).flatMap((keyword) => {
    const branches = schema[keyword] as DescribedSchema[] | undefined;
    return branches ? [branches.map((each) => `(${typeOf(each)})`).join(keyword === 'allOf' ? ' & ' : ' | ')] : [];
  });
  if ($ref !== undefined) all.push(nameOf($ref as string));
  if ('const' in schema) all.push(JSON.stringify(schema['const']));
  else if (values) all.push((values as unknown[]).map((value) => JSON.stringify(value)).join(' | '));
  else if (Array.isArray(type)) all.push(type.map((each: string) => typeOf({ ...schema, type: each })).join(' | '));
  else if (type === 'array') all.push(items ? `(${typeOf(items as DescribedSchema)})[]` : 'unknown[]');
  else if (type === 'integer') all.push('number');
  else if (type === 'string' && String(schema['pattern']).startsWith('^sha256:')) all.push('`sha256:${string}`');
  else if (properties || type === 'object') {
    const required = (schema['required'] ?? []) as string[];
    const members = Object.entries((properties ?? {}) as Record<string, DescribedSchema>).map(([name, each]) =>
      member(name, required.includes(name), typeOf(each)),
    );
    if (more === true || (more && members.length > 0) || (more === undefined && members.length === 0))
      members.push('[name: string]: unknown;');
    else if (more) members.push(`[name: string]: ${typeOf(more as DescribedSchema)};`);
    all.push(members.length > 0 ? `{ ${members.join(' ')} }` : 'Record<string, never>');
  } else if (type !== undefined) all.push(type as string);
  return all.length > 0 ? all.map((each) => `(${each})`).join(' & ') : 'unknown';
}

function record<Value>(values: Record<string, Value>, type: (value: Value) => string): string {
  return `{ ${Object.entries(values)
    .map(([name, value]) => member(name, true, type(value)))
    .join('\n')} }`;
}

function member(name: string, isRequired: boolean | undefined, type: string): string {
  // openapi-fetch looks statuses up as numbers.
  return `${/^\d+$/.test(name) ? name : JSON.stringify(name)}${isRequired ? '' : '?'}: ${type};`;
}

/** The type that a reference such as `#/components/schemas/Key` names. */
function nameOf(reference: string): string {
  const [, kind, name] = reference.slice(2).split('/');
  return `components['${kind}']['${name}']`;
}
