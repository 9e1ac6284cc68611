import type { Rendered } from '../compile/sandboxes.ts';
import type { JsonObject } from '../model/json.ts';
import { rowsOf, type Kind } from '../model/kinds.ts';
import type { Outline } from '../model/outline.ts';
import { outlineApi, schemasOf as schemasOfApi } from './openapi/outline-api.ts';
import { renderApi } from './openapi/render-api.ts';
import type { FindImage } from './page.ts';
import { outlineRuleset, renderRuleset } from './ruleset.ts';
import { outlineSchema, renderSchema, schemasOf } from './schema/json-schema.ts';

/** How documents of one kind are shown. Pure; no document makes it throw. */
export interface ReadableKind {
  /** `bytes`: the length of the document. */
  render(document: JsonObject, imageOf: FindImage, bytes: number): Rendered;
  outline(document: JsonObject): Outline;
  /** The schemas of which somebody may ask for an excerpt, by name. Absent: there are no excerpts. */
  schemas?(document: JsonObject): readonly (readonly [string, unknown])[];
}

export const readableKinds: Readonly<Record<Kind, ReadableKind>> = {
  openapi: { render: renderApi, outline: outlineApi, schemas: schemasOfApi },
  'json-schema': { render: renderSchema, outline: outlineSchema, schemas: schemasOf },
  ...rowsOf('rulesets', (kind): ReadableKind => ({
    render: (document, imageOf) => renderRuleset(document, kind, imageOf),
    outline: (document) => outlineRuleset(document, kind),
  })),
};
