import { useProduct } from './product.js';
import { useData } from './use-data.js';

export interface TemplateChoice {
  readonly name: string;
  readonly language: string;
  readonly category: string;
  readonly status: string;
  readonly paramsCount: number;
  /** Names of the values in order. @default they have positions alone */
  readonly paramNames?: readonly string[] | null;
  /** Text with `{{1}}` or `{{name}}` in the place of values. @default not known */
  readonly body?: string | null;
}

/** Templates that may be sent; `undefined` where the product lists none. */
export function useTemplates(): readonly TemplateChoice[] | undefined {
  const { templates } = useProduct();
  const { data } = useData<{ readonly data: readonly TemplateChoice[] }>(templates);
  return data?.data.filter(({ status }) => status === 'approved');
}
