import type { Visibility } from '../../../model/access.ts';
import { RegistryError } from '../../../model/errors.ts';
import type { OnConflict } from '../../../model/connection.ts';
import { showReport } from '../../../registry/gate/show-report.ts';
import { describeBlocking } from '../../../model/problem.ts';
import { datedUpload } from '../../../registry/dated-upload.ts';
import { publish, type PublishResult } from '../../../registry/publish.ts';
import { bodyOf, type Answer, type PublishCall, type PublishHandler } from '../call.ts';
import { nothingHere } from '../../nothing-here.ts';
import { versionRecord, versionUrl } from '../resource-records.ts';
import { requireScopeToMake } from '../require-scope.ts';
import { uploadIn } from './uploaded-document.ts';

interface NewVersion {
  document: string | object;
  version?: string;
  createdAt?: string;
  latest: boolean;
  dryRun: boolean;
  onConflict: OnConflict;
  create?: { visibility?: Visibility };
}

export const publishOne: PublishHandler = async (call) => {
  const { registry, coordinate, author, principal, found } = call;
  const given = bodyOf<NewVersion>(call);
  if (found === null && given.create === undefined) throw new RegistryError('not_found', nothingHere);
  const { createdAt = null, latest } = given;
  if (createdAt !== null) requireScopeToMake(call, 'admin', coordinate);
  const { snapshot, ...upload } = uploadIn(call);
  const result = await publish(registry, {
    coordinate,
    ...upload,
    ...datedUpload(registry, snapshot, createdAt, latest),
    version: given.version ?? null,
    onConflict: given.onConflict,
    dryRun: given.dryRun,
    create: given.create ?? null,
    ...(principal.kind === 'key' && principal.job && { job: principal.job }),
    author,
    isAwaited: true,
  });
  const report = await showReport(registry, principal, result.report);
  return describe(call, { ...result, report }, given.dryRun);
};

function describe({ context }: PublishCall, result: PublishResult, dryRun: boolean): Answer {
  const { report } = result;
  if (result.outcome === 'rejected') {
    const { problems, ...rest } = report;
    throw new RegistryError('refused', describeBlocking(report), { problems, extra: { ...rest } });
  }
  if (result.outcome === 'conflict') {
    const { label, suggestion, detail } = result;
    throw new RegistryError('conflict', detail, { extra: { version: label, suggestion } });
  }
  const { resource, version, outcome } = result;
  const url = versionUrl(context.url, resource, version.label);
  const body = { ...versionRecord(context.url, resource, version), outcome, dryRun, report };
  if (dryRun) return { status: 200, body };
  return outcome === 'published'
    ? { status: 201, headers: { Location: url }, body }
    : { status: 200, headers: { 'Content-Location': url }, body };
}
