import { dirname, resolve } from 'node:path';
import ts from 'typescript';

/**
 * The declaration of each exported name, without comments, bodies and private members. It parses
 * syntax only and follows relative imports, which takes a second; a full type check takes much
 * longer.
 */
export function declarationsOf(entry: string): Map<string, string> {
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
  const program = ts.createProgram([entry], options, host);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(entry);
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`${entry} is no module`);
  return new Map(
    checker
      .getExportsOfModule(module)
      .map((symbol): [string, string] => [symbol.name, textOf(symbol, checker)])
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

function textOf(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  return (target.declarations ?? []).map((declaration) => printed(declaration)).join('\n');
}

const printer = ts.createPrinter({ removeComments: true });

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
