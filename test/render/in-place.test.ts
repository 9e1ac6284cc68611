import { expect, test } from 'vitest';
import { renderDocument } from '../../src/render/render.ts';
import { published } from './published.ts';
import { checkPage } from './strict-html.ts';
import { ref, json, text, operationOf, fields } from './in-place-world.ts';

test('the fields of named schemas stand in the operation, those of nested ones folded', () => {
  const html = operationOf(
    {
      Order: { properties: { id: text, lines: { type: 'array', items: ref('Line') }, notes: ref('Notes') } },
      Line: { properties: { count: { type: 'integer', minimum: 1, default: 1 } } },
      Notes: { additionalProperties: ref('Note') },
      Note: { properties: { by: text } },
    },
    ref('Order'),
  );
  expect(fields(html)).toEqual(['id', 'lines', 'count', 'notes', 'by']);
  expect(html).toMatch(
    /<code>lines<\/code> <span class="type">array of <a href="#schema\/Line">Line<\/a><\/span><details><summary>1 field<\/summary><ul class="props"><li><code>count<\/code>.*?default <code>1<\/code>, at least 1/,
  );
  expect(html).toContain('<a href="#schema/Notes">Notes</a></span><details><summary>1 field</summary>');
});

test('a schema inside itself is a link', () => {
  const html = operationOf({ Node: { properties: { value: text, next: ref('Node') } } }, ref('Node'));
  expect(fields(html)).toEqual(['value', 'next']);
  expect(html).toContain('<code>next</code> <span class="type"><a href="#schema/Node">Node</a></span></li>');
});

test('the parts of allOf are one list of fields, and say which are required', () => {
  const html = operationOf(
    {
      Pet: { required: ['name'], properties: { name: text, tag: text }, description: 'Any pet' },
      Dog: {
        allOf: [ref('Pet'), { required: ['bark'], properties: { bark: text, tag: { enum: ['dog'] } } }],
        description: 'A dog',
      },
    },
    ref('Dog'),
  );
  expect(fields(html)).toEqual(['name', 'tag', 'bark']);
  expect(html).toMatch(/<code>name<\/code>[^/]*<\/span> <span class="flag required">/);
  expect(html).toMatch(/<code>bark<\/code>[^/]*<\/span> <span class="flag required">/);
  expect(html).toMatch(/<code>tag<\/code> <span class="type">string<\/span><p class="values">One of <code>dog<\/code>/);
  expect(html).toContain('A dog');
  expect(html).not.toContain('Any pet');
  expect(html).not.toContain('All of');
});

test('what parts of allOf limit twice is shown as the stricter limit, and both patterns', () => {
  const html = operationOf(
    {
      Name: { type: 'string', minLength: 3, maxLength: 10, pattern: '^a' },
      Short: { allOf: [ref('Name'), { minLength: 1, maxLength: 20, pattern: 'b$' }] },
      Most: { allOf: [{ type: 'integer', maximum: 9 }, { maximum: 5 }, { minimum: 1 }, { minimum: 0 }] },
    },
    { properties: { name: ref('Short'), most: ref('Most') } },
  );
  expect(html).toContain('3 to 10 characters');
  for (const pattern of ['^a', 'b$']) expect(html).toContain(`pattern <code>${pattern}</code>`);
  expect(html).toContain('1 to 5');
});

test('a reference with words beside it is that schema, also as allOf', () => {
  const html = operationOf(
    { A: { properties: { inner: text } } },
    { properties: { a: { description: 'Mine', allOf: [ref('A')], nullable: true } } },
  );
  expect(html).toMatch(/<code>a<\/code> <span class="type"><a href="#schema\/A">A<\/a> or null<\/span><p>Mine<\/p>/);
  expect(fields(html)).toEqual(['a', 'inner']);
});

// As AWS writes it.
test('words in allOf beside a reference are said of the place', () => {
  const html = operationOf(
    { Arn: { type: 'string', description: 'An ARN.' } },
    { properties: { a: { allOf: [ref('Arn'), { description: 'The ARN of the key.', deprecated: true }] } } },
  );
  expect(html).toMatch(/<code>a<\/code> <span class="type">string[^]*deprecated[^]*<p>The ARN of the key\.<\/p>/);
});

test('alternatives are a choice with the values that choose', () => {
  const mapping = { cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog' };
  const html = operationOf(
    { Cat: { properties: { purr: text } }, Dog: { properties: { bark: text } } },
    { oneOf: [ref('Cat'), ref('Dog')], discriminator: { propertyName: 'kind', mapping } },
  );
  expect(html).toContain('told apart by <code>kind</code>');
  expect(html).toMatch(
    /<li><details open><summary><code>cat<\/code> <span class="type">Cat<\/span><\/summary><ul class="props"><li><code>purr/,
  );
  expect(html).toMatch(
    /<li><details data-sample="[^"]*"><summary><code>dog<\/code> <span class="type">Dog<\/span><\/summary>/,
  );
});

test('each alternative of a request but the first has a sample, with what it says beside them', () => {
  const kind = { propertyName: 'kind' };
  const Cat = { required: ['paws'], properties: { paws: { type: 'integer' } } };
  const Dog = { required: ['bark'], properties: { bark: text } };
  const pet = { required: ['id'], properties: { id: text }, discriminator: kind, oneOf: [ref('Cat'), ref('Dog')] };
  const samples = (html: string) =>
    [...html.matchAll(/data-sample="([^"]*)"/g)].map(([, one]) => one!.replaceAll('&quot;', '"'));
  const html = operationOf({ Cat, Dog }, { properties: { pet } }, { properties: { pet } });
  expect(samples(html)).toEqual(['{"bark":"string","id":"string","kind":"Dog"}']);
});

test('a base with a discriminator offers what it can be', () => {
  const mapping = { cat: '#/components/schemas/Cat' };
  const html = operationOf(
    {
      Pet: { properties: { kind: text }, discriminator: { propertyName: 'kind', mapping } },
      Cat: { allOf: [ref('Pet'), { properties: { purr: text } }] },
    },
    ref('Pet'),
  );
  expect(fields(html)).toEqual(['kind', 'purr']);
  expect(html).toContain('<summary><code>cat</code>');
});

test('a request has no read-only fields, a response no write-only ones', () => {
  const User = { properties: { id: { readOnly: true }, password: { writeOnly: true }, name: text } };
  expect(fields(operationOf({ User }, ref('User')))).toEqual(['password', 'name']);
  expect(fields(operationOf({ User }, text, ref('User')))).toEqual(['id', 'name']);
});

test('a name that stands for a string says so', () => {
  const html = operationOf({ Id: { type: 'string', format: 'uuid' } }, { properties: { id: ref('Id') } });
  expect(html).toContain('<span class="type">string (uuid) · <a href="#schema/Id">Id</a></span>');
});

test('what is said of plain items stands with the array, not in a tree of one line', () => {
  const html = operationOf(
    {},
    { properties: { sizes: { type: 'array', items: { type: 'string', maxLength: 9, enum: ['small', 'large'] } } } },
  );
  expect(html).not.toContain('each item</i>');
  expect(html).toContain('Each item: <span class="limits">at most 9 characters</span>');
  expect(html).toContain('Each item is one of <code>small</code> <code>large</code>');
});

test('the names of the alternatives of a field are seen at once', () => {
  const html = operationOf(
    {},
    {
      properties: {
        source: {
          oneOf: [
            { title: 'Card', properties: { number: {} } },
            { title: 'Account', properties: { iban: {} } },
          ],
        },
      },
    },
  );
  expect(html).toContain('<details open><summary><b>Card</b>');
  expect(html).toMatch(/<details data-sample="[^"]*"><summary><b>Account<\/b>/);
  expect(html).not.toContain('<summary>One of</summary>');
});

test('values behind a name stand with the field', () => {
  const html = operationOf(
    { Size: { enum: ['small', 'large'] } },
    { properties: { size: ref('Size'), sizes: { type: 'array', items: ref('Size') } } },
  );
  expect(html.match(/[Oo]ne of <code>small<\/code> <code>large<\/code>/g)).toHaveLength(2);
});

test('alternatives that are only named have their fields in their place, too', () => {
  const Rule = { properties: { name: text } };
  const html = operationOf({ Rule }, { oneOf: [ref('Rule'), { type: 'array', items: ref('Rule') }] });
  expect(html).toContain(
    '<details open><summary><span class="type">Rule</span></summary><ul class="props"><li><code>name',
  );
  expect(html).toMatch(/<details data-sample="[^"]*"><summary><span class="type">array of Rule<\/span><\/summary>/);
});

test('of a schema or null the fields are shown', () => {
  const html = operationOf(
    { Query: { properties: { embedder: text } } },
    { properties: { hybrid: { oneOf: [{ type: 'null' }, ref('Query')] } } },
  );
  expect(html).toContain('<span class="type"><a href="#schema/Query">Query</a> or null</span>');
  expect(fields(html)).toEqual(['hybrid', 'embedder']);
  expect(html).not.toContain('One of');
});

test.each([
  ['anyOf', { type: 'null' }],
  ['oneOf', { enum: [null] }],
  ['anyOf', { const: null }],
])('what may be null is one line with its limits, and not two alternatives: %s, %j', (keyword, none) => {
  const name = { type: 'string', minLength: 2, description: 'Who pays' };
  const html = operationOf(
    {},
    { properties: { payer: { [keyword]: [name, none] }, tags: { type: 'array', items: { [keyword]: [name, none] } } } },
  );
  expect(html).not.toMatch(/One of|Any of|any of|one of/);
  expect(html).toContain('<span class="type">string or null</span> <span class="limits">at least 2 characters</span>');
  expect(html).toContain('<span class="type">array of string or null</span>');
  expect(html).toContain('Who pays');
});

test('limits are told only of values that they apply to', () => {
  const html = operationOf(
    {},
    {
      properties: { kind: { type: 'string', uniqueItems: true, minimum: 1, minItems: 2, additionalProperties: false } },
    },
  );
  expect(html).toContain('<code>kind</code> <span class="type">string</span></li>');
});

test('several examples of a response are tabs in that of their status', () => {
  const examples = { card: { summary: 'By card', value: { a: 1 } }, bank: { summary: 'By bank', value: { a: 2 } } };
  const responses = {
    200: { description: '', content: { 'application/json': { examples } } },
    400: { description: '', content: { 'application/json': { example: { b: 3 } } } },
  };
  const paths = { '/pay': { post: { operationId: 'pay', responses } } };
  const rendered = renderDocument(published({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths }))!;
  expect(checkPage(rendered)).toEqual([]);
  const tabs = [
    ...rendered.html.matchAll(/<details class="answer"( name="[^"]*")?( open)?><summary>(.*?)<\/summary>/g),
  ];
  expect(tabs.map(([, name, open, title]) => [name, open, title!.replace(/<[^>]*>/g, '')])).toEqual([
    [' name="operation/pay"', ' open', '200'],
    [' name="operation/pay/0"', ' open', 'By card'],
    [' name="operation/pay/0"', undefined, 'By bank'],
    [' name="operation/pay"', undefined, '400 application/json'],
  ]);
});

test('where a page has many operations, what is large and inside is a fold that links to its fields', () => {
  const wide = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`field${at}`, text]));
  const schemas = { Wide: { properties: wide }, Small: { properties: { id: text } } };
  const request = { properties: { wide: ref('Wide'), small: ref('Small') } };
  expect(fields(operationOf(schemas, request)).length).toBe(63);
  const html = operationOf(schemas, request, text, 300);
  expect(fields(html)).toEqual(['wide', 'small', 'id']);
  expect(html).toContain(
    '<code>wide</code> <span class="type"><a href="#schema/Wide">Wide</a></span><details class="later"><summary>60 fields</summary><a href="#schema/Wide">Wide</a></details></li>',
  );
});

test('each page of a long reference has rows of its own', () => {
  const wide = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`field${at}`, text]));
  const description = 'word '.repeat(4000);
  const paths = Object.fromEntries(
    Array.from({ length: 300 }, (_, at) => {
      const operation = { requestBody: json({ properties: { wide: ref('Wide') } }), description, responses: {} };
      return [`/p${at}`, { post: { ...operation, tags: [`Tag ${at % 30}`] } }];
    }),
  );
  const document = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths };
  const { html, pages } = renderDocument(
    published({ ...document, components: { schemas: { Wide: { properties: wide } } } }),
  )!;
  expect(pages!.parts).toHaveLength(31);
  expect(fields(/<section class="operation".*?<\/section>/s.exec(html)![0]).length).toBe(31);
});

test.each([
  ['each part includes the next twice', (at: number) => ({ allOf: [ref(`n${at + 1}`), ref(`n${at + 1}`)] })],
  [
    'each field leads to all others',
    () => ({ properties: Object.fromEntries(names.map((name) => [name, ref(name)])) }),
  ],
  ['each is one of all', () => ({ oneOf: names.map(ref) })],
])('an operation stays small: %s', (_, make) => {
  const html = operationOf(Object.fromEntries(names.map((name, at) => [name, make(at)])), ref('n0'));
  expect(html.split('<li>').length).toBeLessThan(1000);
});
const names = Array.from({ length: 40 }, (_, at) => `n${at}`);

test('the bodies of responses are tabs, of which one is open', () => {
  const responses = {
    400: { description: 'Bad', ...json({ properties: { why: text } }) },
    201: { description: 'Made', ...json({ properties: { id: text } }) },
  };
  const paths = { '/orders': { post: { operationId: 'create', responses } } };
  const { html } = renderDocument(published({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths }))!;
  const tabs = [...html.matchAll(/<details class="answer" name="([^"]*)"( open)?><summary><b[^>]*>(\d+)/g)];
  expect(tabs.map(([, group, open, status]) => [group, status, open !== undefined])).toEqual([
    ['operation/create', '201', true],
    ['operation/create', '400', false],
  ]);
});

test('an operation without a summary is called by the first sentence of its description, or by its method and path', () => {
  const description = 'Lists **all** orders, e.g. [yours](#x). Newest first.\n\nMore.';
  const paths = {
    '/orders': { get: { description, operationId: 'ListAllOrdersOfCust' } },
    '/health': { get: { operationId: 'health' } },
  };
  const document = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths };
  const { html, navigation } = renderDocument(published(document))!;
  expect(html).toContain('>Lists all orders, e.g. yours</a></h3>');
  expect(html).toContain('Newest first.');
  expect(html).toContain('>GET /health</a></h3>');
  expect(navigation).toMatch(/<\/b> Lists all orders, e.g. yours<\/a>.*<\/b> \/health<\/a>/s);
});

test('a summary is shown without its markup, and a description of one sentence is said once', () => {
  const paths = { '/a': { get: { summary: '**Get** `a` <br> [now](#x)' } }, '/b': { get: { description: 'Gets b.' } } };
  const document = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths };
  const { html, navigation } = renderDocument(published(document))!;
  expect(html).toContain('>Get a now</a></h3>');
  expect(navigation).toContain('</b> Get a now</a>');
  expect(html.match(/Gets b/g)).toHaveLength(2);
});

test('the first screen lists the operations, of many their tags, unless a long description stands there', () => {
  const of = (count: number, description: string) => {
    const all = Array.from({ length: count }, (_, at) => [`/p${at}`, { get: { tags: [at % 2 ? 'odd' : 'even'] } }]);
    const info = { title: 'x', version: '1', description };
    const { html } = renderDocument(
      published({
        openapi: '3.1.0',
        info,
        tags: [{ name: 'odd', description: 'Odd ones' }],
        paths: Object.fromEntries(all),
      }),
    )!;
    return /<h2>At a glance<\/h2><ul class="index">(.*?)<\/ul>/s.exec(html)?.[1] ?? null;
  };
  expect(of(2, '')?.match(/<li>/g)).toHaveLength(2);
  expect(of(2, '')).toContain('<code>/p1</code></a>');
  expect(of(60, '')?.match(/<li>/g)).toHaveLength(2);
  expect(of(60, '')).toMatch(/>odd<\/a> <span class="count">30<\/span> .*Odd ones/);
  expect(of(2, 'word '.repeat(400))).toBeNull();
});

test('the request says which of the examples it has', () => {
  const examples = { small: { summary: 'A "small" one', value: { a: 1 } }, large: { value: { a: 2 } } };
  const html = (given: object) => {
    const requestBody = { content: { 'application/json': { schema: {}, examples: given } } };
    const paths = { '/a': { post: { requestBody, responses: {} } } };
    const rendered = renderDocument(published({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths }))!;
    expect(checkPage(rendered)).toEqual([]);
    return rendered.html;
  };
  expect(html(examples)).toContain('<div class="samples" data-example="A &quot;small&quot; one" data-type="">');
  expect(html({ small: examples.small })).toContain('data-example=""');
});

/** The titles of the samples of a response with this content. */
function titlesOf(content: object): { titles: (string | undefined)[]; answers: string } {
  const paths = { '/a': { get: { responses: { 200: { description: 'One', content } } } } };
  const { html } = renderDocument(published({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths }))!;
  const answers = html.slice(html.indexOf('class="answers"'));
  const titles = [...answers.matchAll(/<summary>(?:<b class="status s2">200<\/b> <span>)?([^<]+)</g)];
  return { titles: titles.map(([, title]) => title), answers };
}

test('a response of several media types has a sample of each, and a named example says of which it is', () => {
  const schema = { type: 'object', xml: { name: 'pet' }, properties: { id: { type: 'integer' } } };
  const both = { 'application/xml': { schema }, 'application/json': { schema }, 'text/xml': { schema } };
  expect(titlesOf(both).titles).toEqual(['application/json', 'application/xml']);
  expect(titlesOf(both).answers).toContain('&lt;pet&gt;');
  const given = titlesOf({ ...both, 'application/json': { schema, example: { id: 7 } } });
  expect(given.titles).toEqual(['application/json', 'application/xml']);
  expect(given.answers).toContain('&lt;id&gt;7&lt;/id&gt;');
  const named = { schema, examples: { small: { value: { id: 1 } } } };
  expect(titlesOf({ ...both, 'application/json': named }).titles).toEqual([
    'small, application/json',
    'application/xml',
  ]);
  expect(titlesOf({ 'application/json': named }).titles).toEqual(['small']);
  expect(titlesOf({ '*/*': { schema } }).titles).toEqual(['*/*']);
});
