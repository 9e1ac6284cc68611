/** The parser of nimma alone. Its other entries generate and run code, and are never imported. */
declare module 'nimma/parser' {
  /** The parser of filters. */
  export class Jsep {
    /** Where it stands in the text. */
    index: number;
    constructor(text: string);
    /** The syntax tree of the expression that begins there. Throws a `SyntaxError`. */
    parse(): unknown;
  }
}
