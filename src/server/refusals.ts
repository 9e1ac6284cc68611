import { isRegistryError, RegistryError, type ErrorCode } from '../model/errors.ts';

const codesByStatus = new Map<number, ErrorCode>([
  [400, 'malformed'],
  [413, 'too_large'],
  [414, 'malformed'],
  [415, 'unsupported_media_type'],
]);

/**
 * Returns the `RegistryError` for what was thrown by us, Express or a body parser; null for a bug.
 */
export function asRefusal(error: unknown): RegistryError | null {
  if (isRegistryError(error)) return error;
  if (lacksDescriptors(error))
    return new RegistryError('unavailable', outOfDescriptors, { retryAfter: 1, cause: error });
  if (!(error instanceof Error) || !('status' in error)) return null;
  const code = codesByStatus.get(Number(error.status));
  return code === undefined ? null : new RegistryError(code, explain(error, code));
}

const outOfDescriptors = 'The server has no file descriptors left. Try again.';

/** Reports whether this process, or the whole machine, has run out of file descriptors. */
function lacksDescriptors(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE' || lacksDescriptors(error.cause);
}

const explanations: Partial<Record<ErrorCode, string>> = {
  malformed: 'The request is malformed.',
  too_large: 'The body exceeds the size limit.',
  unsupported_media_type: 'The content type, charset or content coding of the body is not supported.',
};

function explain(error: Error, code: ErrorCode): string {
  if ('type' in error && error.type === 'entity.parse.failed') return 'The body is not valid JSON.';
  if (error instanceof URIError) return 'The URL contains an invalid percent-encoding.';
  return explanations[code]!;
}
