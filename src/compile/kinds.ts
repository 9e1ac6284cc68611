import type { Kind } from '../model/kinds.ts';
import type { DocumentKind } from './kind.ts';
import { openapi } from './openapi/openapi.ts';
import { rulesets } from './ruleset/ruleset.ts';
import { jsonSchema } from './schema/json-schema.ts';

/** How each kind of document is recognized, read and compiled. */
export const documentKinds: Readonly<Record<Kind, DocumentKind>> = { openapi, 'json-schema': jsonSchema, ...rulesets };
