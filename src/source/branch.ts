/**
 * Whether the text is a valid branch name: the rules of git-check-ref-format(1) for
 * `refs/heads/<name>`, and no leading `-`, like `git branch`. Check it before passing
 * `refs/heads/<name>` to git.
 */
export function isBranchName(name: string): boolean {
  return (
    name.length > 0 &&
    Buffer.byteLength(name) <= 1000 &&
    name.isWellFormed() &&
    !name.startsWith('-') &&
    name !== '@' &&
    !/[\p{Cc} ~^:?*[\\]/u.test(name) &&
    !name.includes('..') &&
    !name.includes('@{') &&
    !name.endsWith('.') &&
    name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
  );
}

/**
 * Whether the text is `HEAD` or the full name of a valid ref: `refs/heads/main`,
 * `refs/pull/7/head`.
 */
export function isRefName(name: string): boolean {
  return name === 'HEAD' || (/^refs\/[a-z-]+\//.test(name) && isBranchName(name.replace(/^refs\/[a-z-]+\//, '')));
}
