/**
 * Lists the functions of `src/` that have more than 60 lines, the longest first: `npm run longest`.
 * `npm run longest -- 100` lists those that have more than 100.
 */
import { globSync, readFileSync } from 'node:fs';
import { parseSync, Visitor, type Function as FunctionNode, type ArrowFunctionExpression } from 'oxc-parser';

const limit = Number(process.argv[2] ?? 60);
const long: { lines: number; where: string; name: string }[] = [];

for (const file of globSync('src/**/*.ts').sort()) {
  const text = readFileSync(file, 'utf8');
  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length;
  const names = new Map<number, string>();
  const look = (node: FunctionNode | ArrowFunctionExpression): void => {
    const lines = lineAt(node.end) - lineAt(node.start) + 1;
    const name = ('id' in node && node.id?.name) || names.get(node.start) || '(a callback)';
    if (lines > limit) long.push({ lines, where: `${file}:${lineAt(node.start)}`, name });
  };
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && init) names.set(init.start, id.name);
    },
    Property({ key, value }) {
      if (key.type === 'Identifier') names.set(value.start, key.name);
    },
    FunctionDeclaration: look,
    FunctionExpression: look,
    ArrowFunctionExpression: look,
  }).visit(parseSync(file, text).program);
}

for (const { lines, where, name } of long.sort((a, b) => b.lines - a.lines)) console.log(`${lines}\t${where}\t${name}`);
console.log(`${long.length} functions have more than ${limit} lines.`);
