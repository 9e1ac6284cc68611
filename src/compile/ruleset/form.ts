import type { JsonObject } from '../../model/json.ts';
import type { Problem } from '../../model/problem.ts';
import type { Program } from '../interpreter/interpreter.ts';
import type { CollectedCode, CollectedDocument } from '../kind.ts';
import type { ParsedFile } from '../text/parse.ts';
import type { FindRuleset } from './ruleset-files.ts';

/** One file of a ruleset, to be checked beyond its JSON Schema. */
export interface RulesetFile {
  entry: ParsedFile;
  ruleset: JsonObject;
  /** Pointers that already have an error. */
  broken: ReadonlySet<string>;
  /** The rulesets that it extends, other than built-in ones. */
  find: FindRuleset;
  /** The code of the ruleset; null where it is not run. */
  code: CollectedCode | null;
}

/** A ruleset that a document is checked against. */
export interface UsedRuleset {
  ruleset: JsonObject;
  /** Its name in problems. */
  name: string;
  /** Finds what it extends by coordinate. */
  find: FindRuleset;
  /** The programs of rulesets with functions of their own, by the files of their code. */
  programs: ReadonlyMap<unknown, Program>;
}

/** A form that rulesets are written in: that of one linter. */
export interface RulesetForm {
  /** The release of the linter that rulesets are checked for. */
  release: string;
  /** The JSON Schema of a ruleset, in `content/schemas/`. */
  schema: string;
  /** Names of files that are rulesets of this form even if they only extend others. */
  fileName: RegExp;
  /** Whether a root is a ruleset, of this form. */
  isRoot(root: JsonObject): boolean;
  /** Whether a ruleset is of this form by its own members, what it extends by name, or the name of its file. */
  isSurely(ruleset: JsonObject, path: string): boolean;
  /** Whether it is by its rules, where those that it extends do not tell. `isOpen`: the registry will resolve some of them. */
  isLikely(ruleset: JsonObject, isOpen: boolean): boolean;
  /** What the linter makes of a violation of the schema. */
  ease(problem: Problem): Problem;
  /** Why the linter passes over a reference to another file. Null: it is an error. */
  passesOver(pointer: string, reference: string): string | null;
  check(file: RulesetFile): Promise<Problem[]>;
  /** Checks a document. `files` contains all that it references. */
  lint(given: CollectedDocument, used: UsedRuleset): Promise<Problem[]>;
}
