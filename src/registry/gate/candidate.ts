import { formatCoordinate, type Coordinate } from '../../model/address.ts';
import { digestOf } from '../../model/digest.ts';
import { RegistryError } from '../../model/errors.ts';
import { describeBlocking } from '../../model/problem.ts';
import type { Resource } from '../../model/resource.ts';
import type { Registry } from '../registry.ts';
import { compileDocument, type CompileRequest } from './compile-document.ts';
import { policyOf } from './policy.ts';
import type { Candidate } from './replay.ts';

/**
 * Compiles a document into a candidate for a ruleset. Throws `refused` with the report if it could
 * not be published.
 */
export async function readCandidate(
  registry: Registry,
  resource: Resource,
  coordinate: Coordinate,
  upload: Pick<CompileRequest, 'snapshot' | 'entry' | 'reader'>,
  signal?: AbortSignal,
): Promise<Candidate> {
  const request = { coordinate, ...upload, isAwaited: true, ...(signal && { signal }) };
  const { artifact, report } = await compileDocument(
    registry,
    request,
    resource,
    await policyOf(registry, resource),
    null,
  );
  const json = artifact?.representations.find(({ format, coding }) => format === 'json' && coding === 'identity');
  if (json === undefined) {
    const { problems, ...rest } = report;
    throw new RegistryError('refused', describeBlocking(report), { problems, extra: { ...rest } });
  }
  const name = formatCoordinate(coordinate);
  const ruleset = { digest: digestOf(json.bytes), name, json: Buffer.from(json.bytes).toString() };
  return { coordinate, ruleset };
}
