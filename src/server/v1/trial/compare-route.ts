import { compareUpload } from '../../../registry/changes/compare-upload.ts';
import { untilClosed } from '../../until-closed.ts';
import { bodyOf, type ResourceHandler } from '../call.ts';
import { uploadIn } from './upload.ts';

/** Compares a version with a document in the request. Nothing is stored. */
export const compareOne: ResourceHandler = async (call) => {
  const { registry, found, request } = call;
  const { from } = bodyOf<{ from: string }>(call);
  const turn = { isAwaited: true, signal: untilClosed(request.res!) };
  const { label, comparison } = await compareUpload(registry, found.value, from, uploadIn(call), turn);
  return { status: 200, body: { from: label, ...comparison } };
};
