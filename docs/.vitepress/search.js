/** What of each page is in the index of the search, which a browser loads before the first key. */

/**
 * Levels of headings, and characters of each section, by the path of the page. Guides are found by every word,
 * of the library the names of its main entry.
 */
const KINDS = [
  [/\/docs\/guides\//, { levels: 6, text: Infinity }],
  [/\/docs\/decisions\//, { levels: 1, text: 0 }],
  [/\/docs\/reference\/@dundun\/messaging\.md$/, { levels: 3, text: 0 }],
  [/\/docs\/reference\//, { levels: 1, text: 0 }],
  [/\/docs\/gateway-api\//, { levels: 1, text: 50 }],
  [/\/CHANGELOG\.md$/, { levels: 1, text: 0 }],
];
const OTHERS = { levels: 6, text: 60 };

const HEADING = /<h(\d)[^>]*>(.*?<a.*? href="#.*?".*?>.*?<\/a>)<\/h\1>/gi;
const PARTS = /(.*?)<a.*? href="#(.*?)".*?>.*?<\/a>/i;

const plain = (html) =>
  html
    .replace(/<[^>]*>/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/**
 * The sections of a rendered page, each with the titles above it.
 * @param {string} file
 * @param {string} html
 */
export function* sectionsOf(file, html) {
  const { levels, text: most } = KINDS.find(([path]) => path.test(file))?.[1] ?? OTHERS;
  const pieces = html.split(HEADING);
  let above = [];
  for (let n = 1; n < pieces.length; n += 3) {
    const level = Number(pieces[n]) - 1;
    const [, heading = '', anchor = ''] = PARTS.exec(pieces[n + 1]) ?? [];
    const title = plain(heading);
    if (title === '' || level >= levels) continue;
    const titles = [...above.slice(0, level), title].filter(Boolean);
    above = titles;
    // A section without a text would end the page.
    yield { anchor, titles, text: plain(pieces[n + 2]).slice(0, most) };
  }
}

/**
 * Guides before reference before decisions. It is sent to the browser as text, so it uses nothing else here.
 * @param {string} id the address of a section
 */
export function boostOf(id) {
  if (id.includes('/docs/guides/')) return 3;
  if (id.includes('/docs/decisions/') || id.includes('CHANGELOG')) return 0.2;
  if (id.includes('/docs/reference/')) return 0.4;
  return id.includes('/docs/gateway-api/') ? 0.6 : 1;
}
