import { createHash } from 'node:crypto';
import { escapeXml } from '../../model/escape.ts';
import { plain } from '../../sync/checks.ts';
import { formatJson } from '../output.ts';
import type { Finding } from './finding.ts';

/** The formats of findings for tools, the same in every command. */
export const toolFormats = ['github', 'gitlab', 'sarif', 'junit', 'markdown'] as const;
export type ToolFormat = (typeof toolFormats)[number];

/** Formats findings for a tool. `name`: the document that was checked, for formats that name it although nothing was found. */
export function formatFindings(format: ToolFormat, findings: readonly Finding[], name: string): string {
  if (format === 'junit') return formatJunit(findings, name);
  return { github: formatGithub, gitlab: formatGitlab, sarif: formatSarif, markdown: formatMarkdown }[format](findings);
}

const severities: Readonly<Record<Finding['level'], string>> = { error: 'major', warning: 'minor', note: 'info' };

/** GitLab's report of code quality. A fingerprint stays the same while lines move. */
function formatGitlab(findings: readonly Finding[]): string {
  const seen = new Map<string, number>();
  const issues = withoutAccepted(findings).map(({ level, rule, message, file, pointer, place }) => {
    const what = JSON.stringify([rule, file, pointer, message]);
    const number = seen.get(what) ?? 0;
    seen.set(what, number + 1);
    const fingerprint = createHash('sha256').update(`${what} ${number}`).digest('hex');
    const location = { path: file, lines: { begin: place?.line ?? 1 } };
    return { description: message, check_name: rule, fingerprint, severity: severities[level], location };
  });
  return formatJson(issues, 2);
}

/** A table in Markdown, for comments and summaries. Text of a document is escaped. */
function formatMarkdown(findings: readonly Finding[]): string {
  const rows = withoutAccepted(findings).map(({ level, rule, message, file, place }) => {
    const where = place === null ? file : `${file}:${place.line}:${place.column}`;
    return `| ${level} | ${plain(rule)} | ${plain(message)} | ${plain(where)} |`;
  });
  if (rows.length === 0) return 'No findings.';
  return ['| level | rule | finding | place |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function withoutAccepted(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ accepted }) => accepted === null);
}

const commands: Readonly<Record<Finding['level'], string>> = { error: 'error', warning: 'warning', note: 'notice' };

/**
 * GitHub Actions workflow commands, one a line. Values are escaped, so that a document cannot
 * inject another command.
 */
function formatGithub(findings: readonly Finding[]): string {
  const data = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return withoutAccepted(findings)
    .map(({ level, rule, message, file, place }) => {
      const where = place === null ? '' : `,line=${place.line},col=${place.column}`;
      return `::${commands[level]} file=${property(file)}${where},title=${property(rule)}::${data(message)}`;
    })
    .join('\n');
}

/** SARIF 2.1.0. Exempted findings are suppressed results. */
function formatSarif(findings: readonly Finding[]): string {
  const rules = new Map(findings.map(({ rule, url }) => [rule, url]));
  const results = findings.map(({ rule, level, message, file, pointer, place, accepted }) => ({
    ruleId: rule,
    level,
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: file.split('/').map(encodeURIComponent).join('/') },
          ...(place !== null && { region: { startLine: place.line, startColumn: place.column } }),
        },
        ...(pointer !== '' && { logicalLocations: [{ fullyQualifiedName: pointer }] }),
      },
    ],
    ...(accepted !== null && { suppressions: [{ kind: 'external', justification: accepted }] }),
  }));
  const described = [...rules].map(([id, url]) => ({ id, ...(url !== null && { helpUri: url }) }));
  const run = { tool: { driver: { name: 'stele', rules: described } }, columnKind: 'utf16CodeUnits', results };
  return formatJson({ $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] }, 2);
}

/**
 * JUnit XML: a test suite for each file, a test case for each finding. Errors are failures; warnings
 * and notes pass, with their text as output. A file without findings passes.
 */
function formatJunit(findings: readonly Finding[], name: string): string {
  const counted = withoutAccepted(findings);
  const files = Map.groupBy(counted, ({ file }) => file);
  const suites = [...files].map(([file, found]) => suiteOf(file, found));
  if (suites.length === 0) suites.push(suiteOf(name, []));
  const failures = counted.filter(({ level }) => level === 'error').length;
  const head = `<testsuites name="stele" tests="${Math.max(1, counted.length)}" failures="${failures}">`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...suites, '</testsuites>'].join('\n');
}

function suiteOf(file: string, findings: readonly Finding[]): string {
  const failures = findings.filter(({ level }) => level === 'error').length;
  const tests = Math.max(1, findings.length);
  const suite = `  <testsuite name="${xml(file)}" tests="${tests}" failures="${failures}">`;
  const cases = findings.length === 0 ? [`    <testcase classname="${xml(file)}" name="no findings"/>`] : [];
  return [suite, ...cases, ...findings.map(caseOf), '  </testsuite>'].join('\n');
}

function caseOf({ level, rule, message, file, pointer, place }: Finding): string {
  const where = place === null ? pointer : `${place.line}:${place.column}`;
  const open = `    <testcase classname="${xml(file)}" name="${xml(`${rule} ${where}`.trim())}">`;
  const text = xml(`${file}${where === '' ? '' : `:${where}`} ${message}`);
  const body =
    level === 'error'
      ? `<failure type="${xml(rule)}" message="${xml(message)}">${text}</failure>`
      : `<system-out>${level}: ${text}</system-out>`;
  return `${open}${body}</testcase>`;
}

/** Escapes text for XML. Line breaks stay what they are in attributes, too. */
function xml(text: string): string {
  return escapeXml(text).replace(/[\t\n]/g, (character) => `&#${character.charCodeAt(0)};`);
}
