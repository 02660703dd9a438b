import { expect, it } from '@jest/globals';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

it('the public types are these', () => {
  const program = programOf(join(import.meta.dirname, 'index.ts'));
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

/** Parses syntax only and follows relative imports, which takes a second; a full type check takes much longer. */
function programOf(entry: string): ts.Program {
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
  return ts.createProgram([entry], options, host);
}

/** The declaration of an exported name and of the option tables that its type comes from. */
function declarationsOf(symbol: ts.Symbol, checker: ts.TypeChecker): string[] {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const found = new Set<ts.Declaration>(target.declarations);
  for (const declaration of found) if (isOptions(declaration)) addTables(declaration);
  return [...found].map((declaration) => printed(declaration));

  function addTables(node: ts.Node): void {
    if (ts.isIdentifier(node))
      for (const table of checker.getSymbolAtLocation(node)?.declarations ?? [])
        if (isTable(table)) found.add(table);
    ts.forEachChild(node, addTables);
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
