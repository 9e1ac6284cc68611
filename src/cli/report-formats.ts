import type { Problem, Report, Severity } from '../model/problem.ts';
import { formatJson, formatReport } from './output.ts';

export const lintFormats = ['text', 'json', 'github', 'sarif'] as const;
export type LintFormat = (typeof lintFormats)[number];

/** Formats a report as text, JSON, GitHub Actions workflow commands, or SARIF 2.1.0. */
export function formatLint(report: Report, format: LintFormat): string {
  if (format === 'text') return formatReport(report);
  if (format === 'json') return formatJson(report, 2);
  if (format === 'github') return report.problems.map(formatCommand).join('\n');
  return formatJson(toSarif(report), 2);
}

const commands: Record<Severity, string> = { error: 'error', warning: 'warning', info: 'notice' };
const levels: Record<Severity, string> = { error: 'error', warning: 'warning', info: 'note' };

/**
 * Formats a workflow command. Values are escaped so that a document cannot inject another command.
 */
function formatCommand({ severity, file, line, column, rule, message }: Problem): string {
  const data = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${commands[severity]} file=${property(file)},line=${line},col=${column},title=${property(rule)}::${data(message)}`;
}

function toSarif({ problems }: Report): unknown {
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'stele', rules: [...new Set(problems.map(({ rule }) => rule))].map((id) => ({ id })) },
        },
        results: problems.map(({ rule, severity, message, file, line, column }) => ({
          ruleId: rule,
          level: levels[severity],
          message: { text: message },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: file.split('/').map(encodeURIComponent).join('/') },
                region: { startLine: line, startColumn: column },
              },
            },
          ],
        })),
      },
    ],
  };
}
