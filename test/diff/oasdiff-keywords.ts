// The checks of oasdiff's catalogue that are the same for a body and for a property: one family for
// each keyword of JSON Schema.
import type { Json } from './given.ts';
import type { Check } from './oasdiff.ts';

type Make = Check[2];

const text = { type: 'string' };
const integer = { type: 'integer' };
const long = { maxLength: 5 };
const titled = { title: 'Any' };
const ifA = { if: { required: ['a'] } };
const hasB = { required: ['b'] };
// oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
const then = { then: hasB };
const list = (more: Json): Json => ({ type: 'array', ...more });
const object = (more: Json): Json => ({ type: 'object', ...more });

const position = 'A position that is described allows less than one that is not.';

/** Something that is added or removed, and restricts values where it is. */
interface Restriction {
  theirs: string;
  /** The codes of ours, where they are not `…-set` and `…-unset`. */
  ours: string | readonly [set: string, unset: string];
  without: Json;
  with: Json;
}

const restrictions: readonly Restriction[] = [
  { theirs: 'const', ours: ['became-enum', 'enum-removed'], without: text, with: { ...text, const: 'a' } },
  { theirs: 'then', ours: 'condition', without: ifA, with: { ...ifA, ...then } },
  { theirs: 'else', ours: 'condition', without: ifA, with: { ...ifA, else: hasB } },
  { theirs: 'if', ours: 'condition', without: then, with: { ...ifA, ...then } },
  { theirs: 'contains', ours: 'contains', without: list({}), with: list({ contains: text }) },
  {
    theirs: 'dependent-required',
    ours: 'dependent-required',
    without: object({}),
    with: object({ dependentRequired: { a: ['b'] } }),
  },
  {
    theirs: 'dependent-schema',
    ours: 'dependent-schemas',
    without: object({}),
    with: object({ dependentSchemas: { a: { minProperties: 2 } } }),
  },
  {
    theirs: 'pattern-property',
    ours: ['pattern-property-added', 'pattern-property-removed'],
    without: object({}),
    with: object({ patternProperties: { '^x-': text } }),
  },
  { theirs: 'property-names', ours: 'property-names', without: object({}), with: object({ propertyNames: long }) },
  {
    theirs: 'unevaluated-items',
    ours: ['additional-items-forbidden', 'additional-items-allowed'],
    without: list({ prefixItems: [text] }),
    with: list({ prefixItems: [text], unevaluatedItems: false }),
  },
  { theirs: 'content-schema', ours: 'content-schema', without: text, with: { ...text, contentSchema: hasB } },
];

/** The family of one place: `request-body`, `response-property`. */
export function keywordChecks(side: 'request' | 'response', place: string, make: Make): Check[] {
  const isRequest = side === 'request';
  const narrows = isRequest ? (['error', 'breaking'] as const) : (['info', 'safe'] as const);
  const widens = isRequest ? (['info', 'safe'] as const) : (['error', 'breaking'] as const);
  const check = (
    theirs: string,
    [level, verdict]: readonly [Check[1], string],
    ours: string,
    before: Json,
    after: Json,
    why?: string,
  ): Check => {
    const row = [`${place}-${theirs}`, level, make, before, after, `${verdict} ${place}-${ours}`] as const;
    return why === undefined ? row : [...row, why];
  };
  const changes = ['error', 'breaking'] as const;
  const docs = (theirs: string, before: Json, after: Json): Check => [
    `${place}-${theirs}`,
    'info',
    make,
    before,
    after,
    `docs ${place.slice(side.length + 1)}-title-changed`,
  ];
  const contains = (more: Json) => list({ contains: text, ...more });
  return [
    ...restrictions.flatMap(({ theirs, ours, without, with: set }) => {
      const [added, removed] = typeof ours === 'string' ? [`${ours}-set`, `${ours}-unset`] : ours;
      return [
        check(`${theirs}-added`, narrows, added, without, set),
        check(`${theirs}-removed`, widens, removed, set, without),
      ];
    }),
    check('unevaluated-properties-added', narrows, 'additional-properties-forbidden', object({}), closed),
    isRequest
      ? check('unevaluated-properties-removed', widens, 'additional-properties-allowed', closed, object({}))
      : check(
          'unevaluated-properties-removed',
          ['error', 'risky'],
          'additional-properties-allowed',
          closed,
          object({}),
          'Most readers ignore properties that they do not know.',
        ),
    // Theirs are the other way round.
    [
      `${place}-prefix-items-added`,
      widens[0],
      make,
      list({}),
      list({ prefixItems: [text] }),
      `${narrows[1]} ${place}-type-set`,
      position,
    ],
    [
      `${place}-prefix-items-removed`,
      narrows[0],
      make,
      list({ prefixItems: [text] }),
      list({}),
      `${widens[1]} ${place}-type-unset`,
      position,
    ],
    check('min-contains-increased', narrows, 'min-contains-increased', contains({}), contains({ minContains: 2 })),
    check('min-contains-decreased', widens, 'min-contains-decreased', contains({}), contains({ minContains: 0 })),
    check('max-contains-increased', widens, 'max-contains-increased', contains({ maxContains: 2 }), contains({ maxContains: 3 })), // prettier-ignore
    check('max-contains-decreased', narrows, 'max-contains-decreased', contains({ maxContains: 3 }), contains({ maxContains: 2 })), // prettier-ignore
    [
      `${place}-const-changed`,
      'error',
      make,
      { const: 'a' },
      { const: 'b' },
      isRequest
        ? `breaking ${place}-enum-value-removed; safe ${place}-enum-value-added`
        : `breaking ${place}-enum-value-added; safe ${place}-enum-value-removed`,
    ],
    check(
      'dependent-required-changed',
      changes,
      'dependent-required-changed',
      object({ dependentRequired: { a: ['b'] } }),
      object({ dependentRequired: { a: ['c'] } }),
    ),
    check('content-media-type-changed', changes, 'content-media-type-changed', media('text/csv'), media('text/html')),
    check('content-encoding-changed', changes, 'content-encoding-changed', coded('base64'), coded('base32')),
    check('list-of-types-widened', widens, 'type-generalized', text, { type: ['string', 'integer'] }),
    check('list-of-types-narrowed', narrows, 'type-narrowed', { type: ['string', 'integer'] }, text),
    docs('all-of-added-annotation-only', { allOf: [text] }, { allOf: [text, titled] }),
    docs('all-of-removed-annotation-only', { allOf: [text, titled] }, { allOf: [text] }),
    check('multiple-of-set', narrows, 'multiple-of-set', integer, { ...integer, multipleOf: 2 }),
    check('multiple-of-unset', widens, 'multiple-of-unset', { ...integer, multipleOf: 2 }, integer),
    check('multiple-of-changed', changes, 'multiple-of-changed', { multipleOf: 2 }, { multipleOf: 3 }),
    check('multiple-of-generalized', widens, 'multiple-of-changed', { multipleOf: 6 }, { multipleOf: 3 }),
    check('multiple-of-specialized', narrows, 'multiple-of-changed', { multipleOf: 3 }, { multipleOf: 6 }),
    check('unique-items-set', narrows, 'unique-items-set', list({}), list({ uniqueItems: true })),
    check('unique-items-unset', widens, 'unique-items-unset', list({ uniqueItems: true }), list({})),
    check('type-specialized', narrows, 'type-narrowed', { type: 'number' }, integer),
  ];
}

const closed = object({ unevaluatedProperties: false });
const media = (contentMediaType: string): Json => ({ ...text, contentMediaType });
const coded = (contentEncoding: string): Json => ({ ...text, contentEncoding });
