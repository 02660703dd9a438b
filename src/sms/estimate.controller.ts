import { SmsService } from '@dundun/messaging';
import { Controller, HttpCode, Post } from '@nestjs/common';
import { Auth } from '../accounts/auth.decorators.js';
import { invalidFields } from '../http/api-error.js';
import { Documented } from '../http/documented.decorator.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { checkUnknown } from '../http/request-fields.js';
import { readText } from '../http/text-field.js';
import { SMS_TEXT } from './send-sms.js';
import { SMS_EXAMPLES } from './sms.examples.js';
import type { FieldError } from '@dundun/messaging';

/** What a text would take, before it is sent. */
export interface EstimateAnswer {
  readonly encoding: 'GSM-7' | 'UCS-2';
  readonly parts: number;
  readonly units: number;
  readonly ucs2_characters: readonly string[];
  /** `null`: the gateway has no price list. */
  readonly cost: number | null;
  readonly currency: string | null;
}

const FIELDS = new Set(['body', 'content']);

/** @throws ApiError 422 */
function readEstimate(request: Readonly<Record<string, unknown>>): string {
  const errors: FieldError[] = [];
  checkUnknown(request, FIELDS, errors);
  const { text } = readText(request, SMS_TEXT, errors);
  if (errors.length > 0) throw invalidFields(errors);
  return text;
}

/** Parts, encoding and price before sending. */
@Controller('ng/v1')
export class EstimateController {
  constructor(private readonly sms: SmsService) {}

  @Post('sms/estimate')
  @HttpCode(200)
  @Auth('api_token')
  @Documented({
    operationId: 'estimateSms',
    summary: 'Parts and encoding of a text',
    description: 'Nothing is sent or stored.',
    tag: 'SMS',
    body: { schema: 'EstimateSms', examples: SMS_EXAMPLES.estimate },
    answer: {
      status: 200,
      description: 'What one message would take.',
      schema: 'SmsEstimate',
      example: SMS_EXAMPLES.estimateAnswer,
    },
  })
  async estimate(@JsonBody(readEstimate) text: string): Promise<EstimateAnswer> {
    const estimate = await this.sms.estimate(text);
    const { encoding, parts, units, ucs2Characters: ucs2_characters, currency } = estimate;
    const cost = estimate.cost === null ? null : Number(estimate.cost);
    return { encoding, parts, units, ucs2_characters, cost, currency };
  }
}
