import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveReference } from '../../src/compile/reference.ts';
import { timesAsMany } from '../sample.ts';

describe('resolveReference', () => {
  it.each([
    ['b.yaml', 'specs/b.yaml', null],
    ['./b.yaml#/x', 'specs/b.yaml', '/x'],
    ['../b.yaml', 'b.yaml', null],
    ['sub/./../b.yaml#', 'specs/b.yaml', ''],
    ['a%20b.yaml#/x%20y', 'specs/a b.yaml', '/x y'],
    ['#/x', 'specs/a.yaml', '/x'],
    ['', 'specs/a.yaml', null],
    ['...yaml', 'specs/...yaml', null],
  ])('%j leads to %s', (reference, path, fragment) => {
    expect(resolveReference('specs/a.yaml', reference)).toEqual({ ok: true, path, fragment });
  });

  it.each([
    ['https://example.com/a.yaml', 'ref-remote'],
    ['HTTP://example.com', 'ref-remote'],
    ['//example.com/a.yaml', 'ref-remote'],
    ['file:///etc/passwd', 'ref-scheme'],
    ['data:,{}', 'ref-scheme'],
    ['c:/windows', 'ref-scheme'],
    ['urn:x:y#/a', 'ref-scheme'],
    ['/etc/passwd', 'ref-outside-tree'],
    ['../../a.yaml', 'ref-outside-tree'],
    ['sub/../../../a.yaml', 'ref-outside-tree'],
    ['%2e%2e/a.yaml', 'ref-syntax'],
    ['..%2fa.yaml', 'ref-syntax'],
    ['..%5Ca.yaml', 'ref-syntax'],
    ['..\\a.yaml', 'ref-syntax'],
    ['a.yaml%00', 'ref-syntax'],
    ['a.yaml\0', 'ref-syntax'],
    ['a.yaml?x=1', 'ref-syntax'],
    ['%zz.yaml', 'ref-syntax'],
    ['#/%ff', 'ref-syntax'],
    ['.', 'ref-syntax'],
    ['@acme/schemas/pet@1.0.0', 'ref-registry'],
    ['{registry}/@acme/schemas/pet', 'ref-registry'],
  ])('%j is refused: %s', (reference, rule) => {
    const resolved = resolveReference(
      rule === 'ref-syntax' && reference === '.' ? 'a.yaml' : 'specs/a.yaml',
      reference,
    );
    expect(resolved).toMatchObject({ ok: false, rule });
  });

  it('never leaves the tree', () => {
    const piece = fc.constantFrom(
      '..',
      '.',
      '/',
      '//',
      '%2e',
      '%2E%2e',
      '%2f',
      '\\',
      'a',
      '%',
      '#',
      '?',
      ':',
      '%252e',
      '\0',
      '@',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        const resolved = resolveReference('specs/deep/a.yaml', pieces.join(''));
        if (!resolved.ok) return;
        expect(resolved.path).not.toMatch(/^\/|^$|\0|\\/);
        expect(resolved.path.split('/')).not.toContain('..');
        expect(resolved.path.split('/')).not.toContain('');
      }),
      { numRuns: 500 * timesAsMany },
    );
  });
});
