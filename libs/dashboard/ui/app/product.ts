import { type ComponentType, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ContextAnswer, MessageDetail, SendRequest } from '../../src/api.js';
import type { IconName } from '../components/icon.js';
import type { Route } from './router.js';

export interface Page {
  /** First part of its address. */
  readonly name: string;
  readonly title: string;
  readonly icon: IconName;
  /** Title of its part of the navigation. */
  readonly group?: string;
  /** `g` and this letter open it. */
  readonly key?: string;
  readonly shown?: (context: ContextAnswer) => boolean;
  readonly view: ComponentType<{ route: Route }>;
}

/** An action that a program can do over the product's public interface. */
export type CurlAction =
  | { readonly action: 'send'; readonly request: SendRequest }
  | { readonly action: 'message'; readonly channel: string; readonly id: string }
  | { readonly action: 'batch' | 'cancel'; readonly channel: string; readonly id: string }
  | {
      readonly action: 'reschedule';
      readonly channel: string;
      readonly id: string;
      readonly sendAt: string;
    }
  | { readonly action: 'messages'; readonly channel: string };

/** A place to go to that is no page of its own. */
export interface PaletteAction {
  /** Such as `Rotate the API token`. */
  readonly title: string;
  /** Its address; it is offered to those who have its page. */
  readonly to: string;
}

/** What an account may spend; amounts are decimal texts. */
export interface Balance {
  /** `off`: its messages are free. */
  readonly mode: string;
  readonly available: string;
  readonly currency: string | null;
}

/** The differences between the dashboard and the portal. */
export interface Product {
  readonly pages: readonly Page[];
  /** Above the navigation, such as the choice of an account. */
  readonly top?: ComponentType;
  /** Below the navigation, such as the signed-in user. */
  readonly bottom?: ComponentType;
  /** The command for an action; `undefined` where the interface has none. */
  readonly curl?: (action: CurlAction) => string | undefined;
  /** Offered by Ctrl+K beside the pages. @default none */
  readonly actions?: readonly PaletteAction[];
  /** Word for a tenant. @default 'Tenant' */
  readonly tenant?: string;
  /** Above the figures of the overview. */
  readonly welcome?: ComponentType;
  /** Further cards below the timeline of a message. */
  readonly ofMessage?: ComponentType<{ message: MessageDetail }>;
  /** Path that lists the templates of a channel, for a choice instead of a text field. */
  readonly templates?: string;
  /** Path of what the account may spend, a {@link Balance}. */
  readonly balance?: string;
  /** Where the views of lists are kept. @default in the browser */
  readonly views?: {
    /** Lists, saves and, at `…/import`, takes those of a browser. */
    readonly path: string;
    readonly mayShare: boolean;
  };
  /** Senders to choose from, by channel. */
  readonly senders?: (channel: string) => Promise<readonly string[]>;
}

export const ProductData = createContext<Product>({ pages: [] });

export const useProduct = (): Product => useContext(ProductData);
