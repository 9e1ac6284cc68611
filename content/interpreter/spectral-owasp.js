// @stoplight/spectral-owasp-ruleset, which is extended by its name.
const { namesOfParts } = require('stele:names');

exports.default = { name: 'owasp' };
exports.__esModule = true;
namesOfParts.set(exports.default, '@stoplight/spectral-owasp-ruleset');
