import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAnchors } from '../../src/model/outline.ts';

test('an anchor is the name that people know the part by', () => {
  const anchors = createAnchors();
  expect(anchors.operation({ method: 'GET', path: '/pets/{petId}', id: 'showPetById' })).toBe('operation/showPetById');
  expect(anchors.operation({ method: 'GET', path: '/pets/{petId}', id: null })).toBe('operation/get-pets-petId');
  expect(anchors.operation({ method: 'WEBHOOK POST', path: 'new pet', id: '' })).toBe('operation/webhook-post-new-pet');
  expect(anchors.schema('Pet')).toBe('schema/Pet');
  expect(anchors.schema('')).toBe('schema');
  expect(anchors.schema('Größe')).toBe('schema/Gr-e');
  expect(anchors.schema('日本')).toBe('schema/x');
  expect(anchors.rule('operation-4xx-response')).toBe('rule/operation-4xx-response');
  expect(anchors.tag('Käse & Wein')).toBe('tag/K-se-Wein');
});

test('the second of the same name gets another anchor, also where that one is taken', () => {
  const anchors = createAnchors();
  const names = ['a', 'a-2', 'a', 'a', 'a-2'];
  expect(names.map(anchors.schema)).toEqual(['a', 'a-2', 'a-3', 'a-4', 'a-2-2'].map((name) => `schema/${name}`));
});

test('whatever a document calls its parts, anchors are safe, distinct, and the same each time', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), (names) => {
      const give = () => {
        const anchors = createAnchors();
        return names.flatMap((name) => [
          anchors.schema(name),
          anchors.operation({ method: 'GET', path: name, id: null }),
        ]);
      };
      const given = give();
      expect(new Set(given).size).toBe(given.length);
      for (const anchor of given) expect(anchor).toMatch(/^[A-Za-z0-9._/-]+$/);
      expect(give()).toEqual(given);
    }),
  );
});
