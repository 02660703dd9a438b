import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { type Block, ROOT } from './markdown-blocks.js';

const LIBRARY = JSON.parse(readFileSync(join(ROOT, 'libs/messaging/package.json'), 'utf8')) as {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly import?: object }>>;
};

/** The entries of the library that have both forms: `@dundun/messaging`, `@dundun/messaging/twilio`, … */
const LIBRARY_ENTRIES = Object.entries(LIBRARY.exports)
  .filter(([, target]) => typeof target === 'object' && target.import)
  .map(([entry]) => LIBRARY.name + entry.slice('.'.length));

/** Packages whose exports a block without imports may use. */
const PACKAGES = [
  ...LIBRARY_ENTRIES,
  '@dundun/dashboard',
  '@dundun/smpp',
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/event-emitter',
  '@nestjs/terminus',
  '@nestjs/testing',
  '@nestjs/typeorm',
];
const FOLDER = join(ROOT, 'test/docs');
const EXPORTS = join(FOLDER, 'exports-of-packages.d.ts');
const IMPORTS = join(FOLDER, 'imports-of-packages.ts');

/** Errors of the compiler in blocks, each as `docs/email.md:12: text`. All blocks are one program. */
export function errorsIn(blocks: readonly Block[]): string[] {
  const { options } = ts.getParsedCommandLineOfConfigFile(
    join(ROOT, 'test/tsconfig.json'),
    { noEmit: true, incremental: false, composite: false, jsx: ts.JsxEmit.ReactJSX },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
  ) ?? { options: {} };
  const files = new Map(
    blocks.map((block, n) => [
      join(FOLDER, `block-${n}.ts${block.isTsx ? 'x' : ''}`),
      { block, ...sourceOf(block) },
    ]),
  );
  const texts = new Map([...files].map(([name, { text }]) => [name, text]));
  texts.set(IMPORTS, PACKAGES.map((name) => `import '${name}';`).join('\n'));
  const host = ts.createCompilerHost(options);
  const readFile = host.readFile.bind(host);
  const fileExists = host.fileExists.bind(host);
  host.readFile = (name) => texts.get(name) ?? readFile(name);
  host.fileExists = (name) => texts.has(name) || fileExists(name);
  const names = [...files.keys(), join(FOLDER, 'names-in-blocks.ts')];
  texts.set(EXPORTS, exportsOf(ts.createProgram([...names, IMPORTS], options, host)));
  const program = ts.createProgram([...names, EXPORTS], options, host);
  return [...files].flatMap(([name, { block, before }]) => {
    const file = program.getSourceFile(name);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ messageText, start = 0 }) => {
        const row = file?.getLineAndCharacterOfPosition(start).line ?? 0;
        const line = block.line + row - before;
        return `${block.page}:${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
      },
    );
  });
}

/** A module of the code; code that is members of a class gets a class around it. */
function sourceOf({ code, isTsx }: Block): { readonly text: string; readonly before: number } {
  const asModule = `${code}\nexport {};`;
  const asMembers = `class Block {\n${code}}\nexport {};`;
  return isTsx || parses(asModule) || !parses(asMembers)
    ? { text: asModule, before: 0 }
    : { text: asMembers, before: 1 };
}

/** Whether the text is a module; members of a class are none. */
export function parses(text: string): boolean {
  const { diagnostics = [] } = ts.transpileModule(text, {
    reportDiagnostics: true,
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ESNext,
      experimentalDecorators: true,
    },
  });
  return diagnostics.length === 0;
}

/** Declares the exports of the packages as globals, so that blocks may leave imports out. */
function exportsOf(program: ts.Program): string {
  const checker = program.getTypeChecker();
  const lines = new Map<string, string>();
  for (const name of PACKAGES) {
    const { resolvedModule } = ts.resolveModuleName(
      name,
      IMPORTS,
      program.getCompilerOptions(),
      ts.sys,
      undefined,
      undefined,
      ts.ModuleKind.ESNext,
    );
    const file = resolvedModule && program.getSourceFile(resolvedModule.resolvedFileName);
    const symbol = file && checker.getSymbolAtLocation(file);
    if (!symbol) throw new Error(`${name} is imported by no file of the program`);
    for (const one of checker.getExportsOfModule(symbol))
      if (!lines.has(one.name)) lines.set(one.name, globalOf(name, one, checker));
  }
  return `export {};\ndeclare global {\n${[...lines.values()].join('\n')}\n}\n`;
}

function globalOf(from: string, symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const { name, flags } = symbol;
  const target = flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const parts: string[] = [];
  if (target.flags & ts.SymbolFlags.Value)
    parts.push(`const ${name}: typeof import('${from}').${name};`);
  const parameters = (target.declarations ?? []).flatMap(
    (one) =>
      (one as { typeParameters?: ts.NodeArray<ts.TypeParameterDeclaration> }).typeParameters ?? [],
  );
  if (target.flags & ts.SymbolFlags.Type && parameters.length === 0)
    parts.push(`type ${name} = import('${from}').${name};`);
  return parts.join(' ');
}
