import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ContextAnswer } from '../../src/api.js';
import { Badge } from '../components/badge.js';
import { Button, Empty, ErrorNotice, Notice, Skeleton } from '../components/basics.js';
import { Dialog } from '../components/dialog.js';
import { Icon, Logo } from '../components/icon.js';
import { lazily } from '../components/lazily.js';
import { Toasts } from '../components/toasts.js';
import { watchServer } from './api-client.js';
import { ContextData } from './context.js';
import { configureLive } from './live.js';
import { type Page, type Product, ProductData } from './product.js';
import { followLinks, navigate, useRoute } from './router.js';
import { shortcutsOn, switchShortcuts, useShortcuts } from './shortcuts.js';
import { chooseTheme, chosenTheme, type Theme } from './theme.js';
import { useData } from './use-data.js';

const Palette = lazily(
  () => import('./palette.js').then((part) => part.Palette),
  () => null,
);

/** The frame around every page: navigation, title, keys, toasts. */
export function Shell({ product }: { product: Product }): JSX.Element {
  const context = useData<ContextAnswer>('api/context');
  useEffect(followLinks, []);
  useEffect(() => {
    configureLive(context.data);
    return () => configureLive(undefined);
  }, [context.data]);
  if (!context.data) {
    return (
      <main class="alone">
        {context.error ? (
          <ErrorNotice error={context.error} retry={context.reload} />
        ) : (
          <Skeleton lines={6} />
        )}
      </main>
    );
  }
  return (
    <ProductData.Provider value={product}>
      <ContextData.Provider value={context.data}>
        <Frame product={product} context={context.data} retry={context.refresh} />
      </ContextData.Provider>
    </ProductData.Provider>
  );
}

function Frame(props: {
  product: Product;
  context: ContextAnswer;
  retry: () => Promise<void>;
}): JSX.Element {
  const { product, context, retry } = props;
  const route = useRoute();
  const [menu, setMenu] = useState(false);
  const [help, setHelp] = useState(false);
  const pages = product.pages.filter(({ shown }) => shown?.(context) ?? true);
  const page = pages.find(({ name }) => name === route.page);
  const address = `${route.page}/${route.id ?? ''}/${route.tab ?? ''}`;
  useShortcuts(pages, () => setHelp(true));
  const [palette, setPalette] = usePalette();
  useEffect(() => setMenu(false), [address]);
  const first = pages[0]?.name;
  useEffect(() => {
    // The mount itself opens the first page.
    if (!route.page && first) navigate(`${first}${window.location.search}`, 'replace');
  }, [route.page, first]);
  usePageFocus(address, page?.title, context.title);
  const View = page?.view;
  return (
    <div class={`frame${menu ? ' menu-open' : ''}`}>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.querySelector<HTMLElement>('main h1')?.focus();
        }}
      >
        Skip to content
      </a>
      <div class="bar">
        <Brand title={context.title} />
        <Button
          kind="quiet"
          icon={menu ? 'close' : 'menu'}
          iconOnly
          aria-expanded={menu}
          aria-controls="sidebar"
          onClick={() => setMenu(!menu)}
        >
          Menu
        </Button>
      </div>
      <div
        class="sidebar"
        id="sidebar"
        onKeyDown={(event) => event.key === 'Escape' && setMenu(false)}
      >
        <div class="sidebar-top">
          <Brand title={context.title} />
          {context.environment && <Badge tone="warning">{context.environment}</Badge>}
        </div>
        {product.top && <product.top />}
        <Navigation pages={pages} current={page} />
        <div class="sidebar-bottom">
          {product.bottom && <product.bottom />}
          <div class="sidebar-tools">
            <ThemeChoice />
            <Button kind="quiet" icon="search" iconOnly onClick={() => setPalette(true)}>
              Go to
            </Button>
            <Button kind="quiet" icon="keyboard" iconOnly onClick={() => setHelp(true)}>
              Keyboard shortcuts
            </Button>
          </div>
        </div>
      </div>
      <main id="main">
        <Connection retry={retry} />
        {View && <View route={route} key={page.name} />}
        {!View && route.page && <UnknownPage home={pages[0]} />}
      </main>
      <Toasts />
      {palette && <Palette pages={pages} onClose={() => setPalette(false)} />}
      {help && <ShortcutHelp pages={pages} onClose={() => setHelp(false)} />}
    </div>
  );
}

/** Whether the palette is open; Ctrl+K and ⌘K open and close it, also while a person types. */
function usePalette(): readonly [boolean, (open: boolean) => void] {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isWanted = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      if (!isWanted || event.key.toLowerCase() !== 'k') return;
      const others = document.querySelector('dialog[open]:not(:has(.palette))');
      if (others) return;
      event.preventDefault();
      setOpen((before) => !before);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return [open, setOpen];
}

/** Says that the server does not answer, until it does. */
function Connection({ retry }: { retry: () => Promise<void> }): JSX.Element | null {
  const [reachable, setReachable] = useState(true);
  useEffect(() => watchServer(setReachable), []);
  useEffect(() => {
    const read = (): void => void retry();
    window.addEventListener('online', read);
    return () => window.removeEventListener('online', read);
  }, [retry]);
  if (reachable) return null;
  return (
    <Notice
      tone="warning"
      title="The server does not answer"
      action={
        <Button icon="refresh" onClick={() => void retry()}>
          Try again
        </Button>
      }
    >
      What you see was read before. Check the connection.
    </Notice>
  );
}

/** Puts the focus on the new page's title, so that keyboards and screen readers start there. */
function usePageFocus(address: string, title: string | undefined, product: string): void {
  const first = useRef(true);
  useEffect(() => {
    document.title = title ? `${title} · ${product}` : product;
    if (first.current) {
      first.current = false;
      return undefined;
    }
    window.scrollTo(0, 0);
    return focusHeading();
  }, [address, title, product]);
}

/** Focuses the title of the page, once its part is loaded. @returns ends the wait */
function focusHeading(): (() => void) | undefined {
  const focus = (): boolean => {
    const heading = document.querySelector<HTMLElement>('main h1');
    heading?.focus({ preventScroll: true });
    return heading !== null;
  };
  const main = document.querySelector('main');
  if (focus() || !main) return undefined;
  const observer = new MutationObserver(() => focus() && observer.disconnect());
  observer.observe(main, { childList: true, subtree: true });
  return () => observer.disconnect();
}

function Brand({ title }: { title: string }): JSX.Element {
  return (
    <span class="brand">
      <Logo />
      <span>{title}</span>
    </span>
  );
}

function Navigation(props: { pages: readonly Page[]; current: Page | undefined }): JSX.Element {
  const groups = [...new Set(props.pages.map(({ group }) => group))];
  return (
    <nav class="pages" aria-label="Pages">
      {groups.map((group) => (
        <ul key={group ?? ''} aria-label={group}>
          {group && (
            <li class="group-title" aria-hidden="true">
              {group}
            </li>
          )}
          {props.pages
            .filter((page) => page.group === group)
            .map(({ name, title, icon }) => (
              <li key={name}>
                <a href={name} aria-current={props.current?.name === name ? 'page' : undefined}>
                  <Icon name={icon} />
                  {title}
                </a>
              </li>
            ))}
        </ul>
      ))}
    </nav>
  );
}

function UnknownPage({ home }: { home: Page | undefined }): JSX.Element {
  return (
    <>
      <h1 tabIndex={-1} class="hidden">
        Unknown page
      </h1>
      <Empty
        icon="search"
        title="There is no page at this address"
        action={
          home && (
            <a class="button primary" href={home.name}>
              Go to the {home.title.toLowerCase()}
            </a>
          )
        }
      >
        The link may be old, or your role does not show this page.
      </Empty>
    </>
  );
}

function ThemeChoice(): JSX.Element {
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  useEffect(() => chooseTheme(theme), [theme]);
  const next: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };
  return (
    <Button
      kind="quiet"
      icon={theme === 'dark' ? 'moon' : 'sun'}
      onClick={() => setTheme(next[theme])}
    >
      <span class="hidden">Colours: </span>
      {theme === 'system' ? 'Auto' : theme === 'light' ? 'Light' : 'Dark'}
    </Button>
  );
}

function ShortcutHelp(props: { pages: readonly Page[]; onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Keyboard shortcuts" onClose={props.onClose}>
      <dl class="shortcuts">
        <div>
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>Search</dd>
        </div>
        <div>
          <dt>
            <kbd>Ctrl</kbd> <kbd>K</kbd>
          </dt>
          <dd>Go to a page, id, number or contact (⌘K on a Mac)</dd>
        </div>
        <div>
          <dt>
            <kbd>j</kbd> <kbd>k</kbd>
          </dt>
          <dd>Next and former row of a list; Enter opens it</dd>
        </div>
        <div>
          <dt>
            <kbd>x</kbd>
          </dt>
          <dd>Choose the row</dd>
        </div>
        {props.pages.map(
          ({ name, title, key }) =>
            key && (
              <div key={name}>
                <dt>
                  <kbd>g</kbd> <kbd>{key}</kbd>
                </dt>
                <dd>{title}</dd>
              </div>
            ),
        )}
        <div>
          <dt>
            <kbd>Esc</kbd>
          </dt>
          <dd>Close a dialog</dd>
        </div>
        <div>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>This help</dd>
        </div>
      </dl>
      <label class="check">
        <input
          type="checkbox"
          defaultChecked={shortcutsOn()}
          onChange={(event) => switchShortcuts(event.currentTarget.checked)}
        />
        Shortcuts of one key are on
      </label>
    </Dialog>
  );
}
