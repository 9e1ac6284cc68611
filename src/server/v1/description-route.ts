import { digestOf } from '../../model/digest.ts';
import { corsHeaders, preflightHeaders } from '../headers.ts';
import type { Description } from './api-description.ts';
import type { Answer } from './call.ts';

/** Seconds for which caches may keep the description. It changes only with the program. */
const lifetime = 300;

/**
 * Responses of `/v1/openapi.json`. They are the same for everyone, so caches may keep them and
 * scripts of any origin may read them.
 */
export function createDescriptionRoute({ document }: Description): { read: Answer; preflight: Answer } {
  const headers = {
    ...corsHeaders,
    'Cache-Control': `public, max-age=${lifetime}, must-revalidate`,
    ETag: `"${digestOf(JSON.stringify(document))}"`,
  };
  return {
    read: { status: 200, headers, body: document },
    preflight: { status: 204, headers: preflightHeaders },
  };
}
