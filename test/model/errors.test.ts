import { describe, expect, test } from 'vitest';
import { isRegistryError, RegistryError } from '../../src/model/errors.ts';
import { problemAtFile } from '../../src/model/problem.ts';

describe('a refusal', () => {
  test('is distinguished from a bug, and by its code', () => {
    const refusal = new RegistryError('not_found', 'There is nothing here.');
    expect(isRegistryError(refusal)).toBe(true);
    expect(isRegistryError(refusal, 'not_found')).toBe(true);
    expect(isRegistryError(refusal, 'gone')).toBe(false);
    for (const other of [new Error('x'), { code: 'not_found', message: 'x' }, 'not_found', null, undefined]) {
      expect(isRegistryError(other)).toBe(false);
    }
  });

  test('carries what its caller sees, and its cause', () => {
    const problems = [problemAtFile('schema', 'a.yaml', 'Wrong.')];
    const cause = new Error('below');
    expect(
      new RegistryError('refused', 'No.', { problems, retryAfter: 3, extra: { latest: '1.0.0' }, cause }),
    ).toMatchObject({ message: 'No.', code: 'refused', problems, retryAfter: 3, extra: { latest: '1.0.0' }, cause });
    const plain = new RegistryError('gone', 'No more.');
    expect([plain.problems, plain.retryAfter, plain.extra, 'cause' in plain]).toEqual([[], undefined, {}, false]);
  });
});
