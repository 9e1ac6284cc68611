import { compareUpload } from '../../../registry/changes/compare-upload.ts';
import { uploadDiffMarkdown, uploadDiffPage } from '../../../site/pages/versions/diff-page.ts';
import { pageHeaders } from '../../headers.ts';
import { chooseType } from '../../read/negotiate.ts';
import { bodyOf, type ResourceHandler } from '../call.ts';
import { uploadIn } from './uploaded-document.ts';

/** Compares a version with a document in the request: as JSON, as Markdown, or as a page. Nothing is stored. */
export const compareOne: ResourceHandler = async (call) => {
  const { registry, found, asker, context } = call;
  const { from } = bodyOf<{ from: string }>(call);
  const turn = { isAwaited: true, signal: asker.closed() };
  const { label, comparison } = await compareUpload(registry, found.value, from, uploadIn(call), turn);
  const forms = ['application/json', 'text/markdown', ...(context.site ? ['text/html'] : [])];
  const form = asker.accept === undefined ? null : chooseType(asker.accept, forms);
  if (form === 'text/markdown') {
    const text = uploadDiffMarkdown(found.value, label, comparison);
    return { status: 200, headers: { Vary: 'Accept' }, text: { mediaType: `${form}; charset=utf-8`, text } };
  }
  if (form === 'text/html') {
    const text = uploadDiffPage(context.site!, found.value, label, comparison);
    return {
      status: 200,
      headers: { ...pageHeaders(), Vary: 'Accept' },
      text: { mediaType: `${form}; charset=utf-8`, text },
    };
  }
  return { status: 200, headers: { Vary: 'Accept' }, body: { from: label, ...comparison } };
};
