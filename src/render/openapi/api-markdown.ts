import type { Api } from './api-view.ts';
import { valueText } from '../schema/example.ts';
import { objectOf, textOf } from '../json-value.ts';
import { createLong, type Page } from '../page.ts';
import { blockMarkdown, codeMarkdown, inlineMarkdown } from '../markdown.ts';
import {
  type Media,
  callbacksOf,
  requirementsOf,
  viewOperation,
  type OperationView,
  type Parameter,
  type Requirement,
} from './operation-view.ts';
import { summaryOf, type ApiOperation } from './list-operations.ts';
import { serversOf } from './outline-api.ts';
import { namedSchemaMarkdown, schemaLineMarkdown } from '../schema/named-schema.ts';
import { rowMarkdown, schemaMarkdown } from '../schema/schema-markdown.ts';

/** The reference of an API as Markdown. */
export function apiMarkdown(page: Page, api: Api): string {
  const long = createLong<string>(({ length }) => length);
  long.add(() => introMarkdown(page, api));
  for (const { name, description, operations } of api.sections) {
    long.add(() => `## ${inlineMarkdown(name, 200)}\n\n${paragraph(description)}`);
    for (const { operation } of operations)
      long.add(
        () => operationMarkdown(page, operation),
        () => `- ${codeMarkdown(`${operation.method} ${operation.path}`)}\n`,
      );
  }
  if (api.schemas.length > 0) long.add(() => '## Schemas\n\n');
  for (const one of api.schemas)
    long.add(
      () => namedSchemaMarkdown(page.schemas, one),
      () => schemaLineMarkdown(one),
    );
  return long.parts.join('');
}

function introMarkdown(page: Page, { security }: Api): string {
  const { document } = page;
  const info = objectOf(document['info']);
  const servers = serversOf(document).slice(0, 50);
  const schemes = security.map(({ name, scheme }) => {
    const { type, in: place, name: parameter, scheme: kind, description } = scheme;
    const how = [type, kind, place, parameter]
      .map(textOf)
      .filter(Boolean)
      .map((one) => inlineMarkdown(one, 100));
    const text = inlineMarkdown(textOf(description), 500);
    return `- ${codeMarkdown(name)} ${how.join(' ')}${text === '' ? '' : `: ${text}`}\n`;
  });
  return [
    paragraph(textOf(info['summary'])),
    paragraph(textOf(info['description'])),
    servers.length === 0 ? '' : `Servers:\n\n${servers.map(({ url }) => `- ${codeMarkdown(url)}\n`).join('')}\n`,
    schemes.length === 0 ? '' : `Authorization:\n\n${schemes.join('')}\n`,
    requirementText(page.security),
  ].join('');
}

function operationMarkdown(page: Page, operation: ApiOperation): string {
  const { schemas, document, once } = page;
  const view = viewOperation(document, operation);
  const { method, path, value } = operation;
  const summary = inlineMarkdown(summaryOf(operation, 300), 300);
  const id = textOf(value['operationId']);
  const names = [
    ...(id === '' ? [] : [`operationId ${codeMarkdown(id)}`]),
    ...(view.isDeprecated ? ['deprecated'] : []),
  ].join(', ');
  return [
    `### ${inlineMarkdown(`${method} ${path}`, 500)}${summary === '' ? '' : `: ${summary}`}\n\n`,
    names === '' ? '' : `${names}\n\n`,
    paragraph(view.description),
    view.servers.length === 0 ? '' : `At ${view.servers.map(({ url }) => codeMarkdown(url)).join(', ')}.\n\n`,
    // Without its own, those of the whole document are above.
    requirementText(requirementsOf(value['security'])),
    parametersMarkdown(page, view.parameters),
    bodyMarkdown(page, view),
    responsesMarkdown(page, view),
    ...callbacksOf(document, operation).map(({ name, operations }) =>
      operations
        .map(
          (one) => `Callback ${codeMarkdown(name)}: ${codeMarkdown(`${one.method} ${one.path}`)}\n\n${callback(one)}`,
        )
        .join(''),
    ),
  ].join('');

  function callback(one: ApiOperation): string {
    return once(one.item, `callback ${one.method}`, () => {
      const { body } = viewOperation(document, one);
      return endOf((body?.media ?? []).map((media) => mediaMarkdown(schemas, media, 0)).join(''));
    });
  }
}

function parametersMarkdown({ schemas, once }: Page, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return '';
  return once(parameters, 'list', () => {
    const lines = parameters
      .slice(0, 500)
      .map((parameter) => once(parameter.from, 'row', () => parameterMarkdown(schemas, parameter)));
    return `Parameters:\n\n${endOf(lines.join(''))}`;
  });
}

function parameterMarkdown(
  schemas: Page['schemas'],
  { name, place, isRequired, isDeprecated, description, schema }: Parameter,
): string {
  const row = { label: { code: name }, isRequired, schema: schema ?? true };
  const words = [`in ${inlineMarkdown(place, 50)}`, ...(isDeprecated ? ['deprecated'] : [])];
  return rowMarkdown(schemas, row, description, words);
}

function bodyMarkdown({ schemas, once }: Page, { body }: OperationView): string {
  if (body === null) return '';
  const media = once(body.from, 'body', () => body.media.map((one) => mediaMarkdown(schemas, one, 0)).join(''));
  const text = inlineMarkdown(body.description);
  return `Request body${body.isRequired ? ' (required)' : ''}:${text === '' ? '' : ` ${text}`}\n\n${endOf(media)}`;
}

function responsesMarkdown({ schemas, once }: Page, { responses }: OperationView): string {
  if (responses.length === 0) return '';
  const lines = responses.slice(0, 200).map(({ status, description, headers, media, from }) =>
    once(from, `response ${status}`, () => {
      const named = headers.slice(0, 100).map(({ name }) => codeMarkdown(name, 100));
      return [
        `- ${codeMarkdown(status, 20)} ${inlineMarkdown(description)}\n`,
        named.length === 0 ? '' : `  - headers ${named.join(' ')}\n`,
        ...media.map((one) => mediaMarkdown(schemas, one, 1)),
      ].join('');
    }),
  );
  return `Responses:\n\n${endOf(lines.join(''))}`;
}

function mediaMarkdown(
  schemas: Page['schemas'],
  { types, schema, itemSchema, examples }: Media,
  depth: number,
): string {
  const indent = '  '.repeat(depth);
  const names = types
    .slice(0, 20)
    .map((type) => codeMarkdown(type, 100))
    .join(' ');
  const shown = schema ?? itemSchema;
  const items = schema === undefined && itemSchema !== undefined ? 'items of ' : '';
  const { brief, tree } = schemaMarkdown(schemas, shown ?? true, depth + 1);
  const what = shown === undefined ? '' : ` ${items}${brief}`;
  const example = examples
    .slice(0, 1)
    .map(({ value }) => `${indent}  - example ${codeMarkdown(valueText(value), 1000)}\n`);
  return `${indent}- ${names}${what}\n${tree}${example.join('')}`;
}

function requirementText(security: readonly Requirement[]): string {
  const alternatives = security.slice(0, 20).map((schemes) =>
    schemes.length === 0
      ? 'nothing'
      : schemes
          .slice(0, 20)
          .map(({ scheme, scopes }) =>
            [scheme, ...scopes.slice(0, 50)].map((name) => codeMarkdown(name, 200)).join(' '),
          )
          .join(' and '),
  );
  return alternatives.length === 0 ? '' : `Needs ${alternatives.join(' or ')}.\n\n`;
}

function paragraph(text: string): string {
  const block = blockMarkdown(text);
  return block === '' ? '' : `${block}\n\n`;
}

function endOf(lines: string): string {
  return lines === '' ? '' : `${lines}\n`;
}
