// What rulesets use of @stoplight/spectral-core.
const { isValid } = require('stele:schema');

exports.createRulesetFunction = (definition, fn) => {
  const { input = null, options = null } = definition ?? {};
  return Object.defineProperty(
    (value, given, context) => {
      if (options === null && given != null && Object.keys(given).length > 0)
        throw new Error(`"${fn.name}" function does not accept any options`);
      if (options !== null && !isValid(options, given ?? null))
        throw new Error(`"${fn.name}" function has invalid options`);
      if (input !== null && !isValid(input, value)) return;
      return fn(value, given ?? null, context);
    },
    'name',
    { value: fn.name },
  );
};

exports.isRecordLike = exports.isPlainObject = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
