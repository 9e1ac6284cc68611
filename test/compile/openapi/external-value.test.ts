import { describe, expect, it } from 'vitest';
import { limits } from '../limits.ts';
import { run } from '../run.ts';

/** A document with an example of a media type, and one under `components`. */
const named = (externalValue: string) => `openapi: 3.1.0
info: {title: Pets, version: "1"}
paths:
  /pets:
    get:
      responses:
        "200":
          description: ok
          content:
            application/json:
              examples:
                one: {externalValue: ${JSON.stringify(externalValue)}}
components:
  examples:
    two: {externalValue: ${JSON.stringify(externalValue)}}
`;

interface Bundle {
  components: { examples: { two: unknown } };
}

describe('the `externalValue` of an example is no reference, and refuses no document', () => {
  it('a file that is not there is a warning, and the document stays as written', async () => {
    const text = named('examples/pets.json.sh');
    const { artifact, yaml, lines } = await run({ 'a.yaml': text });
    expect(artifact).not.toBeNull();
    expect(yaml).toBe(text);
    const message =
      'warning file-missing: The example "examples/pets.json.sh" is not there: examples/pets.json.sh does not exist. Add the file, or write a full URL.';
    expect(lines).toEqual([`a.yaml:12:38 ${message}`, `a.yaml:15:26 ${message}`]);
  });

  it.each([
    ['a URL', 'https://example.com/e.json'],
    ['another scheme', 'urn:example:1'],
    ['an absolute path', '/e.json'],
    ['a path out of the tree', '../../e.json'],
    ['a folder', '.'],
    ['nothing', ''],
    ['a part of the document', '#/info'],
    ['a part that is not there', '#/none'],
    ['an anchor', '#none'],
    ['the document', 'a.yaml'],
    ['a coordinate', '@acme/apis/x'],
    ['with a query', 'e.json?x=1'],
    ['percent-encoded', '%2e%2e/e.json'],
    ['not UTF-8', '%ff.json'],
  ])('%s: %s', async (_, externalValue) => {
    const { artifact, lines } = await run({ 'a.yaml': named(externalValue) });
    expect(lines.filter((line) => !line.includes(' warning '))).toEqual([]);
    expect(artifact).not.toBeNull();
  });

  it.each<[what: string, file: string, text: string, value: unknown]>([
    ['JSON', 'e.json', '{"b": [1], "a": null}', { b: [1], a: null }],
    ['YAML', 'e.yaml', 'a: 1\n', { a: 1 }],
    ['a list', 'e.json', '[{"a": 1}]', [{ a: 1 }]],
    ['text', 'e.sh', 'curl "$URL"\n', 'curl "$URL"\n'],
    ['not JSON', 'e.json', '{"a": 1, // a\n}', '{"a": 1, // a\n}'],
    ['twice the same key', 'e.json', '{"a": 1, "a": 2}', undefined],
    [
      'what looks like a reference',
      'e.json',
      '{"x": 1, "$ref": "none.json", "y": 2}',
      { x: 1, $ref: 'none.json', y: 2 },
    ],
    ['references in a circle', 'e.json', '{"a": {"$ref": "#/a"}}', { a: { $ref: '#/a' } }],
    [
      'a reference to a URL',
      'e.json',
      '{"$ref": "https://example.com/x.json"}',
      { $ref: 'https://example.com/x.json' },
    ],
    ['an example in it', 'e.json', '{"externalValue": "none.json"}', { externalValue: 'none.json' }],
    [
      'an identifier',
      'e.json',
      '{"$id": "https://example.com/x", "$anchor": "x"}',
      { $id: 'https://example.com/x', $anchor: 'x' },
    ],
    ['names of all objects', 'e.json', '{"__proto__": {"a": 1}, "constructor": 1}', undefined],
  ])('a file with %s is included', async (_, file, text, value) => {
    const { artifact, lines, value: bundle } = await run({ 'a.yaml': named(file), [file]: text });
    expect(lines).toEqual([]);
    expect(artifact).not.toBeNull();
    const { two } = (bundle as Bundle).components.examples;
    if (value === undefined) expect(two).toHaveProperty('value');
    else expect(two).toEqual({ value });
    expect(Object.keys((two as { value: object }).value)).toEqual(Object.keys(value ?? JSON.parse(text)));
  });

  it('a part of a file is included', async () => {
    const { value, lines } = await run({ 'a.yaml': named('e.json#/a'), 'e.json': '{"a": {"b": 1}}' });
    expect(lines).toEqual([]);
    expect((value as Bundle).components.examples.two).toEqual({ value: { b: 1 } });
  });

  it('files above a limit are left out with a warning', async () => {
    const big = JSON.stringify('x'.repeat(1000));
    const huge = JSON.stringify('x'.repeat(2500));
    const head = 'openapi: 3.1.0\ninfo: {title: Pets, version: "1"}\npaths: {}\ncomponents:\n  examples:\n';
    const many = head + ['a', 'b', 'c', 'd'].map((name) => `    ${name}: {externalValue: ${name}.json}\n`).join('');
    const all = { 'x.yaml': many, 'a.json': big, 'b.json': huge, 'c.json': big, 'd.json': big };
    const { artifact, lines } = await run(all, { limits: { ...limits, fileBytes: 2000, bundleBytes: 3000 } });
    expect(artifact).not.toBeNull();
    expect(lines).toEqual([
      expect.stringMatching(
        /^x\.yaml:7:\d+ warning limit-file-bytes: The example "b\.json" is not included\. .*2502 bytes/,
      ),
      expect.stringMatching(/^x\.yaml:9:\d+ warning limit-bundle-bytes: The example "d\.json" is not included\./),
    ]);
  });
});
