import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** A TypeScript block of a page. */
export interface Block {
  /** `docs/email.md:12`: the page and the line of the block's first line. */
  readonly place: string;
  readonly line: number;
  readonly page: string;
  /**
   * Words behind `ts`: `run` is a whole program, `compile` is run by a suite of its own, `file` is a file of
   * the app of a guide, which `app-guides.spec.ts` compiles and runs, `sketch` is neither run nor compiled.
   */
  readonly words: readonly string[];
  readonly code: string;
  readonly isTsx: boolean;
}

const FENCE = /^```(tsx?)\b([^\n]*)\n([\s\S]*?)^```$/gm;

/** The paths of all pages that readers have. */
export function pagesOfReaders(): string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(
      (name) =>
        name.endsWith('.md') && !/^(?:\.vitepress|reference|gateway-api|source)\b/.test(name),
    )
    .map((name) => `docs/${name}`);
  const pages = ['README.md', 'CONTRIBUTING.md', 'examples/README.md', ...docs];
  for (const library of ['smpp', 'messaging', 'dashboard']) pages.push(`libs/${library}/README.md`);
  return pages;
}

/** The blocks of all pages that readers have. */
export function blocks(): Block[] {
  return pagesOfReaders().flatMap((page) => blocksOf(page, readFileSync(join(ROOT, page), 'utf8')));
}

function blocksOf(page: string, text: string): Block[] {
  return [...text.matchAll(FENCE)].map((match) => {
    const [, language, words = '', code = ''] = match;
    const line = text.slice(0, match.index).split('\n').length + 1;
    return {
      place: `${page}:${line}`,
      page,
      line,
      isTsx: language === 'tsx',
      words: words.split(/\s+/).filter(Boolean),
      code,
    };
  });
}
