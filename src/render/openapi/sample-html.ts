import { markup, type Html } from '../html.ts';
import type { OperationView, Requirement } from './operation-view.ts';
import type { ApiOperation } from './operations.ts';
import type { Page } from '../page.ts';
import { curlOf, fetchOf } from './sample-code.ts';
import { sampleRequest } from './sample-request.ts';

/** Folded samples of calling an operation with curl and fetch. */
export function samplesHtml(
  { schemas }: Page,
  operation: ApiOperation,
  view: OperationView,
  security: readonly Requirement[],
): Html {
  const request = sampleRequest(schemas, operation, view, security);
  return markup`<details class="samples"><summary>Code samples</summary>
    <p>curl</p><pre><code>${curlOf(request)}</code></pre>
    <p>JavaScript</p><pre><code>${fetchOf(request)}</code></pre>
  </details>`;
}
