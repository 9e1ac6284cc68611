import { formatCoordinate, type Coordinate } from '../model/address.ts';
import { adviceIn, type Report } from '../model/problem.ts';
import { shownState, type Outcome } from '../model/states.ts';
import type { Visibility } from '../model/access.ts';
import { findingsInReport } from './check/finding.ts';
import { formatFindings, type ToolFormat } from './check/finding-formats.ts';
import { complain, formatReport, print, printJson } from './output.ts';

/** The result of `stele publish`, local or over HTTP, as `--json` prints it. */
export interface Published {
  outcome: Exclude<Outcome, 'detached'>;
  /** `@org/type/slug@label`; null if nothing was published. */
  version: string | null;
  digest: string | null;
  /** Null if the configuration has no `url`. */
  url: string | null;
  /** Whether this created the resource, or would have in a dry run. */
  created: boolean;
  /** Who can read the new resource. Null if this created none. */
  visibility: Visibility | null;
  dryRun: boolean;
  /** Why it was not published; null if the report says so. */
  detail: string | null;
  report: Report;
}

/** How a result is printed: as JSON, or with the findings in a format. */
interface Shown {
  json?: boolean | undefined;
  format?: 'lines' | ToolFormat;
}

/**
 * Prints the version's coordinate on stdout and the rest on stderr, or the findings for a tool on stdout and the
 * rest on stderr. Returns the exit code.
 */
export function printPublished(
  file: string,
  coordinate: Coordinate,
  published: Published,
  { json = false, format = 'lines' }: Shown,
): number {
  const { outcome, version, url, visibility, dryRun, detail, report } = published;
  const code = version === null ? 1 : 0;
  if (json) {
    printJson(published);
    return code;
  }
  // The report repeats it after the changes.
  if (outcome === 'rejected') sayUnlessEmpty(adviceIn(report) ?? '', complain);
  if (format === 'lines') sayUnlessEmpty(formatReport(report), complain);
  else sayUnlessEmpty(formatFindings(format, findingsInReport(report), file), print);
  if (detail !== null) complain(detail);
  if (outcome === 'rejected') complain(`${file} was not published.`);
  if (outcome === 'waiting') complain(`${file} ${shownState(outcome).text}.`);
  if (version === null) return code;
  if (format === 'lines') print(version);
  else complain(version);
  if (outcome === 'unchanged') complain('Already published; nothing changed.');
  if (!dryRun)
    complain(url ?? `stele serve returns it at /${version}. Set url in the configuration to see the full URL.`);
  if (visibility === 'private') complain(explainPrivate(coordinate, dryRun));
  return code;
}

function sayUnlessEmpty(text: string, say: (text: string) => void): void {
  if (text !== '') say(text);
}

function explainPrivate({ org, type, slug }: Coordinate, dryRun: boolean): string {
  const name = formatCoordinate({ org, type, slug });
  if (dryRun) return `${name} would be new and private. Use --public to make it public.`;
  const change = `PATCH /v1/${type}/${slug} with {"visibility": "public"} and a key with the scope admin`;
  return `${name} is new and private: only keys and members of ${org} can read it. To make it public: ${change}.`;
}
