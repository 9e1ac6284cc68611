import { markup, nothing, type Html } from './html.ts';
import type { OperationView, Requirement } from './operation-view.ts';
import type { ApiOperation } from './operations.ts';
import type { Page } from './page.ts';

/** How to call an operation with curl and with fetch, folded. */
export function samplesHtml(
  _page: Page,
  _operation: ApiOperation,
  _view: OperationView,
  _security: readonly Requirement[],
): Html {
  return markup`${nothing}`;
}
