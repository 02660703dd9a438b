import { expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

it('the public types are these', () => {
  const program = programOf([join(import.meta.dirname, 'index.ts')]);
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(
    program.getSourceFile(program.getRootFileNames()[0]!)!,
  )!;
  const exported = checker
    .getExportsOfModule(module)
    .map((symbol): [string, string] => [symbol.name, declarationsOf(symbol, checker).join('\n')])
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  expect(exported.map(([name, text]) => `${name}\n  ${text}`).join('\n\n')).toMatchSnapshot();
});

it('MessagingErrorCode has exactly the codes of the errors and policies in the sources', () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /(?<!\.spec)\.ts$/.test(file),
  );
  const program = programOf(files.map((file) => join(import.meta.dirname, file)));
  const checker = program.getTypeChecker();
  const used = new Set<string>();
  const wanted: string[] = [];
  const add = (code: ts.Node) => wordsOf(checker.getTypeAtLocation(code), code, used);
  const visit = (node: ts.Node): void => {
    const made = codeOf(node);
    if (made) add(made);
    if (ts.isTypeAliasDeclaration(node) && node.name.text === 'MessagingErrorCode')
      wanted.push(...wordsOf(checker.getTypeAtLocation(node.name), node, new Set()));
    ts.forEachChild(node, visit);
  };
  for (const file of program.getSourceFiles()) visit(file);
  expect([...used].toSorted()).toEqual(wanted.toSorted());
});

/** Their codes are a provider's, or those of the app's own policies too. */
const OPEN = ['SubmitFailure', 'PolicyError'];

/** The code in `new MessagingError(code)`, in the `super(code)` of its subclasses, and in a denial. */
function codeOf(node: ts.Node): ts.Node | undefined {
  if (ts.isNewExpression(node) && node.expression.getText() === 'MessagingError')
    return node.arguments?.[0];
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword) {
    const owner = ts.findAncestor(node, ts.isClassDeclaration);
    const base = owner?.heritageClauses?.[0]?.types[0]?.getText();
    if (base === 'MessagingError' && !OPEN.includes(owner?.name?.text ?? ''))
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

/** The declaration of an exported name and of the option tables that its type comes from. */
function declarationsOf(symbol: ts.Symbol, checker: ts.TypeChecker): string[] {
  const found = new Set<ts.Declaration>(sourceOf(symbol)?.declarations);
  for (const declaration of found) if (isOptions(declaration)) addTables(declaration);
  return [...found].map((declaration) => printed(declaration));

  function addTables(node: ts.Node): void {
    if (ts.isIdentifier(node))
      for (const table of sourceOf(checker.getSymbolAtLocation(node))?.declarations ?? [])
        if (isTable(table)) found.add(table);
    ts.forEachChild(node, addTables);
  }

  /** The symbol behind an import. */
  function sourceOf(named: ts.Symbol | undefined): ts.Symbol | undefined {
    const isImport = named && named.flags & ts.SymbolFlags.Alias;
    return isImport ? checker.getAliasedSymbol(named) : named;
  }
}

function isOptions(declaration: ts.Declaration): boolean {
  return ts.isTypeAliasDeclaration(declaration) || isTable(declaration);
}

function isTable(declaration: ts.Declaration): boolean {
  return (
    ts.isVariableDeclaration(declaration) &&
    declaration.initializer !== undefined &&
    ts.isObjectLiteralExpression(declaration.initializer)
  );
}

const printer = ts.createPrinter({ removeComments: true });

/** Without comments, bodies and private members. */
function printed(declaration: ts.Declaration): string {
  const { transformed } = ts.transform<ts.Node>(declaration, [
    (context) => (root) => {
      const visit = (node: ts.Node): ts.Node | undefined => {
        if (ts.isBlock(node) || ts.isDecorator(node)) return undefined;
        if (ts.isClassElement(node) && isPrivate(node)) return undefined;
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
