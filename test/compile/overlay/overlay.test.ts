import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { applyOverlay, readOverlay } from '../../../src/compile/overlay/apply-overlay.ts';
import { parseJsonPath, selectNodes } from '../../../src/compile/overlay/json-path.ts';
import { createBudget, TooMuchWork } from '../../../src/compile/ruleset/spectral/pattern.ts';
import { parseFile } from '../../../src/compile/text/parse.ts';
import { runCompile } from '../../../src/compile/run.ts';
import { limits } from '../limits.ts';

const folder = new URL('../../fixtures/overlay/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, folder));

function overlayFrom(text: string | Buffer) {
  const parsed = parseFile('overlay.yaml', Buffer.from(text), limits);
  if (!parsed.ok) throw new Error(parsed.problems[0]!.message);
  return readOverlay(parsed.file);
}

/** The document after an overlay, and the problems. */
function applied(document: unknown, text: string | Buffer) {
  const { overlay, problems } = overlayFrom(text);
  const value = structuredClone(document);
  if (problems.length === 0) problems.push(...applyOverlay(value, overlay, createBudget()));
  return { value, problems: problems.map(({ severity, message }) => `${severity} ${message}`) };
}

const actions = (...list: object[]) =>
  JSON.stringify({ overlay: '1.1.0', info: { title: 'T', version: '1' }, actions: list });

describe('paths of RFC 9535', () => {
  test("all cases of the standard's compliance test suite", () => {
    type Case = {
      name: string;
      selector: string;
      document: unknown;
      invalid_selector?: true;
      result?: unknown;
      results?: unknown[];
    };
    const cases = JSON.parse(read('json-path/cts.json').toString()) as Case[];
    const valuesOf = ({ selector, document }: Case) => {
      try {
        return selectNodes(parseJsonPath(selector), document, createBudget()).map(({ value }) => value);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        return 'invalid';
      }
    };
    const wrong = cases.filter((one) => {
      const allowed = one.invalid_selector ? ['invalid'] : (one.results ?? [one.result]);
      return !allowed.some((each) => JSON.stringify(each) === JSON.stringify(valuesOf(one)));
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
    expect(cases).toHaveLength(703);
  });

  test.each([
    ['many selectors', `$${'..[*,*]'.repeat(30)}`],
    ['filters in filters', `$..[?@..[?@..[?@..a]]]`],
    ['a comparison of the whole with each', '$..[?$ == $]'],
    ['a pattern', "$..[?search(@, '(a*)*(b*)*(c*)*$')]"],
  ])('are counted: %s ends', (_, path) => {
    const wide = Array.from({ length: 300 }, () => ({ a: { b: ['a'.repeat(2000), {}] } }));
    const run = () => selectNodes(parseJsonPath(path), wide, createBudget(10_000));
    expect(run).toThrow(TooMuchWork);
  });

  test('a path that nests too deep is an error, and no crash', () => {
    expect(() => parseJsonPath(`$[?${'('.repeat(900)}@.a${')'.repeat(900)}]`)).not.toThrow(RangeError);
    expect(() => parseJsonPath(`$.${'a'.repeat(3000)}`)).toThrow('longer than 2000');
  });
});

describe('overlays', () => {
  test.each(readdirSync(new URL('specification/sets/', folder)))("the specification's set %s", (name) => {
    const [document, overlay, output] = ['openapi', 'overlay', 'output'].map((file) =>
      read(`specification/sets/${name}/${file}.yaml`),
    );
    expect(applied(parse(document!.toString()), overlay!)).toEqual({ value: parse(output!.toString()), problems: [] });
  });

  const documents = ['v1.0', 'v1.1'].flatMap((version) =>
    ['pass', 'fail'].flatMap((kind) =>
      readdirSync(new URL(`specification/documents/${version}/${kind}/`, folder)).map(
        (file) => [`${version}/${kind}/${file}`, kind === 'pass'] as const,
      ),
    ),
  );
  test.each(documents)("the specification's document %s: valid is %s", (path, isValid) => {
    const { problems } = overlayFrom(read(`specification/documents/${path}`));
    expect(problems.length === 0).toBe(isValid);
  });

  test.each([
    ['petstore', 'overlay', 'output1'],
    ['town', 'building-description', 'town-building-description'],
    ['town', 'update-root', 'town-root-updated'],
    ['town', 'remove-example', 'town-remove-example'],
    ['town', 'remove-properties', 'town-remove-properties'],
    ['town', 'remove-descriptions', 'town-remove-descriptions'],
    ['openapi-with-servers', 'remove-server', 'one-less-server'],
    ['responses', 'remove-responses', 'remove-responses'],
    ['immutable', 'immutable', 'immutable'],
    ['not-jsonpath', 'not-jsonpath', 'not-jsonpath'],
    ['not-overlay', 'not-overlay', 'not-overlay'],
    ['empty', 'empty', 'empty'],
  ])('of overlays-js: %s with %s is %s', (document, overlay, expected) => {
    const given: unknown = parse(read(`overlays-js/openapi/${document}.yaml`).toString());
    expect(applied(given, read(`overlays-js/overlays/${overlay}.yaml`)).value).toEqual(
      parse(read(`overlays-js/expected/${expected}.yaml`).toString()),
    );
  });

  test("Speakeasy's, but for one path that RFC 9535 does not have", () => {
    const text = read('speakeasy/overlay.yaml').toString();
    const given: unknown = parse(read('speakeasy/openapi.yaml').toString());
    expect(applied(given, text).problems.join()).toContain('The path cannot be read');
    // It removes a member by its key (`description~`).
    const plain = text.replace(/.*description~\n.*\n/, '').replace('$.tags[?(@.name == "authentication")]', '$.tags');
    const expected = parse(read('speakeasy/openapi-overlayed.yaml').toString()) as { tags: object[] };
    const { value } = applied(given, plain) as { value: { tags: { name: string; description?: string }[] } };
    for (const tag of value.tags) if (tag.name === 'authentication') delete tag.description;
    expect(value).toEqual(expected);
  });

  test('an action that matches nothing is a warning that quotes nothing', () => {
    const { problems } = applied({ a: 1 }, actions({ target: "$.paths['/secret']", remove: true }));
    expect(problems).toEqual(['warning actions[0] matches nothing in the document.']);
  });

  test.each([
    [{ target: '$', remove: true }, 'removes the whole document.'],
    [{ target: '$.a', update: 5 }, 'updates an object with a simple value.'],
    [{ target: '$.a', update: { b: { c: 1 } } }, 'updates a list, "b", with an object.'],
    [{ target: '$.*', update: {} }, 'matches an object and a simple value; it must match one kind of value.'],
    [{ target: '$.a', copy: '$.*' }, 'copies 2 values; "copy" must match one.'],
  ])('%j cannot be applied', (action, message) => {
    expect(applied({ a: { b: [1] }, c: 1 }, actions(action)).problems).toEqual([`error actions[0] ${message}`]);
  });

  test('items are removed together, copies are apart, and names of prototypes are names', () => {
    const { value } = applied(
      { list: [1, 2, 3, 4], from: { x: [1] }, to: {} },
      actions(
        { target: '$.list[0,2,0]', remove: true },
        { target: '$.to', copy: '$.from' },
        { target: '$.to.x', update: [2] },
        { target: '$.to', update: JSON.parse('{"__proto__":{"polluted":true}}') as object },
      ),
    );
    expect(JSON.stringify(value)).toBe(
      '{"list":[2,4],"from":{"x":[1]},"to":{"x":[1,2],"__proto__":{"polluted":true}}}',
    );
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });

  test('copies of copies and 10,000 actions end', () => {
    const doubling = Array.from({ length: 60 }, (_, at) => ({ target: '$.a', update: { [`x${at}`]: {} } })).flatMap(
      (make, at) => [make, { target: `$.a.x${at}`, copy: '$.a' }],
    );
    const run = (...list: object[]) => {
      const { overlay } = overlayFrom(actions(...list));
      return () =>
        applyOverlay({ a: {}, list: Array.from({ length: 1000 }, () => ({})) }, overlay, createBudget(2_000_000));
    };
    expect(run(...doubling)).toThrow(TooMuchWork);
    expect(
      run(...Array.from({ length: 10_000 }, (_, at) => ({ target: '$..[?@.a]', description: `${at}`, remove: true }))),
    ).toThrow(TooMuchWork);
    expect(run(...Array.from({ length: 10_000 }, (_, at) => ({ target: '$.a', update: { [`x${at}`]: 1 } })))()).toEqual(
      [],
    );
  });
});

test('`stele lint` checks an overlay by itself', async () => {
  const text = 'overlay: 1.0.0\ninfo: { title: T, version: 1 }\nactions:\n  - { target: paths, remove: yes }\n';
  const input = { type: null, entry: 'o.yaml', validation: 'strict', ruleset: null, limits, reportOnly: true } as const;
  const { report } = await runCompile(input, async ([path]) => [{ path: path!, bytes: Buffer.from(text) }]);
  expect(report.problems.map(({ line, message }) => `${line} ${message}`)).toEqual([
    '2 "version" must be a text.',
    expect.stringMatching(/^4 The path cannot be read: /),
    '4 "remove" must be true or false.',
  ]);
});
