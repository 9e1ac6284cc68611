import { Composer, Lexer, Parser, type Document, type ParsedNode } from 'yaml';
import type { CompileLimits } from '../compile.ts';
import { growsTooMuch, measureGrowth } from './yaml-growth.ts';
import { createAliases, createYamlFind, tooManyAliases } from './yaml-nodes.ts';
import { readYamlValue } from './yaml-value.ts';
import type { YamlIssue } from './text.ts';

export type YamlText =
  | { ok: true; value: unknown; issues: YamlIssue[]; find(pointer: string): { key: number; value: number } }
  | { ok: false; issues: YamlIssue[] };

type Walls = Pick<CompileLimits, 'depth' | 'nodes' | 'aliases'>;

/**
 * Parses one YAML 1.2 document with the core schema and merge keys (`<<`). Its value is plain data
 * with all aliases expanded. Limits apply before anything can grow: to nesting and tokens while
 * parsing, to aliases and nodes before expanding.
 */
export function readYaml(text: string, limits: Walls): YamlText {
  const refuse = (rule: string, message: string, offset: number): YamlText => ({
    ok: false,
    issues: [{ rule, severity: 'error', message, offset, pointer: '' }],
  });
  const control = text.search(controlCharacter);
  if (control >= 0) {
    const code = text.charCodeAt(control).toString(16).toUpperCase().padStart(4, '0');
    return refuse(
      'control-character',
      `The file contains the control character U+${code}, which YAML does not allow. Remove it or write it as an escape.`,
      control,
    );
  }

  const composed = withoutStacks(() => compose(text, limits));
  if ('rule' in composed) return refuse(composed.rule, composed.message, composed.offset);
  const [document, second] = composed.documents;
  if (document === undefined || document.contents === null || isEmpty(document))
    return refuse('yaml-syntax', 'The file has no content, or only comments.', 0);
  const errors = composed.documents.flatMap((parsed) => parsed.errors);
  if (errors.length > 0) {
    const issues = errors.slice(0, keptErrors).map(({ message, pos }) => ({
      rule: 'yaml-syntax',
      severity: 'error' as const,
      message: `${message.split('\n')[0]!.replace(/\.$/, '')}.`,
      offset: pos[0],
      pointer: '',
    }));
    return { ok: false, issues };
  }
  if (second !== undefined)
    return refuse(
      'yaml-documents',
      'The file contains more than one YAML document; "---" starts a new one. Put each document into its own file.',
      second.range[0],
    );

  const issues: YamlIssue[] = document.warnings.map(({ code, message, pos }) => ({
    rule: code === 'TAG_RESOLVE_FAILED' ? 'yaml-tag' : 'yaml-syntax',
    severity: code === 'TAG_RESOLVE_FAILED' ? 'error' : 'warning',
    message:
      code === 'TAG_RESOLVE_FAILED'
        ? `The YAML tag ${message.replace(/^Unresolved tag: (?:tag:yaml.org,2002:)?/, '')} cannot be converted to JSON. Remove it.`
        : `${message.split('\n')[0]!.replace(/\.$/, '')}.`,
    offset: pos[0],
    pointer: '',
  }));
  if (document.directives.yaml.explicit === true && document.directives.yaml.version !== '1.2')
    issues.push({
      rule: 'yaml-version',
      severity: 'warning',
      message: `The file declares %YAML ${document.directives.yaml.version} but is read as YAML 1.2: "yes" and "on" are strings, and "010" is 10.`,
      offset: 0,
      pointer: '',
    });
  const aliases = createAliases(document.contents, limits.aliases);
  if (!aliases.ok) return refuse(aliases.rule, aliases.message, aliases.offset);
  if (aliases.targets.size > 0) {
    const { written, expanded } = measureGrowth(document.contents, aliases.targets);
    if (growsTooMuch(written, expanded)) {
      const message = `Aliases and merge keys expand the document from ${written.nodes} to ${expanded.nodes} nodes. Use fewer of them.`;
      return refuse('limit-nodes', message, [...aliases.targets.keys()][0]!.range?.[0] ?? 0);
    }
  }
  const read = readYamlValue(document.contents, aliases.targets, limits);
  issues.push(...read.issues);
  if (read.stopped) return { ok: false, issues };
  return { ok: true, value: read.value, issues, find: createYamlFind(document.contents, aliases.targets) };
}

// YAML 1.2 §5.1, c-printable: everything else must be written as an escape.
const controlCharacter = /(?![\t\n\r\u0085])\p{Cc}|[\ufffe\uffff]/u;

const keptErrors = 100;

/** Runs without stack traces: the library creates an `Error` per issue, up to one per character. */
function withoutStacks<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

type Composed = { documents: Document.Parsed<ParsedNode>[] } | { rule: string; message: string; offset: number };

/** The lexeme before the text of a scalar, which may begin with anything. */
const scalarFollows = '\u001f';

/**
 * The library's own loop over lexer, parser and composer, with limits. Lexer and parser do not
 * recurse; the composer does, within the depth limit.
 */
function compose(text: string, limits: Walls): Composed {
  const lexer = new Lexer();
  const parser = new Parser();
  const composer = new Composer<ParsedNode>({
    schema: 'core',
    uniqueKeys: false,
    prettyErrors: false,
    resolveKnownTags: false,
  });
  const documents: Document.Parsed<ParsedNode>[] = [];
  let tokens = 0;
  let errors = 0;
  let aliases = 0;
  let before = '';
  // A node takes at most a handful of lexemes: indentation, indicator, scalar, comment, line break.
  const most = limits.nodes * 12 + 1000;
  for (const lexeme of lexer.lex(text)) {
    if (lexeme.startsWith('*') && before !== scalarFollows && ++aliases > limits.aliases)
      return { rule: 'limit-aliases', message: tooManyAliases(limits.aliases), offset: parser.offset };
    before = lexeme;
    for (const token of parser.next(lexeme)) {
      if (token.type === 'error' && ++errors > keptErrors)
        return { documents: [...documents, ...composer.end(true, text.length)] };
      for (const document of composer.next(token)) documents.push(document);
    }
    if (parser.stack.length > limits.depth + 4)
      return {
        rule: 'limit-depth',
        message: `The document is nested deeper than ${limits.depth} levels.`,
        offset: Math.min(parser.offset, text.length),
      };
    if (++tokens > most)
      return {
        rule: 'limit-nodes',
        message: `The document has more than ${limits.nodes} nodes.`,
        offset: parser.offset,
      };
    if (documents.length > 1) return { documents };
  }
  for (const token of parser.end()) {
    for (const document of composer.next(token)) documents.push(document);
  }
  for (const document of composer.end(true, text.length)) documents.push(document);
  return { documents };
}

function isEmpty({ contents, errors }: Document.Parsed<ParsedNode>): boolean {
  return errors.length === 0 && contents !== null && 'source' in contents && contents.source === '' && !contents.anchor;
}
