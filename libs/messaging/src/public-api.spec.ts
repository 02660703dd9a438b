import { expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

/** By its name in the package, the source file of each entry. */
const ENTRIES = entries();
const program = programOf(Object.values(ENTRIES));
const checker = program.getTypeChecker();

it.each(Object.entries(ENTRIES))('the public types of %s are these', (_, path) => {
  const exported = exportsOf(path)
    .map((symbol): [string, string] => [symbol.name, declarationsOf(symbol).join('\n')])
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  expect(exported.map(([name, text]) => `${name}\n  ${text}`).join('\n\n')).toMatchSnapshot();
});

it('the main entry has at most 200 names', () => {
  expect(exportsOf(ENTRIES['.']!).length).toBeLessThanOrEqual(200);
});

// TypeScript writes such a type into the declarations of an app: its method may return what ours does.
it.each(Object.entries(ENTRIES))(
  'the types that functions and methods of %s return are exported there, by the main entry or by ports',
  (_, path) => {
    const own = exportsOf(path).map((symbol) => sourceOf(symbol));
    const shared = [ENTRIES['.']!, ENTRIES['./ports']!].flatMap((entry) => exportsOf(entry));
    const known = new Set([...own, ...shared.map((symbol) => sourceOf(symbol))]);
    const returned = own.flatMap((symbol) => returnedBy(symbol));
    expect(returned.filter((symbol) => !known.has(symbol)).map(({ name }) => name)).toEqual([]);
  },
);

it('each public name is in one entry', () => {
  const names = Object.values(ENTRIES).flatMap((path) => exportsOf(path).map(({ name }) => name));
  expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([]);
});

it('MessagingErrorCode has exactly the codes of the errors and policies in the sources', () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /(?<!\.spec)\.ts$/.test(file),
  );
  const sources = programOf(files.map((file) => join(import.meta.dirname, file)));
  const types = sources.getTypeChecker();
  const used = new Set<string>();
  const wanted: string[] = [];
  const add = (code: ts.Node) => wordsOf(types.getTypeAtLocation(code), code, used);
  const visit = (node: ts.Node): void => {
    const made = codeOf(node);
    if (made) add(made);
    if (ts.isTypeAliasDeclaration(node) && node.name.text === 'MessagingErrorCode')
      wanted.push(...wordsOf(types.getTypeAtLocation(node.name), node, new Set()));
    ts.forEachChild(node, visit);
  };
  for (const file of sources.getSourceFiles()) visit(file);
  expect([...used].toSorted()).toEqual(wanted.toSorted());
});

const BASES = ['MessagingError', 'AcceptRefusedError'];

/** Their codes are a provider's, or those of the app's own policies too. */
const OPEN = ['SubmitFailure', 'PolicyError'];

/** The code in `new MessagingError(code)`, in the `super(code)` of its subclasses, and in a denial. */
function codeOf(node: ts.Node): ts.Node | undefined {
  if (ts.isNewExpression(node) && node.expression.getText() === 'MessagingError')
    return node.arguments?.[0];
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword) {
    const owner = ts.findAncestor(node, ts.isClassDeclaration);
    const base = owner?.heritageClauses?.[0]?.types[0]?.getText();
    if (BASES.includes(base ?? '') && !OPEN.includes(owner?.name?.text ?? ''))
      return node.arguments[0];
    if (base === 'MessageValidationError') return node.arguments[1];
  }
  if (!ts.isPropertyAssignment(node) || !ts.isStringLiteral(node.initializer)) return undefined;
  const isDenial =
    node.name.getText() === 'code' && node.getSourceFile().fileName.includes('/policy/');
  const rules = node.parent.parent;
  const isRule = ts.isPropertyAssignment(rules) && rules.name.getText() === 'suppressedAs';
  return isDenial || isRule ? node.initializer : undefined;
}

/** Adds the literals of the type, which may be open for further texts. */
function wordsOf(type: ts.Type, place: ts.Node, words: Set<string>): Set<string> {
  const members = type.isUnion() ? type.types : [type];
  const literals = members.filter((member) => member.isStringLiteral());
  if (literals.length === 0)
    throw new Error(`The code has a type without literals: ${place.getText().slice(0, 80)}`);
  for (const { value } of literals) words.add(value);
  return words;
}

function entries(): Readonly<Record<string, string>> {
  const packageFile = readFileSync(join(import.meta.dirname, '../package.json'), 'utf8');
  const { exports } = JSON.parse(packageFile) as { readonly exports: Record<string, unknown> };
  const names = Object.keys(exports).filter((name) => /^\.(?:\/[\w-]+)?$/.test(name));
  return Object.fromEntries(
    names.map((name) => {
      const [, path = 'index'] = name.split('/');
      const places = [`${path}.ts`, `providers/${path}/index.ts`, `engines/${path}/index.ts`];
      const files = places.map((place) => join(import.meta.dirname, place));
      return [name, files.find((file) => existsSync(file)) ?? `no source of ${name}`];
    }),
  );
}

function exportsOf(path: string): ts.Symbol[] {
  const module = checker.getSymbolAtLocation(program.getSourceFile(path)!);
  return module ? checker.getExportsOfModule(module) : [];
}

/** Parses syntax only and follows relative imports, which takes a second; a full type check takes much longer. */
function programOf(entries: readonly string[]): ts.Program {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    noLib: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  host.resolveModuleNameLiterals = (literals, file) =>
    literals.map(({ text }) => ({
      resolvedModule: text.startsWith('.')
        ? {
            resolvedFileName: resolve(dirname(file), text.replace(/\.js$/, '.ts')),
            extension: ts.Extension.Ts,
          }
        : undefined,
    }));
  return ts.createProgram(entries, options, host);
}

/** The declaration of an exported name, and of the options that its options consist of. */
function declarationsOf(symbol: ts.Symbol): string[] {
  const found = new Set<ts.Declaration>(sourceOf(symbol).declarations);
  for (const declaration of found) if (isOptions(declaration)) addInner(declaration);
  return [...found].map((declaration) => printed(declaration));

  function addInner(node: ts.Node): void {
    if (ts.isIdentifier(node))
      for (const inner of sourceOf(checker.getSymbolAtLocation(node))?.declarations ?? [])
        if (isOptions(inner)) found.add(inner);
    ts.forEachChild(node, addInner);
  }
}

function isOptions(declaration: ts.Declaration): boolean {
  return ts.isInterfaceDeclaration(declaration) && declaration.name.text.endsWith('Options');
}

/** The symbol behind an import. */
function sourceOf(named: ts.Symbol): ts.Symbol;
function sourceOf(named: ts.Symbol | undefined): ts.Symbol | undefined;
function sourceOf(named: ts.Symbol | undefined): ts.Symbol | undefined {
  const isImport = named && named.flags & ts.SymbolFlags.Alias;
  return isImport ? checker.getAliasedSymbol(named) : named;
}

/** The library's interfaces and classes in the written return types of a function, or of a class and its bases. */
function returnedBy(symbol: ts.Symbol): ts.Symbol[] {
  return (symbol.declarations ?? []).flatMap((declaration): ts.Symbol[] => {
    if (ts.isFunctionDeclaration(declaration)) return namedIn(declaration.type);
    if (!ts.isClassDeclaration(declaration)) return [];
    const methods = declaration.members.filter(
      (member) => ts.isMethodDeclaration(member) && isPublic(member),
    );
    const bases = declaration.heritageClauses?.flatMap(({ types }) => types) ?? [];
    return [
      ...methods.flatMap((method) => namedIn((method as ts.MethodDeclaration).type)),
      ...bases.flatMap(({ expression }) => {
        const base = sourceOf(checker.getSymbolAtLocation(expression));
        return base ? returnedBy(base) : [];
      }),
    ];
  });
}

function namedIn(type: ts.TypeNode | undefined): ts.Symbol[] {
  const found: ts.Symbol[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeReferenceNode(node)) {
      const symbol = sourceOf(checker.getSymbolAtLocation(node.typeName));
      if (symbol && symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class))
        found.push(symbol);
    }
    ts.forEachChild(node, visit);
  };
  if (type) visit(type);
  return found;
}

/** Not in the published types. */
function isInternal(node: ts.Node): boolean {
  return ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'internal');
}

function isPublic(node: ts.ClassElement): boolean {
  const hidden = [ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword];
  const modifiers = ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []) : [];
  return (
    !isInternal(node) &&
    !ts.isPrivateIdentifier(node.name ?? node) &&
    !modifiers.some(({ kind }) => hidden.includes(kind))
  );
}

const printer = ts.createPrinter({ removeComments: true });

/** Without comments, bodies, private and internal members. */
function printed(declaration: ts.Declaration): string {
  const { transformed } = ts.transform<ts.Node>(declaration, [
    (context) => (root) => {
      const visit = (node: ts.Node): ts.Node | undefined => {
        if (ts.isBlock(node) || ts.isDecorator(node)) return undefined;
        if (ts.isClassElement(node) && (isPrivate(node) || isInternal(node))) return undefined;
        if (ts.isParameter(node) && node.modifiers)
          return ts.visitEachChild(
            ts.factory.updateParameterDeclaration(
              node,
              node.modifiers.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)
                ? []
                : node.modifiers.filter((one) => !ts.isDecorator(one)),
              node.dotDotDotToken,
              node.name,
              node.questionToken,
              node.type,
              node.initializer,
            ),
            visit,
            context,
          );
        return ts.visitEachChild(node, visit, context);
      };
      return visit(root) ?? root;
    },
  ]);
  const [node = declaration] = transformed;
  return printer
    .printNode(ts.EmitHint.Unspecified, node, declaration.getSourceFile())
    .replaceAll(/\s*\n\s*/g, '\n  ')
    .trim();
}

function isPrivate(node: ts.ClassElement): boolean {
  return (
    (node.name !== undefined && ts.isPrivateIdentifier(node.name)) ||
    (ts.canHaveModifiers(node) &&
      (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword))
  );
}
