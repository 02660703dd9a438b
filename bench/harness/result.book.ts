import { cpus, totalmem } from 'node:os';
import { writeFile } from 'node:fs/promises';
import { option } from './extent.js';
import type { SideResult } from './rounds.js';

export interface Figure {
  /** `A1`, `D3`, … */
  readonly id: string;
  readonly database: string;
  readonly what: string;
  readonly value: number;
  readonly unit?: string;
  /** `['>=', 0.7]`; without one the figure has no goal. */
  readonly goal?: readonly ['>=' | '<=', number];
}

/** Collects figures, prints each at once, and writes all as tables and JSON. */
export class ResultBook {
  readonly #figures: Figure[] = [];
  readonly #sides: (SideResult & { id: string; database: string })[] = [];

  constructor(
    private readonly program: string,
    private readonly form: 'short' | 'full',
  ) {}

  sides(id: string, database: string, results: readonly SideResult[]): void {
    for (const result of results) {
      this.#sides.push({ id, database, ...result });
      process.stderr.write(
        `${id} ${database}: ${result.name}: ${shown(result.rate)}/s, ${shown(result.cpu)} µs CPU, ${shown(result.peak)} MiB\n`,
      );
    }
  }

  figure(figure: Figure): void {
    this.#figures.push(figure);
    process.stderr.write(
      `${figure.id} ${figure.database}: ${figure.what}: ${shown(figure.value)}${figure.unit ?? ''}${goalNote(figure)}\n`,
    );
  }

  /** Markdown tables on stdout; JSON into the file named by `--json=FILE`. */
  async close(): Promise<void> {
    process.stdout.write(`${this.#markdown()}\n`);
    const file = option('json');
    if (file !== undefined) await writeFile(file, `${JSON.stringify(this.#json(), null, 2)}\n`);
  }

  #markdown(): string {
    const { node, cores, date } = this.#machine();
    const rows = this.#figures.map(
      (f) =>
        `| ${f.id} | ${f.database} | ${f.what} | ${shown(f.value)}${f.unit ?? ''} | ${f.goal ? `${f.goal[0] === '>=' ? '≥' : '≤'} ${f.goal[1]}${f.unit ?? ''}` : ''} | ${f.goal ? (isMet(f) ? 'yes' : 'no') : ''} |`,
    );
    const sides = this.#sides.map(
      (s) =>
        `| ${s.id} | ${s.database} | ${s.name} | ${shown(s.rate)} | ${shown(s.cpu)} | ${shown(s.peak)} |`,
    );
    return [
      `### ${this.program} (${this.form} form), ${date}, ${cores} cores, Node ${node}`,
      '',
      '| | Database | Figure | Measured | Goal | Met |',
      '|---|---|---|---|---|---|',
      ...rows,
      '',
      '| | Database | Side | Per second | CPU µs each | Peak MiB |',
      '|---|---|---|---|---|---|',
      ...sides,
    ].join('\n');
  }

  #json(): unknown {
    const figures = this.#figures.map((f) => ({ ...f, met: f.goal ? isMet(f) : null }));
    return {
      program: this.program,
      form: this.form,
      ...this.#machine(),
      figures,
      sides: this.#sides,
    };
  }

  #machine() {
    return {
      date: new Date().toISOString().slice(0, 10),
      node: process.versions.node,
      cores: cpus().length,
      memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    };
  }
}

function isMet({ value, goal }: Figure): boolean {
  if (!goal) return true;
  return goal[0] === '>=' ? value >= goal[1] : value <= goal[1];
}

function goalNote(figure: Figure): string {
  return figure.goal ? (isMet(figure) ? ' (met)' : ` (MISSED: ${figure.goal.join(' ')})`) : '';
}

function shown(value: number): string {
  if (Number.isNaN(value)) return '–';
  if (value >= 1_000) return Math.round(value).toLocaleString('en');
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(3);
}
