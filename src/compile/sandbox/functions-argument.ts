/** The argument of a sandbox that runs the functions of rulesets. */
export const functionsArgument = 'functions';
