/** The parser of nimma alone. Its other entries generate and run code, and are never imported. */
declare module 'nimma/parser' {
  /** One step of a path expression, as nimma's parser returns it. */
  export type Node = { type: string; deep?: boolean; value?: unknown };

  /** Parses a path expression. Throws a `SyntaxError`. */
  export default function parse(expression: string): Node[];
}
