// JSON Schema for the other files here.
let validate;

exports.failuresOf = (schema, value, draft) => {
  validate ??= require('stele:@cfworker/json-schema/validate.js').validate;
  const { dereference } = require('stele:@cfworker/json-schema/dereference.js');
  return validate(value, schema, draft ?? '7', dereference(schema), false).errors;
};

exports.isValid = (schema, value) => value !== undefined && exports.failuresOf(schema, value).length === 0;
