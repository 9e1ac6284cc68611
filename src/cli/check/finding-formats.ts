import { formatJson } from '../output.ts';
import type { Finding } from './finding.ts';

const commands: Readonly<Record<Finding['level'], string>> = { error: 'error', warning: 'warning', note: 'notice' };

/**
 * GitHub Actions workflow commands, one a line. Values are escaped, so that a document cannot
 * inject another command.
 */
export function formatGithub(findings: readonly Finding[]): string {
  const data = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return findings
    .filter(({ accepted }) => accepted === null)
    .map(({ level, rule, message, file, place }) => {
      const where = place === null ? '' : `,line=${place.line},col=${place.column}`;
      return `::${commands[level]} file=${property(file)}${where},title=${property(rule)}::${data(message)}`;
    })
    .join('\n');
}

/** SARIF 2.1.0. What an exemption accepts is a suppressed result. */
export function formatSarif(findings: readonly Finding[]): string {
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
export function formatJunit(findings: readonly Finding[], name: string): string {
  const counted = findings.filter(({ accepted }) => accepted === null);
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

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Escapes text for XML 1.0, without the characters that it does not allow. */
function xml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => entities[character]!)
    .replace(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
