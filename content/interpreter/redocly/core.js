// What plugins use of @redocly/openapi-core: the package's own files.
export { dequal } from './lib/utils/dequal.js';
export { isEmptyObject } from './lib/utils/is-empty-object.js';
export { isNotEmptyArray } from './lib/utils/is-not-empty-array.js';
export { isNotEmptyObject } from './lib/utils/is-not-empty-object.js';
export { isPlainObject } from './lib/utils/is-plain-object.js';
export { isString } from './lib/utils/is-string.js';
export { isTruthy } from './lib/utils/is-truthy.js';
export { keysOf } from './lib/utils/keys-of.js';
export { capitalize } from './lib/utils/capitalize.js';
export { slash } from './lib/utils/slash.js';
export { regexFromString } from './lib/utils/regex-from-string.js';
export { Oas2Types } from './lib/types/oas2.js';
export { Oas3Types } from './lib/types/oas3.js';
export { Oas3_1Types } from './lib/types/oas3_1.js';
export { Oas3_2Types } from './lib/types/oas3_2.js';
export { normalizeTypes } from './lib/types/index.js';
export { normalizeVisitors } from './lib/visitors.js';
export { walkDocument } from './lib/walk.js';
export {
  unescapePointerFragment,
  isRef,
  isMappingRef,
  isAbsoluteUrl,
  getDir,
  resolvePath,
  escapePointerFragment,
} from './lib/ref-utils.js';
export { Source, logger } from './outside.js';
