/** What of each page is in the index of the search, which a browser loads at the first key. */

/** Levels of headings that are sections, and characters of each section, by the path of the page. */
const KINDS = [
  [/\/docs\/source\//, { levels: 1, text: 0 }],
  [/\/docs\/reference\/@dundun\/messaging\.md$/, { levels: 3, text: 100 }],
  [/\/docs\/reference\//, { levels: 1, text: 100 }],
  [/\/docs\/gateway-api\//, { levels: 1, text: 300 }],
  [/\/CHANGELOG\.md$/, { levels: 2, text: 300 }],
];
const OTHERS = { levels: 6, text: Infinity };

const HEADING = /<h(\d)[^>]*>(.*?<a.*? href="#.*?".*?>.*?<\/a>)<\/h\1>/gi;
const PARTS = /(.*?)<a.*? href="#(.*?)".*?>.*?<\/a>/i;
const ROW = /<tr id="([^"]+)">([^]*?)<\/tr>/g;

const plain = (html) =>
  html
    .replace(/<button[^]*?<\/button>|<span class="lang">.*?<\/span>/g, '')
    .replace(/<\/t[dh]>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim();

/**
 * The sections of a rendered page, each with the titles above it. Rows of tables that have an address of their
 * own, such as an error code, are sections, except in guides.
 * @param {string} file
 * @param {string} html
 */
export function* sectionsOf(file, html) {
  const { levels, text: most } = KINDS.find(([path]) => path.test(file))?.[1] ?? OTHERS;
  const isWhole = most !== Infinity || file.includes('/guides/');
  const pieces = html.split(HEADING);
  let above = [];
  for (let n = 1; n < pieces.length; n += 3) {
    const level = Number(pieces[n]) - 1;
    const [, heading = '', anchor = ''] = PARTS.exec(pieces[n + 1]) ?? [];
    const title = plain(heading);
    if (title === '' || level >= levels) continue;
    const titles = [...above.slice(0, level), title].filter(Boolean);
    above = titles;
    // Text of deeper headings that are no sections.
    let content = pieces[n + 2];
    for (let next = n + 3; Number(pieces[next]) > levels; next += 3)
      content += ` ${pieces[next + 1]} ${pieces[next + 2]}`;
    const rows = isWhole ? [] : [...content.matchAll(ROW)];
    const rest = rows.length > 0 ? content.replace(ROW, ' ') : content;
    yield { anchor, titles, text: plain(rest).slice(0, most) };
    for (const [, id, row] of rows) {
      const [first = '', ...others] = row.split('</td>');
      yield { anchor: id, titles: [...titles, plain(first)], text: plain(others.join(' ')) };
    }
  }
}

/**
 * Guides a little before the rest, reference and decisions behind it. It is sent to the browser as text, as are
 * the functions below, so they use nothing else here.
 * @param {string} id the address of a section
 */
export function boostOf(id) {
  if (id.includes('/docs/guides/')) return 1.6;
  if (id.includes('/docs/decisions/') || id.includes('CHANGELOG')) return 0.2;
  if (id.includes('/docs/reference/') || id.includes('/docs/source/')) return 0.4;
  if (id.includes('/CONTRIBUTING') || id.includes('/docs/changing')) return 0.6;
  return id.includes('/docs/errors') ? 1.3 : 1;
}

/**
 * A word of a query, without those that every page has.
 * @param {string} word
 */
export function queryWord(word) {
  const term = word.toLowerCase();
  const empty =
    /^(?:a|an|and|at|by|can|do|does|for|from|how|i|in|is|it|my|of|on|or|that|the|to|what|why|with)$/;
  return empty.test(term) ? null : term;
}

/**
 * Most letters in which a found word differs. Numbers, such as a status, are found as they are.
 * @param {string} term
 */
export function slipsOf(term) {
  return term.length > 4 && !/\d/.test(term) ? 1 : false;
}

/**
 * Words that are in most pages count little.
 * @param {string} term
 */
export function weightOf(term) {
  return /^messages?$/.test(term) ? 0.3 : 1;
}

/**
 * A plugin of Vite: the index is loaded once there is something to search for, and not when the box opens.
 */
export const loadAtFirstKey = {
  name: 'search-index-at-first-key',
  transform(code, id) {
    if (id !== '/@localSearchIndex') return undefined;
    const wait = `const typed = () => new Promise((resolve) => {
      if (sessionStorage.getItem('vitepress:local-search-filter')) resolve();
      else document.addEventListener('input', resolve, { once: true });
    });`;
    return `${wait}\n${code.replace(/import\([^)]*\)/g, (load) => `typed().then(() => ${load})`)}`;
  },
};
