import { createHash } from 'node:crypto';
import { openSource } from '../../src/source/mirror.ts';

/**
 * A process of its own that reads every file of some commits through a cache folder, for tests of what processes do to each other. Arguments: cache
 * folder, host, URL, commits joined by commas. Prints a line when it begins, and one digest for each commit.
 */
const [folder = '', host = '', url = '', commits = ''] = process.argv.slice(2);
const source = openSource({
  folder,
  hosts: [`http://${host}`],
  allowLocalRepositories: false,
  timeLimit: 120,
  sizeLimit: 2 ** 30,
  limits: { fileBytes: 2 ** 20, entries: 10_000 },
});
const remote = { url, ref: 'HEAD', credential: null };
console.log('begun');
for (const commit of commits.split(',')) {
  const snapshot = await source.snapshot(remote, commit);
  const entries = await snapshot.entries();
  const files = await snapshot.read(entries.map(({ path }) => path));
  const hash = createHash('sha256');
  for (const file of files) hash.update(file.found ? file.bytes : file.problem.rule);
  console.log(hash.digest('hex'));
}
