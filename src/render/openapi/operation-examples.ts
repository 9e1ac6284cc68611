import type { JsonObject } from '../../model/json.ts';
import { isSmall, sampleOf } from '../schema/sample-value.ts';
import { createSchemas } from '../schema/schemas.ts';
import type { ApiOperation } from './list-operations.ts';
import { isJson } from './media-view.ts';
import { outlineNames } from '../outline-document.ts';
import { requirementsOf, viewOperation } from './operation-view.ts';
import { curlOf } from './sample-code.ts';
import { sampleRequest } from './sample-request.ts';

/** A request of an operation with curl, and the JSON bodies of its responses: the author's examples, else made ones. */
export function exampleOf(document: JsonObject, operation: ApiOperation, bytes: number): JsonObject {
  const schemas = createSchemas(document, 'openapi', bytes);
  const view = viewOperation(document, operation);
  const security = view.security ?? requirementsOf(document['security']);
  const responses = view.responses.slice(0, 10).map(({ status, media }) => {
    const json = media.find(({ types }) => types.some(isJson));
    const given = json?.examples.find(({ value, isElsewhere }) => isElsewhere !== true && isSmall(value));
    return [status, json === undefined ? null : (given?.value ?? sampleOf(schemas, json.schema, 'response'))];
  });
  const { method, path } = outlineNames(operation);
  return {
    method,
    path,
    request: operation.isWebhook ? null : curlOf(sampleRequest(schemas, operation, view, security)),
    responses: Object.fromEntries(responses) as JsonObject,
  };
}
