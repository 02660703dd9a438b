import axe from 'axe-core';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** Pictures of every page, for people, on demand: each costs more CPU time than its check. */
const SHOTS = join(import.meta.dirname, '../../dist/screenshots');

/** WCAG 2.2 AA, by axe's tags. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

const WIDTHS = [1280, 320];
/** The narrowest window in which tables are drawn with all columns. */
const TABLES = 1_024;
/** 640: a window of 1,280 pixels at 200 % zoom. */
const PICTURED = [375, 640, 1_024, 1_440];
const SCHEMES = ['light', 'dark'] as const;

interface Violation {
  readonly id: string;
  readonly nodes: readonly {
    readonly target: readonly string[];
    readonly failureSummary: string;
  }[];
}

async function wrongWith(
  page: Page,
  name: string,
  width: number,
  colorScheme: (typeof SCHEMES)[number],
): Promise<string[]> {
  await page.setViewportSize({ width, height: 860 });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axe.source);
  // The whole result, with every element that passes, would take 0.4 s of CPU time to hand over.
  const options = JSON.stringify({ runOnly: TAGS, resultTypes: ['violations'] });
  const violations = (await page.evaluate(
    `axe.run(${options}).then(({ violations }) => violations)`,
  )) as readonly Violation[];
  const wrong = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
  );
  const wide = Number(await page.evaluate('document.documentElement.scrollWidth'));
  if (wide > width) wrong.push(`is ${wide} pixels wide`);
  return wrong.map((one) => `${name} at ${width} in ${colorScheme}: ${one}`);
}

/** Tables that scroll sideways, so that a column is out of sight. */
async function cutTables(page: Page, name: string): Promise<string[]> {
  await page.setViewportSize({ width: TABLES, height: 860 });
  const cut = (await page.evaluate(
    `[...document.querySelectorAll('.table-box')].filter((box) => box.scrollWidth > box.clientWidth)
      .map((box) => box.querySelector('table').ariaLabel)`,
  )) as readonly string[];
  return cut.map((label) => `${name} at ${TABLES}: the table ${label} is cut`);
}

async function picture(page: Page, name: string): Promise<void> {
  await mkdir(SHOTS, { recursive: true });
  for (const width of PICTURED)
    for (const colorScheme of SCHEMES) {
      await page.setViewportSize({ width, height: 860 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const path = join(SHOTS, `${name}-${width}-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true });
    }
}

/** Faults of the page in every width and colour scheme. */
export async function wrongInAll(page: Page, name: string): Promise<string[]> {
  const wrong = await cutTables(page, name);
  if (process.env['SCREENSHOTS']) await picture(page, name);
  for (const width of WIDTHS)
    for (const scheme of SCHEMES) wrong.push(...(await wrongWith(page, name, width, scheme)));
  return wrong;
}

/** The page shows its data. */
export async function shown(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  await page.locator('body:not(:has(.skeleton))').waitFor();
}
