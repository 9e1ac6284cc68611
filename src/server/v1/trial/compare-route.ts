import { compareUpload } from '../../../registry/changes/compare-upload.ts';
import { bodyOf, type ResourceHandler } from '../call.ts';
import { uploadIn } from './uploaded-document.ts';

/** Compares a version with a document in the request. Nothing is stored. */
export const compareOne: ResourceHandler = async (call) => {
  const { registry, found, asker } = call;
  const { from } = bodyOf<{ from: string }>(call);
  const turn = { isAwaited: true, signal: asker.closed() };
  const { label, comparison } = await compareUpload(registry, found.value, from, uploadIn(call), turn);
  return { status: 200, body: { from: label, ...comparison } };
};
