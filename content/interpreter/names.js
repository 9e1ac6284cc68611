// What stands for a name in a ruleset that is a module.
exports.namesOfParts = new Map();
