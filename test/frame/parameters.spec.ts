import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../..');

/** Most parameters: a function with more takes an object, whose fields its callers name. */
const MOST = { function: 5, constructor: 8 };

const PRODUCT = ['libs/messaging/src', 'libs/smpp/src', 'libs/dashboard/src', 'src'];

function sourcesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.spec\.tsx?$/.test(name))
    .map((name) => join(ROOT, folder, name));
}

/** `name: count` of each function and constructor with more parameters than it may have. */
function longLists(name: string, text: string): string[] {
  const found: string[] = [];
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const { length } = node.parameters;
      const kind = ts.isConstructorDeclaration(node) ? 'constructor' : 'function';
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      if (length > MOST[kind]) found.push(`${name}:${line + 1}: ${kind} with ${length} parameters`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

it('no function has more than five parameters, and no constructor more than eight', () => {
  const files = PRODUCT.flatMap(sourcesOf);
  expect(files.length).toBeGreaterThan(300);
  const found = files.flatMap((file) =>
    longLists(relative(ROOT, file), readFileSync(file, 'utf8')),
  );
  expect(found).toEqual([]);
});

it('a long list of parameters is found in functions, methods, types and constructors', () => {
  const list = (length: number) => Array.from({ length }, (_, n) => `p${n}: string`).join(', ');
  const text = `
    const f = (${list(6)}) => p0;
    class A { constructor(${list(9)}) {} m(${list(6)}) {} }
    type F = (${list(6)}) => void;
    function fits(${list(5)}) {}
    class B { constructor(${list(8)}) {} }`;
  expect(longLists('a.ts', text)).toEqual([
    'a.ts:2: function with 6 parameters',
    'a.ts:3: constructor with 9 parameters',
    'a.ts:3: function with 6 parameters',
    'a.ts:4: function with 6 parameters',
  ]);
});
