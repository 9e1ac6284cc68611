// Every field of OpenAPI and every keyword of JSON Schema is changed, both ways. What a comparison then calls no change, a text
// or safe stands in a table with its reason, unless the way back is worse.
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { verdicts } from '../../src/model/comparison.ts';
import { api, compare, giving, taking, type Json } from './given.ts';
import { keywords, keywords30, modern, old } from './every-field.ts';

const load = createRequire(import.meta.url);
const official = (version: string) =>
  load(`@seriousme/openapi-schema-validator/schemas/v${version}/schema.json`) as Json;

/** What of a JSON Schema is looked at. */
interface Node {
  $ref?: string;
  properties?: Json;
  patternProperties?: Json;
  additionalProperties?: unknown;
  items?: unknown;
  then?: unknown;
  else?: unknown;
  allOf?: unknown[];
  anyOf?: unknown[];
  oneOf?: unknown[];
  dependentSchemas?: Json;
}

/** The objects of a document by what the official schema calls them: `operation.summary`, and where they stand. */
function fieldsIn(schema: Json, document: Json): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  const seen = new Set<string>();
  visit(schema, 'document', document, '');
  return fields;

  function visit(node: unknown, name: string, value: unknown, pointer: string): void {
    if (
      typeof node !== 'object' ||
      node === null ||
      seen.has(`${name} ${pointer} ${JSON.stringify(node).slice(0, 200)}`)
    )
      return;
    seen.add(`${name} ${pointer} ${JSON.stringify(node).slice(0, 200)}`);
    const { $ref, properties, patternProperties, additionalProperties, items, ...rest } = node as Node;
    if (typeof $ref === 'string' && $ref.startsWith('#/')) {
      const keys = $ref.slice(2).split('/');
      visit(
        keys.reduce<unknown>((one, key) => (one as Json)[key], schema),
        keys.at(-1)!.replace(/-or-reference$/, ''),
        value,
        pointer,
      );
    }
    for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const)
      for (const one of rest[keyword] ?? []) visit(one, name, value, pointer);
    for (const keyword of ['then', 'else'] as const) visit(rest[keyword], name, value, pointer);
    for (const one of Object.values(rest['dependentSchemas'] ?? {})) visit(one, name, value, pointer);
    if (Array.isArray(value)) return value.forEach((one, at) => visit(items, name, one, `${pointer}/${at}`));
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      const below = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (properties?.[key] !== undefined) {
        const field = `${name}.${key}`;
        fields.set(field, [...new Set([...(fields.get(field) ?? []), below])]);
        visit(properties[key], name, member, below);
      } else {
        const pattern = Object.keys(patternProperties ?? {}).find((one) => new RegExp(one).test(key));
        if (pattern !== undefined) visit(patternProperties?.[pattern], name, member, below);
        else visit(additionalProperties, name, member, below);
      }
    }
  }
}

/** All fields that an official schema knows. */
function fieldsOf(schema: Json): Set<string> {
  const all = new Set<string>();
  const visit = (node: unknown, name: string): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === '$defs' || key === 'definitions') {
        for (const [def, one] of Object.entries(value as Json)) visit(one, def.replace(/-or-reference$/, ''));
      } else if (key === 'properties') {
        for (const [field, one] of Object.entries(value as Json)) {
          all.add(`${name}.${field}`);
          visit(one, name);
        }
      } else if (key !== 'if' && key !== 'not' && key !== 'required') visit(value, name);
    }
  };
  visit(schema, 'document');
  return all;
}

/** Other values of fields that take only some. */
const others: Json = { in: 'cookie', type: 'string', style: 'pipeDelimited', flow: 'password', scheme: 'basic', collectionFormat: 'ssv', default: 'us' }; // prettier-ignore

/** A document without a field, and with another value of it. */
function changesOf(document: Json, pointer: string): Record<'removed' | 'changed', Json> {
  const keys = pointer.slice(1).split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')); // prettier-ignore
  const edit = (run: (owner: Json, key: string) => void) => {
    const copy = JSON.parse(JSON.stringify(document)) as Json;
    run(
      keys.slice(0, -1).reduce((one, key) => one[key] as Json, copy),
      keys.at(-1)!,
    );
    return copy;
  };
  return {
    removed: edit((owner, key) => void delete owner[key]),
    changed: edit((owner, key) => (owner[key] = another(key, owner[key]))),
  };
}

function another(key: string, value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 2;
  if (typeof value === 'string') return others[key] !== undefined && others[key] !== value ? others[key] : `${value}2`;
  if (Array.isArray(value))
    return value.length > 1 ? value.slice(1) : typeof value[0] === 'string' ? [`${value[0]}2`] : [];
  return Object.fromEntries(Object.entries(value as Json).slice(1));
}

/** What may be changed without a break either way, and why: the field, what becomes of it, where, and the verdict. */
const excused: readonly (readonly [what: RegExp, verdict: 'none' | 'docs' | 'safe', why: string])[] = [
  [/[.](?:description|summary|title|externalDocs|termsOfService|contact|license|tags) /, 'docs', 'It is for people.'],
  [/^(?:contact|license|external-?[dD]oc[a-z]*|tag|info)[.]/, 'docs', 'It is for people.'],
  [/[.](?:examples?|value|dataValue|serializedValue|externalValue) /, 'docs', 'An example promises nothing.'],
  [/^reference.[$]ref .*[/]examples[/]/, 'docs', 'An example promises nothing.'],
  [/^type-http-bearer.bearerFormat /, 'docs', 'It is a hint: clients send what they were given.'],
  [/^server[.]name /, 'docs', 'It is for people.'],
  [/^document.(?:swagger|openapi|info) /, 'docs', 'The way of writing is not what is written.'],
  [/ (?:changed) .*[/](?:post|requestBody|default)$/, 'docs', 'Its first member is gone, which is a text.'],
  [/^info.version /, 'none', 'It differs in nearly every version, and the label says it.'],
  [
    /^reference.(?:summary|description) .*~1reached/,
    'none',
    'Texts beside a reference are of its place, not of the target.',
  ],
  [/ [/](?:webhooks|paths[/]~1things[/]post[/]callbacks)[/].*[/]servers/, 'none', 'Who is called says where.'],
  [/^server-variable.default removed/, 'none', 'Without a default the document is not valid.'],
  [/^(?:styles-for-path|bodyParameter|headerParameterSubSchema).required .*[/]0[/]required$/, 'none', 'What stands in a path is always sent.'], // prettier-ignore
  [/^(?:header|styles-for-[a-z]+|parameter).style removed/, 'none', 'It is the usual style.'],
  [/[.]deprecated /, 'safe', 'Nothing ends with it; clients have time.'],
  [/^responses.default removed/, 'safe', 'Clients meet other errors than those that are described.'],
  [/^bodyParameter.name /, 'none', 'The name of a body is not sent.'],
  [/[.]items changed .*[/]items$/, 'none', 'Its first member, the type, follows from its values.'],
  [/^primitivesItems.m(?:ax|in)Length /, 'none', 'The values that are listed keep it.'],
  [/^primitivesItems.type removed/, 'none', 'The type follows from the values.'],
  [
    /^(?:header|primitivesItems).default .*[/]headers[/]/,
    'safe',
    'In an answer, a default only says what its reader may assume.',
  ],
  [
    / (?:[$]id|[$]anchor|[$]dynamicAnchor|[$]recursiveAnchor|[$]defs|definitions) /,
    'none',
    'A name changes nothing: what refers to it is compared.',
  ],
  [/ [$]vocabulary /, 'none', 'It means something at the root of a dialect only.'],
  [/ (?:title|description|[$]comment|examples|example|externalDocs) /, 'docs', 'It is for people.'],
  [/ deprecated /, 'safe', 'Nothing ends with it; clients have time.'],
  [
    /^(?:request|response|property|part|subtype|unused|slip|union|others|items|parameter|header) xml /,
    'docs',
    'No media type of the API is XML.',
  ],
  [/ (?:uniqueItems|deprecated|readOnly|writeOnly|nullable|exclusiveM[a-z]+) false/, 'none', 'That is usual.'],
  [/^response default /, 'safe', 'In an answer, a default only says what its reader may assume.'],
  [/^header default /, 'safe', 'In an answer, a default only says what its reader may assume.'],
  [
    /^(?:request|response|unused|union|others|items|parameter|header|json-schema) (?:readOnly|writeOnly) /,
    'none',
    'It is said of properties.',
  ],
  [/^(?:response|header) x-extensible-enum /, 'safe', 'Others may come at any time, so readers can rely on none.'],
  [/^slip type removed/, 'none', 'Another part says the same.'],
  [
    /^slip (?:anyOf|oneOf|not) removed/,
    'safe',
    'What it demands follows from the types, also where they contradict each other.',
  ],
  [/^(?:property|part|subtype|slip) writeOnly /, 'safe', 'Requests have it as before.'],
];

const used = new Set<string>();

/** The reason for a verdict, if the worst of both ways needs one. */
function blindIn(what: string, before: Json, after: Json, kind: 'openapi' | 'json-schema' = 'openapi'): string[] {
  const ways = [compare(before, after, kind).verdict, compare(after, before, kind).verdict];
  const worst = verdicts.find((verdict) => ways.includes(verdict)) ?? 'none';
  if (worst === 'breaking' || worst === 'unknown' || worst === 'risky') return [];
  const reason = excused.find(([pattern, verdict]) => pattern.test(what) && verdict === worst);
  if (reason !== undefined) used.add(`${reason[0]}`);
  return reason === undefined ? [`${worst} ${what}`] : [];
}

/** Changes each keyword, and one field of a document in so many. */
export const describeBlindSpots = (every: number) =>
  describe('in this order', { shuffle: false }, () => {
    describe.each([
      ['the root of 3.x', modern['root']!, '3.2'],
      ['an operation of 3.x', modern['called']!, '3.2'],
      ['a webhook of 3.x', modern['sent']!, '3.2'],
      ['a callback of 3.x', modern['calls']!, '3.2'],
      ['2.0', old, '2.0'],
    ])('each field of %s', (_, document, version) => {
      test('counts, or has a reason not to', () => {
        const changed = new Set<string>();
        const blind = [...fieldsIn(official(version), document)].flatMap(([field, pointers]) =>
          pointers.flatMap((pointer) => {
            if (changed.has(pointer)) return [];
            changed.add(pointer);
            if (changed.size % every !== 0) return [];
            return Object.entries(changesOf(document, pointer)).flatMap(([kind, other]) =>
              blindIn(`${field} ${kind} ${pointer}`, document, other),
            );
          }),
        );
        expect(blind).toEqual([]);
      });
    });

    test.each([...Object.entries(modern), ['2.0', old]] as [string, Json][])(
      'an extension in any object of %s counts',
      (_, document) => {
        const objects: string[][] = [];
        const visit = (node: unknown, path: string[]): void => {
          if (typeof node !== 'object' || node === null) return;
          if (!Array.isArray(node)) objects.push(path);
          for (const [key, member] of Object.entries(node)) visit(member, [...path, key]);
        };
        visit(document, []);
        const blind = objects.filter((path, at) => {
          if (at % every !== 0) return false;
          const copy = structuredClone(document);
          path.reduce((node, key) => node[key] as Json, copy)['x-new'] = null;
          return [compare(document, copy), compare(copy, document)].some(({ verdict }) => verdict === 'none');
        });
        expect(blind).toEqual([]);
      },
    );

    describe.each([
      'request',
      'response',
      'property',
      'part',
      'subtype',
      'unused',
      'slip',
      'union',
      'others',
      'items',
      'parameter',
      'header',
      'json-schema',
    ] as const)('each keyword of a %s', (place) => {
      const rows = [
        ...Object.entries(keywords).map(([keyword, sample]) => ({ keyword, sample, version: '3.1.0' })),
        ...(place === 'json-schema' ? [] : Object.entries(keywords30)).map(([keyword, sample]) => ({ keyword, sample, version: '3.0.3' })), // prettier-ignore
      ];
      test('counts, or has a reason not to', () => {
        const blind = rows.flatMap(({ keyword, sample: { base = {}, values, schemas = {} }, version }) => {
          const made = [base, ...values.map((value) => ({ ...base, [keyword]: value }))].map((schema) => documentOf(place, schema, schemas, version)); // prettier-ignore
          const [none, one, other] = made as [Json, Json, Json];
          const ways: [string, Json, Json][] = [
            ['removed', one, none],
            ['changed', one, other],
            [values[1] === false ? 'false' : 'removed', other, none],
          ];
          return ways.flatMap(([kind, before, after]) => blindIn(`${place} ${keyword} ${kind}`, before, after, place === 'json-schema' ? place : 'openapi')); // prettier-ignore
        });
        expect([...new Set(blind)]).toEqual([]);
      });
    });

    function documentOf(place: string, schema: Json, schemas: Json, version: string): Json {
      if (place === 'json-schema')
    return JSON.parse(JSON.stringify({ ...schema, $defs: { ...(schema['$defs'] as Json), ...schemas } }).replaceAll('#/components/schemas/', '#/$defs/')) as Json; // prettier-ignore
      const rest = { openapi: version, components: { schemas } };
      if (place === 'parameter') return api({ parameters: [{ in: 'query', name: 'q', schema }] }, rest);
      if (place === 'header')
        return api({ responses: { 200: { description: 'So.', headers: { H: { required: true, schema } } } } }, rest);
      if (place === 'part' || place === 'subtype' || place === 'unused') {
        // Beside a component that has texts of its own, or a property with them.
        const Said = {
          title: 'S',
          description: 'S',
          $comment: 'S',
          example: 's',
          examples: ['s'],
          externalDocs: { url: 'https://s.example' },
        };
        const of = (p: Json) => ({ type: 'object', properties: { p } });
        const beside = (part: Json) => ({ allOf: [{ $ref: '#/components/schemas/Said' }, part] });
        const more = (base: Json) => ({ openapi: version, components: { schemas: { Said: base, ...schemas } } });
        if (place === 'unused') return giving({ $ref: '#/components/schemas/Said' }, { openapi: version, components: { schemas: { Said: { minLength: 0 }, Sub: beside(schema), ...schemas } } }); // prettier-ignore
        if (place === 'subtype') return taking(beside(of(schema)), more(of({ ...Said, deprecated: false })));
        return taking(of(beside(schema)), more(Said));
      }
      if (place === 'slip') {
        const both = [...((schema['allOf'] as unknown[] | undefined) ?? []), { type: 'boolean' }, { type: 'integer' }];
        return taking({ type: 'object', properties: { p: { ...schema, allOf: both } } }, rest);
      }
      if (place === 'union') {
        // A branch that is one of others itself.
        const branch = { anyOf: [{ enum: ['a', 'b', 7, {}] }, { type: 'array', maxItems: 9 }], ...schema };
        return taking(
          { type: 'object', properties: { p: { anyOf: [{ type: 'number', minimum: 99 }, branch] } } },
          rest,
        );
      }
      if (place === 'others') return taking({ type: 'object', additionalProperties: schema }, rest);
      if (place === 'items') return taking({ type: 'array', items: schema }, rest);
      if (place === 'property') return taking({ type: 'object', properties: { p: schema } }, rest);
      return (place === 'request' ? taking : giving)(schema, rest);
    }

    test('all keywords are tried', () => {
      const vocabularies = [
        'core',
        'applicator',
        'content',
        'format-annotation',
        'meta-data',
        'unevaluated',
        'validation',
      ];
      const metas = vocabularies.map((name) => load(`ajv/dist/refs/json-schema-2020-12/meta/${name}.json`) as Json);
      const old2020 = load('ajv/dist/refs/json-schema-2020-12/schema.json') as Json;
      const lists = [
        ...[...metas, old2020].map(({ properties }) => properties),
        ((official('3.0')['definitions'] as Json)['Schema'] as Json)['properties'],
        ((official('2.0')['definitions'] as Json)['schema'] as Json)['properties'],
      ];
      const known = lists.flatMap((properties) => Object.keys(properties as Json));
      const tried = { ...keywords, ...keywords30 };
      expect(known.length).toBeGreaterThan(90);
      expect(known.filter((name) => !Object.hasOwn(tried, name))).toEqual([]);
    });

    if (every === 1)
      test('each reason is one', () => {
        expect(excused.filter(([what]) => !used.has(`${what}`)).map(([what]) => `${what}`)).toEqual([]);
      });

    test.each(['2.0', '3.0', '3.1', '3.2'])('all fields of %s are tried', (version) => {
      const tried = Object.values(version === '2.0' ? { old } : modern).flatMap((document) => [
        ...fieldsIn(official(version), document).keys(),
      ]);
      const passed = [
        // Keywords are tried below, and what 3.0 says of parameters it says of headers, too.
        /^(?:[a-z]+ParameterSubSchema|header|schema|fileSchema|primitivesItems|Schema|XML|Discriminator|Header)[.]/i,
        // Whether there may be a `querystring` beside a `query`.
        /^parameters[.]in$/,
      ];
      expect(
        [...fieldsOf(official(version))].filter(
          (field) => !tried.includes(field) && !passed.some((pattern) => pattern.test(field)),
        ),
      ).toEqual([]);
    });

    /** Where a change of a call is not the mirror of the way back in a webhook, and why. */
    const oneSided: readonly (readonly [what: RegExp, why: string])[] = [
      [/^operation.operationId /, 'Clients are generated with it, and receivers with the name of the webhook.'],
      [/ [/]paths[/]~1things[/]post[/]servers\b/, 'Who is called says where.'],
      [/[/]links:/, 'A link is for clients only.'],
      [/^operation.responses |^responses[.]/, 'A status that is new is one of its class to clients; an API that is not told of it may refuse it.'], // prettier-ignore
      [/^response.(?:headers|content) /, 'Clients ask for a media type and read headers; an API passes over what it does not know.'], // prettier-ignore
      [/[.](?:schema|itemSchema) removed/, 'A property that is gone is missed by readers, and ignored by servers.'],
      [/^operation.parameters /, 'A parameter that is gone is missed by readers, and ignored by servers.'],
      [/^(?:operation.requestBody|request-body.content) /, 'Receivers pass over a body that is new, and miss one that is gone.'], // prettier-ignore
    ];

    // What a client must send more is what a receiver gets less: from A to B in a call is from B to A in a webhook.
    test('each change of a call has its mirror in a webhook, or a reason', () => {
      const asWebhook = ({ paths, ...rest }: Json) => ({
        ...rest,
        webhooks: { done: Object.values(paths as Json)[0] },
      });
      const document = modern['called']!;
      const wrong = [...fieldsIn(official('3.2'), document)].flatMap(([field, pointers]) =>
        pointers
          .filter((pointer, at) => pointer.startsWith('/paths/~1things/post/') && (at + field.length) % every === 0)
          .flatMap((pointer) =>
            Object.entries(changesOf(document, pointer)).flatMap(([kind, other]) =>
              [
                [document, other, kind],
                [other, document, `${kind} back`],
              ].flatMap(([before, after, way]) => {
                const [called, sent] = [
                  compare(before as Json, after as Json).verdict,
                  compare(asWebhook(after as Json), asWebhook(before as Json)).verdict,
                ];
                const what = `${field} ${String(way)} ${pointer}: ${called}, ${sent}`;
                return called === sent ? [] : [what];
              }),
            ),
          ),
      );
      expect([...new Set(wrong)].filter((what) => !oneSided.some(([pattern]) => pattern.test(what)))).toEqual([]);
    });
  });
