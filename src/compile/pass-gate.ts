import { exempt, expiredProblem, findingKey, knownAmong, maxKnownFindings } from '../model/gate.ts';
import { type Exemption } from '../model/problem.ts';
import { blocks, createReport, type Problem, type Report } from '../model/problem.ts';
import type { CompileGate, CompileInput } from './compile.ts';

const usual: CompileGate = { blockOn: 'error', exemptions: [], today: '', known: null };

/**
 * Makes the report of a document that a ruleset checked. `problems`: the document's own, whose
 * errors block always. `findings`: the ruleset's, which block as the gate says. `ignored`: the
 * exemptions of a `.redocly.lint-ignore.yaml`.
 */
export function passGate(
  problems: readonly Problem[],
  findings: readonly Problem[],
  { ruleset, gate = usual }: Pick<CompileInput, 'ruleset' | 'gate'>,
  ignored: readonly Exemption[] = [],
): Report {
  if (ruleset === null) return createReport(problems);
  const { blockOn, exemptions, today, ratchet } = gate;
  const { left, exempted, expired, unused } = exempt(findings, [...exemptions, ...ignored], today);
  const accepted = knownAmong(left, gate.known ?? []);
  const marked = left.map((finding): Problem => ({
    ...finding,
    ofRuleset: true,
    ...(accepted.has(finding) && { known: true as const }),
  }));
  const about = [...expired.map(expiredProblem), ...unused.map(unusedProblem)];
  const report = createReport([...problems, ...marked, ...about]);
  // Counted in a separate report, since the same finding may be reported twice.
  const blocking = createReport([
    ...problems.filter(({ severity }) => severity === 'error'),
    ...marked.filter((finding) => finding.known !== true && blocks(finding, blockOn)),
  ]);
  const total = blocking.counts.error + blocking.counts.warning;
  return {
    ...report,
    ...(total !== report.counts.error && { blocking: total }),
    gate: {
      ruleset: { name: ruleset.name, digest: ruleset.digest },
      ...(ruleset.extended && {
        extended: Object.fromEntries(Object.entries(ruleset.extended).map(([name, { digest }]) => [name, digest])),
      }),
      blockOn,
      ...(exemptions.length > 0 && { exemptions }),
      ...((exemptions.length > 0 || ignored.length > 0) && { today }),
      ...(ratchet !== undefined && { ratchet }),
    },
    ...(gate.listsKnown && { known: [...new Set(left.map(findingKey))].slice(0, maxKnownFindings) }),
    ...(exempted.length > 0 && {
      exempted: exempted.slice(0, maxExemptions).map((finding) => ({ ...finding, ofRuleset: true as const })),
    }),
  };
}

/** The most exempted findings that a report keeps. */
const maxExemptions = 1000;

function unusedProblem({ rule, at }: Exemption): Problem {
  const message = `${rule}: The exemption matches no finding. Remove it, unless it approves a breaking change.`;
  return { rule: 'exemption-unused', severity: 'info', message, ...at };
}
