/**
 * An expression in a filter, as nimma's parser returns it. A kind or an operator that stands here has
 * an evaluator, or `filter.ts` does not compile; one that does not stand here is refused.
 */
export type Expression =
  | { type: 'Literal'; value: string | number | boolean | null | RegExp }
  | { type: 'Identifier'; name: string }
  | { type: 'ArrayExpression'; elements: Expression[] }
  | { type: 'UnaryExpression'; operator: UnaryOperator; argument: Expression }
  | { type: 'BinaryExpression'; operator: BinaryOperator; left: Expression; right: Expression }
  | { type: 'MemberExpression'; computed: boolean; object: Expression; property: Expression }
  | { type: 'CallExpression'; callee: Expression; arguments: Expression[] };

export type UnaryOperator = '-' | '!' | '~' | '+' | 'void';

/** The operators that decide by their left side alone whether the right one counts. */
export type LogicalOperator = '&&' | '||';

/** `~=` tests its left side with the regular expression on its right. */
export type BinaryOperator = LogicalOperator | ValueOperator | '~=';

/** The operators of two values. */
export type ValueOperator =
  | '=='
  | '!='
  | '==='
  | '!=='
  | '<'
  | '<='
  | '>'
  | '>='
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '|'
  | '^'
  | '&'
  | '<<'
  | '>>'
  | '>>>'
  | 'in';
