import { createBudget } from '../../../../src/compile/ruleset/spectral/pattern.ts';
import { linkedGraph, plainGraph, pointerOf } from '../../../../src/compile/ruleset/spectral/graph.ts';
import { parsePath } from '../../../../src/compile/ruleset/spectral/path/json-path.ts';
import { createMatcher } from '../../../../src/compile/ruleset/spectral/path/match-paths.ts';
import { given } from '../../given.ts';

/** The pointers that each expression selects, from one traversal. */
export function select(document: unknown, expressions: readonly string[], { isResolved = true } = {}): string[][] {
  const { entry, files } = given({ 'a.json': document }, 'apis');
  const linked = linkedGraph({ entry, files });
  const graph = isResolved ? linked : plainGraph(entry, linked);
  const matcher = createMatcher();
  const found = expressions.map((): string[] => []);
  expressions.forEach((expression, at) =>
    matcher.add(parsePath(expression), {
      rule: expression,
      take: ({ value, place }) => {
        const pointer = pointerOf(place);
        const isKey = typeof value === 'string' && pointer.endsWith(`/${value.replaceAll('/', '~1')}`);
        found[at]!.push(isKey ? `~${pointer}` : pointer);
      },
    }),
  );
  matcher.run(graph, graph.root, createBudget());
  return found.map((pointers) => [...new Set(pointers)].sort());
}
