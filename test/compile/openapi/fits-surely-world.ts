export const components: Record<string, unknown> = {
  Pet: {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string' }, friend: { $ref: '#/components/schemas/Pet' } },
  },
  Tag: { type: 'string', enum: ['a', 'b'] },
  Bad: { type: 'string', pattern: '(' },
  Loop: { allOf: [{ $ref: '#/components/schemas/Loop' }] },
  Chain: { $ref: '#/components/schemas/Tag' },
};
